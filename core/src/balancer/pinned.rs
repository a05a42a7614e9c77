//! Pinned paths: the host has named the aggregation switch and the core (a waypoint), and the switches obey.
//!
//! *Source*: Ofan paper section 3.4 (DRB encapsulates towards a waypoint, Ethereal chooses source ports that hash to its path). *Differs*: header
//! fields instead, no extra bytes. Where the named uplink does not lead to the destination, the next one that does takes its place. *State*: none. *Cost*: a shift.

use super::{Balancer, Decision};
use crate::fabric::{Fabric, Tier};

/// Where in the packet's path field the switch finds its own uplink: the low byte is for edge switches, the high byte for aggregation switches.
#[derive(Debug)]
pub struct Pinned {
    shift: u32,
}

impl Pinned {
    pub(super) fn new(fabric: &Fabric, node: u32) -> Self {
        Self { shift: if fabric.switch(node).tier == Tier::Agg { 8 } else { 0 } }
    }
}

impl Balancer for Pinned {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        let mut port = decision.packet.path() >> self.shift & 0xFF;
        while !decision.allows(port) {
            port = if usize::from(port) + 1 == decision.uplinks.len() { 0 } else { port + 1 };
        }
        port
    }
}
