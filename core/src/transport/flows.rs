//! What a host with loss recovery keeps of each flow, whatever the transport: what has arrived, what was sent again, and sums of times.

use super::received::Received;
use crate::units::Ps;
use crate::workload::ReceiveFlow;

/// What a host has counted, of all its flows together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Data packets received for the first time.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Data packets received after one with a larger number.
    pub reordered: u64,
    /// Data packets received again.
    pub duplicates: u64,
    /// Data packets sent, first and again.
    pub sent_data: u64,
    /// Data packets that were given up and sent again.
    pub data_timeouts: u64,
    /// What the transport counts besides; its own file names them.
    pub own: [u64; 6],
    /// What the transport takes the maximum of.
    pub largest: u64,
}

impl Counts {
    /// Adds what another host has counted.
    pub fn add(&mut self, other: &Self) {
        self.delivered_packets += other.delivered_packets;
        self.delivered_bytes += other.delivered_bytes;
        self.reordered += other.reordered;
        self.duplicates += other.duplicates;
        self.sent_data += other.sent_data;
        self.data_timeouts += other.data_timeouts;
        self.own.iter_mut().zip(other.own).for_each(|(sum, count)| *sum += count);
        self.largest = self.largest.max(other.largest);
    }
}

/// The sending side of one flow.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Packets sent again.
    pub retransmitted: u32,
    /// Sum of the moments at which packets were first sent (wraps).
    pub first_sent_sum: Ps,
}

/// The receiving side of one flow.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    pub(super) set: Received,
    /// Largest number so far, plus one.
    ahead: u32,
    /// Packets that came after one with a larger number.
    pub reordered: u32,
    /// Sum of the moments at which packets first came (wraps).
    pub first_received_sum: Ps,
}

/// All flows of a host.
#[derive(Debug)]
pub struct Flows {
    /// Those that it sends.
    pub sent: Vec<Sent>,
    /// Those that it receives.
    pub arrived: Vec<Arrived>,
    /// Sums over them.
    pub counts: Counts,
}

impl Flows {
    pub(super) fn new(sends: usize, receives: usize) -> Self {
        Self { sent: vec![Sent::default(); sends], arrived: vec![Arrived::default(); receives], counts: Counts::default() }
    }

    /// A data packet starts on the wire for the first time or again.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, own: usize, is_first: bool, at: Ps) {
        self.counts.sent_data += 1;
        let sent = &mut self.sent[own];
        if is_first {
            sent.first_sent_sum = sent.first_sent_sum.wrapping_add(at);
        } else {
            sent.retransmitted += 1;
        }
    }

    /// A data packet has arrived; whether it had not before.
    #[inline(always)]
    pub(super) fn note_arrival(&mut self, own: usize, psn: u32, bytes: u32, at: Ps, flow: &mut ReceiveFlow) -> bool {
        let arrived = &mut self.arrived[own];
        let is_behind = psn.wrapping_add(1) < arrived.ahead;
        arrived.reordered += u32::from(is_behind);
        self.counts.reordered += u64::from(is_behind);
        arrived.ahead = arrived.ahead.max(psn.wrapping_add(1));
        if !arrived.set.insert(psn) {
            self.counts.duplicates += 1;
            return false;
        }
        if flow.received == 0 {
            flow.first_at = at;
        }
        flow.received += 1;
        flow.last_at = at;
        arrived.first_received_sum = arrived.first_received_sum.wrapping_add(at);
        self.counts.delivered_packets += 1;
        self.counts.delivered_bytes += u64::from(bytes);
        true
    }
}
