//! Control first: ACKs and the like go before data and have a buffer of their own, twice as large; data that finds its buffer full may lose its payload
//! and go on as a control frame.
//!
//! *Source*: the composite queue of htsim's UEC simulator, after NDP (Handley et al., SIGCOMM 2017). Both buffers are drop-tail and count the frame that is being sent.
//! *Differs*: data alone is marked, by the data queue with the frame itself; a frame in service is never trimmed. Where switches pause their neighbours, it is also what
//! holds the packets of FIFO ports: all of them in the data queue. Where data is trimmed, ten control frames in a row are followed by one of data, as in both sources: headers alone could fill a link. *State*: two queues. *Cost*: one look at each queue a packet.

use super::{Marking, Queueing};
use crate::config::{EcnAt, Trimming};
use crate::packet::{Kind, Packet, Slot};
use crate::rng::Stream;
use crate::units::{BytePace, NEVER, Ps};
use std::collections::VecDeque;

/// What such a port is told once.
#[derive(Debug)]
pub struct Rules {
    /// What waits or is being sent of data; of control twice as much.
    pub buffer_bytes: u64,
    /// What becomes of data that finds it full.
    pub trimming: Trimming,
    /// What is left of a packet then.
    pub trimmed_bytes: u32,
    /// Whether control waits with the data, first come, first served.
    pub is_fifo: bool,
    /// How fast it sends.
    pub pace: BytePace,
}

/// Control frames in a row while data waits, where data may be trimmed (htsim's composite queue).
const MOST_IN_A_ROW: u32 = 10;

/// What it has counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueTally {
    /// Data frames marked when they came.
    pub marks: u64,
    /// Data frames trimmed.
    pub trims: u64,
    /// What those had added to the time integral of the queue until then.
    pub trimmed_byte_ps: u128,
}

/// First in, first out.
#[derive(Debug, Default)]
struct Queue {
    slots: VecDeque<Slot>,
    waiting_bytes: u64,
    /// The last frame taken out, and when its last bit leaves.
    served_bytes: u64,
    served_until: Ps,
}

impl Queue {
    /// Bytes that wait or are being sent.
    fn bytes(&self, now: Ps) -> u64 {
        self.waiting_bytes + if self.served_until > now { self.served_bytes } else { 0 }
    }

    fn push(&mut self, slot: Slot) {
        self.waiting_bytes += u64::from(slot.packet.bytes());
        self.slots.push_back(slot);
    }

    fn take(&mut self, at: Ps, pace: BytePace) -> Option<Slot> {
        let slot = self.slots.pop_front()?;
        let bytes = slot.packet.bytes();
        self.served_bytes = u64::from(bytes);
        self.served_until = at + pace.time(bytes);
        self.waiting_bytes -= self.served_bytes;
        Some(slot)
    }

    /// Takes out what came last, if so many bytes are not too few.
    fn take_last(&mut self, least_bytes: u64) -> Option<Slot> {
        let bytes = self.slots.back().map(|slot| u64::from(slot.packet.bytes())).filter(|&bytes| bytes >= least_bytes)?;
        self.waiting_bytes -= bytes;
        self.slots.pop_back()
    }

    fn clear(&mut self, lost: &mut impl FnMut(Slot)) {
        self.slots.drain(..).for_each(lost);
        (self.waiting_bytes, self.served_until) = (0, 0);
    }
}

/// What waits at one port.
#[derive(Debug)]
pub struct ControlFirst {
    control: Queue,
    data: Queue,
    /// Control frames taken since the last data frame.
    in_a_row: u32,
    rules: Rules,
    marking: Option<Marking>,
    /// Decides between what arrives and what came last.
    stream: Stream,
    tally: QueueTally,
}

impl ControlFirst {
    pub(super) fn new(rules: Rules, marking: Option<Marking>, stream: Stream) -> Self {
        let (control, data) = (Queue::default(), Queue::default());
        Self { control, data, in_a_row: 0, rules, marking, stream, tally: QueueTally::default() }
    }

    /// What it has counted.
    pub fn tally(&self) -> QueueTally {
        self.tally
    }

