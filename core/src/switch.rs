//! A switch: takes what its links deliver in a window, in order of time, and hands each packet to an egress port.

use crate::balancer::{Balancer, Choice, SwitchBalancer};
use crate::fabric::{Reach, SwitchShape};
use crate::link::Incoming;
use crate::packet::{Packet, Slot};
use crate::port::{Port, Space};
use crate::rng::{Purpose, Stream, mix};
use crate::units::Ps;

/// Longest window: an offset takes 24 bits of a sort key.
pub const WINDOW_LIMIT: Ps = 1 << 24;

// A sort key: offset in the window (24 bits), local input port (16 bits), place in the batch (24 bits).
const OFFSET_SHIFT: u32 = 40;
const INGRESS_SHIFT: u32 = 24;
const INDEX_MASK: u64 = (1 << INGRESS_SHIFT) - 1;

const fn ingress_of(key: u64) -> u32 {
    (key >> INGRESS_SHIFT) as u32 & 0xFFFF
}

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
    packets: Vec<Packet>,
    keys: Vec<u64>,
    order: Vec<u64>,
    counts: Vec<u32>,
}

impl Batch {
    /// Starts a node's window.
    #[inline(always)]
    pub fn clear(&mut self, window_start: Ps) {
        self.window_start = window_start;
        self.packets.clear();
        self.keys.clear();
    }

    /// Makes space for what one input may add.
    #[inline(always)]
    fn open(&mut self, additional: usize, ingress: u32) -> Appender<'_> {
        self.packets.reserve(additional);
        self.keys.reserve(additional);
        let count = self.packets.len();
        debug_assert!((count + additional) as u64 <= INDEX_MASK);
        Appender {
            // SAFETY: within the capacity.
            next_packet: unsafe { self.packets.as_mut_ptr().add(count) },
            // SAFETY: within the capacity.
            next_key: unsafe { self.keys.as_mut_ptr().add(count) },
            next_low: u64::from(ingress) << INGRESS_SHIFT | count as u64,
            batch: self,
        }
    }

    /// Packets in the batch.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Puts the packets in order. `salts` are those of the node's inputs.
    #[inline(always)]
    pub fn sort(&mut self, window: Ps, salts: &[TieSalt]) {
        let count = self.keys.len();
        if count < 16 || !self.spread(window) {
            self.order.clear();
            self.order.extend_from_slice(&self.keys);
            if count >= 64 {
                self.order.sort_unstable();
            }
        }
        if insertion_sort(&mut self.order) {
            self.settle_ties(salts);
        }
    }

    /// Arrivals are spread over the window, so one pass into as many buckets as packets leaves next to nothing to do. Gives up when they are not.
    #[inline(always)]
    fn spread(&mut self, window: Ps) -> bool {
        const CROWD: u32 = 64;
        let count = self.keys.len();
        let offset_bits = 64 - (window - 1).leading_zeros();
        let bucket_bits = count.next_power_of_two().trailing_zeros().min(offset_bits);
        let shift = OFFSET_SHIFT + offset_bits - bucket_bits;
        self.counts.clear();
        self.counts.resize(1 << bucket_bits, 0);
        for &key in &self.keys {
            // SAFETY: an offset is below the window, hence below 2^offset_bits, and what is left of it after the shift below 2^bucket_bits.
            unsafe { *self.counts.get_unchecked_mut((key >> shift) as usize) += 1 };
        }
        let (mut total, mut largest) = (0, 0);
        for slot in &mut self.counts {
            let count = *slot;
            largest = largest.max(count);
            *slot = total;
            total += count;
        }
        if largest > CROWD {
            return false;
        }
        self.order.resize(count, 0);
        for &key in &self.keys {
            // SAFETY: as above; and the places handed out are the numbers 0 to count - 1, each once.
            unsafe {
                let place = self.counts.get_unchecked_mut((key >> shift) as usize);
                *self.order.get_unchecked_mut(*place as usize) = key;
                *place += 1;
            }
        }
        true
    }

    /// Packets that arrived at the same picosecond stand in order of input so far: no input may profit from its number.
    #[cold]
    fn settle_ties(&mut self, salts: &[TieSalt]) {
        let mut first = 0;
        while first < self.order.len() {
            let offset = self.order[first] >> OFFSET_SHIFT;
            let count = self.order[first..].iter().take_while(|&&key| key >> OFFSET_SHIFT == offset).count();
            let at = self.window_start + offset;
            self.order[first..first + count].sort_by_key(|&key| (salts[ingress_of(key) as usize].rank(at), key));
            first += count;
        }
    }

    #[inline(always)]
    fn get(&self, key: u64) -> (Ps, Packet, u32) {
        let index = (key & INDEX_MASK) as usize;
        debug_assert!(index < self.packets.len());
        // SAFETY: keys are made in `Appender::add`, each with the place of its packet.
        let packet = unsafe { *self.packets.get_unchecked(index) };
        (self.window_start + (key >> OFFSET_SHIFT), packet, ingress_of(key))
    }
}

