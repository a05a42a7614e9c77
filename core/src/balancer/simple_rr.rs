//! SimpleRR: one pointer a switch, every northbound packet (data and ACK alike, unless ACKs are sent at random) takes the next valid uplink.
//!
//! *Source*: Ofan paper section 3.1, Theorem 2 (downlink queues grow linearly: flows stick to an aggregation index).
//! *Differs*: none (htsim's "RR" reshuffles its list and hashes small packets; this does not); a pointer for each port that packets come in through, as in the
//! public dcPIM simulator, if asked for. *State*: one pointer, or one an input. *Cost*: one increment.

use super::{Balancer, Decision, random};
use crate::config::{AckRouting, Pointers};
use crate::fabric::Fabric;
use crate::rng::{Purpose, Stream};

/// The pointer, or pointers, of one switch.
#[derive(Debug)]
pub struct SimpleRr {
    /// One, or one an input.
    next: Vec<u16>,
    acks: AckRouting,
    stream: Stream,
}

impl SimpleRr {
    pub(super) fn new(acks: AckRouting, pointers: Pointers, fabric: &Fabric, node: u32, seed: u64) -> Self {
        let shape = fabric.switch(node);
        let count = if pointers == Pointers::PerSwitch { 1 } else { shape.down };
        let mut stream = Stream::new(seed, Purpose::Balancer, u64::from(node));
        Self { next: (0..count).map(|_| stream.below(u64::from(shape.up)) as u16).collect(), acks, stream }
    }
}

impl Balancer for SimpleRr {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        if self.acks == AckRouting::Random && decision.packet.is_control() {
            return random(decision.valid, &mut self.stream);
        }
        let next = if self.next.len() == 1 { &mut self.next[0] } else { &mut self.next[decision.ingress as usize] };
        loop {
            let port = *next;
            *next = if usize::from(port) + 1 == decision.uplinks.len() { 0 } else { port + 1 };
            if decision.allows(port) {
                return port;
            }
        }
    }
}
