//! JSQ, join the shortest queue: the valid uplink with the fewest bytes queued, a uniformly random one among equals.
//!
//! *Source*: Ofan paper section 3.1 and Theorem 2 (downlink queues grow linearly: flows lock onto the port that they have just emptied).
//! *Differs*: none; bytes, unquantised, up to date. *State*: none. *Cost*: reads w queues.

use super::{Balancer, Choice};
use crate::fabric::UPLINKS_LIMIT;
use crate::rng::{Purpose, Stream};

/// Shortest queue at one switch; the stream breaks ties.
#[derive(Debug)]
pub struct Jsq {
    stream: Stream,
}

impl Jsq {
    pub(super) fn new(node: u32, seed: u64) -> Self {
        Self { stream: Stream::new(seed, Purpose::Balancer, u64::from(node)) }
    }
}

impl Balancer for Jsq {
    #[inline(always)]
    fn pick(&mut self, choice: Choice<'_>) -> u16 {
        let mut shortest = [0u16; UPLINKS_LIMIT as usize];
        let (mut ties, mut least) = (0, u64::MAX);
        for &port in &choice.valid.ports {
            let queued = choice.uplinks[usize::from(port)].queued_bytes(choice.now);
            if queued < least {
                (ties, least) = (0, queued);
            }
            if queued == least {
                shortest[ties] = port;
                ties += 1;
            }
        }
        if ties == 1 { shortest[0] } else { shortest[self.stream.below(ties as u64) as usize] }
    }
}
