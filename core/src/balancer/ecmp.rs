//! ECMP: a hash of the flow (and of the entropy value that its host may vary) chooses among the valid uplinks.
//!
//! *Source*: RFC 2992: `V[h(flow, EV, salt) mod |V|]` with a salt of its own at every switch. With one salt for all switches the levels choose alike
//! (polarisation), and most cores are never used.
//! *Differs*: the flow number stands for the 5-tuple, and the range reduction is multiply-shift, as even as a modulo for every |V|.
//! *State*: a salt. *Cost*: one hash.

use super::{Balancer, Decision};
use crate::config::Salts;
use crate::rng::{Purpose, Stream, mix};

/// Hashing at one switch.
#[derive(Debug)]
pub struct Ecmp {
    salt: u64,
    /// What is hashed of a packet: not the path field where it carries a priority.
    seen: u64,
}

impl Ecmp {
    pub(super) fn new(salts: Salts, path_is_entropy: bool, node: u32, seed: u64) -> Self {
        let owner = if salts == Salts::Shared { 0 } else { node };
        let seen = if path_is_entropy { u64::MAX } else { !(u64::from(u16::MAX) << 1) };
        Self { salt: Stream::new(seed, Purpose::Salt, u64::from(owner)).next(), seen }
    }
}

impl Balancer for Ecmp {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        let hash = mix(decision.packet.hash_input() & self.seen ^ self.salt) >> 32;
        decision.valid.ports[((hash * decision.valid.len() as u64) >> 32) as usize]
    }
}
