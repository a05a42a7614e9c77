//! dcSim's arbiter: strict priority without preemption between Sims, Sim-Acks, Data-Acks and Datas; Sims are served through a token bucket.
//!
//! *Source*: dcSim paper, section 2.3 and Fig. 1. The queues of small packets hold B packets each, that of Datas what its bytes allow; the packet on the wire is
//! in no queue. *Differs*: a fifth lane, below all others, for the data of small flows that are sent without Sims (proposed in the paper's section 4.2): it
//! shares the buffer of the Datas, and gives way to them when that is full. *State*: the queues, the bucket. *Cost*: one look at each queue a packet.

use super::Queueing;
use super::token_bucket::TokenBucket;
use crate::packet::{Kind, Slot};
use crate::units::{NEVER, Ps};
use std::collections::VecDeque;

/// A queue of the arbiter, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Lane {
    /// Sims.
    Sim = 0,
    /// Sim-Acks.
    SimAck = 1,
    /// Data-Acks.
    DataAck = 2,
    /// Datas.
    Data = 3,
    /// Data without Sims.
    Direct = 4,
}

/// Names of the lanes that are reported; data without Sims counts as data.
pub const LANES: [&str; 4] = ["sim", "sim_ack", "data_ack", "data"];

/// What a lane has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneTally {
    /// Frames sent.
    pub frames: u64,
    /// Frames dropped.
    pub drops: u64,
    /// Most that waited at a time.
    pub max_waiting: u32,
}

/// The arbiter of one port.
#[derive(Debug)]
pub struct Dcsim {
    lanes: [VecDeque<Slot>; 5],
    bucket: TokenBucket,
    queue_packets: usize,
    data_bytes: u64,
    data_buffer_bytes: u64,
    small_bytes: u64,
    tallies: [LaneTally; 4],
}

fn lane_of(kind: Kind) -> Lane {
    match kind {
        Kind::Sim => Lane::Sim,
        Kind::SimAck => Lane::SimAck,
        Kind::Data => Lane::Data,
        Kind::DirectData => Lane::Direct,
        _ => Lane::DataAck,
    }
}

impl Dcsim {
    pub(super) fn new(queue_packets: u32, bucket_packets: u32, token_interval: Ps, data_buffer_bytes: u64) -> Self {
        Self {
            lanes: Default::default(),
            bucket: TokenBucket::new(bucket_packets, token_interval),
            queue_packets: queue_packets as usize,
            data_bytes: 0,
            data_buffer_bytes,
            small_bytes: 0,
            tallies: Default::default(),
        }
    }

    /// Packets that wait in a lane.
    #[inline(always)]
    pub fn waiting(&self, lane: Lane) -> usize {
        self.lanes[lane as usize].len()
    }

    /// Whether a small packet can be added to this lane.
    #[inline(always)]
    pub fn has_room(&self, lane: Lane) -> bool {
        self.waiting(lane) < self.queue_packets
    }

    /// Whether a frame of this size can be added to the data that goes without Sims.
    pub fn has_direct_room(&self, bytes: u32) -> bool {
        self.has_room(Lane::Direct) && self.data_bytes + u64::from(bytes) <= self.data_buffer_bytes
    }

    /// What the lanes have counted.
    pub fn tallies(&self) -> [LaneTally; 4] {
        self.tallies
    }

    fn tally(&mut self, lane: Lane) -> &mut LaneTally {
        &mut self.tallies[(lane as usize).min(Lane::Data as usize)]
    }

    fn add_data(&mut self, lane: Lane, slot: Slot, dropped: &mut impl FnMut(Slot)) {
        while self.data_bytes + u64::from(slot.packet.bytes()) > self.data_buffer_bytes {
            let direct = if lane == Lane::Data { self.lanes[Lane::Direct as usize].pop_back() } else { None };
            self.tally(Lane::Data).drops += 1;
            dropped(direct.unwrap_or(slot));
            let Some(Slot { packet: victim, .. }) = direct else { return };
            self.data_bytes -= u64::from(victim.bytes());
        }
        self.data_bytes += u64::from(slot.packet.bytes());
        self.lanes[lane as usize].push_back(slot);
        let waiting = (self.waiting(Lane::Data) + self.waiting(Lane::Direct)) as u32;
        let tally = self.tally(Lane::Data);
        tally.max_waiting = tally.max_waiting.max(waiting);
    }
}

