//! What comes to a host with windows: data, of which it tells the sender, and what receivers tell it.

use super::sender::{Report, Sender};
use super::{FAST_RETRANSMITS, Windowed};
use crate::packet::{Kind, Packet};
use crate::transport::{Surroundings, set_off};
use crate::units::Ps;
use crate::workload::Event;

impl<S: Sender> Windowed<S> {
    #[inline(always)]
    pub(super) fn receive_data(&mut self, packet: Packet, at: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let flow = &mut around.receive[own];
        let is_new = self.noted.note_arrival(own, packet.psn(), packet.bytes(), at, flow);
        if is_new {
            let is_again = packet.kind() == Kind::DataAgain;
            around.workload.arrivals.note(packet.flow(), flow.received - 1, packet.psn(), is_again);
        }
        self.answers.acknowledge(own, flow, packet, is_new, at);
        let (send_slot, is_complete) = (flow.send_slot, is_new && flow.received == flow.packets);
        if is_complete {
            set_off(self, send_slot, Event::Received, at, around);
        }
    }

    pub(super) fn receive_header(&mut self, packet: Packet, at: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let has_it = self.noted.arrived[own].set.contains(packet.psn());
        self.answers.refuse(&around.receive[own], packet, has_it, at);
    }

    pub(super) fn receive_nack(&mut self, packet: Packet, at: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.send_base) as usize;
        let flow = &mut self.flows[own];
        if flow.read < around.send[own].packets {
            flow.sender.nacked(&self.rules, packet.psn(), at, &mut flow.out);
            self.enliven(own, at, around);
            self.set_timer(own, at);
        }
    }

    /// Whether that completes the flow.
    #[inline(always)]
    pub(super) fn receive_ack(&mut self, packet: Packet, at: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        let own = (packet.flow() - around.send_base) as usize;
        let (flow, send) = (&mut self.flows[own], &mut around.send[own]);
        if flow.read == send.packets {
            return false;
        }
        let count = packet.psn();
        let echoes = packet.kind() == Kind::Ack;
        let arrivals = &around.workload.arrivals;
        let mut report = Report { now: at, newly_bytes: 0, is_marked: packet.is_marked(), rtt: None, is_old: false };
        for place in flow.read..count {
            let (psn, is_again) = arrivals.entry(send.receive_slot, place);
            let base = flow.out.base();
            let Some(acked) = flow.out.acked(psn, is_again, at) else { continue };
            report.newly_bytes += u64::from(acked.bytes);
            if flow.out.base() != base {
                flow.moved_at = place + 1;
            }
            if place + 1 == count && echoes {
                report.rtt = acked.rtt;
            } else {
                self.spreader.passed(own, psn);
            }
        }
        if echoes {
            let (psn, _) = arrivals.entry(send.receive_slot, count - 1);
            self.spreader.acked(own, psn, packet.is_marked(), at);
        }
        report.is_old = count < flow.moved_at;
        flow.read = flow.read.max(count);
        send.acked = flow.read;
        let fast = flow.sender.fast_retransmits();
        flow.sender.acked(&self.rules, &report, &mut flow.out);
        self.noted.counts.own[FAST_RETRANSMITS] += flow.sender.fast_retransmits() - fast;
        if flow.read == send.packets {
            send.last_acked_at = at;
            set_off(self, packet.flow(), Event::Acked, at, around);
            return true;
        }
        self.enliven(own, at, around);
        self.set_timer(own, at);
        false
    }
}
