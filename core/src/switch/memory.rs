//! What all ports of a switch have in common, in runs in which they have.

use super::Ingress;
use crate::config::{Config, DisciplineConfig};
use crate::fabric::Fabric;
use crate::port::Pool;
use crate::units::Ps;

/// One switch's.
#[derive(Debug)]
pub struct Memory {
    /// A buffer that they share.
    pub pool: Option<Pool>,
    /// What came in by each and has not left.
    pub ingress: Option<Ingress>,
}

impl Memory {
    /// That of every switch, from the first edge on; none where ports have nothing in common.
    pub fn everywhere(config: &Config, fabric: &Fabric) -> Vec<Self> {
        let (shared, pfc) = (config.port.shared_buffer, config.port.pfc);
        if shared.is_none() && pfc.is_none() {
            return Vec::new();
        }
        let counts_control = matches!(config.port.discipline, DisciplineConfig::Fifo {});
        let delay = |port: usize| -> Ps { fabric.pace(port).time(config.frame.ack_bytes) + fabric.latency[port] };
        let of_switch = |node: u32| Self {
            pool: shared.map(|shared| Pool::new(shared.bytes, shared.alpha)),
            ingress: pfc.map(|limits| Ingress::new(limits, counts_control, fabric.ports_of(node).map(delay))),
        };
        (fabric.hosts()..fabric.tiers[3].end).map(of_switch).collect()
    }
}