impl Queueing for Dcsim {
    #[inline(always)]
    fn add(&mut self, slot: Slot, dropped: &mut impl FnMut(Slot)) {
        let lane = lane_of(slot.packet.kind());
        if lane as usize >= Lane::Data as usize {
            return self.add_data(lane, slot, dropped);
        }
        if !self.has_room(lane) {
            self.tally(lane).drops += 1;
            return dropped(slot);
        }
        self.small_bytes += u64::from(slot.packet.bytes());
        self.lanes[lane as usize].push_back(slot);
        let waiting = self.waiting(lane) as u32;
        let tally = self.tally(lane);
        tally.max_waiting = tally.max_waiting.max(waiting);
    }

    #[inline(always)]
    fn next_start(&self, free_at: Ps) -> Ps {
        if self.lanes[1..].iter().any(|lane| !lane.is_empty()) {
            free_at
        } else if self.lanes[Lane::Sim as usize].is_empty() {
            NEVER
        } else {
            free_at.max(self.bucket.next_at())
        }
    }

    #[inline(always)]
    fn take(&mut self, at: Ps) -> Option<Slot> {
        let has_sim = !self.lanes[Lane::Sim as usize].is_empty() && self.bucket.next_at() <= at;
        let place = if has_sim { 0 } else { (1..5).find(|&lane| !self.lanes[lane].is_empty())? };
        if has_sim {
            self.bucket.spend(at);
        }
        let slot = self.lanes[place].pop_front()?;
        let bytes = u64::from(slot.packet.bytes());
        if place >= Lane::Data as usize {
            self.data_bytes -= bytes;
        } else {
            self.small_bytes -= bytes;
        }
        self.tallies[place.min(Lane::Data as usize)].frames += 1;
        Some(slot)
    }

    #[inline(always)]
    fn waiting_bytes(&self) -> u64 {
        self.data_bytes + self.small_bytes
    }

