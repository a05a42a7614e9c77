//! What a host does for the flows that it receives: it asks for channels, sends tokens over them, and says what has come.

use super::matching::Terms;
use super::receiver::{Granted, Message};
use super::{Dcpim, MATCHED, TOKENS, token_path};
use crate::packet::{Kind, Packet};
use crate::transport::{Surroundings, set_off};
use crate::units::Ps;
use crate::workload::Event;

impl Dcpim {
    /// Receiver's part of a round.
    pub(super) fn turn(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        let mut messages = Vec::new();
        self.flows.counts.own[MATCHED] += self.receiver.turn(now, &self.flows, around.receive, &mut messages);
        for Message { kind, flow, terms, number } in messages {
            answer(kind, flow as usize, number, terms.pack(), now, around);
        }
    }

    pub(super) fn send_token(&mut self, granted: Granted, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Granted { flow, psn, is_early, is_again } = granted;
        self.flows.counts.own[TOKENS] += 1;
        self.flows.counts.data_timeouts += u64::from(is_again);
        let calendar = self.pace.calendar;
        let phase = calendar.epoch_of(calendar.round_at(now));
        answer(Kind::Token, flow as usize, psn, token_path(phase, is_early), now, around);
    }

    pub(super) fn receive_data(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let flow = &mut around.receive[own];
        let (packets, send_slot, was_complete) = (flow.packets, flow.send_slot, flow.received == flow.packets);
        let is_new = self.flows.note_arrival(own, packet.psn(), packet.bytes(), now, flow);
        let is_complete = flow.received == packets;
        if !was_complete {
            self.receiver.hear(own, packets, now);
            self.receiver.note_arrival(own, packet.psn(), now);
        }
        if is_complete {
            answer(Kind::Ack, own, packets, 0, now, around);
        }
        if is_new && is_complete {
            self.receiver.end(own);
            set_off(self, send_slot, Event::Received, now, around);
        }
    }

    pub(super) fn receive_grant(&mut self, packet: Packet, now: Ps, around: &Surroundings<'_, '_>) {
        let own = packet.flow() - around.receive_base;
        let terms = Terms::unpack(packet.path(), self.pace.calendar.round_at(now));
        self.receiver.add_grant(own, terms, packet.psn(), &around.receive[own as usize], now);
    }

    /// A flow is announced. Word of one that is known is asked for: how far it has come.
    pub(super) fn receive_rts(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        if !self.receiver.hear(own, around.receive[own].packets, now) {
            answer(Kind::Ack, own, self.flows.arrived[own].set.below(), 0, now, around);
        }
    }
}

/// Sends something to the sender of a flow.
fn answer(kind: Kind, own: usize, number: u32, path: u16, now: Ps, around: &mut Surroundings<'_, '_>) {
    let flow = &around.receive[own];
    let packet = Packet::new(kind, flow.send_slot, number, flow.address, path, around.rules.ack_frame);
    around.port.add(now, packet, &mut |_| {});
}
