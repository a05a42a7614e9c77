//! RPS, random packet spraying: a fresh uniform 16-bit entropy value in every packet, data and ACK; switches hash it.
//!
//! *Source*: Dixit et al., INFOCOM 2013; Ofan paper section 3.1 (equivalent to RSQ). *Differs*: none. *State*: none.
//! *Cost*: a random number at the host, a hash at each switch.

use crate::rng::{Purpose, Stream};

/// Random entropy of one host.
#[derive(Debug)]
pub struct Rps {
    stream: Stream,
}

impl Rps {
    pub(super) fn new(host: u32, seed: u64) -> Self {
        Self { stream: Stream::new(seed, Purpose::Spreader, u64::from(host)) }
    }

    #[inline(always)]
    pub(super) fn path(&mut self) -> u16 {
        (self.stream.next() >> 48) as u16
    }
}