    /// [`Queueing::next_start`] of a port that may be paused. Control does not mind, but where all wait in one queue, which is that of data.
    #[cold]
    #[inline(never)]
    pub fn next_start_within(&self, pauses: &dyn Fn(Ps) -> Ps, free_at: Ps) -> Ps {
        self.next_start(if self.control.slots.is_empty() { pauses(free_at) } else { free_at })
    }

    /// Whether data is marked by the queue that it leaves.
    pub fn marks_leaving(&self) -> bool {
        self.marking.as_ref().is_some_and(|marking| marking.at() == EcnAt::Dequeue)
    }

    /// Whether the data frame that now leaves is marked: by what waits, and itself.
    pub fn marks(&mut self, bytes: u32) -> bool {
        let queue = self.data.waiting_bytes + u64::from(bytes);
        self.marking.as_mut().is_some_and(|marking| marking.hits(queue))
    }

    fn add_control(&mut self, slot: Slot) -> bool {
        let has_room = self.control.bytes(slot.at) + u64::from(slot.packet.bytes()) <= self.rules.buffer_bytes.saturating_mul(2);
        if has_room {
            self.control.push(slot);
        }
        has_room
    }

    /// Takes the payload off a packet for which there is no room.
    fn cut(&mut self, now: Ps, slot: Slot, dropped: &mut impl FnMut(Slot)) {
        let Slot { at, packet } = slot;
        let (flow, psn, address, path) = (packet.flow(), packet.psn(), packet.address(), packet.path());
        let header = Packet::new(Kind::Trimmed, flow, psn, address, path, self.rules.trimmed_bytes);
        if self.rules.trimming != Trimming::Off && self.add_control(Slot { at: now, packet: header }) {
            self.tally.trims += 1;
            self.tally.trimmed_byte_ps += u128::from(now - at) * u128::from(packet.bytes());
        } else {
            dropped(slot);
        }
    }

    /// Whether the arriving data frame is the one to make room.
    fn makes_room(&mut self, slot: Slot, dropped: &mut impl FnMut(Slot)) -> bool {
        let with_it = self.data.bytes(slot.at).saturating_add(slot.packet.bytes().into());
        let excess = with_it.saturating_sub(self.rules.buffer_bytes);
        if excess == 0 {
            return false;
        }
        let tries_last = self.rules.trimming == Trimming::Random && self.stream.below(2) == 0;
        let last = if tries_last { self.data.take_last(excess) } else { None };
        self.cut(slot.at, last.unwrap_or(slot), dropped);
        last.is_none()
    }
}

impl Queueing for ControlFirst {
    #[cold]
    fn add(&mut self, mut slot: Slot, dropped: &mut impl FnMut(Slot)) {
        let is_control = slot.packet.is_control();
        if is_control && !self.rules.is_fifo {
            if !self.add_control(slot) {
                dropped(slot);
            }
            return;
        }
        if self.makes_room(slot, dropped) {
            return;
        }
        let queue = self.data.bytes(slot.at) + u64::from(slot.packet.bytes());
        let marking = self.marking.as_mut().filter(|marking| marking.at() == EcnAt::Enqueue && !is_control);
        if marking.is_some_and(|marking| marking.hits(queue)) {
            slot.packet.mark();
            self.tally.marks += 1;
        }
        self.data.push(slot);
    }

    #[inline(always)]
    fn next_start(&self, free_at: Ps) -> Ps {
        if self.waiting_bytes() == 0 { NEVER } else { free_at }
    }

    #[cold]
    fn take(&mut self, at: Ps) -> Option<Slot> {
        let may_take_control =
            self.rules.trimming == Trimming::Off || self.in_a_row < MOST_IN_A_ROW || self.data.slots.is_empty();
        if may_take_control && !self.control.slots.is_empty() {
            self.in_a_row += 1;
            return self.control.take(at, self.rules.pace);
        }
        self.in_a_row = 0;
        self.data.take(at, self.rules.pace)
    }

    #[inline(always)]
    fn waiting_bytes(&self) -> u64 {
        self.control.waiting_bytes + self.data.waiting_bytes
    }

    #[cold]
    fn clear(&mut self, lost: &mut impl FnMut(Slot)) {
        self.control.clear(lost);
        self.data.clear(lost);
    }
}

#[cfg(test)]
mod tests;
