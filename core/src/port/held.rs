//! A port that holds its packets back until their turn comes. What starts is decided no earlier than the moment at which it starts: before anything is added at
//! `t`, everything that starts before `t` has started, and when the window closes, everything that starts in it has.

use super::{Pauses, Port, Space};
use crate::discipline::{ControlFirst, Dcsim, Discipline, QueueTally, Queueing};
use crate::packet::{Packet, Slot};
use crate::units::{NEVER, Ps};

/// What such a port needs besides.
#[derive(Debug)]
pub struct Held {
    pub(super) discipline: Discipline,
    /// What has started and is not in the ring yet.
    outbox: Vec<Slot>,
    /// Everything that starts before this moment has started.
    decided_until: Ps,
    /// The frame on the wire: its size, and when its last bit leaves.
    served_bytes: u32,
    served_until: Ps,
    /// Whether the link loses it.
    loses_served: bool,
    /// Whether it is data that may be marked when that has left.
    may_mark: bool,
}

impl Held {
    pub(super) fn new(discipline: Discipline) -> Self {
        Self {
            discipline,
            outbox: Vec::new(),
            decided_until: 0,
            served_bytes: 0,
            served_until: 0,
            loses_served: false,
            may_mark: false,
        }
    }

    #[inline(always)]
    fn next_start(&self, busy_until: Ps, pauses: &Option<Box<Pauses>>) -> Ps {
        let free_at = busy_until.max(self.decided_until);
        match &self.discipline {
            Discipline::ControlFirst(queues) => {
                queues.next_start_within(&|at| pauses.as_ref().map_or(at, |pauses| pauses.opens_at(at)), free_at)
            }
            discipline => discipline.next_start(free_at),
        }
    }

    /// When the last bit of the frame on the wire would leave, and its size, if the link loses it.
    pub(super) fn lost_in_service(&self, now: Ps) -> Option<(Ps, u32)> {
        (self.loses_served && self.served_until > now).then_some((self.served_until, self.served_bytes))
    }

    fn queued_bytes(&self, now: Ps) -> u64 {
        self.discipline.waiting_bytes() + if self.served_until > now { u64::from(self.served_bytes) } else { 0 }
    }
}

/// What a packet that does not leave has added to the integral of the queue.
fn stay(added_at: Ps, now: Ps, packet: Packet) -> u128 {
    u128::from(now - added_at) * u128::from(packet.bytes())
}

impl Port {
    /// When something that waits will start if nothing more arrives; never, when nothing waits or the port is a FIFO, which has decided already.
    #[inline(always)]
    pub fn next_start_at(&self) -> Ps {
        match &self.held {
            Some(held) => held.next_start(self.busy_until, &self.pauses),
            None => NEVER,
        }
    }

