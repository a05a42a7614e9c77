//! Time, size and rate. Time is integer picoseconds: a byte is exactly 10 ps at 800 Gb/s, and 2^64 ps last 213 days.

/// Picoseconds.
pub type Ps = u64;

/// "Never happened" in a column of moments.
pub const NEVER: Ps = Ps::MAX;

/// Bits after the binary point of a [`BytePace`].
const FRACTION_BITS: u32 = 22;

/// How long a byte occupies a link: picoseconds with 22 fractional bits, so that every frame at every rate is right to the nearest picosecond, but for ties,
/// and the usual ones (any divisor of 8 Tb/s) exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytePace(u64);

impl BytePace {
    /// From a rate in bit/s. `None` when it is zero or below the slowest rate whose times fit (1 Mb/s).
    pub fn from_rate(bits_per_second: u64) -> Option<Self> {
        if bits_per_second < 1_000_000 {
            return None;
        }
        let numerator = 8_000_000_000_000u128 << FRACTION_BITS;
        let rate = u128::from(bits_per_second);
        Some(Self(((numerator + rate / 2) / rate) as u64))
    }

    /// Time to send this many bytes, to the nearest picosecond.
    #[inline(always)]
    pub const fn time(self, bytes: u32) -> Ps {
        (bytes as u64 * self.0 + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS
    }
}

/// A share between 0 and 1 with 32 fractional bits. Averages are kept with these and not in floating point, whose powers differ from machine to machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u64);

impl Share {
    /// All of it.
    pub const ONE: Self = Self(1 << 32);

    /// The nearest share to `value`, which is between 0 and 1.
    pub fn nearest(value: f64) -> Self {
        Self((value * Self::ONE.0 as f64).round() as u64)
    }

    /// `part` of `whole`, at most all of it.
    pub fn ratio(part: u64, whole: u64) -> Self {
        Self((u128::from(part.min(whole)) * u128::from(Self::ONE.0) / u128::from(whole.max(1))) as u64)
    }

    /// So much of a value, rounded down.
    #[inline(always)]
    pub fn of(self, value: u64) -> u64 {
        ((u128::from(value) * u128::from(self.0)) >> 32) as u64
    }

    /// The share of the share of the share ... so many times.
    pub fn power(self, mut times: u64) -> Self {
        let (mut base, mut result) = (self, Self::ONE);
        while times > 0 {
            if times % 2 == 1 {
                result = Self(base.of(result.0));
            }
            base = Self(base.of(base.0));
            times /= 2;
        }
        result
    }

    /// What is missing to all of it.
    pub fn rest(self) -> Self {
        Self(Self::ONE.0 - self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_serialisation_times() {
        let pace = BytePace::from_rate(800_000_000_000).unwrap();
        assert_eq!((pace.time(4158), pace.time(64), pace.time(20)), (41_580, 640, 200));
        assert_eq!(BytePace::from_rate(100_000_000_000).unwrap().time(1), 80);
    }

    #[test]
    fn odd_rates_round_to_the_nearest_picosecond() {
        // 300 Gb/s: 9000 * 8 / 0.3 = 240,000 ps exactly, although a byte takes 26.67 ps.
        assert_eq!(BytePace::from_rate(300_000_000_000).unwrap().time(9000), 240_000);
        assert_eq!(BytePace::from_rate(999_999), None);
    }

    #[test]
    fn shares_of_shares() {
        let quarter = Share::nearest(0.25);
        assert_eq!((quarter, quarter.rest()), (Share::ratio(2, 8), Share::ratio(3, 4)));
        assert_eq!((quarter.of(1000), quarter.power(2), quarter.power(0)), (250, Share::ratio(1, 16), Share::ONE));
        assert_eq!((Share::ratio(9, 4), quarter.power(17)), (Share::ONE, Share(0)), "no more than all; 2^-34 is nothing");
    }
}
