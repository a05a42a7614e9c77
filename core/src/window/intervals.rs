//! The intervals of the series: where they end, and what has happened in each. There are never more rows than allowed: when they are full, each two become one, and intervals are twice as long.

use super::shared::{Shared, lock};
use crate::measure::{Sample, WindowRow};
use crate::units::{NEVER, Ps};

/// The series of a run.
pub(super) struct Intervals {
    /// Length of an interval, and where the present one ends.
    length: Ps,
    pub(super) next_at: Ps,
    most_rows: usize,
    last: Sample,
    pub(super) rows: Vec<Sample>,
    pub(super) windows: Vec<WindowRow>,
}

impl Intervals {
    /// No series without a `length`.
    pub(super) fn new(length: Option<Ps>, most_rows: Option<u32>) -> Self {
        Self {
            length: length.unwrap_or(NEVER),
            next_at: length.unwrap_or(NEVER),
            most_rows: most_rows.map_or(usize::MAX, |most| most as usize & !1),
            last: Sample::default(),
            rows: Vec::new(),
            windows: Vec::new(),
        }
    }

    /// Ends the intervals that end by `now`. Threads have just said what they have counted, and nothing has happened since the end of the first of them.
    pub(super) fn pass(&mut self, shared: &Shared, now: Ps) {
        while self.next_at <= now {
            let at = self.next_at;
            self.end_one(shared, at);
            self.next_at = (at / self.length + 1).saturating_mul(self.length);
        }
    }

    /// Ends the last interval, when the run has ended in the midst of it.
    pub(super) fn end(&mut self, shared: &Shared, now: Ps) {
        if self.length != NEVER && now > self.last.at {
            self.end_one(shared, now);
        }
    }

    fn end_one(&mut self, shared: &Shared, at: Ps) {
        // The interval in hand may end beside the pairs; only whole ones are joined.
        if self.rows.len() >= self.most_rows && self.rows.len() % 2 == 0 {
            self.halve();
            if self.next_at == at && at % self.length != 0 {
                return;
            }
        }
        let mut sample = Sample { at, ..Sample::default() };
        for report in &shared.reports {
            let report = lock(report);
            if let Some(own) = &report.sample {
                sample.add(own);
            }
            self.windows.extend(report.windows.iter().map(|&row| WindowRow { at, ..row }));
        }
        self.rows.push(sample.since(&self.last));
        self.last = sample;
    }

    fn halve(&mut self) {
        self.rows = self.rows.chunks(2).map(|pair| pair[0].joined(&pair[pair.len() - 1])).collect();
        self.length = self.length.saturating_mul(2);
        let length = self.length;
        self.windows.retain(|row| row.at % length == 0);
    }
}