/// Adds packets of one input to a batch, without looking at its capacity again.
struct Appender<'a> {
    next_packet: *mut Packet,
    next_key: *mut u64,
    /// Place and input of the next packet, as they stand in its key.
    next_low: u64,
    batch: &'a mut Batch,
}

impl Appender<'_> {
    /// # Safety
    /// No more packets than were announced to [`Batch::open`].
    #[inline(always)]
    unsafe fn add(&mut self, slot: &Slot) {
        debug_assert!(slot.at >= self.batch.window_start && slot.at - self.batch.window_start < WINDOW_LIMIT);
        // SAFETY: within the reserved space, by the caller's promise.
        unsafe {
            self.next_packet.write(slot.packet);
            self.next_key.write((slot.at - self.batch.window_start) << OFFSET_SHIFT | self.next_low);
            self.next_packet = self.next_packet.add(1);
            self.next_key = self.next_key.add(1);
        }
        self.next_low += 1;
    }
}

impl Drop for Appender<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let count = (self.next_low & INDEX_MASK) as usize;
        // SAFETY: everything below has been written.
        unsafe {
            self.batch.packets.set_len(count);
            self.batch.keys.set_len(count);
        }
    }
}

/// Fast on what is nearly sorted. Whether any two have the same offset: such keys meet while they are sorted.
#[inline(always)]
fn insertion_sort(keys: &mut [u64]) -> bool {
    let mut nearest = u64::MAX;
    for right in 1..keys.len() {
        let mut place = right;
        // SAFETY: `place` runs from `right`, which is within the slice, down to 1, and only `place - 1` and `place` are touched.
        unsafe {
            let key = *keys.get_unchecked(right);
            loop {
                let previous = *keys.get_unchecked(place - 1);
                nearest = nearest.min(previous ^ key);
                if previous < key {
                    break;
                }
                *keys.get_unchecked_mut(place) = previous;
                place -= 1;
                if place == 0 {
                    break;
                }
            }
            *keys.get_unchecked_mut(place) = key;
        }
    }
    nearest >> OFFSET_SHIFT == 0
}

/// What a switch has to do in a window. Northbound and southbound packets leave through different ports, so each direction is ordered and handled by
/// itself: two short loops without a doubt in them instead of one that has to guess the direction of every packet.
#[derive(Debug, Default)]
pub struct Agenda {
    up: Batch,
    down: Batch,
}

impl Agenda {
    /// Starts a node's window.
    #[inline(always)]
    pub fn clear(&mut self, window_start: Ps) {
        self.up.clear(window_start);
        self.down.clear(window_start);
    }

    /// Adds what a link delivers before `until`. What comes from above goes down.
    #[inline(always)]
    pub fn gather(&mut self, shape: &SwitchShape, incoming: &mut Incoming, until: Ps, ingress: u32) {
        let mut down = self.down.open(incoming.available(), ingress);
        if ingress >= shape.down || shape.up == 0 {
            // SAFETY: no more than what is available is taken, and that much was reserved.
            incoming.drain_before(until, |slot| unsafe { down.add(slot) });
        } else {
            let mut up = self.up.open(incoming.available(), ingress);
            incoming.drain_before(until, |slot| {
                let goes_down = slot.packet.address() >> shape.prefix_shift == shape.prefix;
                // SAFETY: as above, for both directions.
                unsafe { if goes_down { down.add(slot) } else { up.add(slot) } }
            });
        }
    }

