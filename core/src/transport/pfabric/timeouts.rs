//! The timeouts that are running. All last equally long, so that they end in the order in which they began: a line, no heap.

use super::source::Source;
use crate::units::{NEVER, Ps};
use std::collections::VecDeque;

/// The line. What no longer holds stays in it until it is first: a flow knows when its own timeout ends.
#[derive(Debug)]
pub(super) struct Timeouts {
    line: VecDeque<(Ps, u32)>,
    length: Ps,
}

impl Timeouts {
    pub(super) fn new(length: Ps) -> Self {
        Self { line: VecDeque::new(), length }
    }

    /// When the first ends.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ps {
        self.line.front().map_or(NEVER, |&(at, _)| at)
    }

    /// Something of the flow is under way: its timeout runs from now on, unless it is running.
    #[inline(always)]
    pub(super) fn start(&mut self, own: usize, source: &mut Source, now: Ps) {
        if source.times_out_at == NEVER {
            source.times_out_at = now + self.length;
            self.line.push_back((source.times_out_at, own as u32));
        }
    }

    /// The flow has got on: its timeout runs anew, if anything is under way.
    pub(super) fn restart(&mut self, own: usize, source: &mut Source, now: Ps) {
        source.times_out_at = NEVER;
        if source.has_in_flight() {
            self.start(own, source, now);
        }
    }

    /// The next flow whose timeout ends by `now`.
    pub(super) fn due(&mut self, sources: &[Source], now: Ps) -> Option<usize> {
        self.forget(sources);
        let own = self.line.front().filter(|&&(at, _)| at <= now)?.1;
        self.line.pop_front();
        Some(own as usize)
    }

    /// Takes what no longer holds from the front of the line.
    pub(super) fn forget(&mut self, sources: &[Source]) {
        while self.line.front().is_some_and(|&(at, own)| sources[own as usize].times_out_at != at) {
            self.line.pop_front();
        }
    }
}
