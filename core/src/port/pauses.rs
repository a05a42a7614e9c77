//! When a port may not send because the switch at the other end of the link has paused it.
//!
//! *Source*: IEEE 802.1Qbb. A frame that has begun is sent to its end; none begins at the moment at which a pause acts or later, until the moment at which the port may
//! go on. Pauses are told a link latency before they act, so that all that act in a window are known when it begins.

use super::Port;
use crate::units::{NEVER, Ps};
use std::collections::VecDeque;

/// From when on a port is paused (true) or may send (false).
pub type Turn = (Ps, bool);

/// The pauses of one port.
#[derive(Debug)]
pub struct Pauses {
    /// Whether control waits too.
    hold_control: bool,
    /// Whether the port is paused, since when, and for how long it was before.
    is_paused: bool,
    since: Ps,
    paused: Ps,
    /// What comes after that, in order of time.
    turns: VecDeque<Turn>,
}

impl Pauses {
    /// None yet. `hold_control`: whether they are for all that the port sends, or for data only.
    pub fn new(hold_control: bool) -> Self {
        Self { hold_control, is_paused: false, since: 0, paused: 0, turns: VecDeque::new() }
    }

    /// The earliest moment from `at` on at which the port is not paused, by what is known.
    pub fn opens_at(&self, at: Ps) -> Ps {
        // Nobody may send in a pause that is over.
        let mut open = if self.is_paused { NEVER } else { at.max(self.since) };
        for &(moment, pauses) in &self.turns {
            if !pauses {
                open = open.min(moment.max(at));
            } else if open < moment {
                break;
            } else {
                open = NEVER;
            }
        }
        open
    }

    fn add(&mut self, turn: Turn) {
        debug_assert!(self.turns.back().is_none_or(|last| last.0 <= turn.0) && self.since <= turn.0);
        // Of two at the same moment the later counts.
        if self.turns.back().is_some_and(|last| last.0 == turn.0) {
            self.turns.pop_back();
        }
        self.turns.push_back(turn);
    }

    /// Time has come to `now`: what comes after that is not asked about times before.
    fn pass(&mut self, now: Ps) {
        while let Some(&(moment, pauses)) = self.turns.front().filter(|turn| turn.0 <= now) {
            self.turns.pop_front();
            if self.is_paused {
                self.paused += moment - self.since;
            }
            (self.is_paused, self.since) = (pauses, moment);
        }
    }
}

impl Port {
    /// The same port, which can be paused.
    pub fn with_pauses(mut self, pauses: Option<Pauses>) -> Self {
        self.pauses = pauses.map(Box::new);
        self
    }

    /// Whether it can be paused.
    pub fn has_pauses(&self) -> bool {
        self.pauses.is_some()
    }

    /// Hears of pauses, in order of time; `now` is when the window begins.
    pub fn hear(&mut self, turns: impl IntoIterator<Item = Turn>, now: Ps) {
        if let Some(pauses) = &mut self.pauses {
            pauses.pass(now);
            turns.into_iter().for_each(|turn| pauses.add(turn));
            pauses.pass(now);
        }
    }

    /// The earliest moment from `at` on at which no pause keeps the port from sending data. A pause that nobody has ended yet lasts for ever.
    #[inline(always)]
    pub fn data_opens_at(&self, at: Ps) -> Ps {
        self.pauses.as_ref().map_or(at, |pauses| pauses.opens_at(at))
    }

    /// The same for control.
    #[inline(always)]
    pub fn control_opens_at(&self, at: Ps) -> Ps {
        self.pauses.as_ref().filter(|pauses| pauses.hold_control).map_or(at, |pauses| pauses.opens_at(at))
    }

    /// For how long it has been paused up to `now`.
    pub(super) fn paused_until(&mut self, now: Ps) -> Ps {
        let Some(pauses) = &mut self.pauses else { return 0 };
        pauses.pass(now);
        pauses.paused + if pauses.is_paused { now - pauses.since } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paused from 100 to 200 and from 300 on.
    #[test]
    fn a_frame_begins_outside_of_pauses() {
        let mut pauses = Pauses::new(true);
        [(100, true), (200, false), (300, true)].into_iter().for_each(|turn| pauses.add(turn));
        let opens = |pauses: &Pauses| [0, 99, 100, 199, 200, 299, 300].map(|at| pauses.opens_at(at));
        assert_eq!(opens(&pauses), [0, 99, 200, 200, 200, 299, NEVER]);
        pauses.pass(100);
        assert_eq!([100, 199, 200, 299, 300].map(|at| pauses.opens_at(at)), [200, 200, 200, 299, NEVER]);
        pauses.add((400, false));
        pauses.pass(350);
        assert_eq!((pauses.opens_at(350), pauses.opens_at(500), pauses.paused), (400, 500, 100));
    }

    /// A port that may go on and is paused again at the same moment sends nothing in between, nor does one that is told twice.
    #[test]
    fn a_pause_of_no_length_is_none() {
        let mut pauses = Pauses::new(true);
        [(100, true), (200, false), (200, true), (300, true), (400, false)].into_iter().for_each(|turn| pauses.add(turn));
        assert_eq!(pauses.opens_at(150), 400);
        let mut open = Pauses::new(true);
        [(100, true), (100, false)].into_iter().for_each(|turn| open.add(turn));
        assert_eq!((open.opens_at(99), open.opens_at(100)), (99, 100));
    }
}
