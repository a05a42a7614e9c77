//! The sending side of one flow.

use super::outstanding::Outstanding;
use super::sender::{Frames, Sender};
use crate::units::Ps;
use crate::workload::SendFlow;

/// The sending side of one flow.
#[derive(Debug)]
pub(super) struct Flow<S> {
    pub(super) sender: S,
    pub(super) out: Outstanding,
    /// Arrivals that ACKs have told of, and how many they were when `out` last got beyond a hole.
    pub(super) read: u32,
    pub(super) moved_at: u32,
    pub(super) has_begun: bool,
    pub(super) is_live: bool,
}

impl<S: Sender> Flow<S> {
    #[inline(always)]
    pub(super) fn may_send(&self, flow: &SendFlow, now: Ps, frames: Frames<'_>) -> Option<u32> {
        if self.has_begun { self.sender.next(flow, &self.out, now, frames) } else { None }
    }
}
