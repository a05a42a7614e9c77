//! An egress port: a FIFO that needs no dequeue event. On arrival at `t` the departure is known, `start = max(t, busy_until)`, so a packet-hop
//! costs one event. What waits or is being sent is read back from the ring, with a cursor that only moves forward.
//!
//! *Source*: docs/explanation/engine.md and model.md: drop-tail and occupancy by bytes without the gap, the frame in service counted in full
//! until its last bit leaves; step marking at dequeue with the departing frame included.

mod check;
mod held;
mod limits;
mod losses;
mod pauses;
mod pool;
mod taking_back;

use crate::config::FrameConfig;
use crate::discipline::{Discipline, Marking, QueueTally};
use crate::fabric::{Fabric, Tier};
use crate::link::{Arena, Link, Producer, prefetch_for_write};
use crate::packet::{Packet, Slot};
use crate::units::{BytePace, Ps};
pub use check::check;
use held::Held;
pub use limits::PortLimits;
pub use losses::{LossRates, Losses};
pub use pauses::{Pauses, Turn};
pub use pool::Pool;
use std::sync::atomic::{AtomicU32, Ordering};

// log2 of a port's first ring. At 800 Gb/s a busy link of 500 ns carries 12 data frames and 12 ACKs a window; two windows' worth is in the ring of a switch
// port at times, one in that of a NIC, which is handled after the switch it feeds.
const SWITCH_RING_BITS: u32 = 6;
const NIC_RING_BITS: u32 = 5;

/// What a port has counted.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct PortTally {
    /// Carried bytes by size class.
    pub bytes: [u64; 2],
    /// Carried frames by size class.
    pub frames: [u64; 2],
    /// Time integral of the queue in bytes (Little: the sum of sojourn times, weighted by size).
    pub queue_byte_ps: u128,
    /// Largest queue in bytes, the frame in service included.
    pub max_queue_bytes: u64,
    /// Frames dropped by size class.
    pub drops: [u64; 2],
    /// Data frames marked.
    pub marks: u64,
    /// Frames lost on a dead link by size class.
    pub lost: [u64; 2],
    /// Data frames that lost their payload.
    pub trims: u64,
    /// Time in which the port was paused.
    pub paused: Ps,
}

/// The sending side of a link. What every packet touches comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// When the transmitter is free again, gap included.
    pub busy_until: Ps,
    latency: Ps,
    pace: BytePace,
    gap: Ps,
    queue_bytes: u64,
    /// First frame that may still be in the queue.
    cursor: u32,
    /// Whether arrivals have to be looked at: the buffer is limited, frames are marked or lost or held back, or the link is down.
    has_limits: bool,
    observes: bool,
    is_dead: bool,
    ring: Producer,
    /// Largest queue so far. It stands here and not in the tally so that a push touches two cache lines, not three.
    largest_queue_bytes: u64,
    tally: PortTally,
    limits: PortLimits,
    peer: u32,
    first_ring_bits: u32,
    losses: Option<Box<Losses>>,
    held: Option<Box<Held>>,
    marking: Option<Box<Marking>>,
    pauses: Option<Box<Pauses>>,
}

impl Port {
    /// The port numbered `port` of the fabric.
    pub fn new(fabric: &Fabric, port: usize, frame: &FrameConfig, limits: PortLimits, observes: bool) -> Self {
        let is_nic = fabric.tier_of(fabric.port_node[port]) == Tier::Host;
        let pace = fabric.pace(port);
        Self {
            busy_until: 0,
            latency: fabric.latency[port],
            pace,
            gap: pace.time(frame.gap_bytes),
            queue_bytes: 0,
            cursor: 0,
            has_limits: !limits.is_none(),
            observes,
            is_dead: false,
            ring: Producer::default(),
            largest_queue_bytes: 0,
            tally: PortTally::default(),
            limits,
            peer: fabric.peer[port],
            first_ring_bits: if is_nic { NIC_RING_BITS } else { SWITCH_RING_BITS },
            losses: None,
            held: None,
            marking: None,
            pauses: None,
        }
    }

