//! SimpleRR: one pointer a switch, every northbound packet (data and ACK alike) takes the next valid uplink.
//!
//! *Source*: Ofan paper section 3.1, Theorem 2 (downlink queues grow linearly: flows stick to an aggregation index).
//! *Differs*: none (htsim's "RR" reshuffles its list and hashes small packets; this does not). *State*: one pointer. *Cost*: one increment.

use super::{Balancer, Decision};
use crate::fabric::Fabric;
use crate::rng::{Purpose, Stream};

/// The pointer of one switch.
#[derive(Debug)]
pub struct SimpleRr {
    next: u16,
}

impl SimpleRr {
    pub(super) fn new(fabric: &Fabric, node: u32, seed: u64) -> Self {
        let uplinks = u64::from(fabric.switch(node).up);
        Self { next: Stream::new(seed, Purpose::Balancer, u64::from(node)).below(uplinks.max(1)) as u16 }
    }
}

impl Balancer for SimpleRr {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        loop {
            let port = self.next;
            self.next = if usize::from(port) + 1 == decision.uplinks.len() { 0 } else { port + 1 };
            if decision.allows(port) {
                return port;
            }
        }
    }
}
