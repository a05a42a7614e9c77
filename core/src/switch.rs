//! A switch: takes what its links deliver in a window, in order of time, and hands each packet to an egress port.

mod in_order;
mod ingress;
mod memory;

use crate::balancer::{Balancer, Decision, SwitchBalancer, Visit, Watchful};
use crate::fabric::{Reach, SwitchShape};
use crate::link::Incoming;
use crate::order::{BATCH_LIMIT, Key, Order, TieSalt};
use crate::packet::Packet;
use crate::port::{Port, Space};
use crate::units::Ps;
use in_order::InOrder;
pub use ingress::Ingress;
pub use memory::Memory;

/// Packets of one link that space is set aside for at a time.
const CHUNK: usize = 4096;

/// What a switch has to do in a window. Northbound and southbound packets leave through different ports, so each direction is ordered and handled by
/// itself: two short loops without a doubt in them instead of one that has to guess the direction of every packet.
#[derive(Debug, Default)]
pub struct Agenda {
    window_start: Ps,
    packets: Vec<Packet>,
    up: Order,
    down: Order,
}

/// Everything that a switch touches besides its agenda during a window.
pub struct SwitchSurroundings<'a, 'space> {
    /// How it routes.
    pub shape: &'a SwitchShape,
    /// Valid uplinks.
    pub reach: Reach<'a>,
    /// Tie salts of its inputs.
    pub salts: &'a [TieSalt],
    /// Its scheme.
    pub scheme: &'a mut SwitchBalancer,
    /// Its ports.
    pub ports: &'a mut [Port],
    /// Where rings grow.
    pub space: &'a mut Space<'space>,
    /// What it counts to pause its neighbours, if it does.
    pub ingress: Option<&'a mut Ingress>,
}

impl Agenda {
    /// Starts a node's window.
    #[inline(always)]
    pub fn clear(&mut self, window_start: Ps) {
        self.window_start = window_start;
        self.packets.clear();
        self.up.keys.clear();
        self.down.keys.clear();
    }

    /// Adds what a link delivers before `until` through local port `ingress`.
    #[inline(always)]
    pub fn gather(&mut self, shape: &SwitchShape, incoming: &mut Incoming, until: Ps, ingress: u32) {
        // A long queue is in the ring too, though little of it arrives in this window: no space is set aside for all of it.
        loop {
            let most = incoming.available().min(CHUNK);
            if most == 0 || self.gather_some(shape, incoming, until, ingress, most) < most {
                return;
            }
        }
    }

    /// Adds up to `most` packets; how many there were. What comes from above goes down.
    #[inline(always)]
    fn gather_some(&mut self, shape: &SwitchShape, incoming: &mut Incoming, until: Ps, ingress: u32, most: usize) -> usize {
        self.packets.reserve(most);
        self.up.keys.reserve(most);
        self.down.keys.reserve(most);
        let window_start = self.window_start;
        let first = self.packets.len();
        let (first_up, first_down) = (self.up.keys.len(), self.down.keys.len());
        assert!(first + most <= BATCH_LIMIT, "more packets in a window than a key can number");
        // SAFETY: all within the capacity just reserved.
        let (packets, up_keys, down_keys) = unsafe {
            (
                self.packets.as_mut_ptr().add(first),
                self.up.keys.as_mut_ptr().add(first_up),
                self.down.keys.as_mut_ptr().add(first_down),
            )
        };
        let (mut count, mut ups) = (0, 0);
        if ingress >= shape.down || shape.up == 0 {
            incoming.drain_before(until, most, |slot| {
                // SAFETY: no more than `most` are taken, and that much was reserved.
                unsafe {
                    packets.add(count).write(slot.packet);
                    down_keys.add(count).write(Key::new(slot.at - window_start, ingress, first + count));
                }
                count += 1;
            });
        } else {
            incoming.drain_before(until, most, |slot| {
                let goes_up = slot.packet.address() >> shape.prefix_shift != shape.prefix;
                let key = Key::new(slot.at - window_start, ingress, first + count);
                // SAFETY: as above. The key is written to both lists, and counts in the one that its direction has advanced.
                unsafe {
                    packets.add(count).write(slot.packet);
                    up_keys.add(ups).write(key);
                    down_keys.add(count - ups).write(key);
                }
                count += 1;
                ups += usize::from(goes_up);
            });
        }
        // SAFETY: everything below the new lengths has been written.
        unsafe {
            self.packets.set_len(first + count);
            self.up.keys.set_len(first_up + ups);
            self.down.keys.set_len(first_down + count - ups);
        }
        count
    }

