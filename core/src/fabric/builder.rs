//! Puts tiers and cables together.

use super::valid::UPLINKS_LIMIT;
use super::{Addressing, Fabric, SwitchShape, Tier};
use crate::config::LinkConfig;
use crate::error::Error;
use crate::units::{BytePace, Ps};
use std::ops::Range;

/// Collects tiers and cables into a [`Fabric`].
pub(super) struct Builder {
    tiers: [Range<u32>; 4],
    port_base: Vec<u32>,
    down: Vec<u32>,
    peer: Vec<u32>,
    rate_bps: Vec<u64>,
    latency: Vec<Ps>,
}

impl Builder {
    /// `levels`: for each tier its nodes, and the down- and up-facing ports of each.
    pub(super) fn new(levels: [(u32, u32, u32); 4]) -> Self {
        let mut start = 0;
        let tiers = levels.map(|(nodes, ..)| {
            let range = start..start + nodes;
            start = range.end;
            range
        });
        let mut port_base = vec![0];
        let mut down = Vec::new();
        for (nodes, down_ports, up_ports) in levels {
            for _ in 0..nodes {
                port_base.push(port_base[port_base.len() - 1] + down_ports + up_ports);
                down.push(down_ports);
            }
        }
        let ports = port_base[port_base.len() - 1] as usize;
        Self { tiers, port_base, down, peer: vec![u32::MAX; ports], rate_bps: vec![0; ports], latency: vec![0; ports] }
    }

    /// Joins uplink `up` of the `lower`-th node of a tier to down port `down` of the `upper`-th node of another.
    pub(super) fn cable(&mut self, lower: (Tier, u32), up: u32, upper: (Tier, u32), down: u32, link: LinkConfig) {
        let lower_node = self.tiers[lower.0 as usize].start + lower.1;
        let upper_node = self.tiers[upper.0 as usize].start + upper.1;
        let from = self.port_base[lower_node as usize] + self.down[lower_node as usize] + up;
        let to = self.port_base[upper_node as usize] + down;
        for (port, other) in [(from, to), (to, from)] {
            self.peer[port as usize] = other;
            self.rate_bps[port as usize] = link.rate_bps;
            self.latency[port as usize] = link.latency_ps;
        }
    }

    pub(super) fn finish(self, switches: Vec<SwitchShape>, addressing: Addressing) -> Fabric {
        let ports = self.peer.len();
        let mut port_node = vec![0; ports];
        for node in 0..self.down.len() {
            port_node[self.port_base[node] as usize..self.port_base[node + 1] as usize].fill(node as u32);
        }
        Fabric {
            tiers: self.tiers,
            port_base: self.port_base,
            peer: self.peer,
            port_node,
            rate_bps: self.rate_bps,
            latency: self.latency,
            alive: vec![true; ports],
            has_degraded: false,
            switches,
            addressing,
            routes: Vec::new(),
            changes: Vec::new(),
        }
    }
}

/// Refuses dimensions of zero, too many uplinks, and links whose times make no sense.
pub(super) fn check_dimensions(dimensions: &[(&str, u32)], links: &[(&str, LinkConfig)]) -> Result<(), Error> {
    for &(name, count) in dimensions {
        if count == 0 {
            return Err(Error::value(format!("fabric.{name}"), count, "at least 1"));
        }
        let is_uplinks = matches!(name, "aggs_per_pod" | "cores_per_agg" | "spines");
        if is_uplinks && count > UPLINKS_LIMIT {
            return Err(Error::value(format!("fabric.{name}"), count, format!("at most {UPLINKS_LIMIT}")));
        }
    }
    for (name, link) in links {
        check_rate(link.rate_bps, &format!("fabric.{name}.rate_bps"))?;
        if link.latency_ps == 0 || link.latency_ps > 1_000_000_000_000 {
            return Err(Error::value(
                format!("fabric.{name}.latency_ps"),
                link.latency_ps,
                "1 ps to 1 s (the engine's window is the smallest latency, so it cannot be zero)",
            ));
        }
    }
    Ok(())
}

pub(super) fn check_rate(rate_bps: u64, field: &str) -> Result<(), Error> {
    if BytePace::from_rate(rate_bps).is_none() || rate_bps > 100_000_000_000_000 {
        return Err(Error::value(field, rate_bps, "1 Mb/s to 100 Tb/s"));
    }
    Ok(())
}
