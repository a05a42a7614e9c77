//! A switch: takes what its links deliver in a window, in order of time, and hands each packet to an egress port.

use crate::balancer::{Balancer, Choice, SwitchBalancer};
use crate::fabric::{Fabric, SwitchShape};
use crate::packet::{Packet, Slot};
use crate::port::{Port, Space};
use crate::rng::{Purpose, Stream, mix};
use crate::units::Ps;

/// Longest window: an offset takes 24 bits of a sort key.
pub const WINDOW_LIMIT: Ps = 1 << 24;

const OFFSET_SHIFT: u32 = 40;
const TIE_SHIFT: u32 = 24;
const INDEX_MASK: u64 = (1 << TIE_SHIFT) - 1;

/// Order among packets that reach a node at the same picosecond: a hash of the moment and of the input's salt, so that no input is favoured.
#[derive(Clone, Copy, Debug)]
pub struct TieSalt(u64);

impl TieSalt {
    /// The salt of the link that enters through `port`.
    pub fn new(seed: u64, port: u32) -> Self {
        Self(Stream::new(seed, Purpose::Tie, u64::from(port)).next())
    }

    #[inline(always)]
    fn rank(self, at: Ps) -> u64 {
        mix(at ^ self.0) >> 48
    }
}

/// The packets of one node and window, and the order in which they are handled: by time, then by a fair hash, then by input.
#[derive(Debug, Default)]
pub struct Batch {
    window_start: Ps,
    arrivals: Vec<(Packet, u32)>,
    keys: Vec<u64>,
    order: Vec<u64>,
    counts: Vec<u32>,
}

impl Batch {
    /// Starts a node's window.
    #[inline(always)]
    pub fn clear(&mut self, window_start: Ps) {
        self.window_start = window_start;
        self.arrivals.clear();
        self.keys.clear();
    }

    /// Adds a packet that came in through local port `ingress`.
    #[inline(always)]
    pub fn add(&mut self, Slot { at, packet }: Slot, ingress: u32, salt: TieSalt) {
        let index = self.arrivals.len() as u64;
        debug_assert!(at >= self.window_start && at - self.window_start < WINDOW_LIMIT && index <= INDEX_MASK);
        self.arrivals.push((packet, ingress));
        self.keys.push((at - self.window_start) << OFFSET_SHIFT | salt.rank(at) << TIE_SHIFT | index);
    }

    /// Packets in the batch.
    pub fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// Puts the packets in order. Arrivals are spread over the window, so one pass into as many buckets as packets leaves next to nothing to do.
    #[inline(always)]
    pub fn sort(&mut self, window: Ps) {
        let count = self.keys.len();
        if count < 24 {
            insertion_sort(&mut self.keys);
            std::mem::swap(&mut self.keys, &mut self.order);
            return;
        }
        let buckets = count.next_power_of_two();
        let offset_bits = 64 - (window - 1).leading_zeros();
        let shift = OFFSET_SHIFT + offset_bits.saturating_sub(buckets.trailing_zeros());
        self.counts.clear();
        self.counts.resize(buckets + 1, 0);
        for &key in &self.keys {
            self.counts[(key >> shift) as usize + 1] += 1;
        }
        let (mut total, mut largest) = (0, 0);
        for slot in &mut self.counts {
            largest = largest.max(*slot);
            total += *slot;
            *slot = total;
        }
        if largest > 64 {
            self.keys.sort_unstable();
            std::mem::swap(&mut self.keys, &mut self.order);
            return;
        }
        self.order.resize(count, 0);
        for &key in &self.keys {
            let place = &mut self.counts[(key >> shift) as usize];
            self.order[*place as usize] = key;
            *place += 1;
        }
        insertion_sort(&mut self.order[..count]);
    }

    #[inline(always)]
    fn get(&self, place: usize) -> (Ps, Packet, u32) {
        let key = self.order[place];
        let (packet, ingress) = self.arrivals[(key & INDEX_MASK) as usize];
        (self.window_start + (key >> OFFSET_SHIFT), packet, ingress)
    }
}

