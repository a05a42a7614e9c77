//! CONGA's discounting rate estimators (DRE).

use super::Shared;
use crate::fabric::Fabric;
use crate::units::Ps;

const LARGEST_METRIC: u64 = 7;
const ONE: u64 = 1 << 32;
const STEP_BITS: u32 = 48;

/// Discounting rate estimators of a switch's ports.
#[derive(Debug)]
pub(super) struct Rates {
    interval: Ps,
    /// Share that a decay keeps, in 2^-32.
    keep: u64,
    /// When the estimates decay next.
    decay_at: Ps,
    /// Bytes, with 8 fractional bits.
    loads: Box<[u64]>,
    pub(super) metrics: Box<[u8]>,
    /// Steps of a metric a unit of load, in 2^-48.
    steps: Box<[u64]>,
}

impl Rates {
    /// An estimator settles at rate * interval / gain; eight steps make a full link.
    pub(super) fn new(shared: &Shared, fabric: &Fabric, node: u32) -> Self {
        let bytes_a_step = |port| fabric.rate_bps[port] as f64 / 8e12 * shared.interval as f64 / shared.gain / 8.0;
        let ports = fabric.ports_of(node);
        Self {
            interval: shared.interval,
            keep: ((1.0 - shared.gain) * ONE as f64).round() as u64,
            decay_at: shared.interval,
            loads: vec![0; ports.len()].into(),
            metrics: vec![0; ports.len()].into(),
            steps: ports.map(|port| ((1u64 << STEP_BITS) as f64 / (bytes_a_step(port) * 256.0)).round() as u64).collect(),
        }
    }

    #[inline(always)]
    pub(super) fn advance(&mut self, now: Ps) {
        if now >= self.decay_at {
            self.decay(now);
        }
    }

    #[inline(never)]
    fn decay(&mut self, now: Ps) {
        let times = (now - self.decay_at) / self.interval + 1;
        self.decay_at += times * self.interval;
        let keep = if times == 1 {
            self.keep
        } else {
            ((self.keep as f64 / ONE as f64).powi(times.min(1 << 20) as i32) * ONE as f64) as u64
        };
        for load in &mut self.loads {
            *load = (u128::from(*load) * u128::from(keep) / u128::from(ONE)) as u64;
        }
        for port in 0..self.loads.len() {
            self.quantise(port);
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, port: usize, bytes: u32) -> u8 {
        self.loads[port] += u64::from(bytes) << 8;
        self.quantise(port);
        self.metrics[port]
    }

    #[inline(always)]
    fn quantise(&mut self, port: usize) {
        let steps = (u128::from(self.loads[port]) * u128::from(self.steps[port])) >> STEP_BITS;
        self.metrics[port] = (steps as u64).min(LARGEST_METRIC) as u8;
    }
}
