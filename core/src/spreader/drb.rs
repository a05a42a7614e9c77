//! DRB, digit-reversal bouncing: for each (destination host, size class) the sender rotates over the switches of the lowest common layer.
//!
//! *Source*: Cao et al., CoNEXT 2013; Ofan paper section 3.4 and appendix D (Theorem 3: O(1) queues, edge uplinks at most w + 1 packets).
//! Consecutive waypoints alternate the aggregation switch: `j = i mod w, c = (i div w) mod w`.
//! *Differs*: waypoints travel in header fields, no encapsulation bytes. Under failures the host skips waypoints that either end cannot reach.
//! *State*: a pointer for each (destination host, class). *Cost*: a table look-up at the host.

use crate::fabric::Fabric;
use crate::rng::{Purpose, Stream, mix};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Pointers of one host.
#[derive(Debug)]
pub struct Drb {
    stream: Stream,
    edge: u32,
    pod: u32,
    aggs: u32,
    cores_per_agg: u32,
    any_dead: bool,
    pointers: HashMap<u32, u32, BuildHasherDefault<MixHasher>>,
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
            any_dead: fabric.alive.iter().any(|&alive| !alive),
            pointers: HashMap::default(),
        }
    }

    #[inline(always)]
    pub(super) fn path(&mut self, fabric: &Fabric, address: u32, class: usize) -> u16 {
        let shape = fabric.switch(self.edge);
        if address >> shape.prefix_shift == shape.prefix {
            return 0;
        }
        let pod = fabric.addressing.pod_of_address(address);
        let waypoints = if pod == self.pod { self.aggs } else { self.aggs * self.cores_per_agg };
        let stream = &mut self.stream;
        let pointer =
            self.pointers.entry(address << 1 | class as u32).or_insert_with(|| stream.below(u64::from(waypoints)) as u32);
        loop {
            let (j, c) = (*pointer % self.aggs, *pointer / self.aggs);
            *pointer = if *pointer + 1 == waypoints { 0 } else { *pointer + 1 };
            if !self.any_dead || is_reachable(fabric, self.edge, self.pod, address, j, c, self.aggs) {
                return (j | c << 8) as u16;
            }
        }
    }
}

/// Whether waypoint (j, c), or j alone within a pod, can be reached from both ends.
fn is_reachable(fabric: &Fabric, edge: u32, own_pod: u32, address: u32, j: u32, c: u32, aggs: u32) -> bool {
    let key = address >> fabric.switch(edge).prefix_shift;
    let pod = fabric.addressing.pod_of_address(address);
    let through_agg = fabric.valid_ports(edge, key).contains(j as u16);
    let through_core = || {
        !fabric.is_three_level()
            || pod == own_pod
            || fabric.valid_ports(fabric.tiers[2].start + own_pod * aggs + j, pod).contains(c as u16)
    };
    through_agg && through_core()
}

/// Hashes the one 32-bit key with the mixer of [`crate::rng`]: the default hasher costs more than the rest of the scheme.
#[derive(Default)]
struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }

    fn write_u32(&mut self, key: u32) {
        self.0 = mix(u64::from(key));
    }
}
