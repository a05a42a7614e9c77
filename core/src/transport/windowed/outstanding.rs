//! What a flow has sent and does not know to have arrived: when each packet left last, how often it has been sent, and which has been under way for longest.

use crate::units::Ps;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Acked,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    sent_at: Ps,
    bytes: u32,
    sends: u16,
    state: State,
}

/// A packet that has just been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// Size of its frame.
    pub bytes: u32,
    /// Its round trip, if it is known which of its copies has arrived.
    pub rtt: Option<Ps>,
}

/// Packets of one flow, from the first that has not been acknowledged.
#[derive(Debug, Default)]
pub struct Outstanding {
    /// Number of the first in `packets`.
    base: u32,
    packets: VecDeque<Packet>,
    /// No packet with a smaller number has been sent just once and is in flight.
    oldest_once: u32,
    /// What has been sent again, in order of time; what no longer holds is passed over.
    again: VecDeque<(Ps, u32)>,
    in_flight: u64,
}

impl Outstanding {
    /// Everything below this number has been acknowledged.
    #[inline(always)]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Bytes in flight.
    #[inline(always)]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Number of the next packet that has never been sent.
    #[inline(always)]
    pub fn next_new(&self) -> u32 {
        self.base + self.packets.len() as u32
    }

    /// A packet leaves. Whether for the first time.
    #[inline(always)]
    pub fn send(&mut self, psn: u32, bytes: u32, now: Ps) -> bool {
        if psn == self.next_new() {
            self.packets.push_back(Packet { sent_at: now, bytes, sends: 1, state: State::InFlight });
            self.in_flight += u64::from(bytes);
            return true;
        }
        let Some(packet) = psn.checked_sub(self.base).and_then(|place| self.packets.get_mut(place as usize)) else {
            return false;
        };
        if packet.state == State::Lost {
            packet.state = State::InFlight;
            self.in_flight += u64::from(bytes);
        }
        packet.sends = packet.sends.saturating_add(1);
        packet.sent_at = now;
        if packet.state == State::InFlight {
            self.again.push_back((now, psn));
        }
        false
    }

    /// A packet has arrived, or, `is_again`, a copy of it; nothing if that was known.
    #[inline(always)]
    pub fn acked(&mut self, psn: u32, is_again: bool, now: Ps) -> Option<Acked> {
        let packet = self.packets.get_mut(psn.checked_sub(self.base)? as usize)?;
        if packet.state == State::Acked {
            return None;
        }
        if packet.state == State::InFlight {
            self.in_flight -= u64::from(packet.bytes);
        }
        packet.state = State::Acked;
        let acked =
            Acked { bytes: packet.bytes, rtt: (packet.sends == if is_again { 2 } else { 1 }).then(|| now - packet.sent_at) };
        while self.packets.front().is_some_and(|packet| packet.state == State::Acked) {
            self.packets.pop_front();
            self.base += 1;
        }
        Some(acked)
    }

    /// Whether a packet counts as lost and has not been sent again.
    pub fn is_lost(&self, psn: u32) -> bool {
        self.state(psn) == Some(State::Lost)
    }

    fn state(&self, psn: u32) -> Option<State> {
        self.packets.get(psn.checked_sub(self.base)? as usize).map(|packet| packet.state)
    }

    /// Counts a packet as lost: its size, if it was in flight.
    pub fn lose(&mut self, psn: u32) -> Option<u32> {
        let packet = self.packets.get_mut(psn.checked_sub(self.base)? as usize)?;
        if packet.state != State::InFlight {
            return None;
        }
        packet.state = State::Lost;
        self.in_flight -= u64::from(packet.bytes);
        Some(packet.bytes)
    }

    /// The packet that has been in flight for longest, and since when.
    #[inline(always)]
    pub fn oldest(&mut self) -> Option<(Ps, u32)> {
        self.oldest_once = self.oldest_once.max(self.base);
        let once = loop {
            match self.packets.get((self.oldest_once - self.base) as usize) {
                Some(packet) if packet.state != State::InFlight || packet.sends > 1 => self.oldest_once += 1,
                Some(packet) => break Some((packet.sent_at, self.oldest_once)),
                None => break None,
            }
        };
        let again = loop {
            let Some(&(at, psn)) = self.again.front() else { break None };
            let packet = psn.checked_sub(self.base).and_then(|place| self.packets.get(place as usize));
            if packet.is_some_and(|packet| packet.state == State::InFlight && packet.sent_at == at) {
                break Some((at, psn));
            }
            self.again.pop_front();
        };
        match (once, again) {
            (Some(once), Some(again)) => Some(once.min(again)),
            (once, again) => once.or(again),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_found_whatever_was_sent_again() {
        let mut out = Outstanding::default();
        for psn in 0..4 {
            assert!(out.send(psn, 100, u64::from(psn) * 10));
        }
        assert_eq!((out.oldest(), out.in_flight(), out.next_new()), (Some((0, 0)), 400, 4));
        assert_eq!(out.lose(0), Some(100));
        assert_eq!(out.lose(0), None, "once");
        assert_eq!((out.oldest(), out.in_flight()), (Some((10, 1)), 300));
        assert!(!out.send(0, 100, 50));
        assert_eq!(out.acked(1, false, 60), Some(Acked { bytes: 100, rtt: Some(50) }));
        assert_eq!(out.acked(1, false, 61), None, "once");
        assert_eq!(out.oldest(), Some((20, 2)));
        out.acked(2, false, 62);
        out.acked(3, false, 63);
        assert_eq!((out.oldest(), out.base()), (Some((50, 0)), 0));
        assert_eq!(out.acked(0, false, 70), Some(Acked { bytes: 100, rtt: None }), "which of the two?");
        assert_eq!((out.oldest(), out.base(), out.in_flight()), (None, 4, 0));
    }

    /// The receiver says which of two copies it was; of three it cannot.
    #[test]
    fn a_sample_of_what_was_sent_again() {
        for (sends, is_again, rtt) in [(2, true, Some(5)), (2, false, None), (3, true, None), (1, false, Some(25))] {
            let mut out = Outstanding::default();
            (0..sends).for_each(|copy| {
                out.send(0, 7, copy * 20);
            });
            assert_eq!(out.acked(0, is_again, 25 + 20 * sends.saturating_sub(2)).unwrap().rtt, rtt, "{sends} {is_again}");
        }
    }

    /// What was given up and arrives after all was not in flight any more.
    #[test]
    fn late_arrivals_do_not_count_twice() {
        let mut out = Outstanding::default();
        out.send(0, 7, 0);
        out.lose(0);
        assert_eq!(out.acked(0, false, 5), Some(Acked { bytes: 7, rtt: Some(5) }));
        assert_eq!(out.in_flight(), 0);
    }
}
