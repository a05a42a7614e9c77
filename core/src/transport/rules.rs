//! What all hosts of a run do alike.

use crate::config::{Acks, Config, StartJitter, TransportConfig};
use crate::fabric::Fabric;
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::units::Ps;

/// What all hosts of a run share.
#[derive(Clone, Copy, Debug)]
pub struct HostRules {
    pub(super) full_frame: u32,
    /// Size of an ACK, and of every other frame without payload.
    pub(super) ack_frame: u32,
    /// Share of the line rate at which paced hosts start data frames; 1 for the others.
    load: f64,
    pub(super) acks: Acks,
    /// Delay of a dependency across hosts.
    pub(super) signal_latency: Ps,
    /// Whether somebody asks what hosts have counted in mid-run.
    pub(super) counts: bool,
    start_jitter: StartJitter,
    seed: u64,
}

impl HostRules {
    /// Takes the rules from a checked configuration.
    pub fn new(config: &Config, fabric: &Fabric) -> Self {
        Self {
            full_frame: config.frame.header_bytes + config.frame.payload_bytes,
            ack_frame: config.frame.ack_bytes,
            load: if let TransportConfig::Paced { load, .. } = config.transport { load } else { 1.0 },
            acks: config.transport.acks(),
            signal_latency: fabric.smallest_latency(),
            counts: config.measure.interval_ps.is_some(),
            start_jitter: config.transport.start_jitter(),
            seed: config.seed,
        }
    }

    /// Time from the start of a data frame to that of the next.
    pub(super) fn pacing(&self, port: &Port, bytes: u32) -> Ps {
        (port.occupancy(bytes) as f64 / self.load).round() as Ps
    }

    /// When in its first frame interval a host starts.
    pub(super) fn jitter(&self, interval: Ps, host: u32) -> Ps {
        match self.start_jitter {
            StartJitter::Uniform => Stream::new(self.seed, Purpose::Jitter, u64::from(host)).below(interval),
            StartJitter::None => 0,
        }
    }
}
