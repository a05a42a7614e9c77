//! Metrics of all uplinks at once, a bit of each in one word: the best of up to 64 is found without a loop over them.

/// Three-bit metrics of up to 64 uplinks. Word i has bit i of all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Levels([u64; 3]);

impl Levels {
    #[inline(always)]
    pub(super) fn set(&mut self, uplink: usize, metric: u8) {
        for (bit, word) in self.0.iter_mut().enumerate() {
            *word = *word & !(1 << uplink) | u64::from(metric >> bit & 1) << uplink;
        }
    }

    /// The uplinks whose metric is not zero.
    pub(super) fn above_zero(self) -> u64 {
        self.0[0] | self.0[1] | self.0[2]
    }

    /// The larger metric of each uplink.
    #[inline(always)]
    pub(super) fn max(self, other: Self) -> Self {
        let differs: [u64; 3] = std::array::from_fn(|bit| self.0[bit] ^ other.0[bit]);
        // The highest bit in which two metrics differ tells which is larger.
        let is_larger = (0..3).fold(0, |below, bit| self.0[bit] & differs[bit] | below & !differs[bit]);
        Self(std::array::from_fn(|bit| other.0[bit] ^ differs[bit] & is_larger))
    }

    /// Those of these uplinks that have the smallest metric.
    #[inline(always)]
    pub(super) fn least(self, uplinks: u64) -> u64 {
        self.0.iter().rev().fold(uplinks, |left, word| if left & !word == 0 { left } else { left & !word })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Against one uplink after the other.
    #[test]
    fn the_best_are_those_that_a_loop_finds() {
        let mut stream = Stream::new(1, Purpose::Balancer, 0);
        for limit in 1..=8 {
            let (mut here, mut there) = (Levels::default(), Levels::default());
            let costs: Vec<u8> = (0..64)
                .map(|uplink| {
                    let metrics = [stream.below(8) as u8, stream.below(limit) as u8];
                    // Written twice: what was there before must not show.
                    here.set(uplink, 7);
                    here.set(uplink, metrics[0]);
                    there.set(uplink, metrics[1]);
                    metrics[0].max(metrics[1])
                })
                .collect();
            for valid in [u64::MAX, 1, 1 << 63, stream.next(), stream.next() & stream.next()] {
                let members: Vec<usize> = (0..64).filter(|uplink| valid >> uplink & 1 == 1).collect();
                let least = members.iter().map(|&uplink| costs[uplink]).min();
                let wanted =
                    members.iter().filter(|&&uplink| Some(costs[uplink]) == least).fold(0, |mask, uplink| mask | 1 << uplink);
                assert_eq!(here.max(there).least(valid), wanted);
            }
            assert_eq!(there.above_zero() == 0, limit == 1);
        }
    }
}
