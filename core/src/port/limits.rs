//! What a port does besides sending first come, first served: drops, marks, losses. None of it is in the way of a port without limits.

use super::Port;
use crate::packet::{Packet, Slot};
use crate::units::Ps;

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
            if self.queue_bytes > self.limits.ecn_threshold_bytes && !packet.is_control() {
                self.ring.mark(self.cursor);
                self.tally.marks += 1;
            }
            self.queue_bytes -= u64::from(packet.bytes());
            self.cursor = self.cursor.wrapping_add(1);
        }
    }

    /// Whether the packet does not join a FIFO queue: it is dropped or lost, or held back. Cold, so that a port without limits is not in its way.
    #[cold]
    pub(super) fn takes_over(&mut self, now: Ps, packet: Packet) -> bool {
        self.advance_and_mark(now);
        let class = packet.class();
        if self.held.is_some() && !self.is_dead {
            self.add(now, packet, &mut |_| {});
            return true;
        }
        if self.loses(packet) {
            return true;
        }
        let overflows = self.queue_bytes + u64::from(packet.bytes()) > self.limits.buffer_bytes;
        self.tally.drops[class] += u64::from(overflows);
        overflows
    }

    /// Whether a packet that enters the link is lost.
    #[cold]
    pub(super) fn loses(&mut self, packet: Packet) -> bool {
        let is_lost = self.is_dead || self.losses.as_mut().is_some_and(|losses| losses.hit(packet));
        self.tally.lost[packet.class()] += u64::from(is_lost);
        is_lost
    }

    pub(super) fn has_limits_now(&self) -> bool {
        self.is_dead || !self.limits.is_none() || self.losses.is_some() || self.held.is_some()
    }
}
