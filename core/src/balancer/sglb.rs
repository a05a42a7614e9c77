//! SGLB: a random one of the valid uplinks in the best band, where the band is of the whole path: local load and queue, those of the next hop towards the
//! next but one, and the aggregated quality of everything further down.
//!
//! *Source*: Ofan paper, Table 1 (five types of information); public descriptions of global load balancing.
//! *Differs*: SGLB's signals and time constants are not public, so its curves are qualitative only (docs/explanation/balancers.md). Here every link's cost
//! is DLB's, and a path's the largest of its links'; an aggregation switch advertises to its edges the best it can do towards each pod, cores and far
//! aggregation switches their links down. Adverts take no bandwidth; they arrive one link latency a hop later, and are relayed at once.
//! *State*: a band for each uplink and edge switch or pod. *Cost*: reads w bands of each of three kinds.

use super::dlb::{BANDS, LinkCosts, Quality};
use super::{Decision, Watchful, cheapest};
use crate::error::Error;
use crate::fabric::{Addressing, Fabric, Reach, SwitchShape, Tier};
use crate::packet::Packet;
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::units::Ps;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A change of so many bands is advertised at the next sample.
const URGENT_BANDS: u8 = 2;

/// What one kind of switch has advertised: for each of the last samples, rows of a band for each uplink that leads to the advertiser.
///
/// Who reads at time t reads what was advertised a link latency earlier, which is in a window that all threads have finished.
#[derive(Debug)]
struct Board {
    samples: usize,
    rows: usize,
    width: usize,
    bands: Box<[AtomicU8]>,
}

impl Board {
    fn new(samples: usize, rows: usize, width: usize) -> Self {
        Self { samples, rows, width, bands: (0..samples * rows * width).map(|_| AtomicU8::new(0)).collect() }
    }

    fn place(&self, sample: u64, row: usize) -> usize {
        (sample as usize % self.samples * self.rows + row) * self.width
    }

    fn write(&self, sample: u64, row: usize, column: usize, band: u8) {
        self.bands[self.place(sample, row) + column].store(band, Ordering::Relaxed);
    }

    /// The row as advertised at a sample; nothing before the run began.
    #[inline(always)]
    fn row(&self, sample: Option<u64>, row: usize) -> Option<&[AtomicU8]> {
        let place = self.place(sample?, row);
        Some(&self.bands[place..place + self.width])
    }
}

#[inline(always)]
fn band(row: Option<&[AtomicU8]>, uplink: usize) -> u8 {
    row.map_or(0, |row| row[uplink].load(Ordering::Relaxed))
}

/// What all switches share: the boards, and how long an advert takes.
#[derive(Debug)]
struct Boards {
    interval: Ps,
    advertise_every: u64,
    /// How many samples of the past a late reader may want, and so a late advertiser must write.
    samples: usize,
    /// Once nothing has been under way for so long, every band on every board is the best.
    settles_in: Ps,
    /// Core to aggregation switch: row (j, pod), column c. Its links down.
    cores: Board,
    /// Aggregation switch to the edges of its pod: row (own pod, pod), column j. The best that it can do.
    aggs: Board,
    /// To all edges: row edge, column j. Aggregation switches' links down (in two levels, spines').
    last_hop: Board,
    agg_core_delay: Ps,
    edge_agg_delay: Ps,
    pods: usize,
    addressing: Addressing,
}

pub(super) struct Shared {
    quality: Quality,
    boards: Arc<Boards>,
}

