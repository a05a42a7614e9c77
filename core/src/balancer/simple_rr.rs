//! SimpleRR: one pointer a switch, every northbound packet (data and ACK alike, unless ACKs are sent at random) takes the next valid uplink.
//!
//! *Source*: Ofan paper section 3.1, Theorem 2 (downlink queues grow linearly: flows stick to an aggregation index).
//! *Differs*: none (htsim's "RR" reshuffles its list and hashes small packets; this does not). *State*: one pointer. *Cost*: one increment.

use super::{Balancer, Decision, random};
use crate::config::AckRouting;
use crate::fabric::Fabric;
use crate::packet::Kind;
use crate::rng::{Purpose, Stream};

/// The pointer of one switch.
#[derive(Debug)]
pub struct SimpleRr {
    next: u16,
    acks: AckRouting,
    stream: Stream,
}

impl SimpleRr {
    pub(super) fn new(acks: AckRouting, fabric: &Fabric, node: u32, seed: u64) -> Self {
        let uplinks = u64::from(fabric.switch(node).up);
        let mut stream = Stream::new(seed, Purpose::Balancer, u64::from(node));
        Self { next: stream.below(uplinks) as u16, acks, stream }
    }
}

impl Balancer for SimpleRr {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        if self.acks == AckRouting::Random && decision.packet.kind() == Kind::Ack {
            return random(decision.valid, &mut self.stream);
        }
        loop {
            let port = self.next;
            self.next = if usize::from(port) + 1 == decision.uplinks.len() { 0 } else { port + 1 };
            if decision.allows(port) {
                return port;
            }
        }
    }
}
