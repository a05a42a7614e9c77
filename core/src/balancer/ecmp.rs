//! ECMP: a hash of the flow (and of the entropy value that its host may vary) chooses among the valid uplinks.
//!
//! *Source*: RFC 2992: `V[h(flow, EV, salt) mod |V|]` with a salt of its own at every switch.
//! *Differs*: the flow number stands for the 5-tuple, and the range reduction is multiply-shift, as even as a modulo for every |V|.
//! *State*: a salt. *Cost*: one hash.

use super::{Balancer, Choice};
use crate::rng::{Purpose, Stream, mix};

/// Hashing at one switch.
#[derive(Debug)]
pub struct Ecmp {
    salt: u64,
}

impl Ecmp {
    pub(super) fn new(node: u32, seed: u64) -> Self {
        Self { salt: Stream::new(seed, Purpose::Salt, u64::from(node)).next() }
    }
}

impl Balancer for Ecmp {
    #[inline(always)]
    fn pick(&mut self, choice: Choice<'_>) -> u16 {
        let hash = mix(choice.packet.hash_input() ^ self.salt) >> 32;
        choice.valid.ports[((hash * choice.valid.len() as u64) >> 32) as usize]
    }
}
