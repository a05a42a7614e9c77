//! What a packet meets where nothing is in its way: how long a round trip lasts, over how many links, and how many shortest paths there are.

use super::{Fabric, Tier};
use crate::units::Ps;

impl Fabric {
    /// Round trip of a frame and an answer of these sizes between a host and an address, store and forward, over that of the shortest paths on which it takes least; and the
    /// links of the path, one way. The way back has the same links.
    pub fn idle_round_trip(&self, src: u32, address: u32, sizes: [u32; 2]) -> (Ps, u32) {
        self.least_from(self.port_base[src as usize] as usize, address, sizes)
    }

    /// Shortest paths from a host to an address when all links work.
    pub fn paths_to(&self, src: u32, address: u32) -> u32 {
        let edge = self.tiers[1].start + self.addressing.dense_edge(address >> self.addressing.slot_bits);
        self.paths_between(self.edge_of(src), edge)
    }

    /// The rest of that round trip, from a port on.
    fn least_from(&self, port: usize, address: u32, sizes: [u32; 2]) -> (Ps, u32) {
        let own: Ps = sizes.iter().map(|&bytes| self.pace(port).time(bytes) + self.latency[port]).sum();
        let node = self.port_node[self.peer[port] as usize];
        if self.tier_of(node) == Tier::Host {
            return (own, 1);
        }
        let (shape, ports) = (self.switch(node), self.ports_of(node));
        let next = if shape.up == 0 || address >> shape.prefix_shift == shape.prefix {
            let down = ports.start + (address >> shape.down_shift & shape.down_mask) as usize;
            down..down + 1
        } else {
            let first = ports.start + shape.down as usize;
            // All links of a tier are alike unless some are degraded.
            first..if self.has_degraded { ports.end } else { first + 1 }
        };
        let rest = next.map(|port| self.least_from(port, address, sizes)).min();
        rest.map_or((own, 1), |(rest, links)| (own + rest, links + 1))
    }
}
