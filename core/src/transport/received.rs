//! Which packets of a flow have got there: everything below a number, and some above it.

use std::collections::VecDeque;

/// A set of sequence numbers that are mostly consecutive. Memory goes with the span of what is out of order.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    /// Everything below is in.
    below: u32,
    /// Bit i of word j: `below / 64 * 64 + 64 * j + i` is in.
    words: VecDeque<u64>,
    /// How many are in.
    count: u32,
}

impl Received {
    /// The smallest number that is not in.
    pub(super) fn below(&self) -> u32 {
        self.below
    }

    /// How many are in.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Whether this number is in.
    #[inline(always)]
    pub(super) fn contains(&self, psn: u32) -> bool {
        if psn < self.below {
            return true;
        }
        let place = psn - self.below / 64 * 64;
        self.words.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// The smallest number from `from` on that is not in.
    pub(super) fn next_missing(&self, from: u32) -> u32 {
        let base = self.below / 64 * 64;
        let mut place = from.max(self.below) - base;
        while let Some(&word) = self.words.get(place as usize / 64) {
            let bit = place % 64;
            let run = (!(word >> bit)).trailing_zeros().min(64 - bit);
            place += run;
            if bit + run < 64 {
                break;
            }
        }
        base + place
    }

    /// Puts a number in; whether it was not there.
    #[inline(always)]
    pub(super) fn insert(&mut self, psn: u32) -> bool {
        if self.contains(psn) {
            return false;
        }
        let base = self.below / 64 * 64;
        let place = psn - base;
        let word = place as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (place % 64);
        self.count += 1;
        if psn == self.below {
            self.move_up();
        }
        true
    }

    /// Puts everything below a number in.
    pub(super) fn insert_below(&mut self, psn: u32) {
        while self.below < psn {
            self.insert(self.below);
        }
    }

    fn move_up(&mut self) {
        loop {
            let bit = self.below % 64;
            let Some(&word) = self.words.front() else { return };
            let run = (!(word >> bit)).trailing_zeros().min(64 - bit);
            self.below += run;
            if bit + run < 64 {
                return;
            }
            self.words.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use std::collections::BTreeSet;

    /// Against the library's set, in a window that moves: random numbers, each several times.
    #[test]
    fn as_a_set_does() {
        let (mut stream, mut wanted, mut received) =
            (Stream::new(1, Purpose::Transport, 0), BTreeSet::new(), Received::default());
        for step in 0..20_000u32 {
            let psn = (step / 4 + stream.below(200) as u32).saturating_sub(100);
            assert_eq!(received.insert(psn), wanted.insert(psn), "{psn}");
            let below = (0..).find(|psn| !wanted.contains(psn)).unwrap();
            assert_eq!((received.below(), received.count()), (below, wanted.len() as u32));
            assert_eq!(received.contains(psn + 3), wanted.contains(&(psn + 3)));
            let missing = (psn + 3..).find(|psn| !wanted.contains(psn)).unwrap();
            assert_eq!(received.next_missing(psn + 3), missing);
        }
        received.insert_below(10_000);
        assert_eq!((received.below(), received.count()), (10_000, 10_000));
        assert!(received.words.len() < 3, "what is done takes no memory");
    }
}
