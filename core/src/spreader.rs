//! Host side of load balancing: what a host writes into a packet to steer it (an entropy value or a waypoint).

mod drb;
mod ethereal;
mod in_flight;
mod reps;
mod rps;

use crate::config::BalancerConfig;
use crate::fabric::{Fabric, Routes};
use crate::units::{NEVER, Ps};
use crate::workload::Workload;
use drb::Drb;
use ethereal::Ethereal;
use reps::Reps;
use rps::Rps;

/// The closed set of host-side schemes.
#[derive(Debug)]
pub enum Spreader {
    /// The host leaves the choice to the switches.
    Fixed,
    /// A random entropy value a packet.
    Rps(Rps),
    /// Entropy values that have proved good.
    Reps(Reps),
    /// Rotation over waypoints.
    Drb(Drb),
    /// Equal subflows on all paths.
    Ethereal(Ethereal),
}

/// A data packet about to be sent.
pub struct Outgoing<'a> {
    /// When.
    pub now: Ps,
    /// The network.
    pub fabric: &'a Fabric,
    /// What routing knows of it.
    pub routes: &'a Routes,
    /// Number of its flow among those that the host sends.
    pub flow: usize,
    /// Its number within the flow.
    pub psn: u32,
    /// Address of the receiver.
    pub address: u32,
    /// Size of the frame, unless the scheme has another.
    pub bytes: u32,
}

impl Spreader {
    /// The scheme's state at a host. `times_out`: whether it has to find out by itself which packets are overdue.
    pub fn new(config: BalancerConfig, times_out: bool, fabric: &Fabric, workload: &Workload, host: u32, seed: u64) -> Self {
        let flows = workload.sent_by(host as usize);
        match config {
            BalancerConfig::Rps { entropies, .. } => Self::Rps(Rps::new(entropies, host, seed)),
            BalancerConfig::Reps { .. } => Self::Reps(Reps::new(config, times_out, flows.len(), host, seed)),
            BalancerConfig::Drb {} => Self::Drb(Drb::new(fabric, host, seed)),
            BalancerConfig::Ethereal { rto_ps, .. } => {
                let subflows = &workload.subflows[flows.start as usize..flows.end as usize];
                Self::Ethereal(Ethereal::new(subflows, if times_out { rto_ps } else { NEVER }, fabric, host, seed))
            }
            _ => Self::Fixed,
        }
    }

    /// Whether it draws paths at random, so that another draw gives another.
    pub fn draws_paths(&self) -> bool {
        matches!(self, Self::Rps(_))
    }

    /// Path field and size of the next data packet.
    #[inline(always)]
    pub fn data(&mut self, packet: Outgoing<'_>) -> (u16, u32) {
        let Outgoing { now, fabric, routes, flow, psn, address, bytes } = packet;
        match self {
            Self::Fixed => (0, bytes),
            Self::Rps(rps) => (rps.path(), bytes),
            Self::Reps(reps) => (reps.data(flow, psn, now), bytes),
            Self::Drb(drb) => (drb.path(fabric, routes, address, 0), bytes),
            Self::Ethereal(ethereal) => ethereal.data(flow, psn, bytes, now),
        }
    }

    /// Path field of the next ACK; `data_path` is that of the data packet.
    #[inline(always)]
    pub fn ack(&mut self, fabric: &Fabric, routes: &Routes, address: u32, data_path: u16) -> u16 {
        match self {
            Self::Fixed => 0,
            Self::Rps(rps) => rps.path(),
            Self::Reps(reps) => reps.ack(),
            Self::Drb(drb) => drb.path(fabric, routes, address, 1),
            Self::Ethereal(_) => data_path,
        }
    }

    /// A packet of a flow has been acknowledged; `is_marked`: it had met congestion.
    #[inline(always)]
    pub fn acked(&mut self, flow: usize, psn: u32, is_marked: bool, now: Ps) {
        match self {
            Self::Fixed | Self::Rps(_) | Self::Drb(_) => {}
            Self::Reps(reps) => reps.acked(flow, psn, is_marked, now),
            Self::Ethereal(ethereal) => ethereal.acked(flow, psn, now),
        }
    }
}

impl Spreader {
    /// A packet has been acknowledged, and nothing said of its path.
    #[inline(always)]
    pub fn passed(&mut self, flow: usize, psn: u32) {
        match self {
            Self::Fixed | Self::Rps(_) | Self::Drb(_) => {}
            Self::Reps(reps) => reps.passed(flow, psn),
            Self::Ethereal(ethereal) => ethereal.passed(flow, psn),
        }
    }

    /// The transport has given a packet up.
    pub fn timed_out(&mut self, flow: usize, psn: u32, now: Ps) {
        match self {
            Self::Fixed | Self::Rps(_) | Self::Drb(_) => {}
            Self::Reps(reps) => reps.timed_out(flow, now),
            Self::Ethereal(ethereal) => ethereal.timed_out(flow, psn),
        }
    }
}

/// Refuses parameters out of range.
///
/// # Errors
/// [`crate::Error::Value`] names the field.
pub fn check(config: BalancerConfig) -> Result<(), crate::Error> {
    let ranges = match config {
        BalancerConfig::Rps { entropies, .. } => vec![("entropies", entropies, 1, 1 << 16)],
        BalancerConfig::Reps { entropies, slots, .. } => vec![("entropies", entropies, 1, 1 << 16), ("slots", slots, 1, 1 << 16)],
        _ => vec![],
    };
    for (name, got, least, most) in ranges {
        if got < least || got > most {
            return Err(crate::Error::value(format!("balancer.{name}"), got, format!("{least} to {most}")));
        }
    }
    Ok(())
}