    /// Packets in all.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Sends every packet on its way, in order. Returns the packets for which no uplink was left, by size class.
    #[inline(always)]
    pub fn work_off(&mut self, until: Ps, around: &mut SwitchSurroundings<'_, '_>) -> [u64; 2] {
        let window = until - self.window_start;
        if around.scheme.is_watchful() || around.ingress.is_some() || around.space.pool.is_some() {
            return self.work_off_in_order(until, around);
        }
        let (down_ports, uplinks) = around.ports.split_at_mut(around.shape.down as usize);
        let moment = Moment { window_start: self.window_start, packets: &self.packets };
        for &key in self.down.sort(self.window_start, window, around.salts) {
            let (now, packet) = moment.of(key);
            let egress = packet.address() >> around.shape.down_shift & around.shape.down_mask;
            down_ports[egress as usize].push(now, packet, around.space);
        }
        let keys = self.up.sort(self.window_start, window, around.salts);
        if keys.is_empty() {
            return [0; 2];
        }
        let mut climb =
            Climb { moment, keys, shape: around.shape, reach: around.reach, uplinks, space: around.space, stranded: [0; 2] };
        around.scheme.visit(&mut climb);
        climb.stranded
    }

    /// The same where a scheme has to see both directions, or the ports share something: one list, one loop.
    #[cold]
    fn work_off_in_order(&mut self, until: Ps, around: &mut SwitchSurroundings<'_, '_>) -> [u64; 2] {
        self.up.keys.append(&mut self.down.keys);
        let moment = Moment { window_start: self.window_start, packets: &self.packets };
        let mut all = InOrder {
            moment,
            keys: self.up.sort(self.window_start, until - self.window_start, around.salts),
            until,
            shape: around.shape,
            reach: around.reach,
            ports: around.ports,
            space: around.space,
            ingress: around.ingress.as_deref_mut(),
            stranded: [0; 2],
        };
        around.scheme.visit(&mut all);
        all.stranded
    }
}

/// What keys refer to.
#[derive(Clone, Copy)]
struct Moment<'a> {
    window_start: Ps,
    packets: &'a [Packet],
}

impl Moment<'_> {
    #[inline(always)]
    fn of(self, key: Key) -> (Ps, Packet) {
        debug_assert!(key.place() < self.packets.len());
        // SAFETY: keys are made in `Agenda::gather`, each with the place of its packet.
        let packet = unsafe { *self.packets.get_unchecked(key.place()) };
        (self.window_start + key.offset(), packet)
    }
}

/// The northbound packets of a window, sorted, and the ports that they choose from.
struct Climb<'a, 'space> {
    moment: Moment<'a>,
    keys: &'a [Key],
    shape: &'a SwitchShape,
    reach: Reach<'a>,
    uplinks: &'a mut [Port],
    space: &'a mut Space<'space>,
    stranded: [u64; 2],
}

impl Visit for Climb<'_, '_> {
    // A loop of its own for each scheme: together in one function they would be short of registers.
    #[inline(never)]
    fn balancer(&mut self, scheme: &mut impl Balancer) {
        for &key in self.keys {
            let (now, packet) = self.moment.of(key);
            let destination = packet.address() >> self.shape.prefix_shift;
            let valid = self.reach.of(destination);
            if valid.is_empty() {
                self.stranded[packet.class()] += 1;
                continue;
            }
            let uplinks = &mut *self.uplinks;
            let decision = Decision { now, packet, key: destination, ingress: key.ingress(), valid, uplinks };
            let egress = usize::from(scheme.pick(decision));
            self.uplinks[egress].push(now, packet, self.space);
        }
    }

    fn watchful(&mut self, _scheme: &mut impl Watchful) {
        unreachable!("schemes that see all packets are given all packets")
    }
}

/// Brings a scheme that watches up to a moment to which time has jumped.
pub struct CatchUp<'a> {
    /// The moment before which nothing more happens.
    pub until: Ps,
    /// Valid uplinks.
    pub reach: Reach<'a>,
    /// All ports of the switch.
    pub ports: &'a mut [Port],
}

impl Visit for CatchUp<'_> {
    fn balancer(&mut self, _scheme: &mut impl Balancer) {}

    fn watchful(&mut self, scheme: &mut impl Watchful) {
        scheme.advance(self.until - 1, self.reach, self.ports);
    }
}
