//! RPS, random packet spraying: a fresh uniform entropy value (of 2^16) in every packet, data and ACK; switches hash it.
//!
//! *Source*: Dixit et al., INFOCOM 2013; Ofan paper section 3.1 (equivalent to RSQ). *Differs*: none. *State*: none.
//! *Cost*: a random number at the host, a hash at each switch.

use crate::rng::{Purpose, Stream};

/// Random entropy of one host.
#[derive(Debug)]
pub struct Rps {
    stream: Stream,
    entropies: u64,
}

impl Rps {
    pub(super) fn new(entropies: u32, host: u32, seed: u64) -> Self {
        Self { entropies: entropies.into(), stream: Stream::new(seed, Purpose::Spreader, u64::from(host)) }
    }

    #[inline(always)]
    pub(super) fn path(&mut self) -> u16 {
        self.stream.below(self.entropies) as u16
    }
}
