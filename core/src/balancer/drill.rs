//! DRILL(d, m): the shortest queue among d valid uplinks drawn at random and the m that were best at the last packet.
//!
//! *Source*: Ghorbani et al., SIGCOMM 2017; Ofan paper, Table 1. *Differs*: one engine a switch, so one memory;
//! no decomposition into symmetric components under failures (the Ofan paper has no such runs). *State*: m ports. *Cost*: d random numbers, d + m queues read.

use super::choice::Sample;
use super::{Balancer, Decision, cheapest};
use crate::fabric::Fabric;
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
        let all = crate::fabric::ValidPorts::all(fabric.switch(node).up);
        let remembered = Sample::draw(&all, ports_remembered, &mut stream).ports().to_vec();
        Self { ports_sampled, ports_remembered: remembered.len(), remembered, stream }
    }
}

impl Balancer for Drill {
    #[inline(always)]
    fn pick(&mut self, mut decision: Decision<'_>) -> u16 {
        let mut candidates = Sample::draw(decision.valid, self.ports_sampled, &mut self.stream);
        for &port in &self.remembered {
            if decision.allows(port) && !candidates.ports().contains(&port) {
                candidates.add(port);
            }
        }
        let best = cheapest(candidates.ports(), &mut self.stream, |port| decision.queued_bytes(port));
        self.remembered.clear();
        if self.ports_remembered == 1 {
            self.remembered.push(best);
        } else {
            self.remembered.extend_from_slice(candidates.ports());
            self.remembered.sort_by_key(|&port| (decision.queued_bytes(port), port != best, port));
            self.remembered.truncate(self.ports_remembered);
        }
        best
    }
}