    /// Bytes that wait in a port that holds its packets back; the frame on the wire does not.
    #[inline(always)]
    pub fn waiting_bytes(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.discipline.waiting_bytes())
    }

    /// Bytes sent by the moment at which so many are queued. What holds packets back counts them as they start, unless the link loses them, the others as they arrive.
    pub fn sent_bytes(&self, queued: u64) -> u64 {
        let counted = self.tally.bytes[0] + self.tally.bytes[1];
        match &self.held {
            None => counted - queued,
            Some(held) if queued > held.discipline.waiting_bytes() && !held.loses_served => {
                counted - u64::from(held.served_bytes)
            }
            Some(_) => counted,
        }
    }

    /// Adds a packet to a port that a host works itself, start by start. A full buffer drops it, or others.
    #[inline(always)]
    pub fn add(&mut self, now: Ps, packet: Packet, dropped: &mut impl FnMut(Packet)) {
        let Some(held) = &mut self.held else { return };
        held.decided_until = held.decided_until.max(now);
        let (tally, observes) = (&mut self.tally, self.observes);
        held.discipline.add(Slot { at: now, packet }, &mut |Slot { at: added_at, packet: victim }| {
            tally.drops[victim.class()] += 1;
            if observes {
                tally.queue_byte_ps += stay(added_at, now, victim);
            }
            dropped(victim);
        });
        if self.observes {
            self.largest_queue_bytes = self.largest_queue_bytes.max(held.queued_bytes(now));
        }
    }

    /// Starts what is to start at `at`, which is [`Port::next_start_at`].
    #[inline(always)]
    pub fn start(&mut self, at: Ps) -> Option<Packet> {
        let held = self.held.as_mut()?;
        let Slot { at: added_at, packet } = held.discipline.take(at)?;
        let (bytes, class) = (packet.bytes(), packet.class());
        let left = at + self.pace.time(bytes);
        self.busy_until = left + self.gap;
        (held.served_bytes, held.served_until) = (bytes, left);
        held.loses_served = self.losses.as_mut().is_some_and(|losses| losses.hit(packet));
        if held.loses_served {
            self.tally.lost[class] += 1;
        } else {
            self.tally.bytes[class] += u64::from(bytes);
            self.tally.frames[class] += 1;
            held.outbox.push(Slot { at: left + self.latency, packet });
        }
        if self.observes {
            self.count_stay(left - added_at, bytes);
        }
        Some(packet)
    }

    /// The same in a switch, whose ports may mark what leaves them.
    #[cold]
    pub fn start_marking(&mut self, at: Ps) -> Option<Packet> {
        self.mark_served(at);
        let packet = self.start(at)?;
        let held = self.held.as_mut()?;
        let marks = held.discipline.control_first().is_some_and(ControlFirst::marks_leaving);
        held.may_mark = marks && !held.loses_served && !packet.is_control();
        Some(packet)
    }

    #[cold]
    fn start_marking_before(&mut self, now: Ps) {
        loop {
            let start = self.next_start_at();
            if start >= now {
                break;
            }
            self.start_marking(start);
        }
        self.mark_served(now);
    }

    /// Decides whether the frame on the wire is marked once it has left by `now`. It is the last one in the outbox, or in the ring after that, since the next
    /// starts later.
    fn mark_served(&mut self, now: Ps) {
        let Some(held) = &mut self.held else { return };
        if !held.may_mark || held.served_until > now {
            return;
        }
        held.may_mark = false;
        if held.discipline.control_first_mut().is_some_and(|queues| queues.marks(held.served_bytes)) {
            match held.outbox.last_mut() {
                Some(slot) => slot.packet.mark(),
                None => self.ring.mark(self.ring.end().wrapping_sub(1)),
            }
            self.tally.marks += 1;
        }
    }

    /// When the frame that was started last has left.
    pub fn left_at(&self) -> Ps {
        self.held.as_ref().map_or(0, |held| held.served_until)
    }

    /// Drops a packet that the switch has no room for.
    pub fn drop(&mut self, packet: Packet) {
        self.tally.drops[packet.class()] += 1;
    }

    /// Starts all that starts before `now`, and decides the mark of what has left by then.
    #[inline(always)]
    pub(super) fn start_before(&mut self, now: Ps) {
        if self.held.as_ref().is_some_and(|held| held.discipline.control_first().is_some()) {
            self.start_marking_before(now);
        }
        loop {
            let start = self.next_start_at();
            if start >= now {
                break;
            }
            self.start(start);
        }
        if let Some(held) = &mut self.held {
            held.decided_until = held.decided_until.max(now);
            self.queue_bytes = held.queued_bytes(now);
        }
    }

    /// Puts what has started into the ring.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, now: Ps, space: &mut Space<'_>) {
        let Some(mut outbox) = self.held.as_mut().map(|held| std::mem::take(&mut held.outbox)) else { return };
        for slot in outbox.drain(..) {
            if self.ring.is_full() {
                self.cursor = self.ring.end();
                self.make_room(now, space);
            }
            self.ring.push(slot);
        }
        self.cursor = self.ring.end();
        if let Some(held) = &mut self.held {
            held.outbox = outbox;
        }
    }

    /// The link goes down at `now`: what waits is lost.
    pub(super) fn lose_what_waits(&mut self, now: Ps) {
        self.start_before(now);
        let Some(held) = &mut self.held else { return };
        let (tally, observes) = (&mut self.tally, self.observes);
        held.discipline.clear(&mut |Slot { at: added_at, packet }| {
            tally.lost[packet.class()] += 1;
            if observes {
                tally.queue_byte_ps += stay(added_at, now, packet);
            }
        });
        (held.served_until, held.may_mark, self.queue_bytes) = (0, false, 0);
    }

    pub(super) fn queue_tally(&self) -> QueueTally {
        let queues = self.held.as_ref().and_then(|held| held.discipline.control_first());
        queues.map_or(QueueTally::default(), ControlFirst::tally)
    }

    /// dcSim's arbiter, in ports that have one.
    pub fn lanes(&self) -> Option<&Dcsim> {
        self.held.as_ref()?.discipline.lanes()
    }
}
