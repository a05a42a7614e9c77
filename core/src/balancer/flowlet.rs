//! Flowlets: a flow keeps its uplink until it pauses; a pause of at least the gap begins a burst on a random valid uplink.
//!
//! *Source*: Vanini et al., "Let it flow", NSDI 2017; Ofan paper section 2.1 (paced senders at full rate never pause, so that it is
//! ECMP then). *Differs*: none. *State*: port and last packet of each flow. *Cost*: a table look-up.

use super::{Balancer, Decision, random};
use crate::hash::FastMap;
use crate::rng::{Purpose, Stream};
use crate::units::Ps;

/// Flowlet switching at one switch.
#[derive(Debug)]
pub struct Flowlet {
    gap: Ps,
    last: FastMap<u64, (u16, Ps)>,
    stream: Stream,
}

impl Flowlet {
    pub(super) fn new(gap: Ps, node: u32, seed: u64) -> Self {
        Self { gap, last: FastMap::default(), stream: Stream::new(seed, Purpose::Balancer, u64::from(node)) }
    }
}

impl Balancer for Flowlet {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        let last = self.last.get(&decision.packet.flow_class()).copied();
        let port = match last {
            Some((port, at)) if decision.now - at < self.gap && decision.allows(port) => port,
            _ => random(decision.valid, &mut self.stream),
        };
        self.last.insert(decision.packet.flow_class(), (port, decision.now));
        port
    }
}
