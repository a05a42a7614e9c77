//! The Sims of a host that are under way, in the order in which they leave it.
//!
//! Everything that time does to a Sim happens a fixed while after it was sent, so that no heap is needed: two places in the same line move forward, one where the wait
//! of a Data ends, one where a Sim counts as lost.

use crate::units::{NEVER, Ps};
use std::collections::VecDeque;

/// What has become of a Sim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing has been heard of it.
    Open,
    /// It was acknowledged, and this Data has taken its place.
    Matched {
        /// Sequence number of the Data.
        psn: u32,
        /// Whether the Data has not been sent before.
        is_first: bool,
    },
    /// It was acknowledged, and its Data has gone on or there was none.
    Over,
}

/// One Sim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sim {
    /// Number of the flow among those that the host sends.
    pub(super) flow: u32,
    /// The path that it took.
    pub(super) path: u16,
    pub(super) fate: Fate,
    /// When its first bit left the host.
    pub(super) sent_at: Ps,
}

/// The line.
#[derive(Debug)]
pub(super) struct Sims {
    line: VecDeque<Sim>,
    /// Number of the first in line.
    first: u32,
    /// How many of the line have been sent.
    sent: usize,
    /// How many of the line have had their wait.
    waited: usize,
    wait: Ps,
    rtt_max: Ps,
}

impl Sims {
    pub(super) fn new(wait: Ps, rtt_max: Ps) -> Self {
        Self { line: VecDeque::new(), first: 0, sent: 0, waited: 0, wait, rtt_max }
    }

    /// Adds a Sim that has not been sent; its number.
    pub(super) fn push(&mut self, flow: u32, path: u16) -> u32 {
        self.line.push_back(Sim { flow, path, fate: Fate::Open, sent_at: NEVER });
        self.first.wrapping_add(self.line.len() as u32 - 1)
    }

    /// The next Sim leaves; its flow.
    pub(super) fn start(&mut self, now: Ps) -> u32 {
        let sim = &mut self.line[self.sent];
        sim.sent_at = now;
        self.sent += 1;
        sim.flow
    }

    /// The Sim of this number, if it still counts, and whether its wait is over.
    pub(super) fn get(&mut self, number: u32) -> Option<(&mut Sim, bool)> {
        let place = number.wrapping_sub(self.first) as usize;
        (place < self.sent).then(|| (&mut self.line[place], place < self.waited))
    }

    /// When time next does something to one of them.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ps {
        let waited = if self.waited < self.sent { self.line[self.waited].sent_at + self.wait } else { NEVER };
        let expired = if self.sent > 0 { self.line[0].sent_at + self.rtt_max } else { NEVER };
        waited.min(expired)
    }

    /// The next Sim whose wait is over by `now` and that has a Data.
    pub(super) fn due(&mut self, now: Ps) -> Option<(Sim, u32, bool)> {
        while self.waited < self.sent && self.line[self.waited].sent_at + self.wait <= now {
            let sim = &mut self.line[self.waited];
            self.waited += 1;
            if let Fate::Matched { psn, is_first } = sim.fate {
                sim.fate = Fate::Over;
                return Some((*sim, psn, is_first));
            }
        }
        None
    }

    /// The next Sim that counts as lost by `now`.
    pub(super) fn expired(&mut self, now: Ps) -> Option<Sim> {
        while self.sent > 0 && self.line[0].sent_at + self.rtt_max <= now {
            let sim = self.line.pop_front()?;
            self.first = self.first.wrapping_add(1);
            self.sent -= 1;
            self.waited -= 1;
            if sim.fate == Fate::Open {
                return Some(sim);
            }
        }
        None
    }
}
