//! CONGA's discounting rate estimators (DRE).

use super::Shared;
use super::levels::Levels;
use crate::fabric::Fabric;
use crate::units::{Ps, Share};

const LARGEST_METRIC: u64 = 7;
const STEP_BITS: u32 = 48;

/// The estimator of one port.
#[derive(Debug)]
struct Rate {
    /// Bytes, with 8 fractional bits.
    load: u64,
    /// Steps of a metric a unit of load, in 2^-48.
    steps: u64,
    metric: u8,
}

impl Rate {
    #[inline(always)]
    fn add(&mut self, bytes: u32) -> u8 {
        self.load += u64::from(bytes) << 8;
        self.quantise();
        self.metric
    }

    #[inline(always)]
    fn quantise(&mut self) {
        let steps = (u128::from(self.load) * u128::from(self.steps)) >> STEP_BITS;
        self.metric = (steps as u64).min(LARGEST_METRIC) as u8;
    }
}

/// Discounting rate estimators of a switch's ports.
#[derive(Debug)]
pub(super) struct Rates {
    interval: Ps,
    /// What a decay keeps.
    keep: Share,
    /// When the estimates decay next.
    decay_at: Ps,
    downlinks: Box<[Rate]>,
    uplinks: Box<[Rate]>,
    /// The metrics of the uplinks.
    pub(super) metrics: Levels,
}

impl Rates {
    /// An estimator settles at rate * interval / gain; eight steps make a full link.
    pub(super) fn new(shared: &Shared, fabric: &Fabric, node: u32) -> Self {
        let bytes_a_step = |port| fabric.rate_bps[port] as f64 / 8e12 * shared.interval as f64 / shared.gain / 8.0;
        let steps = |port| ((1u64 << STEP_BITS) as f64 / (bytes_a_step(port) * 256.0)).round() as u64;
        let mut downlinks: Vec<Rate> =
            fabric.ports_of(node).map(|port| Rate { load: 0, steps: steps(port), metric: 0 }).collect();
        let uplinks = downlinks.split_off(fabric.switch(node).down as usize);
        Self {
            interval: shared.interval,
            keep: Share::nearest(shared.gain).rest(),
            decay_at: shared.interval,
            downlinks: downlinks.into(),
            uplinks: uplinks.into(),
            metrics: Levels::default(),
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
        for rate in self.downlinks.iter_mut().chain(&mut self.uplinks) {
            // One by one, because each rounds: several at once must not differ from several in a row.
            for _ in 0..times {
                rate.load = self.keep.of(rate.load);
                if rate.load == 0 {
                    break;
                }
            }
            rate.quantise();
        }
        for (uplink, rate) in self.uplinks.iter().enumerate() {
            self.metrics.set(uplink, rate.metric);
        }
    }

    /// Bytes go down through a port; its metric now.
    #[inline(always)]
    pub(super) fn add_down(&mut self, port: usize, bytes: u32) -> u8 {
        self.downlinks[port].add(bytes)
    }

    /// Bytes go up through an uplink; its metric now.
    #[inline(always)]
    pub(super) fn add_up(&mut self, uplink: usize, bytes: u32) -> u8 {
        let rate = &mut self.uplinks[uplink];
        let before = rate.metric;
        let metric = rate.add(bytes);
        // A step is many packets: a branch is cheaper than writing the same again.
        if metric != before {
            self.metrics.set(uplink, metric);
        }
        metric
    }
}
