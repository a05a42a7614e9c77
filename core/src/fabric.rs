//! The fabric: nodes, ports, cables, addresses and valid uplinks. Built once, then fixed.
//!
//! Nodes are numbered hosts first, then edge (leaf), aggregation, core (spine) switches. A node's ports are numbered in one run, down-facing
//! first; a port stands for the directed link that it feeds, and `peer` is the port at the other end of the cable, that is, the link back.
//! A host's *address* is hierarchical (pod, edge in pod, slot), so that a switch routes with a shift and a mask, as with IP prefixes.

mod fat_tree;
mod leaf_spine;
mod valid;

use crate::config::{DegradedLink, FabricConfig, LinkConfig};
use crate::error::Error;
use crate::packet::ADDRESS_LIMIT;
use crate::units::{BytePace, Ps};
use std::ops::Range;
pub use valid::{Reach, UPLINKS_LIMIT, ValidPorts};

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

/// Bits of an address.
#[derive(Clone, Copy, Debug)]
pub struct Addressing {
    hosts_per_edge: u32,
    edges_per_pod: u32,
    slot_bits: u32,
    edge_bits: u32,
}

impl Addressing {
    fn new(pods: u32, edges_per_pod: u32, hosts_per_edge: u32) -> Result<Self, Error> {
        let bits = |count: u32| count.next_power_of_two().trailing_zeros();
        let addressing = Self { hosts_per_edge, edges_per_pod, slot_bits: bits(hosts_per_edge), edge_bits: bits(edges_per_pod) };
        let total = bits(pods) + addressing.edge_bits + addressing.slot_bits;
        if total > ADDRESS_LIMIT.trailing_zeros() {
            return Err(Error::value(
                "fabric",
                format!("{pods} pods of {edges_per_pod} edges of {hosts_per_edge} hosts ({total} address bits)"),
                "at most 24 address bits",
            ));
        }
        Ok(addressing)
    }

    /// The address of a host.
    pub fn address(self, host: u32) -> u32 {
        let (edge, slot) = (host / self.hosts_per_edge, host % self.hosts_per_edge);
        let (pod, edge) = (edge / self.edges_per_pod, edge % self.edges_per_pod);
        (pod << self.edge_bits | edge) << self.slot_bits | slot
    }

    /// The edge-level key of a host's edge switch.
    pub fn edge_key(self, host: u32) -> u32 {
        self.address(host) >> self.slot_bits
    }

    /// The pod of an address.
    pub fn pod_of_address(self, address: u32) -> u32 {
        address >> (self.slot_bits + self.edge_bits)
    }

    /// Dense number of an edge-level key.
    pub fn dense_edge(self, key: u32) -> u32 {
        (key >> self.edge_bits) * self.edges_per_pod + (key & ((1 << self.edge_bits) - 1))
    }
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
    /// Whether the link works.
    pub alive: Vec<bool>,
    /// Shapes of the switches, from the first edge on.
    pub switches: Vec<SwitchShape>,
    /// How hosts are addressed.
    pub addressing: Addressing,
    /// Working uplinks towards each destination.
    valid: valid::ValidTable,
}

impl Fabric {
    /// Builds the fabric that the configuration names.
    ///
    /// # Errors
    /// [`Error::Value`] for dimensions of zero or beyond the limits, rates and latencies out of range, unknown or repeated links.
    pub fn build(config: &FabricConfig) -> Result<Self, Error> {
        let (mut fabric, links_down, links_degraded) = match config {
            FabricConfig::FatTree { links_down, links_degraded, .. } => (fat_tree::build(config)?, links_down, links_degraded),
            FabricConfig::LeafSpine { links_down, links_degraded, .. } => {
                (leaf_spine::build(config)?, links_down, links_degraded)
            }
        };
        fabric.degrade(links_degraded)?;
        fabric.take_down(links_down)?;
        fabric.valid = valid::ValidTable::compute(&fabric);
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

    /// Uplinks of a switch through which `key` can be reached.
    pub fn valid_ports(&self, node: u32, key: u32) -> &ValidPorts {
        self.reach(node).of(key)
    }

    /// The valid uplinks of a switch towards each key.
    pub fn reach(&self, node: u32) -> Reach<'_> {
        self.valid.reach((node - self.tiers[0].end) as usize)
    }

