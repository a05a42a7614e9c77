//! ECN: at which queue data is marked.
//!
//! *Source*: RFC 3168 for the mark, RFC 8257, section 3.1, for the step at enqueue, and for the ramp the linear part of RED (Floyd and Jacobson, ToN 1993), with
//! the queue as it is in the place of an average. *State*: a stream of random numbers. *Cost*: two comparisons, and a draw on the ramp.

use crate::config::{EcnAt, PortConfig};
use crate::rng::{Purpose, Stream};

/// The marks of one port.
#[derive(Clone, Debug)]
pub struct Marking {
    threshold_bytes: u64,
    full_bytes: u64,
    at: EcnAt,
    stream: Stream,
}

impl Marking {
    /// Those of a port of this number; nothing when it marks nothing.
    pub fn new(config: &PortConfig, seed: u64, port: u64) -> Option<Self> {
        let threshold_bytes = config.ecn_threshold_bytes?;
        Some(Self {
            threshold_bytes,
            full_bytes: config.ecn_full_bytes.unwrap_or(threshold_bytes),
            at: config.ecn_at,
            stream: Stream::new(seed, Purpose::Mark, port),
        })
    }

    /// Which queue counts.
    pub fn at(&self) -> EcnAt {
        self.at
    }

    /// Whether data at a queue of so many bytes, itself included, is marked: above the threshold with a probability that rises evenly from 0, to 1 where all is.
    pub fn hits(&mut self, queue_bytes: u64) -> bool {
        let above = queue_bytes.saturating_sub(self.threshold_bytes);
        above > 0 && (queue_bytes >= self.full_bytes || self.stream.below(self.full_bytes - self.threshold_bytes) < above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DisciplineConfig;

    fn marking(threshold: u64, full: Option<u64>) -> Marking {
        let config = PortConfig {
            buffer_bytes: None,
            ecn_threshold_bytes: Some(threshold),
            ecn_full_bytes: full,
            ecn_at: EcnAt::Dequeue,
            shared_buffer: None,
            pfc: None,
            discipline: DisciplineConfig::Fifo {},
        };
        Marking::new(&config, 1, 7).unwrap()
    }

    #[test]
    fn a_step_is_above_the_threshold() {
        for full in [None, Some(1000)] {
            let mut step = marking(1000, full);
            assert_eq!([0, 1000, 1001, u64::MAX].map(|queue| step.hits(queue)), [false, false, true, true]);
        }
    }

    /// The ramp from 2,000 to 10,000 bytes, 20,000 frames at each of five queues: chi-square with 5 degrees of freedom, 20.5 at p = 0.001. At its ends nothing is left
    /// to chance.
    #[test]
    fn a_ramp_marks_its_share() {
        const FRAMES: u32 = 20_000;
        let mut ramp = marking(2000, Some(10_000));
        let mut chi = 0.0;
        for (queue, probability) in [(2080, 0.01), (3000, 0.125), (6000, 0.5), (9000, 0.875), (9920, 0.99)] {
            let marked = (0..FRAMES).filter(|_| ramp.hits(queue)).count() as f64;
            let expected = f64::from(FRAMES) * probability;
            chi += (marked - expected).powi(2) / (expected * (1.0 - probability));
        }
        assert!(chi < 20.5, "chi-square {chi}");
        assert!((0..FRAMES).all(|_| !ramp.hits(2000) && ramp.hits(10_000)));
    }
}
