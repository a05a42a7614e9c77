//! The order in which a node handles what arrives in a window: by time, then by a hash that favours no input, then by input.

use crate::rng::{Purpose, Stream, mix};
use crate::units::Ps;

/// Longest window: an offset takes 24 bits of a key.
pub const WINDOW_LIMIT: Ps = 1 << 24;
/// Most packets in one batch.
pub const BATCH_LIMIT: usize = 1 << INGRESS_SHIFT;

const OFFSET_SHIFT: u32 = 40;
const INGRESS_SHIFT: u32 = 24;

/// Order among packets that reach a node at the same picosecond: a hash of the moment and of the input's salt.
#[derive(Clone, Copy, Debug)]
pub struct TieSalt(u64);

impl TieSalt {
    /// The salt of the link that enters through `port`.
    pub fn new(seed: u64, port: u32) -> Self {
        Self(Stream::new(seed, Purpose::Tie, u64::from(port)).next())
    }

    #[inline(always)]
    fn rank(self, at: Ps) -> u64 {
        mix(at ^ self.0) >> 48
    }
}

/// A packet's place in time: offset in the window (24 bits), local input port (16 bits), place in the batch (24 bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// The key of a packet that arrives `offset` after the window's start.
    #[inline(always)]
    pub fn new(offset: Ps, ingress: u32, place: usize) -> Self {
        debug_assert!(offset < WINDOW_LIMIT && ingress < 1 << 16 && place < BATCH_LIMIT);
        Self(offset << OFFSET_SHIFT | u64::from(ingress) << INGRESS_SHIFT | place as u64)
    }

    /// Time since the window's start.
    #[inline(always)]
    pub fn offset(self) -> Ps {
        self.0 >> OFFSET_SHIFT
    }

    /// Local number of the port that it came in through.
    #[inline(always)]
    pub fn ingress(self) -> u32 {
        (self.0 >> INGRESS_SHIFT) as u32 & 0xFFFF
    }

    /// Place in the batch.
    #[inline(always)]
    pub fn place(self) -> usize {
        self.0 as usize & (BATCH_LIMIT - 1)
    }
}

/// Keys of one direction, unsorted as they come in and then sorted.
#[derive(Debug, Default)]
pub struct Order {
    /// Keys as they come in, input by input.
    pub keys: Vec<Key>,
    sorted: Vec<Key>,
    counts: Vec<u32>,
}

impl Order {
    /// Sorts the keys of a window of this length. `salts` are those of the node's inputs.
    #[inline(always)]
    pub fn sort(&mut self, window_start: Ps, window: Ps, salts: &[TieSalt]) -> &[Key] {
        if self.keys.len() < 16 {
            self.sorted.clear();
            self.sorted.extend_from_slice(&self.keys);
        } else {
            self.spread(window);
        }
        if insertion_sort(&mut self.sorted) {
            self.settle_ties(window_start, salts);
        }
        &self.sorted
    }

    /// Arrivals are spread over the window, so one pass into as many buckets as packets leaves next to nothing to do.
    #[inline(always)]
    fn spread(&mut self, window: Ps) {
        let count = self.keys.len();
        let offset_bits = 64 - (window - 1).leading_zeros();
        let bucket_bits = count.next_power_of_two().trailing_zeros().min(offset_bits);
        let shift = OFFSET_SHIFT + offset_bits - bucket_bits;
        self.counts.clear();
        self.counts.resize(1 << bucket_bits, 0);
        for &Key(key) in &self.keys {
            // SAFETY: an offset is below the window, hence below 2^offset_bits, and what is left of it after the shift below 2^bucket_bits.
            unsafe { *self.counts.get_unchecked_mut((key >> shift) as usize) += 1 };
        }
        let mut total = 0;
        for slot in &mut self.counts {
            total += std::mem::replace(slot, total);
        }
        self.sorted.resize(count, Key(0));
        for &Key(key) in &self.keys {
            // SAFETY: as above; and the places handed out are the numbers 0 to count - 1, each once.
            unsafe {
                let place = self.counts.get_unchecked_mut((key >> shift) as usize);
                *self.sorted.get_unchecked_mut(*place as usize) = Key(key);
                *place += 1;
            }
        }
    }

    /// Packets that arrived at the same picosecond stand in order of input so far: no input may profit from its number.
    #[cold]
    fn settle_ties(&mut self, window_start: Ps, salts: &[TieSalt]) {
        for tied in self.sorted.chunk_by_mut(|a, b| a.offset() == b.offset()).filter(|tied| tied.len() > 1) {
            let at = window_start + tied[0].offset();
            tied.sort_by_key(|&key| (salts[key.ingress() as usize].rank(at), key));
        }
    }
}

/// Fast on what is nearly sorted, and leaves the rest to the library. Whether any two have the same offset: such keys meet while they are sorted.
#[inline(always)]
fn insertion_sort(keys: &mut [Key]) -> bool {
    /// Moves a key on average that are still cheaper than a general sort.
    const MOVES: usize = 16;
    let mut nearest = u64::MAX;
    let mut patience = keys.len() * MOVES;
    let Some(&Key(mut last)) = keys.first() else { return false };
    for right in 1..keys.len() {
        let Key(key) = keys[right];
        nearest = nearest.min(last ^ key);
        if last < key {
            last = key;
            continue;
        }
        keys[right] = Key(last);
        let mut place = right - 1;
        while place > 0 {
            let Key(previous) = keys[place - 1];
            nearest = nearest.min(previous ^ key);
            if previous < key {
                break;
            }
            keys[place] = Key(previous);
            place -= 1;
        }
        keys[place] = Key(key);
        if right - place > patience {
            keys.sort_unstable();
            return true;
        }
        patience -= right - place;
    }
    nearest >> OFFSET_SHIFT == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the library's sort: spread out, crowded into one moment, and lopsided.
    #[test]
    fn keys_come_out_in_time_order() {
        let mut stream = Stream::new(1, Purpose::Balancer, 0);
        let salts: Vec<TieSalt> = (0..7).map(|port| TieSalt::new(1, port)).collect();
        for (count, span) in
            [(0, 1), (1, 1), (5, 500_000), (300, 500_000), (300, 3), (3000, 500_000), (900, 40), (2000, 1), (20, 2)]
        {
            let mut order = Order::default();
            for ingress in 0..7 {
                let mut offsets: Vec<Ps> = (0..count / 7).map(|_| stream.below(span)).collect();
                offsets.sort_unstable();
                for offset in offsets {
                    order.keys.push(Key::new(offset, ingress, order.keys.len()));
                }
            }
            let mut wanted = order.keys.clone();
            wanted.sort_by_key(|&key| (key.offset(), salts[key.ingress() as usize].rank(7_000_000 + key.offset()), key));
            assert_eq!(order.sort(7_000_000, 500_000, &salts), wanted, "{count} in {span} ps");
        }
    }

    /// N inputs that always tie: each comes first equally often (chi-square, 7 degrees of freedom, p = 0.001 at 24.3).
    #[test]
    fn ties_are_fair() {
        let salts: Vec<TieSalt> = (0..8).map(|port| TieSalt::new(3, port)).collect();
        let mut firsts = [0u32; 8];
        for at in (0..80_000).map(|i| i * 41_780) {
            let first = (0..8).min_by_key(|&input| salts[input].rank(at)).unwrap_or(0);
            firsts[first] += 1;
        }
        let chi: f64 = firsts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 24.3, "chi-square {chi}, {firsts:?}");
    }
}