    /// The same port, which loses packets, holds them back or, as a FIFO, marks them.
    pub fn with(mut self, losses: Option<Losses>, discipline: Option<Discipline>, marking: Option<Marking>) -> Self {
        self.losses = losses.map(Box::new);
        self.marking = marking.filter(|_| discipline.is_none()).map(Box::new);
        self.held = discipline.map(|discipline| Box::new(Held::new(discipline)));
        self.has_limits = self.has_limits_now();
        self
    }

    /// Whether its link is down.
    pub fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// Time that a frame and its gap occupy the transmitter.
    pub fn occupancy(&self, bytes: u32) -> Ps {
        self.pace.time(bytes) + self.gap
    }

    /// Time that the link needs for these bytes, without gaps.
    pub fn busy_time(&self, bytes: u64) -> Ps {
        const PIECE: u64 = 1 << 20;
        bytes / PIECE * self.pace.time(PIECE as u32) + self.pace.time((bytes % PIECE) as u32)
    }

    /// Bytes that wait or are being sent at `now`.
    #[inline(always)]
    pub fn queued_bytes(&mut self, now: Ps) -> u64 {
        if self.has_limits {
            self.advance_and_mark(now);
        } else if self.busy_until <= now {
            (self.cursor, self.queue_bytes) = (self.ring.end(), 0);
        } else {
            self.advance(now);
        }
        self.queue_bytes
    }

    /// Hands a packet to the port at `now`; when the buffer is full the packet is lost and counted.
    #[inline(always)]
    pub fn push(&mut self, now: Ps, packet: Packet, space: &mut Space<'_>) {
        if self.has_limits {
            return self.push_within_limits(now, packet, space);
        }
        let left = self.enqueue(now, packet, space);
        self.queue_bytes += u64::from(packet.bytes());
        if self.observes {
            self.count_stay(left - now, packet.bytes());
            self.take_off_two(now);
            if self.queue_bytes > self.largest_queue_bytes {
                self.largest_queue_bytes = self.largest_queue_bytes.max(self.queued_bytes(now));
            }
        }
    }

    /// Takes off the queue up to two frames that have left by `now`, without a branch to guess wrong. One frame leaves for each that comes, so two are enough
    /// for `queue_bytes` to fall behind by little; it is never below the queue, and exact before it counts as a maximum. The frame just pushed has not
    /// left, so there is always one to look at.
    #[inline(always)]
    fn take_off_two(&mut self, now: Ps) {
        let horizon = now + self.latency;
        for _ in 0..2 {
            let slot = self.ring.slot(self.cursor);
            let has_left = slot.at <= horizon;
            self.cursor = self.cursor.wrapping_add(u32::from(has_left));
            self.queue_bytes -= u64::from(slot.packet.bytes()) & u64::from(has_left).wrapping_neg();
        }
    }

    /// Sends a packet at `now`, when the transmitter is free: what a host's NIC does, which never queues.
    #[inline(always)]
    pub fn send(&mut self, now: Ps, packet: Packet, space: &mut Space<'_>) {
        debug_assert!(now >= self.busy_until);
        let left = self.enqueue(now, packet, space);
        self.cursor = self.ring.end();
        if self.observes {
            self.count_stay(left - now, packet.bytes());
            self.largest_queue_bytes = self.largest_queue_bytes.max(u64::from(packet.bytes()));
        }
    }

    /// The same, for a NIC whose link may lose packets or be down.
    #[inline(always)]
    pub fn transmit(&mut self, now: Ps, packet: Packet, space: &mut Space<'_>) {
        if self.has_limits && self.loses(packet) {
            self.busy_until = now + self.occupancy(packet.bytes());
        } else {
            self.send(now, packet, space);
        }
    }

