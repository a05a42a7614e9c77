//! Random numbers from named streams: (run seed, purpose, owner) names a stream, so that a scheme that draws more does not shift another
//! and a result does not depend on which thread asked first.
//!
//! *Source*: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Kept here, in eight lines, because
//! the slow Python twin must draw the same numbers.

/// What a stream is for. The number is part of the stream's name: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Order of packets that reach a node at the same picosecond.
    Tie = 1,
    /// A host's start jitter.
    Jitter = 2,
    /// Where a host's round robin over flows starts.
    FirstFlow = 3,
    /// A switch's salt in hashing.
    Salt = 4,
    /// A switch balancer's own draws.
    Balancer = 5,
    /// A host spreader's own draws.
    Spreader = 6,
    /// Random losses of a link.
    Loss = 7,
    /// Drift of a host's clock.
    Clock = 8,
    /// A host transport's own draws.
    Transport = 9,
    /// Which data a port marks.
    Mark = 10,
    /// Which data a port trims.
    Trim = 11,
}

/// Bijective 64-bit mixer (the output function of SplitMix64).
#[inline(always)]
pub const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// One named stream.
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of this run for this purpose and owner (a node number).
    pub fn new(seed: u64, purpose: Purpose, owner: u64) -> Self {
        let state = mix(mix(mix(seed.wrapping_add(GOLDEN)) ^ purpose as u64).wrapping_add(GOLDEN) ^ owner);
        Self { state }
    }

    /// The next 64 random bits.
    #[inline(always)]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// Uniform in `0..n` (multiply-shift; the bias is below n / 2^64).
    #[inline(always)]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of SplitMix64 seeded with 1234567, published with the reference implementation.
    #[test]
    fn matches_the_published_vector() {
        let mut stream = Stream { state: 1_234_567 };
        let got: Vec<u64> = (0..3).map(|_| stream.next()).collect();
        assert_eq!(got, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn names_make_different_streams() {
        let a = Stream::new(1, Purpose::Jitter, 7).next();
        assert_ne!(a, Stream::new(2, Purpose::Jitter, 7).next());
        assert_ne!(a, Stream::new(1, Purpose::Salt, 7).next());
        assert_ne!(a, Stream::new(1, Purpose::Jitter, 8).next());
        assert_eq!(a, Stream::new(1, Purpose::Jitter, 7).next());
    }

    #[test]
    fn below_is_uniform() {
        let mut stream = Stream::new(3, Purpose::Balancer, 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        // Chi-square with 5 degrees of freedom: 20.5 is exceeded with probability 0.001.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 20.5, "chi-square {chi}, counts {counts:?}");
    }
}
