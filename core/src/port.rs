//! An egress port: a FIFO that needs no dequeue event. On arrival at `t` the departure is known, `start = max(t, busy_until)`, so a packet-hop
//! costs one event. What waits or is being sent is read back from the ring, with a cursor that only moves forward.
//!
//! *Source*: engine.md ("Lazy ports"); transport.md sections 5.1 and 5.4: drop-tail and occupancy by bytes without the gap, the frame in service counted in full
//! until its last bit leaves; step marking at dequeue with the departing frame included.

use crate::fabric::Fabric;
use crate::link::{Link, Producer, RingMemory};
use crate::packet::{Packet, Slot};
use crate::units::{BytePace, Ps};
use std::sync::atomic::{AtomicU32, Ordering};

/// Limits that every switch port of a run shares.
#[derive(Clone, Copy, Debug)]
pub struct PortLimits {
    /// Drop-tail above this many bytes (`u64::MAX`: infinite).
    pub buffer_bytes: u64,
    /// Mark data that leaves with more than this many bytes queued, itself included (`u64::MAX`: never).
    pub ecn_threshold_bytes: u64,
}

impl PortLimits {
    /// No drops and no marks.
    pub const NONE: Self = Self { buffer_bytes: u64::MAX, ecn_threshold_bytes: u64::MAX };

    fn is_none(self) -> bool {
        self.buffer_bytes == u64::MAX && self.ecn_threshold_bytes == u64::MAX
    }
}

/// What a port has counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortTally {
    /// Carried bytes by size class.
    pub bytes: [u64; 2],
    /// Carried frames by size class.
    pub frames: [u64; 2],
    /// Largest queue in bytes, the frame in service included.
    pub max_queue_bytes: u64,
    /// Largest queue in frames of any kind.
    pub max_queue_frames: u64,
    /// Time integral of the queue in bytes (Little: the sum of sojourn times, weighted by size).
    pub queue_byte_ps: u128,
    /// Time integral of the queue in frames.
    pub queue_frame_ps: u128,
    /// Frames dropped by size class.
    pub drops: [u64; 2],
    /// Data frames marked.
    pub marks: u64,
}

/// The sending side of a link.
#[derive(Debug)]
pub struct Port {
    /// When the transmitter is free again, gap included.
    pub busy_until: Ps,
    latency: Ps,
    pace: BytePace,
    gap: Ps,
    ring: Producer,
    /// First frame that may still be in the queue.
    cursor: u32,
    queue_frames: u32,
    queue_bytes: u64,
    has_limits: bool,
    observes: bool,
    peer: u32,
    limits: PortLimits,
    tally: PortTally,
}

impl Port {
    /// The port numbered `port` of the fabric.
    pub fn new(fabric: &Fabric, port: usize, gap_bytes: u32, limits: PortLimits, observes: bool) -> Self {
        let pace = BytePace::from_rate(fabric.rate_bps[port]).expect("rates are checked when the fabric is built");
        Self {
            busy_until: 0,
            latency: fabric.latency[port],
            pace,
            gap: pace.time(gap_bytes),
            ring: Producer::default(),
            cursor: 0,
            queue_frames: 0,
            queue_bytes: 0,
            has_limits: !limits.is_none(),
            observes,
            peer: fabric.peer[port],
            limits,
            tally: PortTally::default(),
        }
    }

    /// Time that a frame and its gap occupy the transmitter.
    pub fn occupancy(&self, bytes: u32) -> Ps {
        self.pace.time(bytes) + self.gap
    }

    /// Bytes that wait or are being sent at `now`.
    #[inline(always)]
    pub fn queued_bytes(&mut self, now: Ps) -> u64 {
        self.advance(now);
        self.queue_bytes
    }

    /// Hands a packet to the port at `now`. Returns false when the buffer was full and the packet is lost.
    #[inline(always)]
    pub fn push(&mut self, now: Ps, packet: Packet, space: &mut Space<'_>) -> bool {
        let bytes = packet.bytes();
        if self.has_limits {
            self.advance(now);
            if self.queue_bytes + u64::from(bytes) > self.limits.buffer_bytes {
                self.tally.drops[packet.class()] += 1;
                return false;
            }
        }
        if self.ring.is_full() {
            self.make_room(now, space);
        }
        let start = now.max(self.busy_until);
        let left = start + self.pace.time(bytes);
        self.busy_until = left + self.gap;
        self.ring.push(Slot { at: left + self.latency, packet });
        self.queue_frames += 1;
        self.queue_bytes += u64::from(bytes);
        self.tally.bytes[packet.class()] += u64::from(bytes);
        self.tally.frames[packet.class()] += 1;
        if self.observes {
            self.advance(now);
            let stay = u128::from(left - now);
            self.tally.queue_frame_ps += stay;
            self.tally.queue_byte_ps += stay * u128::from(bytes);
            self.tally.max_queue_bytes = self.tally.max_queue_bytes.max(self.queue_bytes);
            self.tally.max_queue_frames = self.tally.max_queue_frames.max(u64::from(self.queue_frames));
        }
        true
    }

    /// Takes off the queue what has left by `now`, and marks it where the queue it leaves is long. Frames must be taken off before anything is added
    /// at a later time, so that the queue seen at a departure is the queue there was.
    #[inline(always)]
    fn advance(&mut self, now: Ps) {
        while self.queue_frames > 0 {
            let slot = self.ring.slot(self.cursor);
            if slot.at - self.latency > now {
                break;
            }
            if self.queue_bytes > self.limits.ecn_threshold_bytes && slot.packet.class() == 0 {
                self.ring.mark(self.cursor);
                self.tally.marks += 1;
            }
            self.queue_bytes -= u64::from(slot.packet.bytes());
            self.queue_frames -= 1;
            self.cursor = self.cursor.wrapping_add(1);
        }
    }

    #[cold]
    fn make_room(&mut self, now: Ps, space: &mut Space<'_>) {
        self.advance(now);
        let old = self.ring.make_room(self.cursor, space.consumed[self.peer as usize].load(Ordering::Acquire));
        space.retired.extend(old);
    }

    /// Ends the window: decides the marks of what leaves in it, and lets the next node see what was sent.
    #[inline(always)]
    pub fn close_window(&mut self, window_end: Ps, link: &Link) {
        if self.limits.ecn_threshold_bytes != u64::MAX {
            self.advance(window_end - 1);
        }
        self.ring.publish(link);
    }

    /// What the port has counted.
    pub fn tally(&self) -> &PortTally {
        &self.tally
    }

    /// Bytes of the port's ring.
    pub fn ring_bytes(&self) -> u64 {
        self.ring.ring_bytes()
    }
}

/// What a port needs when its ring is full: how far the consumer got, and where to leave the old ring until the window is over.
pub struct Space<'a> {
    /// For each port, the next slot to be taken from the link that enters through it.
    pub consumed: &'a [AtomicU32],
    /// Rings replaced in this window.
    pub retired: &'a mut Vec<RingMemory>,
}