    /// When the packet's last bit leaves.
    #[inline(always)]
    fn enqueue(&mut self, now: Ps, packet: Packet, space: &mut Space<'_>) -> Ps {
        if self.ring.is_full() {
            self.make_room(now, space);
        }
        let (bytes, class) = (packet.bytes(), packet.class());
        let left = now.max(self.busy_until) + self.pace.time(bytes);
        self.busy_until = left + self.gap;
        self.ring.push(Slot { at: left + self.latency, packet });
        self.tally.bytes[class] += u64::from(bytes);
        self.tally.frames[class] += 1;
        left
    }

    #[inline(always)]
    fn count_stay(&mut self, stay: Ps, bytes: u32) {
        self.tally.queue_byte_ps += u128::from(stay) * u128::from(bytes);
    }

    /// Takes off the queue what has left by `now`: forward from what left last, and backward from what came last, until one of the two has found where the
    /// queue begins. Short queues end the backward way at once, a cursor that is up to date ends the forward way.
    #[inline(always)]
    fn advance(&mut self, now: Ps) {
        debug_assert!(!self.has_limits, "marks are decided by whoever takes frames off the queue");
        let horizon = now + self.latency;
        let (mut front, mut back) = (self.cursor, self.ring.end());
        let (mut left, mut queued) = (0, 0);
        loop {
            if front == back {
                break;
            }
            let oldest = self.ring.slot(front);
            if oldest.at > horizon {
                self.queue_bytes -= left;
                self.cursor = front;
                return;
            }
            left += u64::from(oldest.packet.bytes());
            front = front.wrapping_add(1);
            if front == back {
                break;
            }
            let newest = self.ring.slot(back.wrapping_sub(1));
            if newest.at <= horizon {
                break;
            }
            queued += u64::from(newest.packet.bytes());
            back = back.wrapping_sub(1);
        }
        self.queue_bytes = queued;
        self.cursor = back;
    }

    #[cold]
    fn make_room(&mut self, now: Ps, space: &mut Space<'_>) {
        self.queued_bytes(now);
        let consumed = space.consumed[self.peer as usize].load(Ordering::Acquire);
        self.ring.make_room(self.cursor, consumed, self.first_ring_bits, space.arena);
    }

    /// Ends the window: decides the marks of what leaves in it, and lets the next node see what was sent.
    #[inline(always)]
    pub fn close_window(&mut self, window_end: Ps, link: &Link, space: &mut Space<'_>) {
        if self.has_limits {
            self.close_within_limits(window_end, space);
        }
        self.ring.publish(link);
    }

    /// Fetches the port itself, which is about to be written.
    #[inline(always)]
    pub fn prefetch(&self) {
        for line in 0..size_of::<Self>() / 64 {
            prefetch_for_write(std::ptr::from_ref(self).cast::<u8>().wrapping_add(line * 64));
        }
    }

    /// What the port has counted up to the end of a run.
    pub fn tally_at(&mut self, end: Ps) -> PortTally {
        PortTally { paused: self.paused_until(end), ..self.tally() }
    }

    /// What the port has counted, but for its pauses.
    pub fn tally(&self) -> PortTally {
        let QueueTally { marks, trims, trimmed_byte_ps } = self.queue_tally();
        PortTally {
            max_queue_bytes: self.largest_queue_bytes,
            marks: self.tally.marks + marks,
            trims,
            queue_byte_ps: self.tally.queue_byte_ps + if self.observes { trimmed_byte_ps } else { 0 },
            ..self.tally
        }
    }
}

/// What a port needs when its ring is full: how far the consumer got, and memory.
pub struct Space<'a> {
    /// For each port, the next slot to be taken from the link that enters through it.
    pub consumed: &'a [AtomicU32],
    /// The thread's memory for rings.
    pub arena: &'a mut Arena,
    /// The buffer that the switch's ports share, if they do.
    pub pool: Option<&'a mut Pool>,
}

#[cfg(test)]
mod tests;
