//! Pinned paths: the host has named the aggregation switch and the core (a waypoint), and the switches obey.
//!
//! *Source*: Ofan paper section 3.4 (DRB encapsulates towards a waypoint). *Differs*: header fields instead of an
//! encapsulation, no extra bytes. *State*: none. *Cost*: a shift.

use super::{Balancer, Choice};
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
    fn pick(&mut self, choice: Choice<'_>) -> u16 {
        choice.packet.path() >> self.shift & 0xFF
    }
}
