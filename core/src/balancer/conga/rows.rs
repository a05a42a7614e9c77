//! What CONGA knows of paths, to and from each edge switch or pod that it has heard of.

use crate::units::Ps;

/// One uplink of one row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// When the metric of the path there was heard of.
    pub(super) heard_at: Ps,
    /// Metric of the path there.
    pub(super) there: u8,
    /// Metric of the path from there.
    from: u8,
}

/// What is to be fed back to one edge switch or pod.
#[derive(Clone, Copy, Debug, Default)]
struct Notes {
    /// Uplinks whose metric has changed since it was fed back.
    changed: u64,
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
    notes: Vec<Notes>,
}

impl Rows {
    pub(super) fn new(keys: u32, uplinks: u32) -> Self {
        Self { uplinks: uplinks as usize, number: vec![0; keys as usize].into(), entries: Vec::new(), notes: Vec::new() }
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
        self.notes.push(Notes::default());
        self.entries.resize(self.notes.len() * self.uplinks, Entry::default());
        let row = self.notes.len() - 1;
        self.number[key as usize] = row as u32;
        row
    }

    /// The entries of a row, by uplink.
    #[inline(always)]
    pub(super) fn entries(&self, row: usize) -> &[Entry] {
        &self.entries[row * self.uplinks..(row + 1) * self.uplinks]
    }

    /// The path there through an uplink has this metric.
    #[inline(always)]
    pub(super) fn hear(&mut self, row: usize, (uplink, metric): (usize, u8), now: Ps) {
        let entry = &mut self.entries[row * self.uplinks + uplink];
        (entry.there, entry.heard_at) = (metric, now);
    }

    /// A packet came from there through an uplink, over a path of this metric.
    #[inline(always)]
    pub(super) fn observe(&mut self, row: usize, uplink: usize, metric: u8) {
        let entry = &mut self.entries[row * self.uplinks + uplink];
        self.notes[row].changed |= u64::from(entry.from != metric) << uplink;
        entry.from = metric;
    }

    /// The next metric to feed back: round robin over what has changed, over everything when nothing has.
    #[inline(always)]
    pub(super) fn note(&mut self, row: usize) -> (usize, u8) {
        let notes = &mut self.notes[row];
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
        let mut rows = Rows::new(9, 4);
        let row = rows.of(5);
        rows.observe(row, 1, 2);
        rows.observe(row, 3, 6);
        let notes: Vec<_> = (0..4).map(|_| rows.note(row)).collect();
        assert_eq!(notes, [(1, 2), (3, 6), (0, 0), (1, 2)]);
        rows.observe(row, 0, 7);
        assert_eq!(rows.note(row), (0, 7), "changed, though uplink 2 was next");
        rows.hear(row, (2, 4), 77);
        let other = rows.of(0);
        assert_ne!(other, row);
        assert_eq!((rows.entries(row)[2].there, rows.entries(row)[2].heard_at, rows.entries(other)[2].there), (4, 77, 0));
    }
}
