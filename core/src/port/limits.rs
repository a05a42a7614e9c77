//! What a port does besides sending first come, first served: drops, marks, losses. None of it is in the way of a port without limits.

use super::{Port, Space};
use crate::config::{EcnAt, PortConfig};
use crate::packet::{Packet, Slot};
use crate::units::Ps;

/// Limits that every switch port of a run shares.
#[derive(Clone, Copy, Debug)]
pub struct PortLimits {
    /// Drop-tail above this many bytes (`u64::MAX`: infinite).
    pub buffer_bytes: u64,
    /// Data that leaves with more than this many bytes queued, itself included, may be marked (`u64::MAX`: none is).
    pub ecn_threshold_bytes: u64,
}

impl PortLimits {
    /// No drops and no marks.
    pub const NONE: Self = Self { buffer_bytes: u64::MAX, ecn_threshold_bytes: u64::MAX };

    /// Those of the configuration. No port of a shared buffer has more than all of it.
    pub fn new(config: &PortConfig) -> Self {
        let shared = config.shared_buffer.map(|shared| shared.bytes);
        let threshold = config.ecn_threshold_bytes.filter(|_| config.ecn_at == EcnAt::Dequeue);
        Self {
            buffer_bytes: config.buffer_bytes.or(shared).unwrap_or(u64::MAX),
            ecn_threshold_bytes: threshold.unwrap_or(u64::MAX),
        }
    }

    pub(super) fn is_none(self) -> bool {
        self.buffer_bytes == u64::MAX && self.ecn_threshold_bytes == u64::MAX
    }
}

impl Port {
    /// Takes off the queue what has left by `now`, and marks data that leaves a long queue behind. It must run before anything is added at a later
    /// time, so that the queue seen at a departure is the queue there was.
    pub(super) fn advance_and_mark(&mut self, now: Ps) {
        if self.held.is_some() {
            return self.start_before(now);
        }
        let horizon = now + self.latency;
        while self.cursor != self.ring.end() {
            let &Slot { at, packet } = self.ring.slot(self.cursor);
            if at > horizon {
                break;
            }
            if self.queue_bytes > self.limits.ecn_threshold_bytes && !packet.is_control() && self.marks(self.queue_bytes) {
                self.ring.mark(self.cursor);
                self.tally.marks += 1;
            }
            self.queue_bytes -= u64::from(packet.bytes());
            self.cursor = self.cursor.wrapping_add(1);
        }
    }

    fn marks(&mut self, queue_bytes: u64) -> bool {
        self.marking.as_mut().is_some_and(|marking| marking.hits(queue_bytes))
    }

    /// [`Port::push`] where a packet may not join a FIFO queue, since it is dropped or lost, or held back, or may be marked when it does. Cold, so that a port
    /// without limits is not in its way.
    #[cold]
    #[inline(never)]
    pub(super) fn push_within_limits(&mut self, now: Ps, mut packet: Packet, space: &mut Space<'_>) {
        if self.held.is_some() && !self.is_dead {
            self.start_before(now);
            return self.add(now, packet, &mut |_| {});
        }
        self.advance_and_mark(now);
        if self.loses(packet) {
            return;
        }
        let queue_bytes = self.queue_bytes + u64::from(packet.bytes());
        let is_admitted = |pool: &mut &mut super::Pool| pool.admits(now, self.queue_bytes, packet.bytes());
        if queue_bytes > self.limits.buffer_bytes || !space.pool.as_mut().is_none_or(is_admitted) {
            self.tally.drops[packet.class()] += 1;
            return;
        }
        let marks_arriving = self.marking.as_ref().is_some_and(|marking| marking.at() == EcnAt::Enqueue);
        if marks_arriving && !packet.is_control() && self.marks(queue_bytes) {
            packet.mark();
            self.tally.marks += 1;
        }
        let left = self.enqueue(now, packet, space);
        if let Some(pool) = &mut space.pool {
            pool.enter(left, self.peer, packet.bytes());
        }
        self.queue_bytes = queue_bytes;
        if self.observes {
            self.count_stay(left - now, packet.bytes());
            self.largest_queue_bytes = self.largest_queue_bytes.max(queue_bytes);
        }
    }

    /// What [`Port::close_window`] has to do then. Not in its loop, which would be short of registers.
    #[inline(never)]
    pub(super) fn close_within_limits(&mut self, window_end: Ps, space: &mut Space<'_>) {
        if self.held.is_some() {
            self.start_before(window_end);
            self.hand_over(window_end, space);
        } else {
            self.advance_and_mark(window_end - 1);
        }
    }

    /// Whether a packet that enters the link is lost.
    #[cold]
    pub(super) fn loses(&mut self, packet: Packet) -> bool {
        let is_lost = self.is_dead || self.losses.as_mut().is_some_and(|losses| losses.hit(packet));
        self.tally.lost[packet.class()] += u64::from(is_lost);
        is_lost
    }

    pub(super) fn has_limits_now(&self) -> bool {
        self.is_dead || !self.limits.is_none() || self.losses.is_some() || self.held.is_some() || self.marking.is_some()
    }
}
