//! The fabric: nodes, ports, cables, addresses and valid uplinks. Built once, then fixed.
//!
//! Nodes are numbered hosts first, then edge (leaf), aggregation, core (spine) switches. A node's ports are numbered in one run, down-facing
//! first; a port stands for the directed link that it feeds, and `peer` is the port at the other end of the cable, that is, the link back.
//! A host's *address* is hierarchical (pod, edge in pod, slot), so that a switch routes with a shift and a mask, as with IP prefixes.

mod address;
mod builder;
mod fat_tree;
mod idle_round_trip;
mod leaf_spine;
mod named_links;
mod schedule;
mod valid;

use crate::config::FabricConfig;
use crate::error::Error;
use crate::units::{BytePace, Ps};
pub use address::Addressing;
pub use schedule::Change;
use std::ops::Range;
pub use valid::{Reach, Routes, UPLINKS_LIMIT, ValidPorts};

/// Level of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Tier {
    /// Host NIC port.
    Host = 0,
    /// Edge switch, or leaf.
    Edge = 1,
    /// Aggregation switch.
    Agg = 2,
    /// Core switch, or spine.
    Core = 3,
}

/// All tiers, bottom up.
pub const TIERS: [Tier; 4] = [Tier::Host, Tier::Edge, Tier::Agg, Tier::Core];

/// What a switch needs to know to route.
#[derive(Clone, Debug)]
pub struct SwitchShape {
    /// Level.
    pub tier: Tier,
    /// Down-facing ports; they come first.
    pub down: u32,
    /// Up-facing ports (uplinks).
    pub up: u32,
    /// `address >> prefix_shift` is what a balancer may key on: the destination's edge at an edge switch, its pod at an aggregation switch.
    pub prefix_shift: u32,
    /// The switch's own prefix: what carries it goes down.
    pub prefix: u32,
    /// The down port of an address is `address >> down_shift & down_mask`.
    pub down_shift: u32,
    /// See `down_shift`.
    pub down_mask: u32,
    /// Keys (prefixes) that exist at this level.
    pub keys: u32,
}

/// The fabric of one run.
#[derive(Debug)]
pub struct Fabric {
    /// Node numbers of each tier; two-level trees have no aggregation switches.
    pub tiers: [Range<u32>; 4],
    /// First port of each node, and one past the last.
    pub port_base: Vec<u32>,
    /// The port at the other end of the cable.
    pub peer: Vec<u32>,
    /// Node that feeds the port.
    pub port_node: Vec<u32>,
    /// Bit/s of each port.
    pub rate_bps: Vec<u64>,
    /// Latency of each port's link.
    pub latency: Vec<Ps>,
    /// Whether the link works at the start.
    pub alive: Vec<bool>,
    /// Whether any link is slower than its kind.
    pub has_degraded: bool,
    /// Shapes of the switches, from the first edge on.
    pub switches: Vec<SwitchShape>,
    /// How hosts are addressed.
    pub addressing: Addressing,
    /// Working uplinks towards each destination: at the start, and after each change of routing.
    pub routes: Vec<Routes>,
    /// What happens to links in mid-run, in order of time.
    pub changes: Vec<Change>,
}

impl Fabric {
    /// Builds the fabric that the configuration names.
    ///
    /// # Errors
    /// [`Error::Value`] for dimensions of zero or beyond the limits, rates and latencies out of range, unknown or repeated links.
    pub fn build(config: &FabricConfig) -> Result<Self, Error> {
        let mut fabric = match config {
            FabricConfig::FatTree { .. } => fat_tree::build(config)?,
            FabricConfig::LeafSpine { .. } => leaf_spine::build(config)?,
        };
        let (FabricConfig::FatTree { links_down, links_degraded, link_events, reconvergence_delay_ps, .. }
        | FabricConfig::LeafSpine { links_down, links_degraded, link_events, reconvergence_delay_ps, .. }) = config;
        fabric.degrade(links_degraded)?;
        fabric.has_degraded = !links_degraded.is_empty();
        fabric.take_down(links_down)?;
        fabric.routes = vec![Routes::compute(&fabric, &fabric.alive)];
        fabric.plan_changes(link_events, *reconvergence_delay_ps)?;
        Ok(fabric)
    }

    /// Hosts.
    pub fn hosts(&self) -> u32 {
        self.tiers[0].end
    }

    /// Ports, which is directed links.
    pub fn ports(&self) -> usize {
        self.peer.len()
    }

    /// Whether there are aggregation switches.
    pub fn is_three_level(&self) -> bool {
        !self.tiers[2].is_empty()
    }

    /// How long a byte occupies the link that a port feeds.
    pub fn pace(&self, port: usize) -> BytePace {
        BytePace::from_rate(self.rate_bps[port]).expect("rates are checked when the fabric is built")
    }

    /// Ports of a node.
    pub fn ports_of(&self, node: u32) -> Range<usize> {
        self.port_base[node as usize] as usize..self.port_base[node as usize + 1] as usize
    }

    /// Tier of a node.
    pub fn tier_of(&self, node: u32) -> Tier {
        TIERS[self.tiers.iter().position(|range| range.contains(&node)).unwrap_or(0)]
    }

    /// Shape of a switch.
    pub fn switch(&self, node: u32) -> &SwitchShape {
        &self.switches[(node - self.hosts()) as usize]
    }

    /// The edge switch of a host.
    pub fn edge_of(&self, host: u32) -> u32 {
        self.port_node[self.peer[self.port_base[host as usize] as usize] as usize]
    }

    /// Equal-cost paths from one edge switch to another when all links work.
    pub fn paths_between(&self, edge: u32, other: u32) -> u32 {
        let pod = |edge: u32| self.switch(edge).prefix >> self.addressing.edge_bits();
        match edge {
            _ if edge == other => 1,
            _ if self.is_three_level() && pod(edge) != pod(other) => self.switch(edge).up * self.switch(self.tiers[2].start).up,
            _ => self.switch(edge).up,
        }
    }

    /// The smallest latency of any link: the longest window, and the delay of a dependency across hosts.
    pub fn smallest_latency(&self) -> Ps {
        self.latency.iter().copied().min().unwrap_or(1)
    }

    /// Name of a node, as users write it.
    pub fn node_name(&self, node: u32) -> String {
        let tier = self.tier_of(node);
        let name = match (tier, self.is_three_level()) {
            (Tier::Host, _) => "host",
            (Tier::Edge, true) => "edge",
            (Tier::Edge, false) => "leaf",
            (Tier::Agg, _) => "agg",
            (Tier::Core, true) => "core",
            (Tier::Core, false) => "spine",
        };
        format!("{name}-{}", node - self.tiers[tier as usize].start)
    }

    /// Names of the dead fabric links that touch either host's edge switch or pod: what a message that cannot be routed should look at.
    pub fn cut_between(&self, src: u32, dst: u32) -> String {
        let edges = [self.edge_of(src), self.edge_of(dst)];
        let dead: Vec<String> = (0..self.ports())
            .filter(|&port| !self.alive[port])
            .map(|port| (self.port_node[port], self.port_node[self.peer[port] as usize]))
            .filter(|(lower, upper)| lower < upper)
            .filter(|(lower, _)| edges.contains(lower) || self.tier_of(*lower) == Tier::Agg)
            .map(|(lower, upper)| format!("{}/{}", self.node_name(lower), self.node_name(upper)))
            .collect();
        let shown = dead.len().min(12);
        let rest = if dead.len() > shown { format!(" and {} more", dead.len() - shown) } else { String::new() };
        format!("down: {}{rest}", dead[..shown].join(", "))
    }
}

#[cfg(test)]
mod tests;
