//! What a host does for the flows that it sends: it announces them, grants channels, and sends data by its leave.

use super::matching::{Offer, Terms};
use super::sources::{Outgoing, Token};
use super::{Dcpim, EXPIRED, token_path};
use crate::discipline::PRIORITY_SHIFT;
use crate::packet::{Kind, Packet};
use crate::transport::{Surroundings, set_off};
use crate::units::{NEVER, Ps};
use crate::workload::Event;

/// Largest flow of each priority, from 1; beyond, the next.
const SIZES: [u32; 5] = [7, 49, 343, 2401, 16_807];
/// The priority of data over early channels.
const EARLY: u16 = 7;

/// The priority of a flow's data.
fn priority(packets: u32) -> u16 {
    1 + SIZES.iter().filter(|&&size| packets > size).count() as u16
}

impl Dcpim {
    pub(super) fn begin(&mut self, flow: u32, now: Ps, around: &mut Surroundings<'_, '_>) {
        let own = flow - around.send_base;
        let is_short = around.send[own as usize].packets <= self.pace.short;
        self.sources.begin(own, is_short, now);
        announce(own, now, around);
    }

    /// Sender's part of a round.
    pub(super) fn grant(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        self.grant_at = NEVER;
        let calendar = self.pace.calendar;
        let round = calendar.round_at(now);
        self.given.advance(calendar.epoch_of(round));
        for Offer { flow, channels, early, .. } in self.given.choose(calendar.is_first(round), &mut self.stream) {
            let terms = Terms { channels, round, is_returned: false };
            offer(flow as usize, terms, early, now, around);
        }
    }

    /// The NIC takes up control if there is any, else data if there is leave for some.
    pub(super) fn start(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        if around.port.next_start_at() > now {
            let (packet, expired) = self.sources.next(now);
            self.flows.counts.own[EXPIRED] += expired;
            if let Some(packet) = packet {
                self.add_data(packet, now, around);
            }
        }
        if around.port.next_start_at() > now {
            return;
        }
        if let Some(packet) = around.port.start(now).filter(|packet| packet.kind() == Kind::Rts) {
            around.send[packet.psn() as usize].note_start(now);
        }
    }

    fn add_data(&mut self, packet: Outgoing, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Outgoing { flow: own, psn, is_first, is_early } = packet;
        let flow = &mut around.send[own as usize];
        let bytes = flow.frame_bytes(psn, around.rules.full_frame);
        let priority = if is_early { EARLY } else { priority(flow.packets) };
        let data = Packet::new(Kind::Data, flow.receive_slot, psn, flow.address, priority << PRIORITY_SHIFT, bytes);
        around.port.add(now, data, &mut |_| {});
        flow.note_start(now);
        self.flows.note_sent(own as usize, is_first, now);
    }

    pub(super) fn receive_request(&mut self, own: u32, packet: Packet, now: Ps) {
        let calendar = self.pace.calendar;
        let round = calendar.round_at(now);
        let terms = Terms::unpack(packet.path(), round);
        if terms.round == round && now <= calendar.middle(round) {
            let offer = Offer { flow: own, channels: terms.channels, early: terms.channels, remaining: packet.psn() };
            self.given.offers.push(offer);
            self.grant_at = calendar.middle(round);
        }
    }

    /// Channels are taken; what is beyond those that there are goes back.
    pub(super) fn receive_accept(&mut self, own: u32, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let calendar = self.pace.calendar;
        let round = calendar.round_at(now);
        let terms = Terms::unpack(packet.path(), round);
        self.given.advance(calendar.epoch_of(round));
        let taken = self.given.take(calendar.epoch_of(terms.round), terms.channels, packet.psn());
        if taken < terms.channels {
            let terms = Terms { channels: terms.channels - taken, is_returned: true, ..terms };
            offer(own as usize, terms, packet.psn().saturating_sub(taken), now, around);
        }
    }

    pub(super) fn receive_token(&mut self, own: u32, packet: Packet, now: Ps) {
        let calendar = self.pace.calendar;
        let phase = calendar.epoch_of(calendar.round_at(now));
        let is_early = packet.path() & 1 == 1;
        let age = token_path(phase, is_early).wrapping_sub(packet.path()) >> 1;
        // The last token of a phase may be half a round under way, and then waits for its turn among the channels.
        let grace = calendar.half_round() + self.pace.frame * u64::from(self.pace.channels);
        let expires_at = calendar.epoch_end(phase.saturating_sub(age.into())) + grace;
        let token = Token { psn: packet.psn(), is_early, expires_at };
        self.flows.counts.own[EXPIRED] += self.sources.add(own, token, now);
    }

    /// Whether that completes the flow.
    pub(super) fn receive_ack(&mut self, own: u32, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        let flow = &mut around.send[own as usize];
        let is_complete = packet.psn() == flow.packets && flow.acked < flow.packets;
        flow.acked = flow.acked.max(packet.psn());
        if is_complete {
            flow.last_acked_at = now;
            self.sources.end(own);
            set_off(self, packet.flow(), Event::Acked, now, around);
        }
        is_complete
    }
}

/// Tells the receiver of a flow that there is one. Its number here comes along, for when the announcement leaves.
pub(super) fn announce(own: u32, now: Ps, around: &mut Surroundings<'_, '_>) {
    let flow = &around.send[own as usize];
    let rts = Packet::new(Kind::Rts, flow.receive_slot, own, flow.address, 0, around.rules.ack_frame);
    around.port.add(now, rts, &mut |_| {});
}

/// Sends channels to the receiver of a flow, or takes them back.
fn offer(own: usize, terms: Terms, early: u32, now: Ps, around: &mut Surroundings<'_, '_>) {
    let flow = &around.send[own];
    let grant = Packet::new(Kind::Grant, flow.receive_slot, early, flow.address, terms.pack(), around.rules.ack_frame);
    around.port.add(now, grant, &mut |_| {});
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_follow_the_powers_of_seven() {
        let of = [1, 7, 8, 49, 50, 343, 344, 2401, 2402, 16_807, 16_808, u32::MAX].map(priority);
        assert_eq!(of, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    }
}
