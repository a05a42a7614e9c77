//! What all hosts of a run do alike.

use crate::config::{Acks, Config, TransportConfig};
use crate::fabric::Fabric;
use crate::port::Port;
use crate::units::Ps;

/// What all hosts of a run share.
#[derive(Clone, Copy, Debug)]
pub struct HostRules {
    pub(super) full_frame: u32,
    pub(super) ack_frame: u32,
    load: f64,
    pub(super) acks: Acks,
    /// Delay of a dependency across hosts.
    pub(super) signal_latency: Ps,
}

impl HostRules {
    /// Takes the rules from a checked configuration.
    pub fn new(config: &Config, fabric: &Fabric) -> Self {
        let TransportConfig::Paced { load, acks, .. } = config.transport;
        Self {
            full_frame: config.frame.header_bytes + config.frame.payload_bytes,
            ack_frame: config.frame.ack_bytes,
            load,
            acks,
            signal_latency: fabric.smallest_latency(),
        }
    }

    /// Time from the start of a data frame to that of the next.
    pub(super) fn pacing(&self, port: &Port, bytes: u32) -> Ps {
        (port.occupancy(bytes) as f64 / self.load).round() as Ps
    }
}
