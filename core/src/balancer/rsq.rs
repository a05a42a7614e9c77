//! RSQ, random switch queueing: every northbound packet takes a uniformly random valid uplink.
//!
//! *Source*: Ofan paper sections 3.1 and 3.3 (queues grow as sqrt(m), Theorem 1). *Differs*: none. *State*: none. *Cost*: one random number.

use super::{Balancer, Decision, random};
use crate::rng::{Purpose, Stream};

/// Random decision at one switch.
#[derive(Debug)]
pub struct Rsq {
    stream: Stream,
}

impl Rsq {
    pub(super) fn new(node: u32, seed: u64) -> Self {
        Self { stream: Stream::new(seed, Purpose::Balancer, u64::from(node)) }
    }
}

impl Balancer for Rsq {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        random(decision.valid, &mut self.stream)
    }
}