impl Shared {
    pub(super) fn new(fabric: &Fabric, quality: Quality, advertise: Ps, field: &str) -> Result<Self, Error> {
        let interval = quality.sample_interval;
        if advertise == 0 || advertise % interval != 0 {
            let allowed = format!("a multiple of sample_interval_ps = {interval}, at least that");
            return Err(Error::value(format!("{field}.advertise_interval_ps"), advertise, allowed));
        }
        let largest = |tier: usize| {
            let ports = fabric.tiers[tier].clone().flat_map(|node| fabric.ports_of(node));
            ports.map(|port| fabric.latency[port]).max().unwrap_or(0)
        };
        let edges = fabric.tiers[1].len();
        let aggs = fabric.switch(fabric.tiers[1].start).up as usize;
        let edge_uplink = fabric.ports_of(fabric.tiers[1].start).end - 1;
        let (pods, cores, agg_core_delay) = if fabric.is_three_level() {
            let agg = fabric.switch(fabric.tiers[2].start);
            (agg.keys as usize, agg.up as usize, fabric.latency[fabric.ports_of(fabric.tiers[2].start).end - 1])
        } else {
            (1, 1, 0)
        };
        // The oldest advert that is read, and a window, in which the newest may be written.
        let reach_back = 2 * largest(2) + 2 * largest(1) + fabric.smallest_latency();
        let samples = (reach_back / interval + 4) as usize;
        if samples * edges * aggs > 1 << 32 {
            let allowed = "an interval that is not so much shorter than the links' latencies";
            return Err(Error::value(format!("{field}.sample_interval_ps"), interval, allowed));
        }
        Ok(Self {
            quality,
            boards: Arc::new(Boards {
                interval,
                advertise_every: advertise / interval,
                samples,
                settles_in: (quality.samples_to_forget() + samples as u64 + 3 * (advertise / interval)) * interval,
                cores: Board::new(samples, aggs * pods, cores),
                aggs: Board::new(samples, pods * pods, aggs),
                last_hop: Board::new(samples, edges, aggs),
                agg_core_delay,
                edge_agg_delay: fabric.latency[edge_uplink],
                pods,
                addressing: fabric.addressing,
            }),
        })
    }
}

/// Which sample was the last whose advert has arrived, for adverts that take a certain time.
#[derive(Debug)]
struct Arrived {
    interval: Ps,
    sample: Option<u64>,
    /// When the next one arrives.
    next_at: Ps,
}

impl Arrived {
    /// The advert of sample 0 says nothing yet, so that it may as well come first.
    fn new(interval: Ps, delay: Ps) -> Self {
        Self { interval, sample: None, next_at: delay }
    }

    #[inline(always)]
    fn at(&mut self, now: Ps) -> Option<u64> {
        if now >= self.next_at {
            let more = (now - self.next_at) / self.interval;
            self.sample = Some(self.sample.map_or(more, |sample| sample + more + 1));
            self.next_at += (more + 1) * self.interval;
        }
        self.sample
    }
}

/// SGLB at one switch.
#[derive(Debug)]
pub struct Sglb {
    shape: SwitchShape,
    is_three_level: bool,
    boards: Arc<Boards>,
    costs: LinkCosts,
    sampled: u64,
    sample_at: Ps,
    /// Adverts of the next switch up, and of the last but one of a path through the core.
    near: Arrived,
    far: Arrived,
    /// Uplink of the switches below that leads here: j at an aggregation switch, c at a core.
    column: usize,
    /// j of an aggregation switch or core.
    agg_index: usize,
    pod: usize,
    advertised: Box<[u8]>,
    stream: Stream,
}

impl Sglb {
    pub(super) fn new(shared: &Shared, fabric: &Fabric, node: u32, seed: u64) -> Self {
        let shape = fabric.switch(node).clone();
        let aggs = fabric.switch(fabric.tiers[1].start).up as usize;
        let number = (node - fabric.tiers[shape.tier as usize].start) as usize;
        let cores = shared.boards.cores.width;
        let (column, agg_index, pod) = match shape.tier {
            Tier::Agg => (number % aggs, number % aggs, number / aggs),
            Tier::Core if fabric.is_three_level() => (number % cores, number / cores, 0),
            Tier::Core => (number, 0, 0),
            _ => (0, 0, fabric.addressing.pod_of_address(shape.prefix << shape.prefix_shift) as usize),
        };
        let adverts = if shape.tier == Tier::Agg { shape.down as usize + shared.boards.pods } else { shape.down as usize };
        let interval = shared.boards.interval;
        let near = if shape.tier == Tier::Edge { shared.boards.edge_agg_delay } else { shared.boards.agg_core_delay };
        Self {
            is_three_level: fabric.is_three_level(),
            boards: shared.boards.clone(),
            costs: LinkCosts::new(shared.quality, (shape.down + shape.up) as usize),
            sampled: 0,
            sample_at: interval,
            near: Arrived::new(interval, near),
            far: Arrived::new(interval, shared.boards.edge_agg_delay + 2 * shared.boards.agg_core_delay),
            column,
            agg_index,
            pod,
            advertised: vec![0; adverts].into(),
            stream: Stream::new(seed, Purpose::Balancer, u64::from(node)),
            shape,
        }
    }

