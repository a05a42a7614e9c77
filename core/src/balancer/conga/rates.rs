//! CONGA's discounting rate estimators (DRE).

use super::Shared;
use crate::fabric::Fabric;
use crate::units::Ps;

const LARGEST_METRIC: u64 = 7;

/// Discounting rate estimators of a switch's ports.
#[derive(Debug)]
pub(super) struct Rates {
    interval: Ps,
    gain: f64,
    decays: u64,
    loads: Box<[f64]>,
    pub(super) metrics: Box<[u8]>,
    /// Steps of a metric a byte.
    steps: Box<[f64]>,
}

impl Rates {
    /// An estimator settles at rate * interval / gain; eight steps make a full link.
    pub(super) fn new(shared: &Shared, fabric: &Fabric, node: u32) -> Self {
        let bytes_a_step = |port| fabric.rate_bps[port] as f64 / 8e12 * shared.interval as f64 / shared.gain / 8.0;
        let ports = fabric.ports_of(node);
        Self {
            interval: shared.interval,
            gain: shared.gain,
            decays: 0,
            loads: vec![0.0; ports.len()].into(),
            metrics: vec![0; ports.len()].into(),
            steps: ports.map(|port| 1.0 / bytes_a_step(port)).collect(),
        }
    }

    pub(super) fn advance(&mut self, now: Ps) {
        let due = now / self.interval;
        if due > self.decays {
            let keep = (1.0 - self.gain).powi((due - self.decays).min(1 << 20) as i32);
            self.decays = due;
            for port in 0..self.loads.len() {
                self.loads[port] *= keep;
                self.quantise(port);
            }
        }
    }

    pub(super) fn add(&mut self, port: usize, bytes: u32) -> u8 {
        self.loads[port] += f64::from(bytes);
        self.quantise(port);
        self.metrics[port]
    }

    fn quantise(&mut self, port: usize) {
        self.metrics[port] = ((self.loads[port] * self.steps[port]) as u64).min(LARGEST_METRIC) as u8;
    }
}