    /// The edge switch of a host.
    pub fn edge_of(&self, host: u32) -> u32 {
        self.port_node[self.peer[self.port_base[host as usize] as usize] as usize]
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

    fn degrade(&mut self, links: &[DegradedLink]) -> Result<(), Error> {
        for (row, degraded) in links.iter().enumerate() {
            let field = format!("fabric.links_degraded[{row}]");
            let port = self.find_link(&degraded.link, &field)?;
            check_rate(degraded.rate_bps, &format!("{field}.rate_bps"))?;
            for side in [port, self.peer[port] as usize] {
                self.rate_bps[side] = degraded.rate_bps;
            }
        }
        Ok(())
    }

    fn take_down(&mut self, links: &[(String, String)]) -> Result<(), Error> {
        for (row, link) in links.iter().enumerate() {
            let field = format!("fabric.links_down[{row}]");
            let port = self.find_link(link, &field)?;
            if self.tier_of(self.port_node[port]) == Tier::Host {
                return Err(Error::value(
                    field,
                    format!("{}/{}", link.0, link.1),
                    "links between switches (a host has one link, without it there is no host)",
                ));
            }
            for side in [port, self.peer[port] as usize] {
                self.alive[side] = false;
            }
        }
        Ok(())
    }

    /// The port of the lower end of a link named by its ends.
    fn find_link(&self, link: &(String, String), field: &str) -> Result<usize, Error> {
        let (lower, upper) = (self.find_node(&link.0, field)?, self.find_node(&link.1, field)?);
        self.ports_of(lower)
            .find(|&port| lower < upper && self.port_node[self.peer[port] as usize] == upper)
            .ok_or_else(|| Error::value(field, format!("{}/{}", link.0, link.1), "two ends of one link, the lower tier first"))
    }

    fn find_node(&self, name: &str, field: &str) -> Result<u32, Error> {
        let parsed = name.rsplit_once('-').and_then(|(tier, index)| {
            let tier = match tier {
                "host" => Tier::Host,
                "edge" | "leaf" => Tier::Edge,
                "agg" => Tier::Agg,
                "core" | "spine" => Tier::Core,
                _ => return None,
            };
            let node = self.tiers[tier as usize].start.checked_add(index.parse().ok()?)?;
            self.tiers[tier as usize].contains(&node).then_some(node)
        });
        parsed.filter(|&node| self.node_name(node) == name).ok_or_else(|| {
            Error::value(field, name, "the name of a node of this fabric, such as edge-0, agg-3, core-7 (leaf-0, spine-1)")
        })
    }
}

fn check_rate(rate_bps: u64, field: &str) -> Result<(), Error> {
    if BytePace::from_rate(rate_bps).is_none() || rate_bps > 100_000_000_000_000 {
        return Err(Error::value(field, rate_bps, "1 Mb/s to 100 Tb/s"));
    }
    Ok(())
}

/// Collects tiers and cables into a [`Fabric`].
struct Builder {
    tiers: [Range<u32>; 4],
    port_base: Vec<u32>,
    down: Vec<u32>,
    peer: Vec<u32>,
    rate_bps: Vec<u64>,
    latency: Vec<Ps>,
}

impl Builder {
    /// `levels`: for each tier its nodes, and the down- and up-facing ports of each.
    fn new(levels: [(u32, u32, u32); 4]) -> Self {
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
    fn cable(&mut self, lower: (Tier, u32), up: u32, upper: (Tier, u32), down: u32, link: LinkConfig) {
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

    fn finish(self, switches: Vec<SwitchShape>, addressing: Addressing) -> Fabric {
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
            switches,
            addressing,
            valid: valid::ValidTable::default(),
        }
    }
}

/// Refuses dimensions of zero, too many uplinks, and links whose times make no sense.
fn check_dimensions(dimensions: &[(&str, u32)], links: &[(&str, LinkConfig)]) -> Result<(), Error> {
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

#[cfg(test)]
mod tests;