    fn clear(&mut self, lost: &mut impl FnMut(Slot)) {
        self.lanes.iter_mut().flat_map(|lane| lane.drain(..)).for_each(lost);
        (self.data_bytes, self.small_bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;

    const LARGE: u32 = 9000;
    const SMALL: u32 = 64;
    /// A byte takes one unit of time. Sections 2.3 and 2.5 of the paper: the slots of the two token rates.
    const THEOREM_1: Ps = (LARGE + SMALL) as Ps;
    const DELTA: Ps = 9134;

    fn packet(kind: Kind, number: u32) -> Packet {
        let bytes = if matches!(kind, Kind::Data | Kind::DirectData) { LARGE } else { SMALL };
        Packet::new(kind, 0, number, 0, 0, bytes)
    }

    /// Numbers of what is dropped when these are added at `at`.
    fn add(arbiter: &mut Dcsim, at: Ps, kind: Kind, numbers: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut dropped = Vec::new();
        for number in numbers {
            arbiter.add(Slot { at, packet: packet(kind, number) }, &mut |victim| dropped.push(victim.packet.psn()));
        }
        dropped
    }

    /// What leaves the arbiter until `until`, and when it starts.
    fn drain(arbiter: &mut Dcsim, mut free_at: Ps, until: Ps) -> Vec<(Ps, Kind, u32)> {
        let mut left = Vec::new();
        loop {
            let start = arbiter.next_start(free_at);
            if start >= until {
                return left;
            }
            let packet = arbiter.take(start).unwrap().packet;
            left.push((start, packet.kind(), packet.psn()));
            free_at = start + u64::from(packet.bytes());
        }
    }

    /// dcSim paper, Theorem 1: Sims and Datas that never run out leave in turns and fill the line, when there is a token for every Sim and Data. The bucket is full at
    /// first, so that as many Sims as it holds go ahead.
    #[test]
    fn theorem_1() {
        for tokens in [1, 12] {
            let mut arbiter = Dcsim::new(12, tokens, THEOREM_1, u64::MAX);
            let (mut now, mut kinds) = (0, Vec::new());
            for number in 0..10_000 {
                add(&mut arbiter, now, Kind::Sim, [number]);
                add(&mut arbiter, now, Kind::Data, [number]);
                let start = arbiter.next_start(now);
                assert_eq!(start, now, "the line is never idle");
                let packet = arbiter.take(start).unwrap().packet;
                kinds.push(packet.kind());
                now += u64::from(packet.bytes());
            }
            let burst = kinds.iter().take_while(|&&kind| kind == Kind::Sim).count();
            assert_eq!(burst, tokens as usize);
            let turns = &kinds[burst..];
            assert!(turns.chunks(2).all(|pair| pair[0] == Kind::Data && pair.get(1).is_none_or(|&kind| kind == Kind::Sim)));
        }
    }

    /// dcSim paper, Fig. 3: with a Data buffer of only B packets, here 2, a Sim passes and its Data is dropped. Upstream the Sims of A, B and C had waited behind others, one slot
    /// more each, so that they come one by one; those others were dropped further on and have no Datas, so that the Datas all come at once.
    #[test]
    fn the_papers_counterexample() {
        let slot = |number: u64| number * DELTA;
        let mut arbiter = Dcsim::new(2, 1, DELTA, 2 * u64::from(LARGE));
        let mut seen = Vec::new();
        for number in 0..4 {
            assert!(add(&mut arbiter, slot(number), Kind::Sim, [number as u32]).is_empty());
            seen.extend(drain(&mut arbiter, slot(number), slot(number) + 1));
        }
        let starts: Vec<_> = (0..4).map(|number| (slot(number), Kind::Sim, number as u32)).collect();
        assert_eq!(seen, starts, "no Sim waits");
        assert!(add(&mut arbiter, slot(100), Kind::Data, [0]).is_empty());
        assert_eq!(drain(&mut arbiter, slot(100), slot(100) + 1), [(slot(100), Kind::Data, 0)]);
        let dropped = add(&mut arbiter, slot(100) + 1, Kind::Data, [1, 2, 3]);
        assert_eq!(dropped, [3], "one on the wire, two wait, the last is lost");
        assert_eq!(arbiter.tallies()[Lane::Data as usize], LaneTally { frames: 1, drops: 1, max_waiting: 2 });
    }

    /// Best first, whatever came first; a Sim without a token lets the others go.
    #[test]
    fn strict_priority_and_a_rate() {
        let mut arbiter = Dcsim::new(4, 2, DELTA, u64::MAX);
        for (number, kind) in (0..).zip([Kind::DirectData, Kind::Data, Kind::DataAck, Kind::BlockAck, Kind::SimAck]) {
            add(&mut arbiter, 0, kind, [number]);
        }
        add(&mut arbiter, 0, Kind::Sim, [5, 6, 7]);
        let order: Vec<_> = drain(&mut arbiter, 0, 3 * DELTA).into_iter().map(|(_, kind, number)| (kind, number)).collect();
        let sims = [(Kind::Sim, 5), (Kind::Sim, 6)];
        let acks = [(Kind::SimAck, 4), (Kind::DataAck, 2), (Kind::BlockAck, 3)];
        // The third Sim's token is there when the Data has left.
        assert_eq!(order, [&sims[..], &acks, &[(Kind::Data, 1), (Kind::Sim, 7), (Kind::DirectData, 0)]].concat());
    }

    /// A lone Sim without a token waits for it, though the line is free.
    #[test]
    fn a_sim_waits_for_its_token() {
        let mut arbiter = Dcsim::new(4, 1, DELTA, u64::MAX);
        add(&mut arbiter, 50, Kind::Sim, [0, 1]);
        let starts: Vec<Ps> = drain(&mut arbiter, 50, NEVER).into_iter().map(|(at, ..)| at).collect();
        assert_eq!(starts, [50, 50 + DELTA]);
    }

    #[test]
    fn queues_are_limited_each_for_itself() {
        let mut arbiter = Dcsim::new(3, 1, DELTA, 5 * u64::from(LARGE));
        for kind in [Kind::Sim, Kind::SimAck, Kind::DataAck] {
            assert_eq!(add(&mut arbiter, 0, kind, 0..5), [3, 4]);
        }
        assert!(add(&mut arbiter, 0, Kind::DirectData, 0..2).is_empty());
        assert_eq!(add(&mut arbiter, 0, Kind::Data, 10..14), [1], "direct data gives way to data");
        assert_eq!(add(&mut arbiter, 0, Kind::DirectData, [2]), [2]);
        assert_eq!(add(&mut arbiter, 0, Kind::Data, 14..16), [0, 15]);
        assert_eq!(arbiter.waiting_bytes(), 5 * u64::from(LARGE) + 9 * u64::from(SMALL));
        let mut cleared = 0;
        arbiter.clear(&mut |_| cleared += 1);
        assert_eq!((cleared, arbiter.waiting_bytes(), arbiter.next_start(7)), (14, 0, NEVER));
    }
}
