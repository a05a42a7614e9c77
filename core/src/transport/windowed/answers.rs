//! The receiving side: which data packets are answered, and how.

use crate::packet::{Kind, Packet};
use crate::spreader::Spreader;
use crate::transport::Surroundings;
use crate::units::{NEVER, Ps};
use crate::workload::ReceiveFlow;
use std::collections::VecDeque;

/// What will be sent back for a packet.
#[derive(Clone, Copy, Debug)]
struct Answer {
    ready_at: Ps,
    kind: Kind,
    address: u32,
    flow: u32,
    /// Of an ACK, how many packets of the flow have arrived; of a NACK, the packet.
    number: u32,
    /// Path field of the packet, and whether it was marked.
    path: u16,
    is_marked: bool,
}

/// What a host has to answer.
#[derive(Debug)]
pub(super) struct Answers {
    waiting: VecDeque<Answer>,
    next_at: Ps,
    /// Bytes of each flow that no ACK has been sent for.
    owed: Vec<u64>,
    every_bytes: u64,
}

impl Answers {
    pub(super) fn new(flows: usize, every_bytes: u64) -> Self {
        Self { waiting: VecDeque::new(), next_at: NEVER, owed: vec![0; flows], every_bytes }
    }

    /// When the first can be sent.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ps {
        self.next_at
    }

    #[inline(always)]
    fn push(&mut self, answer: Answer) {
        self.waiting.push_back(answer);
        self.next_at = self.next_at.min(answer.ready_at);
    }

    /// A data packet has arrived, whole, and has been counted in `flow`.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, own: usize, flow: &ReceiveFlow, packet: Packet, is_new: bool, at: Ps) {
        self.owed[own] += u64::from(packet.bytes());
        let is_asked = packet.kind() != Kind::Data || packet.is_marked();
        let is_end = flow.received == 1 || flow.received == flow.packets;
        if is_new && self.owed[own] < self.every_bytes && !is_asked && !is_end {
            return;
        }
        self.owed[own] = 0;
        // An ACK for a copy says what has arrived, and nothing of the copy.
        let kind = if is_new { Kind::Ack } else { Kind::DataAck };
        let is_marked = packet.is_marked();
        let (address, path) = (flow.address, packet.path());
        self.push(Answer { ready_at: at, kind, address, flow: flow.send_slot, number: flow.received, path, is_marked });
    }

    /// The header of a packet has arrived alone.
    pub(super) fn refuse(&mut self, flow: &ReceiveFlow, packet: Packet, has_it: bool, at: Ps) {
        let (kind, number) = if has_it { (Kind::DataAck, flow.received) } else { (Kind::Nack, packet.psn()) };
        let (address, path) = (flow.address, packet.path());
        self.push(Answer { ready_at: at, kind, address, flow: flow.send_slot, number, path, is_marked: false });
    }

    /// The next answer, as a packet.
    #[inline(always)]
    pub(super) fn next(&mut self, spreader: &mut Spreader, around: &Surroundings<'_, '_>) -> Option<Packet> {
        let Answer { kind, address, flow, number, path, is_marked, .. } = self.waiting.pop_front()?;
        self.next_at = self.waiting.front().map_or(NEVER, |answer| answer.ready_at);
        let path = spreader.ack(around.fabric, around.routes, address, path);
        let mut packet = Packet::new(kind, flow, number, address, path, around.rules.ack_frame);
        // RFC 3168: the receiver echoes what it has seen.
        if is_marked {
            packet.mark();
        }
        Some(packet)
    }
}
