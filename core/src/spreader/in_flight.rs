//! What a flow has sent and not yet seen acknowledged: which path each packet took, and since when it is under way.
//!
//! A receiver echoes the path field of the data packet in its ACK. Here the ACK names the packet, and the sender remembers the field: the same
//! information, and packets stay at 16 bytes.

use crate::units::Ps;
use std::collections::VecDeque;

/// Packets of one flow under way.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// Number of the first packet in `packets`.
    first: u32,
    packets: VecDeque<Packet>,
    /// The oldest packet that has not been acknowledged or given up.
    oldest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    path: u16,
    /// Its own ACK has come.
    is_acked: bool,
    /// Another ACK has said that it arrived.
    is_passed: bool,
    /// It has been sent more than once, so that an ACK may be for either path.
    is_ambiguous: bool,
    sent_at: Ps,
}

/// Packets that are remembered for an ACK of their own though they are known to have arrived: more than ACKs overtake each other by. Where ACKs are few, most
/// packets have none.
const REMEMBERED: usize = 4096;

impl InFlight {
    /// A packet leaves: the flow's next, or one again that has not been acknowledged.
    #[inline(always)]
    pub(super) fn send(&mut self, psn: u32, path: u16, now: Ps) {
        let packet = Packet { path, is_acked: false, is_passed: false, is_ambiguous: false, sent_at: now };
        match self.packets.get_mut((psn - self.first) as usize) {
            Some(again) => *again = Packet { is_ambiguous: true, ..packet },
            None => self.packets.push_back(packet),
        }
    }

    /// The path that a packet under way took last.
    pub(super) fn path(&self, psn: u32) -> Option<u16> {
        self.packets.get(psn.checked_sub(self.first)? as usize).map(|packet| packet.path)
    }

    /// A packet's own ACK has come: the path that it took, if that is known. One that had been given up is welcome too.
    #[inline(always)]
    pub(super) fn acked(&mut self, psn: u32) -> Option<u16> {
        let packet = self.packets.get_mut(psn.checked_sub(self.first)? as usize)?;
        if std::mem::replace(&mut packet.is_acked, true) {
            return None;
        }
        let (path, is_ambiguous) = (packet.path, packet.is_ambiguous);
        self.forget();
        (!is_ambiguous).then_some(path)
    }

    /// A packet is known to have arrived, but not how: its own ACK may still come.
    pub(super) fn passed(&mut self, psn: u32) {
        let packet = psn.checked_sub(self.first).and_then(|place| self.packets.get_mut(place as usize));
        if let Some(packet) = packet {
            packet.is_passed = true;
            self.forget();
        }
    }

    fn forget(&mut self) {
        let done = |packets: &VecDeque<Packet>| {
            packets.front().is_some_and(|packet| packet.is_acked || packet.is_passed && packets.len() > REMEMBERED)
        };
        while done(&self.packets) {
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// Gives up the oldest packet if it has been under way for at least `rto` at `now`: its number, its path, and when it timed out.
    pub(super) fn give_up(&mut self, now: Ps, rto: Ps) -> Option<(u32, u16, Ps)> {
        self.oldest = self.oldest.max(self.first);
        loop {
            let psn = self.oldest;
            let Packet { path, is_acked, is_passed, sent_at, .. } = *self.packets.get((psn - self.first) as usize)?;
            let expires_at = sent_at.saturating_add(rto);
            let is_open = !is_acked && !is_passed;
            if is_open && expires_at > now {
                return None;
            }
            self.oldest += 1;
            if is_open {
                return Some((psn, path, expires_at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_given_up_in_order_once() {
        let mut flight = InFlight::default();
        for (psn, at) in [(0, 0), (1, 10), (2, 20)] {
            flight.send(psn.into(), 100 + psn, at);
        }
        assert_eq!(flight.acked(1), Some(101));
        assert_eq!(flight.give_up(99, 100), None);
        assert_eq!(flight.give_up(130, 100), Some((0, 100, 100)));
        assert_eq!(flight.give_up(130, 100), Some((2, 102, 120)), "1 was acknowledged");
        assert_eq!(flight.give_up(130, 100), None);
        assert_eq!(flight.acked(0), Some(100), "late, but it comes");
        assert_eq!(flight.acked(0), None, "once");
    }
}
