//! dcSim's arbiter: strict priority without preemption between Sims, Sim-Acks, Data-Acks and Datas; Sims are served through a token bucket.
//!
//! *Source*: dcSim paper, section 2.3 and Fig. 1. The queues of small packets hold B packets each, that of Datas what its bytes allow; the packet on the wire is
//! in no queue. *Differs*: a fifth lane, below all others, for the data of small flows that are sent without Sims (proposed in the paper's section 4.2): it
//! shares the buffer of the Datas, and gives way to them when that is full. *State*: the queues, the bucket. *Cost*: one look at each queue a packet.

use super::Queueing;
use super::token_bucket::TokenBucket;
use crate::packet::{Kind, Packet, Slot};
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

    /// What the lanes have counted.
    pub fn tallies(&self) -> [LaneTally; 4] {
        self.tallies
    }

    fn tally(&mut self, lane: Lane) -> &mut LaneTally {
        &mut self.tallies[(lane as usize).min(Lane::Data as usize)]
    }

    fn add_data(&mut self, lane: Lane, slot: Slot, dropped: &mut impl FnMut(Packet)) {
        while self.data_bytes + u64::from(slot.packet.bytes()) > self.data_buffer_bytes {
            let direct = if lane == Lane::Data { self.lanes[Lane::Direct as usize].pop_back() } else { None };
            let victim = direct.unwrap_or(slot).packet;
            self.tally(Lane::Data).drops += 1;
            dropped(victim);
            if direct.is_none() {
                return;
            }
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
    fn add(&mut self, slot: Slot, dropped: &mut impl FnMut(Packet)) {
        let lane = lane_of(slot.packet.kind());
        if lane as usize >= Lane::Data as usize {
            return self.add_data(lane, slot, dropped);
        }
        if !self.has_room(lane) {
            self.tally(lane).drops += 1;
            return dropped(slot.packet);
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

    fn clear(&mut self, lost: &mut impl FnMut(Packet)) {
        self.lanes.iter_mut().flat_map(|lane| lane.drain(..)).for_each(|slot| lost(slot.packet));
        (self.data_bytes, self.small_bytes) = (0, 0);
    }
}
