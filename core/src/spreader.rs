//! Host side of load balancing: what a host writes into a packet to steer it (an entropy value or a waypoint).

mod drb;
mod rps;

use crate::config::BalancerConfig;
use crate::fabric::Fabric;
use drb::Drb;
use rps::Rps;

/// The closed set of host-side schemes.
#[derive(Debug)]
pub enum Spreader {
    /// The host leaves the choice to the switches.
    Fixed,
    /// A random entropy value a packet.
    Rps(Rps),
    /// Rotation over waypoints.
    Drb(Drb),
}

impl Spreader {
    /// The scheme's state at a host.
    pub fn new(config: BalancerConfig, fabric: &Fabric, host: u32, seed: u64) -> Self {
        match config {
            BalancerConfig::Rps {} => Self::Rps(Rps::new(host, seed)),
            BalancerConfig::Drb {} => Self::Drb(Drb::new(fabric, host, seed)),
            _ => Self::Fixed,
        }
    }

    /// The path field of the next packet of this size class to the host at `address`.
    #[inline(always)]
    pub fn path(&mut self, fabric: &Fabric, address: u32, class: usize) -> u16 {
        match self {
            Self::Fixed => 0,
            Self::Rps(rps) => rps.path(),
            Self::Drb(drb) => drb.path(fabric, address, class),
        }
    }
}
