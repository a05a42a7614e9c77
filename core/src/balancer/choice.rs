//! CHOICE, the power of d choices: the shortest queue among d valid uplinks drawn at random.
//!
//! *Source*: Ofan paper, Table 1; Mitzenmacher, "The power of two choices in randomized load balancing", IEEE TPDS 2001.
//! *Differs*: none; d = 2 unless asked otherwise, ties at random. *State*: none. *Cost*: d random numbers, d queues read.

use super::{Balancer, Decision, cheapest};
use crate::fabric::ValidPorts;
use crate::rng::{Purpose, Stream};

/// Power of d choices at one switch.
#[derive(Debug)]
pub struct Choice {
    ports_sampled: u32,
    stream: Stream,
}

impl Choice {
    pub(super) fn new(ports_sampled: u32, node: u32, seed: u64) -> Self {
        Self { ports_sampled, stream: Stream::new(seed, Purpose::Balancer, u64::from(node)) }
    }
}

/// A mask of `count` of the valid uplinks, each set of so many as likely as any other (Floyd's algorithm); all of them when there are no more.
#[inline(always)]
pub(super) fn sample(valid: &ValidPorts, count: u32, stream: &mut Stream) -> u64 {
    let (mut taken, mut sample) = (0u64, 0);
    let all = valid.len();
    for last in all - (count as usize).min(all)..all {
        let place = stream.below(last as u64 + 1) as usize;
        let place = if taken >> place & 1 == 1 { last } else { place };
        taken |= 1 << place;
        sample |= 1 << valid.ports[place];
    }
    sample
}

impl Balancer for Choice {
    #[inline(always)]
    fn pick(&mut self, mut decision: Decision<'_>) -> u16 {
        let sample = sample(decision.valid, self.ports_sampled, &mut self.stream);
        cheapest(sample, &mut self.stream, |port| decision.queued_bytes(port))
    }
}
