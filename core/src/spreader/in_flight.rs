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
    is_acked: bool,
    sent_at: Ps,
}

impl InFlight {
    /// The flow's next packet leaves.
    pub(super) fn send(&mut self, path: u16, now: Ps) {
        self.packets.push_back(Packet { path, is_acked: false, sent_at: now });
    }

    /// A packet is acknowledged: the path that it took. One that had been given up is welcome too.
    pub(super) fn acked(&mut self, psn: u32) -> Option<u16> {
        let packet = self.packets.get_mut(psn.checked_sub(self.first)? as usize)?;
        packet.is_acked = true;
        let path = packet.path;
        while self.packets.front().is_some_and(|packet| packet.is_acked) {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(path)
    }

    /// Gives up the oldest packet if it has been under way for at least `rto` at `now`: its number, its path, and when it timed out.
    pub(super) fn give_up(&mut self, now: Ps, rto: Ps) -> Option<(u32, u16, Ps)> {
        self.oldest = self.oldest.max(self.first);
        loop {
            let psn = self.oldest;
            let Packet { path, is_acked, sent_at } = *self.packets.get((psn - self.first) as usize)?;
            let expires_at = sent_at.saturating_add(rto);
            if !is_acked && expires_at > now {
                return None;
            }
            self.oldest += 1;
            if !is_acked {
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
            flight.send(100 + psn, at);
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
