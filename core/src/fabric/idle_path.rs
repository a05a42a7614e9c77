//! The way that a packet takes where nothing is in its way: which ports, how many ways there are, and how long a round trip lasts.

use super::{Fabric, Tier};
use crate::units::Ps;

impl Fabric {
    /// Ports of a shortest path from one host to another, over the fastest uplink of each switch, and how many shortest paths there are.
    pub fn shortest_path(&self, src: u32, address: u32) -> (Vec<usize>, u32) {
        let mut port = self.port_base[src as usize] as usize;
        let (mut ports, mut paths) = (vec![port], 1);
        loop {
            let node = self.port_node[self.peer[port] as usize];
            if self.tier_of(node) == Tier::Host {
                return (ports, paths);
            }
            let (shape, own) = (self.switch(node), self.ports_of(node));
            port = if shape.up == 0 || address >> shape.prefix_shift == shape.prefix {
                own.start + (address >> shape.down_shift & shape.down_mask) as usize
            } else {
                paths *= shape.up;
                (own.start + shape.down as usize..own.end).max_by_key(|&port| self.rate_bps[port]).unwrap_or(own.start)
            };
            ports.push(port);
        }
    }

    /// Time from the start of a frame of so many bytes to its last bit's arrival, over these ports, store and forward.
    pub fn idle_time(&self, ports: &[usize], bytes: u32) -> Ps {
        ports.iter().map(|&port| self.pace(port).time(bytes) + self.latency[port]).sum()
    }
}