    /// How long nothing must have been under way before time may jump: what others advertise meanwhile is then all the same.
    pub(super) fn settles_in(&self) -> Ps {
        self.boards.settles_in
    }

    /// What the switch has to say at a sample: its links down, and at an aggregation switch the best way to each pod.
    fn advertise(&mut self, sample: u64, reach: Reach<'_>) {
        if self.shape.tier == Tier::Edge {
            return;
        }
        let boards = self.boards.clone();
        let down = self.shape.down as usize;
        for port in 0..down {
            let band = self.publish(port, sample, self.costs.costs[port]);
            if self.shape.tier == Tier::Core && self.is_three_level {
                boards.cores.write(sample, self.agg_index * boards.pods + port, self.column, band);
            } else {
                let edge = if self.shape.tier == Tier::Agg { self.pod * down + port } else { port };
                boards.last_hop.write(sample, edge, self.column, band);
            }
        }
        if self.shape.tier == Tier::Agg {
            let arrived = self.near.at(sample * boards.interval);
            let own = self.pod;
            for pod in (0..boards.pods).filter(|&pod| pod != own) {
                let beyond = boards.cores.row(arrived, self.agg_index * boards.pods + pod);
                let uplinks = reach.of(pod as u32).ports.iter().map(|&port| usize::from(port));
                let best = uplinks.map(|uplink| self.costs.costs[down + uplink].max(band(beyond, uplink))).min();
                let band = self.publish(down + pod, sample, best.unwrap_or(BANDS - 1));
                boards.aggs.write(sample, self.pod * boards.pods + pod, self.column, band);
            }
        }
    }

    #[inline(never)]
    fn take_samples(&mut self, now: Ps, reach: Reach<'_>, ports: &mut [Port]) {
        let due = now / self.boards.interval;
        while self.sampled < due {
            // After a long silence, only as much of the past as anyone can still read.
            self.sampled = (self.sampled + 1).max(due.saturating_sub(self.boards.samples as u64));
            self.costs.sample(self.sampled * self.boards.interval, ports);
            self.advertise(self.sampled, reach);
        }
        self.sample_at = (due + 1) * self.boards.interval;
    }

    /// The band that stands on the board: the new one at the appointed times or when it has changed much, else the old one.
    fn publish(&mut self, advert: usize, sample: u64, band: u8) -> u8 {
        let advertised = &mut self.advertised[advert];
        if sample % self.boards.advertise_every == 0 || advertised.abs_diff(band) >= URGENT_BANDS {
            *advertised = band;
        }
        *advertised
    }
}

impl Watchful for Sglb {
    fn looks_at(&self) -> Ps {
        self.sample_at
    }

    #[inline(always)]
    fn advance(&mut self, now: Ps, reach: Reach<'_>, ports: &mut [Port]) {
        if now >= self.sample_at {
            self.take_samples(now, reach, ports);
        }
    }

    #[inline(always)]
    fn climb(&mut self, decision: Decision<'_>, _packet: &mut Packet) -> u16 {
        let boards = &*self.boards;
        let local = &self.costs.costs[self.shape.down as usize..];
        let arrived = self.near.at(decision.now);
        let (near, far) = if self.shape.tier == Tier::Edge {
            let edge = boards.addressing.dense_edge(decision.key) as usize;
            let pod = boards.addressing.pod_of_address(decision.packet.address()) as usize;
            if self.is_three_level && pod != self.pod {
                let way = boards.aggs.row(arrived, self.pod * boards.pods + pod);
                (way, boards.last_hop.row(self.far.at(decision.now), edge))
            } else {
                (None, boards.last_hop.row(arrived, edge))
            }
        } else {
            (boards.cores.row(arrived, self.agg_index * boards.pods + decision.key as usize), None)
        };
        cheapest(decision.valid.mask, &mut self.stream, |port| {
            let uplink = usize::from(port);
            u64::from(local[uplink].max(band(near, uplink)).max(band(far, uplink)))
        })
    }

    #[inline(always)]
    fn descend(&mut self, _now: Ps, _packet: &mut Packet, _ingress: u32, _egress: u32) {}
}