    /// Packets in all.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.up.len() + self.down.len()
    }

    /// Puts both directions in order. `salts` are those of the node's inputs.
    #[inline(always)]
    pub fn sort(&mut self, window: Ps, salts: &[TieSalt]) {
        self.up.sort(window, salts);
        self.down.sort(window, salts);
    }

    /// Sends every packet on its way.
    #[inline(always)]
    pub fn forward(
        &self,
        shape: &SwitchShape,
        reach: Reach<'_>,
        scheme: &mut SwitchBalancer,
        ports: &mut [Port],
        space: &mut Space<'_>,
    ) {
        let (down_ports, uplinks) = ports.split_at_mut(shape.down as usize);
        for &key in &self.down.order {
            let (now, packet, _) = self.down.get(key);
            down_ports[(packet.address() >> shape.down_shift & shape.down_mask) as usize].push(now, packet, space);
        }
        if self.up.len() == 0 {
            return;
        }
        match scheme {
            SwitchBalancer::Ecmp(scheme) => self.climb(shape, reach, scheme, uplinks, space),
            SwitchBalancer::SimpleRr(scheme) => self.climb(shape, reach, scheme, uplinks, space),
            SwitchBalancer::Jsq(scheme) => self.climb(shape, reach, scheme, uplinks, space),
            SwitchBalancer::Rsq(scheme) => self.climb(shape, reach, scheme, uplinks, space),
            SwitchBalancer::Pinned(scheme) => self.climb(shape, reach, scheme, uplinks, space),
            SwitchBalancer::Ofan(scheme) => self.climb(shape, reach, scheme, uplinks, space),
        }
    }

    fn climb(
        &self,
        shape: &SwitchShape,
        reach: Reach<'_>,
        scheme: &mut impl Balancer,
        uplinks: &mut [Port],
        space: &mut Space<'_>,
    ) {
        for &order in &self.up.order {
            let (now, packet, ingress) = self.up.get(order);
            let key = packet.address() >> shape.prefix_shift;
            let choice = Choice { now, packet, key, ingress, valid: reach.of(key), uplinks };
            let egress = usize::from(scheme.pick(choice));
            uplinks[egress].push(now, packet, space);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Tier;
    use crate::link::{Arena, Link, Producer};
    use crate::packet::Kind;

    fn packet(flow: u32) -> Packet {
        Packet::new(Kind::Data, flow, 0, 0, 0, 64)
    }

    /// Against the library's sort: spread out, crowded into one moment, and lopsided.
    #[test]
    fn batches_come_out_in_time_order() {
        let mut stream = Stream::new(1, Purpose::Balancer, 0);
        let salts: Vec<TieSalt> = (0..7).map(|port| TieSalt::new(1, port)).collect();
        let core =
            SwitchShape { tier: Tier::Core, down: 7, up: 0, prefix_shift: 31, prefix: 0, down_shift: 0, down_mask: 7, keys: 0 };
        for (count, span) in [(1, 1), (5, 500_000), (300, 500_000), (300, 3), (3000, 500_000), (900, 40), (2000, 1), (20, 2)] {
            let mut agenda = Agenda::default();
            let mut wanted = Vec::new();
            agenda.clear(7_000_000);
            for ingress in 0..7 {
                let (link, mut producer, mut arena) = (Link::default(), Producer::new(4), Arena::default());
                let mut times: Vec<Ps> = (0..count / 7 + 1).map(|_| 7_000_000 + stream.below(span)).collect();
                times.sort_unstable();
                for at in times {
                    if producer.is_full() {
                        producer.make_room(0, 0, &mut arena);
                    }
                    let flow = wanted.len() as u32;
                    producer.push(Slot { at, packet: packet(flow) });
                    wanted.push((at, salts[ingress as usize].rank(at), ingress, flow));
                }
                producer.publish(&link);
                agenda.gather(&core, &mut Incoming::open(&link, 0), 7_500_000, ingress);
            }
            wanted.sort_unstable();
            agenda.sort(500_000, &salts);
            let batch = &agenda.down;
            let got = batch.order.iter().map(|&key| batch.get(key)).map(|(at, packet, input)| (at, input, packet.flow()));
            assert!(got.eq(wanted.iter().map(|&(at, _, input, flow)| (at, input, flow))), "{count} in {span} ps");
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
