//! CHOICE, the power of d choices: the shortest queue among d valid uplinks drawn at random.
//!
//! *Source*: Ofan paper, Table 1; Mitzenmacher, "The power of two choices in randomized load balancing", IEEE TPDS 2001.
//! *Differs*: none; d = 2 unless asked otherwise, ties at random. *State*: none. *Cost*: d random numbers, d queues read.

use super::{Balancer, Decision, cheapest};
use crate::fabric::{UPLINKS_LIMIT, ValidPorts};
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

/// Different uplinks drawn for one packet.
pub(super) struct Sample {
    ports: [u16; UPLINKS_LIMIT as usize],
    count: usize,
}

impl Sample {
    /// `count` of the valid uplinks, each set of so many as likely as any other (Floyd's algorithm); all of them when there are no more.
    #[inline(always)]
    pub(super) fn draw(valid: &ValidPorts, count: u32, stream: &mut Stream) -> Self {
        let mut sample = Self { ports: [0; UPLINKS_LIMIT as usize], count: 0 };
        let (mut taken, all) = (0u128, valid.len());
        for last in all - (count as usize).min(all)..all {
            let place = stream.below(last as u64 + 1) as usize;
            let place = if taken >> place & 1 == 1 { last } else { place };
            taken |= 1 << place;
            sample.add(valid.ports[place]);
        }
        sample
    }

    /// One more.
    #[inline(always)]
    pub(super) fn add(&mut self, port: u16) {
        self.ports[self.count] = port;
        self.count += 1;
    }

    #[inline(always)]
    pub(super) fn ports(&self) -> &[u16] {
        &self.ports[..self.count]
    }
}

impl Balancer for Choice {
    #[inline(always)]
    fn pick(&mut self, mut decision: Decision<'_>) -> u16 {
        let sample = Sample::draw(decision.valid, self.ports_sampled, &mut self.stream);
        cheapest(sample.ports(), &mut self.stream, |port| decision.queued_bytes(port))
    }
}
