//! DRB, digit-reversal bouncing: for each (destination host, size class) the sender rotates over the switches of the lowest common layer.
//!
//! *Source*: Cao et al., CoNEXT 2013; Ofan paper section 3.4 and appendix D (Theorem 3: O(1) queues, edge uplinks at most w + 1 packets).
//! Consecutive waypoints alternate the aggregation switch: `j = i mod w, c = (i div w) mod w`.
//! *Differs*: waypoints travel in header fields, no encapsulation bytes. Under failures the host skips waypoints that either end cannot reach.
//! *State*: a pointer for each (destination host, class). *Cost*: a table look-up at the host.

use crate::fabric::{Fabric, Routes};
use crate::hash::FastMap;
use crate::rng::{Purpose, Stream};

/// Pointers of one host.
#[derive(Debug)]
pub struct Drb {
    stream: Stream,
    edge: u32,
    pod: u32,
    aggs: u32,
    cores_per_agg: u32,
    pointers: FastMap<u32, u32>,
}

impl Drb {
    pub(super) fn new(fabric: &Fabric, host: u32, seed: u64) -> Self {
        let edge = fabric.edge_of(host);
        let aggs = fabric.switch(edge).up;
        Self {
            stream: Stream::new(seed, Purpose::Spreader, u64::from(host)),
            edge,
            pod: fabric.addressing.pod_of_address(fabric.addressing.address(host)),
            aggs,
            cores_per_agg: if fabric.is_three_level() { fabric.switch(fabric.tiers[2].start).up } else { 1 },
            pointers: FastMap::default(),
        }
    }

    #[inline(always)]
    pub(super) fn path(&mut self, fabric: &Fabric, routes: &Routes, address: u32, class: usize) -> u16 {
        let shape = fabric.switch(self.edge);
        if address >> shape.prefix_shift == shape.prefix {
            return 0;
        }
        let pod = fabric.addressing.pod_of_address(address);
        let waypoints = if pod == self.pod { self.aggs } else { self.aggs * self.cores_per_agg };
        let stream = &mut self.stream;
        let pointer =
            self.pointers.entry(address << 1 | class as u32).or_insert_with(|| stream.below(u64::from(waypoints)) as u32);
        let mut next = || {
            let (j, c) = (*pointer % self.aggs, *pointer / self.aggs);
            *pointer = if *pointer + 1 == waypoints { 0 } else { *pointer + 1 };
            (j, c)
        };
        let (mut j, mut c) = next();
        if routes.any_dead {
            // In mid-run there may be no way left; a packet is then lost wherever it is sent.
            for _ in 1..waypoints {
                if is_reachable(fabric, routes, self.edge, self.pod, address, (j, c), self.aggs) {
                    break;
                }
                (j, c) = next();
            }
        }
        (j | c << 8) as u16
    }
}

/// Whether waypoint (j, c), or j alone within a pod, can be reached from both ends.
fn is_reachable(fabric: &Fabric, routes: &Routes, edge: u32, own_pod: u32, address: u32, (j, c): (u32, u32), aggs: u32) -> bool {
    let key = address >> fabric.switch(edge).prefix_shift;
    let pod = fabric.addressing.pod_of_address(address);
    let through_agg = routes.valid_ports(edge, key).contains(j as u16);
    let through_core = || {
        !fabric.is_three_level()
            || pod == own_pod
            || routes.valid_ports(fabric.tiers[2].start + own_pod * aggs + j, pod).contains(c as u16)
    };
    through_agg && through_core()
}
