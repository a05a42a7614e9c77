//! What a port does with what waits, when that is not first come, first served: the packets are held until their turn comes.

mod control_first;
mod dcsim;
mod marking;
mod pfabric;
mod strict_priority;
mod token_bucket;

use crate::config::{DisciplineConfig, FrameConfig, PortConfig, Trimming};
use crate::packet::Slot;
use crate::rng::{Purpose, Stream};
use crate::units::{BytePace, Ps};
pub use control_first::{ControlFirst, QueueTally};
pub use dcsim::{Dcsim, LANES, Lane, LaneTally};
pub use marking::Marking;
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
    Pfabric(Box<Pfabric>),
    /// Control before data.
    ControlFirst(Box<ControlFirst>),
}

/// The port that a discipline is for.
#[derive(Clone, Copy, Debug)]
pub struct PortPlace {
    /// Its number in the fabric, and the run's seed: what it draws depends on both.
    pub number: u64,
    /// See `number`.
    pub seed: u64,
    /// Whether it is a host's.
    pub is_nic: bool,
    /// How fast it sends.
    pub pace: BytePace,
    /// How fast the clock runs that spaces tokens.
    pub clock_rate: f64,
}

impl Discipline {
    /// What the configuration says, empty; nothing for a port that decides departures when packets come.
    pub fn new(config: &PortConfig, frame: &FrameConfig, place: PortPlace) -> Option<Self> {
        let PortPlace { number, seed, is_nic, pace, clock_rate } = place;
        let buffer_bytes = config.buffer_bytes.unwrap_or(u64::MAX);
        let two_queues = |trimming, is_fifo| {
            let trimmed_bytes = frame.ack_bytes;
            let rules = control_first::Rules { buffer_bytes, trimming, trimmed_bytes, is_fifo, pace };
            let marking = Marking::new(config, seed, number);
            Self::ControlFirst(Box::new(ControlFirst::new(rules, marking, Stream::new(seed, Purpose::Trim, number))))
        };
        match config.discipline {
            // Hosts put control first, and obey pauses, themselves.
            DisciplineConfig::Fifo {} | DisciplineConfig::ControlFirst { .. } if is_nic => None,
            DisciplineConfig::Fifo {} => config.pfc.map(|_| two_queues(Trimming::Off, true)),
            DisciplineConfig::ControlFirst { trimming } => Some(two_queues(trimming, false)),
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
            DisciplineConfig::Pfabric {} => Some(Self::Pfabric(Box::new(Pfabric::new(buffer_bytes)))),
        }
    }

    /// Two queues, control first.
    #[inline(always)]
    pub fn control_first(&self) -> Option<&ControlFirst> {
        if let Self::ControlFirst(queues) = self { Some(queues) } else { None }
    }

    /// The same, to mark what leaves it.
    #[inline(always)]
    pub fn control_first_mut(&mut self) -> Option<&mut ControlFirst> {
        if let Self::ControlFirst(queues) = self { Some(queues) } else { None }
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
            Self::ControlFirst(queues) => queues.add(slot, dropped),
        }
    }

    #[inline(always)]
    fn next_start(&self, free_at: Ps) -> Ps {
        match self {
            Self::Dcsim(arbiter) => arbiter.next_start(free_at),
            Self::StrictPriority(levels) => levels.next_start(free_at),
            Self::Pfabric(queue) => queue.next_start(free_at),
            Self::ControlFirst(queues) => queues.next_start(free_at),
        }
    }

    #[inline(always)]
    fn take(&mut self, at: Ps) -> Option<Slot> {
        match self {
            Self::Dcsim(arbiter) => arbiter.take(at),
            Self::StrictPriority(levels) => levels.take(at),
            Self::Pfabric(queue) => queue.take(at),
            Self::ControlFirst(queues) => queues.take(at),
        }
    }

    #[inline(always)]
    fn waiting_bytes(&self) -> u64 {
        match self {
            Self::Dcsim(arbiter) => arbiter.waiting_bytes(),
            Self::StrictPriority(levels) => levels.waiting_bytes(),
            Self::Pfabric(queue) => queue.waiting_bytes(),
            Self::ControlFirst(queues) => queues.waiting_bytes(),
        }
    }

    fn clear(&mut self, lost: &mut impl FnMut(Slot)) {
        match self {
            Self::Dcsim(arbiter) => arbiter.clear(lost),
            Self::StrictPriority(levels) => levels.clear(lost),
            Self::Pfabric(queue) => queue.clear(lost),
            Self::ControlFirst(queues) => queues.clear(lost),
        }
    }
}
