//! JSQ, join the shortest queue: the valid uplink with the fewest bytes queued, a uniformly random one among equals.
//!
//! *Source*: Ofan paper section 3.1 and Theorem 2 (downlink queues grow linearly: flows lock onto the port that they have just emptied).
//! *Differs*: none; bytes, unquantised, up to date. The paper does not say what ACKs do: as data here, or a random
//! uplink. *State*: none. *Cost*: reads w queues.

use super::{Balancer, Decision, cheapest, random};
use crate::config::AckRouting;
use crate::rng::{Purpose, Stream};

/// Shortest queue at one switch; the stream breaks ties.
#[derive(Debug)]
pub struct Jsq {
    acks: AckRouting,
    stream: Stream,
}

impl Jsq {
    pub(super) fn new(acks: AckRouting, node: u32, seed: u64) -> Self {
        Self { acks, stream: Stream::new(seed, Purpose::Balancer, u64::from(node)) }
    }
}

impl Balancer for Jsq {
    #[inline(always)]
    fn pick(&mut self, mut decision: Decision<'_>) -> u16 {
        if self.acks == AckRouting::Random && decision.packet.is_control() {
            return random(decision.valid, &mut self.stream);
        }
        cheapest(decision.valid.mask, &mut self.stream, |port| decision.queued_bytes(port))
    }
}
