//! Flows of a host that have not begun.

use crate::units::{NEVER, Ps};
use crate::workload::{SendFlow, Workload};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows that will be ready at a known time, by that time.
#[derive(Debug)]
pub(super) struct Starts {
    waiting: BinaryHeap<Reverse<(Ps, u32)>>,
    next_at: Ps,
}

impl Starts {
    /// Those of a host; every flow is put off by `jitter`.
    pub(super) fn new(workload: &mut Workload, host: u32, jitter: Ps) -> Self {
        let mut waiting = Vec::new();
        for flow in workload.sent_by(host as usize) {
            let send = &mut workload.send[flow as usize];
            send.ready_at += jitter;
            if send.waits == 0 {
                waiting.push(Reverse((send.ready_at, flow)));
            }
        }
        let mut starts = Self { waiting: waiting.into(), next_at: NEVER };
        starts.refresh();
        starts
    }

    /// When the first will be ready.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ps {
        self.next_at
    }

    /// One wait less for a flow.
    pub(super) fn release(&mut self, flow: u32, send: &mut SendFlow, at: Ps) {
        if send.release(at) {
            self.waiting.push(Reverse((send.ready_at, flow)));
            self.refresh();
        }
    }

    /// The next flow that is ready by `now`; in order of time, then of number.
    pub(super) fn due(&mut self, now: Ps) -> Option<u32> {
        if self.next_at > now {
            return None;
        }
        let flow = self.waiting.pop().map(|Reverse((_, flow))| flow);
        self.refresh();
        flow
    }

    fn refresh(&mut self) {
        self.next_at = self.waiting.peek().map_or(NEVER, |&Reverse((at, _))| at);
    }
}
