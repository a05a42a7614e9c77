//! Channels that a receiver holds, and when the next token is due over them.

use crate::units::{NEVER, Ps};

/// The channels held of one sender: those of a data phase, or early ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Number of the sender.
    pub(super) pair: u32,
    pub(super) channels: u32,
    pub(super) is_early: bool,
    /// No flow of the sender could have a token.
    is_waiting: bool,
    next_at: Ps,
}

/// Those of one receiver.
#[derive(Debug)]
pub(super) struct Clocks {
    clocks: Vec<Clock>,
    next_at: Ps,
}

impl Clocks {
    pub(super) fn new() -> Self {
        Self { clocks: Vec::new(), next_at: NEVER }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.clocks.is_empty()
    }

    /// When the next token is due.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ps {
        self.next_at
    }

    /// The data phase begins of these channels, by sender: those before are held no more.
    pub(super) fn begin_phase(&mut self, matched: impl Iterator<Item = (u32, u32)>, now: Ps) {
        self.clocks.clear();
        self.clocks.extend(matched.map(|(pair, channels)| Clock {
            pair,
            channels,
            is_early: false,
            is_waiting: false,
            next_at: now,
        }));
        self.refresh();
    }

    /// So many early channels more.
    pub(super) fn add_early(&mut self, pair: u32, channels: u32, now: Ps) {
        if channels == 0 {
            return;
        }
        match self.clocks.iter_mut().find(|clock| clock.pair == pair && clock.is_early) {
            Some(clock) => (clock.channels, clock.next_at) = (clock.channels + channels, now),
            None => self.clocks.push(Clock { pair, channels, is_early: true, is_waiting: false, next_at: now }),
        }
        self.refresh();
    }

    /// Channels of a sender in this data phase.
    pub(super) fn held_of(&self, pair: u32) -> u32 {
        self.clocks.iter().filter(|clock| clock.pair == pair && !clock.is_early).map(|clock| clock.channels).sum()
    }

    /// So many channels of a sender less: of this data phase, and early ones.
    pub(super) fn give_back(&mut self, pair: u32, held: u32, early: u32) {
        for clock in self.clocks.iter_mut().filter(|clock| clock.pair == pair) {
            clock.channels = clock.channels.saturating_sub(if clock.is_early { early } else { held });
        }
        self.clocks.retain(|clock| clock.channels > 0);
        self.refresh();
    }

    /// A clock whose token is due by `now`, and its place.
    pub(super) fn due(&self, now: Ps) -> Option<(usize, Clock)> {
        self.clocks.iter().copied().enumerate().find(|(_, clock)| clock.next_at <= now)
    }

    /// When the clock in a place looks again; `is_waiting`: or as soon as something changes for its sender's flows.
    pub(super) fn set(&mut self, place: usize, next_at: Ps, is_waiting: bool) {
        (self.clocks[place].next_at, self.clocks[place].is_waiting) = (next_at, is_waiting);
        self.refresh();
    }

    /// Something has changed for the flows of a sender.
    #[inline(always)]
    pub(super) fn wake(&mut self, pair: u32, now: Ps) {
        for clock in self.clocks.iter_mut().filter(|clock| clock.pair == pair && clock.is_waiting) {
            clock.next_at = now;
            self.next_at = self.next_at.min(now);
        }
    }

    fn refresh(&mut self) {
        self.next_at = self.clocks.iter().map(|clock| clock.next_at).min().unwrap_or(NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_tick_wait_and_end_with_their_phase() {
        let mut clocks = Clocks::new();
        clocks.add_early(7, 1, 50);
        clocks.add_early(7, 2, 60);
        assert_eq!(clocks.due(60).map(|(place, clock)| (place, clock.channels, clock.is_early)), Some((0, 3, true)));
        clocks.begin_phase([(7, 2), (8, 1)].into_iter(), 100);
        assert_eq!((clocks.held_of(7), clocks.held_of(8), clocks.held_of(9), clocks.next_at()), (2, 1, 0, 100));
        clocks.set(0, NEVER, true);
        clocks.set(1, 130, false);
        clocks.wake(8, 110);
        assert_eq!((clocks.due(110), clocks.next_at()), (None, 130));
        clocks.wake(7, 120);
        assert_eq!(clocks.due(120).map(|(_, clock)| clock.pair), Some(7));
        clocks.give_back(7, 5, 5);
        assert_eq!((clocks.held_of(7), clocks.next_at()), (0, 130));
        clocks.begin_phase(std::iter::empty(), 200);
        assert!(clocks.is_empty() && clocks.next_at() == NEVER);
    }
}
