//! Links that a configuration names by their ends: down, or slower than their kind.

use super::builder::check_rate;
use super::{Fabric, Tier};
use crate::config::DegradedLink;
use crate::error::Error;

impl Fabric {
    pub(super) fn degrade(&mut self, links: &[DegradedLink]) -> Result<(), Error> {
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

    pub(super) fn take_down(&mut self, links: &[(String, String)]) -> Result<(), Error> {
        for (row, link) in links.iter().enumerate() {
            let field = format!("fabric.links_down[{row}]");
            let port = self.find_fabric_link(link, &field)?;
            for side in [port, self.peer[port] as usize] {
                self.alive[side] = false;
            }
        }
        Ok(())
    }

    /// The port of the lower end of a link between switches.
    pub(super) fn find_fabric_link(&self, link: &(String, String), field: &str) -> Result<usize, Error> {
        let port = self.find_link(link, field)?;
        if self.tier_of(self.port_node[port]) == Tier::Host {
            return Err(Error::value(
                field,
                format!("{}/{}", link.0, link.1),
                "links between switches (a host has one link, without it there is no host)",
            ));
        }
        Ok(port)
    }

    /// The port that feeds the directed link from one node to another.
    pub fn find_port(&self, link: &(String, String), field: &str) -> Result<usize, Error> {
        let (from, to) = (self.find_node(&link.0, field)?, self.find_node(&link.1, field)?);
        self.ports_of(from)
            .find(|&port| self.port_node[self.peer[port] as usize] == to)
            .ok_or_else(|| Error::value(field, format!("{}/{}", link.0, link.1), "two ends of one link, the sending one first"))
    }

    /// The port of the lower end of a link named by its ends.
    fn find_link(&self, link: &(String, String), field: &str) -> Result<usize, Error> {
        let (lower, upper) = (self.find_node(&link.0, field)?, self.find_node(&link.1, field)?);
        self.ports_of(lower)
            .find(|&port| lower < upper && self.port_node[self.peer[port] as usize] == upper)
            .ok_or_else(|| Error::value(field, format!("{}/{}", link.0, link.1), "two ends of one link, the lower tier first"))
    }

    /// The node of this name; `field` says where it stands.
    pub fn find_node(&self, name: &str, field: &str) -> Result<u32, Error> {
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
