//! DRILL(d, m): the shortest queue among d valid uplinks drawn at random and the m that were best at the last packet.
//!
//! *Source*: Ghorbani et al., SIGCOMM 2017; Ofan paper, Table 1. *Differs*: one engine a switch, so one memory;
//! no decomposition into symmetric components under failures (the Ofan paper has no such runs). *State*: m ports. *Cost*: d random numbers, d + m queues read.

use super::choice::sample;
use super::{Balancer, Decision, cheapest, members};
use crate::fabric::{Fabric, ValidPorts};
use crate::rng::{Purpose, Stream};

/// DRILL at one switch.
#[derive(Debug)]
pub struct Drill {
    ports_sampled: u32,
    ports_remembered: usize,
    remembered: Vec<u16>,
    stream: Stream,
}

impl Drill {
    pub(super) fn new(ports_sampled: u32, ports_remembered: u32, fabric: &Fabric, node: u32, seed: u64) -> Self {
        let mut stream = Stream::new(seed, Purpose::Balancer, u64::from(node));
        let all = ValidPorts::all(fabric.switch(node).up);
        let remembered: Vec<u16> = members(sample(&all, ports_remembered, &mut stream)).collect();
        Self { ports_sampled, ports_remembered: remembered.len(), remembered, stream }
    }
}

impl Balancer for Drill {
    #[inline(always)]
    fn pick(&mut self, mut decision: Decision<'_>) -> u16 {
        let mut candidates = sample(decision.valid, self.ports_sampled, &mut self.stream);
        for &port in &self.remembered {
            candidates |= decision.valid.mask & 1 << port;
        }
        let best = cheapest(candidates, &mut self.stream, |port| decision.queued_bytes(port));
        if self.ports_remembered == 1 {
            self.remembered[0] = best;
        } else {
            self.remembered.clear();
            self.remembered.extend(members(candidates));
            self.remembered.sort_by_key(|&port| (decision.queued_bytes(port), port != best, port));
            self.remembered.truncate(self.ports_remembered);
        }
        best
    }
}
