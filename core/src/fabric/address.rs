//! Host addresses: pod, edge switch in the pod, slot at the edge switch, each in its own bits.

use crate::error::Error;
use crate::packet::ADDRESS_LIMIT;

/// Bits of an address.
#[derive(Clone, Copy, Debug)]
pub struct Addressing {
    hosts_per_edge: u32,
    edges_per_pod: u32,
    pub(super) slot_bits: u32,
    pub(super) edge_bits: u32,
}

impl Addressing {
    pub(super) fn new(pods: u32, edges_per_pod: u32, hosts_per_edge: u32) -> Result<Self, Error> {
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

    /// Bits of an edge-level key that number the edge switch in its pod.
    pub fn edge_bits(self) -> u32 {
        self.edge_bits
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
