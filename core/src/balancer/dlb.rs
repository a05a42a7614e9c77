//! DLB, dynamic load balancing: a random one of the valid uplinks in the best quality band, where quality is made of local load and local queue.
//!
//! *Source*: Ofan paper, Table 1 ("local load and queue"); the public descriptions of Broadcom's and Juniper's dynamic load balancing
//! (eight bands, load and queue weighted equally). *Differs*: band limits and time constants are not public; those here stand in docs/explanation/balancers.md.
//! *State*: load average and band of each uplink. *Cost*: reads w bands; w queues each sample.

use super::{Balancer, Decision, cheapest};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::units::{Ps, Share};

/// Bands of load and queue: 0 is best.
pub(super) const BANDS: u8 = 8;

/// Where the queue's bands 1 to 7 begin, as fractions of the nominal buffer.
const QUEUE_BANDS: [f64; BANDS as usize - 1] = [0.0125, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3];

/// A load average of a link that never rests.
const FULL: u64 = 1 << 32;

/// How quality is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quality {
    queue_from_bytes: [u64; BANDS as usize - 1],
    pub(super) sample_interval: Ps,
    load_gain: Share,
}

impl Quality {
    pub(super) fn new(buffer: u64, sample_interval: Ps, load_gain: f64, field: &str) -> Result<Self, Error> {
        if sample_interval == 0 {
            return Err(Error::value(format!("{field}.sample_interval_ps"), 0, "at least 1"));
        }
        if !(load_gain > 0.0 && load_gain <= 1.0) {
            return Err(Error::value(format!("{field}.load_gain"), load_gain, "above 0, at most 1"));
        }
        let queue_from_bytes = QUEUE_BANDS.map(|fraction| (fraction * buffer as f64).round() as u64);
        Ok(Self { queue_from_bytes, sample_interval, load_gain: Share::nearest(load_gain) })
    }

    /// Samples after which nothing is left of a full load.
    pub(super) fn samples_to_forget(&self) -> u64 {
        let keep = self.load_gain.rest();
        let mut loads = std::iter::successors(Some(FULL), |&load| Some(keep.of(load)));
        loads.position(|load| load == 0).unwrap_or(0) as u64
    }

    fn queue_band(&self, queued: u64) -> u8 {
        self.queue_from_bytes.iter().map(|&from| u8::from(queued >= from)).sum()
    }
}

/// Quality of some ports.
#[derive(Debug)]
pub(super) struct LinkCosts {
    quality: Quality,
    sampled_at: Ps,
    loads: Box<[Load]>,
    /// Cost of each port, 0 (best) to 7.
    pub(super) costs: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Share of the link's time, in 2^-32.
    average: u64,
    sent_bytes: u64,
}

impl LinkCosts {
    pub(super) fn new(quality: Quality, ports: usize) -> Self {
        Self { quality, sampled_at: 0, loads: vec![Load::default(); ports].into(), costs: vec![0; ports].into() }
    }

    /// Takes a sample at `now`, at least one interval after the last. Several intervals count as so many of equal load.
    pub(super) fn sample(&mut self, now: Ps, ports: &mut [Port]) {
        let span = now - self.sampled_at;
        self.sampled_at = now;
        let keep = self.quality.load_gain.rest().power(span / self.quality.sample_interval);
        for ((load, cost), port) in self.loads.iter_mut().zip(&mut self.costs).zip(ports) {
            let queued = port.queued_bytes(now);
            let sent = port.sent_bytes(queued);
            let busy = Share::ratio(port.busy_time(sent - load.sent_bytes), span);
            load.average = keep.of(load.average) + busy.of(keep.rest().of(FULL));
            load.sent_bytes = sent;
            let load_band = (load.average * u64::from(BANDS) / FULL).min(u64::from(BANDS) - 1) as u8;
            // The mean of the two, halves upwards.
            *cost = (load_band + self.quality.queue_band(queued)).div_ceil(2);
        }
    }
}

/// Local quality at one switch.
#[derive(Debug)]
pub struct Dlb {
    uplinks: LinkCosts,
    stream: Stream,
}

impl Dlb {
    pub(super) fn new(quality: Quality, fabric: &Fabric, node: u32, seed: u64) -> Self {
        let uplinks = LinkCosts::new(quality, fabric.switch(node).up as usize);
        Self { uplinks, stream: Stream::new(seed, Purpose::Balancer, u64::from(node)) }
    }
}

impl Balancer for Dlb {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        // What a queue was at a moment past cannot be read back, so a sample is of the moment of the first decision when it is due.
        if decision.now - self.uplinks.sampled_at >= self.uplinks.quality.sample_interval {
            self.uplinks.sample(decision.now, decision.uplinks);
        }
        let costs = &self.uplinks.costs;
        cheapest(decision.valid.mask, &mut self.stream, |port| u64::from(costs[usize::from(port)]))
    }
}
