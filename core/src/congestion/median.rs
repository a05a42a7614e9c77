//! The median of the latest samples. Under packet spraying the feedback of one moment comes from many paths, and the latest sample says little about them all.

use crate::units::Ps;
use std::collections::VecDeque;

/// The latest samples, in order of time and in order of size.
#[derive(Debug, Default)]
pub struct SlidingMedian {
    recent: VecDeque<Ps>,
    sorted: Vec<Ps>,
}

impl SlidingMedian {
    /// Takes in a sample; no more than the latest `most` (at least this one) stay.
    pub fn push(&mut self, sample: Ps, most: usize) {
        let most = most.max(1);
        while self.recent.len() > most {
            let place = self.place_of_oldest();
            self.sorted.remove(place);
            self.recent.pop_front();
        }
        let to = self.sorted.partition_point(|&other| other < sample);
        if self.recent.len() < most {
            self.sorted.insert(to, sample);
        } else {
            // One move of what lies between where the oldest goes out and where the new one comes in.
            let from = self.place_of_oldest();
            self.recent.pop_front();
            if from < to {
                self.sorted.copy_within(from + 1..to, from);
                self.sorted[to - 1] = sample;
            } else {
                self.sorted.copy_within(to..from, to + 1);
                self.sorted[to] = sample;
            }
        }
        self.recent.push_back(sample);
    }

    fn place_of_oldest(&self) -> usize {
        let oldest = self.recent[0];
        self.sorted.partition_point(|&other| other < oldest)
    }

    /// The median, of an even number the lower one; none without samples.
    pub fn lower(&self) -> Option<Ps> {
        self.sorted.get(self.sorted.len().checked_sub(1)? / 2).copied()
    }

    /// Forgets all samples.
    pub fn clear(&mut self) {
        self.recent.clear();
        self.sorted.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted_anew(samples: &[Ps], most: usize) -> Ps {
        let mut latest = samples[samples.len().saturating_sub(most)..].to_vec();
        latest.sort_unstable();
        latest[(latest.len() - 1) / 2]
    }

    #[test]
    fn by_hand() {
        let mut median = SlidingMedian::default();
        assert_eq!(median.lower(), None);
        let medians = [5, 1, 9, 7, 2, 2].map(|sample| {
            median.push(sample, 4);
            median.lower().unwrap()
        });
        assert_eq!(medians, [5, 1, 5, 5, 2, 2], "of 5; 15; 159; 1579; 1279; 2279");
        median.push(3, 1);
        assert_eq!(median.lower(), Some(3), "the latest only");
        median.clear();
        assert_eq!(median.lower(), None);
    }

    proptest! {
        /// A sort of the same samples says the same, while the window grows and shrinks, and with many ties.
        #[test]
        fn as_a_sort(steps in proptest::collection::vec((0u64..40, 1usize..12), 1..300)) {
            let (mut median, mut kept) = (SlidingMedian::default(), Vec::new());
            for (sample, most) in steps {
                median.push(sample, most);
                kept.push(sample);
                prop_assert_eq!(median.lower().unwrap(), sorted_anew(&kept, most));
                // What has left a smaller window is gone for good.
                kept.drain(..kept.len().saturating_sub(most));
            }
        }
    }
}