/// Fast on what is nearly sorted.
#[inline(always)]
fn insertion_sort(keys: &mut [u64]) {
    for right in 1..keys.len() {
        let key = keys[right];
        let mut place = right;
        while place > 0 && keys[place - 1] > key {
            keys[place] = keys[place - 1];
            place -= 1;
        }
        keys[place] = key;
    }
}

/// Sends every packet of a sorted batch on its way.
pub fn forward(
    node: u32,
    fabric: &Fabric,
    balancer: &mut SwitchBalancer,
    batch: &Batch,
    ports: &mut [Port],
    space: &mut Space<'_>,
) {
    match balancer {
        SwitchBalancer::Ecmp(scheme) => forward_with(node, fabric, scheme, batch, ports, space),
        SwitchBalancer::SimpleRr(scheme) => forward_with(node, fabric, scheme, batch, ports, space),
        SwitchBalancer::Jsq(scheme) => forward_with(node, fabric, scheme, batch, ports, space),
        SwitchBalancer::Rsq(scheme) => forward_with(node, fabric, scheme, batch, ports, space),
        SwitchBalancer::Pinned(scheme) => forward_with(node, fabric, scheme, batch, ports, space),
        SwitchBalancer::Ofan(scheme) => forward_with(node, fabric, scheme, batch, ports, space),
    }
}

fn forward_with<B: Balancer>(
    node: u32,
    fabric: &Fabric,
    balancer: &mut B,
    batch: &Batch,
    ports: &mut [Port],
    space: &mut Space<'_>,
) {
    let shape: &SwitchShape = fabric.switch(node);
    let down = shape.down as usize;
    for place in 0..batch.len() {
        let (now, packet, ingress) = batch.get(place);
        let address = packet.address();
        let key = address >> shape.prefix_shift;
        let egress = if key == shape.prefix {
            (address >> shape.down_shift & shape.down_mask) as usize
        } else {
            let valid = fabric.valid_ports(node, key);
            let uplinks = &mut ports[down..];
            down + usize::from(balancer.pick(Choice { now, packet, key, ingress, valid, uplinks }))
        };
        ports[egress].push(now, packet, space);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    fn packet(flow: u32) -> Packet {
        Packet::new(Kind::Data, flow, 0, 0, 0, 64)
    }

    /// Against the library's sort: spread out, crowded into one moment, and lopsided.
    #[test]
    fn batches_come_out_in_time_order() {
        let mut stream = Stream::new(1, Purpose::Balancer, 0);
        for (count, span) in [(5, 500_000), (300, 500_000), (300, 3), (3000, 500_000), (900, 40), (2000, 1)] {
            let mut batch = Batch::default();
            batch.clear(7_000_000);
            let mut wanted = Vec::new();
            for index in 0..count {
                let at = 7_000_000 + stream.below(span);
                let salt = TieSalt::new(1, index % 7);
                batch.add(Slot { at, packet: packet(index) }, index % 7, salt);
                wanted.push((at, salt.rank(at), index));
            }
            wanted.sort_unstable();
            batch.sort(500_000);
            let got: Vec<(Ps, u32)> = (0..batch.len()).map(|place| batch.get(place)).map(|(at, p, _)| (at, p.flow())).collect();
            assert_eq!(got, wanted.iter().map(|&(at, _, index)| (at, index)).collect::<Vec<_>>());
        }
    }

    /// N inputs that always tie: each comes first equally often (chi-square, 7 degrees of freedom, p = 0.001 at 24.3).
    #[test]
    fn ties_are_fair() {
        let salts: Vec<TieSalt> = (0..8).map(|port| TieSalt::new(3, port)).collect();
        let mut firsts = [0u32; 8];
        for at in (0..80_000).map(|i| i * 41_780) {
            let first = (0..8).min_by_key(|&input| salts[input].rank(at)).unwrap_or(0);
            firsts[first] += 1;
        }
        let chi: f64 = firsts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 24.3, "chi-square {chi}, {firsts:?}");
    }
}
