//! What a host does about what it receives.

use super::destination::{Words, of_block};
use super::sims::Fate;
use super::{ACKED, Dcsim, LATE, Queued, RTT_SUM};
use crate::packet::{Kind, Packet};
use crate::transport::{Surroundings, set_off};
use crate::units::Ps;
use crate::workload::Event;

impl Dcsim {
    pub(super) fn receive_sim_ack(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Some((sim, is_due)) = self.sims.get(packet.psn()) else {
            self.flows.counts.own[LATE] += 1;
            return;
        };
        let (flow, path, rtt) = (sim.flow, sim.path, now - sim.sent_at);
        let counts = &mut self.flows.counts;
        counts.own[ACKED] += 1;
        counts.own[RTT_SUM] += rtt;
        counts.largest = counts.largest.max(rtt);
        let source = &mut self.sources[flow as usize];
        source.drop_sim();
        match source.next() {
            Some((psn, is_first)) if !is_due => sim.fate = Fate::Matched { psn, is_first },
            Some((psn, is_first)) => {
                sim.fate = Fate::Over;
                self.hand_over(Kind::Data, Queued { flow, psn, is_first }, path, now, around);
            }
            None => {
                sim.fate = Fate::Over;
                self.paths.remove(&path);
            }
        }
        self.ask(flow as usize);
    }

    pub(super) fn receive_data(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let flow = &mut around.receive[own];
        let is_new = self.flows.note_arrival(own, packet.psn(), packet.bytes(), now, flow);
        let is_complete = is_new && flow.received == flow.packets;
        let (send_slot, is_last) = (flow.send_slot, is_complete || packet.psn() + 1 == flow.packets);
        if self.destination.note(own, packet.psn(), is_last, &self.flows.arrived[own].set, now) {
            self.acknowledge(own, now, around);
        }
        if is_complete {
            set_off(self, send_slot, Event::Received, now, around);
        }
    }

    pub(super) fn acknowledge(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Words { below, blocks } = self.destination.words(own, &self.flows.arrived[own].set);
        let (address, flow) = (around.receive[own].address, around.receive[own].send_slot);
        let words = std::iter::once((Kind::DataAck, below)).chain(blocks.into_iter().map(|word| (Kind::BlockAck, word)));
        for (kind, word) in words {
            let path = self.spreader.ack(around.fabric, around.routes, address, 0);
            around.port.add(now, Packet::new(kind, flow, word, address, path, around.rules.ack_frame), &mut |_| {});
        }
    }

    /// Whether that completes the flow.
    pub(super) fn receive_data_ack(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        let own = (packet.flow() - around.send_base) as usize;
        let source = &mut self.sources[own];
        if packet.kind() == Kind::DataAck {
            source.acked.insert_below(packet.psn());
        } else {
            of_block(packet.psn(), source.acked.below()).for_each(|psn| {
                source.acked.insert(psn);
            });
        }
        source.note_acked();
        let (acked, flow) = (source.acked.count(), &mut around.send[own]);
        let is_complete = acked == flow.packets && flow.acked < acked;
        flow.acked = acked;
        self.ask(own);
        while self.unacked.front().is_some_and(|(_, data)| self.sources[data.flow as usize].acked.contains(data.psn)) {
            self.unacked.pop_front();
        }
        if is_complete {
            around.send[own].last_acked_at = now;
            set_off(self, packet.flow(), Event::Acked, now, around);
        }
        is_complete
    }
}
