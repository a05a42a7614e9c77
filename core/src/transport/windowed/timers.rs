//! When flows want to be woken. Most ACKs put that off: a timer that goes off too early is set anew, so that an ACK costs none.

use crate::units::{NEVER, Ps};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The timers of a host's flows, one a flow.
#[derive(Debug)]
pub(super) struct Timers {
    set: BinaryHeap<Reverse<(Ps, u32)>>,
    /// When that of each flow goes off.
    at: Vec<Ps>,
    next_at: Ps,
}

impl Timers {
    pub(super) fn new(flows: usize) -> Self {
        Self { set: BinaryHeap::new(), at: vec![NEVER; flows], next_at: NEVER }
    }

    /// When the first goes off.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ps {
        self.next_at
    }

    /// A flow wants to be woken at `at`, or earlier.
    #[inline(always)]
    pub(super) fn set(&mut self, own: usize, at: Ps) {
        if at < self.at[own] {
            self.at[own] = at;
            self.set.push(Reverse((at, own as u32)));
            self.refresh();
        }
    }

    /// The next flow whose timer goes off by `now`.
    #[inline(always)]
    pub(super) fn due(&mut self, now: Ps) -> Option<usize> {
        if self.next_at > now {
            return None;
        }
        let Reverse((_, own)) = self.set.pop()?;
        self.at[own as usize] = NEVER;
        self.refresh();
        Some(own as usize)
    }

    fn refresh(&mut self) {
        while self.set.peek().is_some_and(|&Reverse((at, own))| self.at[own as usize] != at) {
            self.set.pop();
        }
        self.next_at = self.set.peek().map_or(NEVER, |&Reverse((at, _))| at);
    }
}
