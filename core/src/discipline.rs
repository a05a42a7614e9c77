//! What a port does with what waits, when that is not first come, first served: the packets are held until their turn comes.

mod dcsim;
mod pfabric;
mod strict_priority;
mod token_bucket;

use crate::config::{DisciplineConfig, FrameConfig};
use crate::packet::Slot;
use crate::units::{BytePace, Ps};
pub use dcsim::{Dcsim, LANES, Lane, LaneTally};
use pfabric::Pfabric;
pub use strict_priority::PRIORITY_SHIFT;
use strict_priority::StrictPriority;

/// A way to hold packets back.
pub trait Queueing {
    /// Takes a packet in at `slot.at`. What the limits then no longer allow, this packet or others, is dropped.
    fn add(&mut self, slot: Slot, dropped: &mut impl FnMut(Slot));

    /// When something may start if the transmitter is free from `free_at` on and nothing more arrives; [`crate::units::NEVER`] when nothing waits.
    fn next_start(&self, free_at: Ps) -> Ps;

    /// Takes out what starts at `at`, which is no earlier than [`Queueing::next_start`]. `at` of the slot is when it was added.
    fn take(&mut self, at: Ps) -> Option<Slot>;

    /// Bytes that wait.
    fn waiting_bytes(&self) -> u64;

    /// Takes out everything at once.
    fn clear(&mut self, lost: &mut impl FnMut(Slot));
}

/// The closed set.
#[derive(Debug)]
pub enum Discipline {
    /// Sims first, through a token bucket.
    Dcsim(Box<Dcsim>),
    /// By a number in the packet.
    StrictPriority(Box<StrictPriority>),
    /// By a number in the packet, the earliest of the best flow.
    Pfabric(Pfabric),
}

impl Discipline {
    /// What the configuration says, for a port of this pace, empty; nothing for FIFO ports. `clock_rate` is how fast the clock runs that spaces tokens.
    pub fn new(
        config: DisciplineConfig,
        frame: &FrameConfig,
        buffer_bytes: u64,
        pace: BytePace,
        clock_rate: f64,
    ) -> Option<Self> {
        match config {
            DisciplineConfig::Fifo {} | DisciplineConfig::ControlFirst { .. } => None,
            DisciplineConfig::Dcsim { queue_packets, bucket_packets, token_factor, data_buffer_bytes } => {
                let interval = token_bucket::interval(frame, token_factor, pace, clock_rate);
                Some(Self::Dcsim(Box::new(Dcsim::new(
                    queue_packets,
                    bucket_packets,
                    interval,
                    data_buffer_bytes.unwrap_or(u64::MAX),
                ))))
            }
            DisciplineConfig::StrictPriority {} => Some(Self::StrictPriority(Box::new(StrictPriority::new(buffer_bytes)))),
            DisciplineConfig::Pfabric {} => Some(Self::Pfabric(Pfabric::new(buffer_bytes))),
        }
    }

    /// The lanes of dcSim's arbiter.
    pub fn lanes(&self) -> Option<&Dcsim> {
        if let Self::Dcsim(arbiter) = self { Some(arbiter) } else { None }
    }
}

impl Queueing for Discipline {
    #[inline(always)]
    fn add(&mut self, slot: Slot, dropped: &mut impl FnMut(Slot)) {
        match self {
            Self::Dcsim(arbiter) => arbiter.add(slot, dropped),
            Self::StrictPriority(levels) => levels.add(slot, dropped),
            Self::Pfabric(queue) => queue.add(slot, dropped),
        }
    }

    #[inline(always)]
    fn next_start(&self, free_at: Ps) -> Ps {
        match self {
            Self::Dcsim(arbiter) => arbiter.next_start(free_at),
            Self::StrictPriority(levels) => levels.next_start(free_at),
            Self::Pfabric(queue) => queue.next_start(free_at),
        }
    }

    #[inline(always)]
    fn take(&mut self, at: Ps) -> Option<Slot> {
        match self {
            Self::Dcsim(arbiter) => arbiter.take(at),
            Self::StrictPriority(levels) => levels.take(at),
            Self::Pfabric(queue) => queue.take(at),
        }
    }

    #[inline(always)]
    fn waiting_bytes(&self) -> u64 {
        match self {
            Self::Dcsim(arbiter) => arbiter.waiting_bytes(),
            Self::StrictPriority(levels) => levels.waiting_bytes(),
            Self::Pfabric(queue) => queue.waiting_bytes(),
        }
    }

    fn clear(&mut self, lost: &mut impl FnMut(Slot)) {
        match self {
            Self::Dcsim(arbiter) => arbiter.clear(lost),
            Self::StrictPriority(levels) => levels.clear(lost),
            Self::Pfabric(queue) => queue.clear(lost),
        }
    }
}
