//! The way that a packet takes where nothing is in its way: which ports, how many ways there are, and how long a round trip lasts.

use super::{Fabric, Tier};
use crate::units::Ps;

impl Fabric {
    /// Ports of that of the shortest paths from a host to an address on which a round trip of a frame and an answer of these sizes takes least, and how many shortest
    /// paths there are.
    pub fn idle_path(&self, src: u32, address: u32, round_trip: [u32; 2]) -> (Vec<usize>, u32) {
        let first = self.port_base[src as usize] as usize;
        let mut ports = vec![first];
        let (mut best, mut paths) = (None, 0);
        self.visit_paths(&mut ports, address, &mut |ports| {
            let time: Ps = round_trip.iter().map(|&bytes| self.idle_time(ports, bytes)).sum();
            paths += 1;
            if best.as_ref().is_none_or(|&(least, _)| time < least) {
                best = Some((time, ports.to_vec()));
            }
        });
        (best.map(|(_, ports)| ports).unwrap_or_default(), paths)
    }

    /// Goes on from the last of `ports` by all shortest ways.
    fn visit_paths(&self, ports: &mut Vec<usize>, address: u32, visit: &mut impl FnMut(&[usize])) {
        let Some(&last) = ports.last() else { return };
        let node = self.port_node[self.peer[last] as usize];
        if self.tier_of(node) == Tier::Host {
            return visit(ports);
        }
        let (shape, own) = (self.switch(node), self.ports_of(node));
        let next = if shape.up == 0 || address >> shape.prefix_shift == shape.prefix {
            let down = own.start + (address >> shape.down_shift & shape.down_mask) as usize;
            down..down + 1
        } else {
            own.start + shape.down as usize..own.end
        };
        for port in next {
            ports.push(port);
            self.visit_paths(ports, address, visit);
            ports.pop();
        }
    }

    /// Time from the start of a frame of so many bytes to its last bit's arrival, over these ports, store and forward.
    pub fn idle_time(&self, ports: &[usize], bytes: u32) -> Ps {
        ports.iter().map(|&port| self.pace(port).time(bytes) + self.latency[port]).sum()
    }
}
