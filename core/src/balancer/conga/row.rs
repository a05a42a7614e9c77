//! What CONGA knows of paths.

use crate::units::Ps;

/// What is known of the paths to and from one edge switch or pod, by uplink.
#[derive(Debug)]
pub(super) struct Row {
    /// Metric of the path there, and when it was heard of.
    pub(super) there: Box<[(u8, Ps)]>,
    /// Metric of the path from there.
    from: Box<[u8]>,
    /// Metrics of `from` that have not been fed back since they changed.
    changed: u64,
    next: usize,
}

impl Row {
    pub(super) fn new(uplinks: usize) -> Self {
        Self { there: vec![(0, 0); uplinks].into(), from: vec![0; uplinks].into(), changed: 0, next: 0 }
    }

    pub(super) fn observe(&mut self, uplink: usize, metric: u8) {
        self.changed |= u64::from(self.from[uplink] != metric) << uplink;
        self.from[uplink] = metric;
    }

    /// The next note to feed back: round robin over what has changed, over everything when nothing has.
    pub(super) fn note(&mut self) -> (usize, u8) {
        let ahead = self.changed & u64::MAX << self.next;
        let uplink = match (ahead, self.changed) {
            (0, 0) => self.next,
            (0, behind) => behind.trailing_zeros() as usize,
            (ahead, _) => ahead.trailing_zeros() as usize,
        };
        self.changed &= !(1 << uplink);
        self.next = if uplink + 1 == self.from.len() { 0 } else { uplink + 1 };
        (uplink, self.from[uplink])
    }
}
