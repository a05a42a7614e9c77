//! The token bucket that holds Sims back to the rate at which their Datas can follow.
//!
//! *Source*: dcSim paper, section 2.3: a token every (L + 2.1 l) / C, the 2.1 being the Sim-Acks, the Sims and the Data-Acks that go with a data packet. *Differs*:
//! where frames have gaps, each frame takes its gap too. The bucket is full at the start; a token is spent when the Sim starts on the wire.

use crate::config::FrameConfig;
use crate::units::{BytePace, Ps};

/// Time from one token to the next at a port of this pace, by a clock that runs at `clock_rate`.
pub fn interval(frame: &FrameConfig, token_factor: f64, pace: BytePace, clock_rate: f64) -> Ps {
    let occupancy = |bytes: u32| (pace.time(bytes) + pace.time(frame.gap_bytes)) as f64;
    let data = occupancy(frame.header_bytes + frame.payload_bytes);
    ((data + token_factor * occupancy(frame.ack_bytes)) / clock_rate).round() as Ps
}

/// One bucket. No counter: it is known when it would be full again, and each token that is missing is one interval of that.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    interval: Ps,
    /// From this long before it is full, it holds at least one token.
    reach: Ps,
    full_at: Ps,
}

impl TokenBucket {
    /// A full bucket of so many tokens.
    pub fn new(tokens: u32, interval: Ps) -> Self {
        Self { interval, reach: interval * u64::from(tokens.max(1) - 1), full_at: 0 }
    }

    /// From when on there is a token, if none is spent before.
    #[inline(always)]
    pub fn next_at(&self) -> Ps {
        self.full_at.saturating_sub(self.reach)
    }

    /// Spends one at `now`, which is no earlier than [`TokenBucket::next_at`].
    #[inline(always)]
    pub fn spend(&mut self, now: Ps) {
        debug_assert!(now >= self.next_at());
        self.full_at = self.full_at.max(now) + self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LastFrame;

    /// Three tokens, one every 10: a burst of three, then one every 10; after a pause of 20, two at once.
    #[test]
    fn a_burst_and_then_the_rate() {
        let mut bucket = TokenBucket::new(3, 10);
        let mut spent = Vec::new();
        for _ in 0..5 {
            let at = bucket.next_at().max(100);
            bucket.spend(at);
            spent.push(at);
        }
        assert_eq!(spent, [100, 100, 100, 110, 120]);
        bucket.spend(145);
        assert_eq!(bucket.next_at(), 140, "one at 130, one at 140, of which one is left");
        bucket.spend(145);
        assert_eq!(bucket.next_at(), 150);
    }

    /// dcSim paper, section 2.5: delta = (L + 2.1 l) / C, 91.34 ns for jumbo frames at 800 Gb/s.
    #[test]
    fn the_papers_interval() {
        let frame =
            FrameConfig { payload_bytes: 9000, header_bytes: 0, ack_bytes: 64, gap_bytes: 0, last_frame: LastFrame::Full };
        let pace = BytePace::from_rate(800_000_000_000).unwrap();
        assert_eq!(interval(&frame, 2.1, pace, 1.0), 91_344);
        assert_eq!(interval(&frame, 2.1, pace, 1.00004), 91_340, "a fast clock makes short intervals");
    }
}
