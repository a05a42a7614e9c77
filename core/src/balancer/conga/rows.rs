//! What CONGA knows of paths, to and from each edge switch or pod that it has heard of.

use super::super::members;
use super::levels::Levels;
use crate::units::Ps;

/// One uplink of one row.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// When the metric of the path there was heard of.
    heard_at: Ps,
    /// Metric of the path from there.
    from: u8,
}

/// What is known of one edge switch or pod, but for what stands in its entries.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Row {
    /// Metrics of the paths there; zero where nothing was heard lately.
    there: Levels,
    /// Before this moment nothing in `there` is too old.
    stale_from: Ps,
    /// Uplinks whose metric from there has changed since it was fed back.
    changed: u64,
    /// The uplink to feed back next.
    next: usize,
}

/// The row that nobody reads. What is to be ignored is written there: every other packet is, and no processor can guess which.
pub(super) const NOWHERE: usize = 0;

/// Rows of an entry for each uplink, made when first asked for: a switch talks to few of all.
#[derive(Debug)]
pub(super) struct Rows {
    uplinks: usize,
    /// Number of the row of each key; zero when there is none yet.
    number: Box<[u32]>,
    entries: Vec<Entry>,
    rows: Vec<Row>,
    /// How long what was heard is believed.
    aging: Ps,
}

impl Rows {
    pub(super) fn new(keys: u32, uplinks: u32, aging: Ps) -> Self {
        let uplinks = uplinks as usize;
        Self {
            uplinks,
            number: vec![0; keys as usize].into(),
            entries: vec![Entry::default(); uplinks],
            rows: vec![Row::default()],
            aging,
        }
    }

    /// The number of a key's row.
    #[inline(always)]
    pub(super) fn of(&mut self, key: u32) -> usize {
        match self.number[key as usize] {
            0 => self.add(key),
            number => number as usize,
        }
    }

    #[cold]
    fn add(&mut self, key: u32) -> usize {
        self.rows.push(Row::default());
        self.entries.resize(self.rows.len() * self.uplinks, Entry::default());
        let row = self.rows.len() - 1;
        self.number[key as usize] = row as u32;
        row
    }

    /// The metrics of the paths there, by uplink; zero where nothing was heard lately.
    #[inline(always)]
    pub(super) fn there(&mut self, row: usize, now: Ps) -> Levels {
        if now >= self.rows[row].stale_from {
            self.forget(row, now);
        }
        self.rows[row].there
    }

    /// Forgets what is too old. What is heard later gets too old later than the moment noted here, so hearing need not look at it.
    #[cold]
    fn forget(&mut self, row: usize, now: Ps) {
        let entries = &self.entries[row * self.uplinks..(row + 1) * self.uplinks];
        let row = &mut self.rows[row];
        let mut oldest = now;
        for uplink in members(row.there.above_zero()).map(usize::from) {
            let heard_at = entries[uplink].heard_at;
            if now - heard_at >= self.aging {
                row.there.set(uplink, 0);
            } else {
                oldest = oldest.min(heard_at);
            }
        }
        row.stale_from = oldest.saturating_add(self.aging);
    }

    /// The path there through an uplink has this metric.
    #[inline(always)]
    pub(super) fn hear(&mut self, row: usize, (uplink, metric): (usize, u8), now: Ps) {
        self.entries[row * self.uplinks + uplink].heard_at = now;
        self.rows[row].there.set(uplink, metric);
    }

    /// A packet came from there through an uplink, over a path of this metric.
    #[inline(always)]
    pub(super) fn observe(&mut self, row: usize, uplink: usize, metric: u8) {
        let entry = &mut self.entries[row * self.uplinks + uplink];
        self.rows[row].changed |= u64::from(entry.from != metric) << uplink;
        entry.from = metric;
    }

    /// The next metric to feed back: round robin over what has changed, over everything when nothing has.
    #[inline(always)]
    pub(super) fn note(&mut self, row: usize) -> (usize, u8) {
        let notes = &mut self.rows[row];
        let ahead = notes.changed & u64::MAX << notes.next;
        let behind = if notes.changed == 0 { 1 << notes.next } else { notes.changed };
        let uplink = (if ahead == 0 { behind } else { ahead }).trailing_zeros() as usize;
        notes.changed &= !(1 << uplink);
        notes.next = if uplink + 1 == self.uplinks { 0 } else { uplink + 1 };
        (uplink, self.entries[row * self.uplinks + uplink].from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: of four uplinks 1 and 3 change; they are fed back first, then everything in turn.
    #[test]
    fn what_has_changed_is_fed_back_first() {
        let mut rows = Rows::new(9, 4, 100);
        let row = rows.of(5);
        rows.observe(row, 1, 2);
        rows.observe(row, 3, 6);
        let notes: Vec<_> = (0..4).map(|_| rows.note(row)).collect();
        assert_eq!(notes, [(1, 2), (3, 6), (0, 0), (1, 2)]);
        rows.observe(row, 0, 7);
        assert_eq!(rows.note(row), (0, 7), "changed, though uplink 2 was next");
        assert!(row != NOWHERE && rows.of(5) == row && rows.of(0) != row);
    }

    /// What is heard counts until it is `aging` old, each uplink by itself, and again when it is heard again.
    #[test]
    fn what_was_heard_is_forgotten() {
        let mut rows = Rows::new(9, 4, 100);
        let row = rows.of(5);
        let other = rows.of(6);
        let mut above_zero = |heard: Option<(usize, u8)>, now| {
            if let Some(heard) = heard {
                rows.hear(row, heard, now);
            }
            assert_eq!(rows.there(other, now).above_zero(), 0);
            rows.there(row, now).above_zero()
        };
        assert_eq!(above_zero(None, 50), 0);
        assert_eq!(above_zero(Some((2, 4)), 77), 0b100);
        assert_eq!(above_zero(Some((0, 7)), 99), 0b101);
        assert_eq!(above_zero(None, 176), 0b101);
        assert_eq!(above_zero(None, 177), 0b001);
        assert_eq!(above_zero(Some((0, 5)), 198), 0b001);
        assert_eq!(above_zero(None, 297), 0b001);
        assert_eq!(above_zero(Some((2, 1)), 298), 0b100);
        assert_eq!(above_zero(Some((2, 0)), 299), 0);
    }
}
