//! What a run hands back: columns, in the order of the door's contract.

use crate::discipline::LaneTally;
use crate::fabric::Fabric;
use crate::port::PortTally;
use crate::transport::{Counts, Flows};
use crate::units::{NEVER, Ps};
use crate::workload::{ReceiveFlow, Workload};

/// What a run tells its caller now and then.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub at: Ps,
    /// Messages complete.
    pub finished: u64,
    /// Messages in all.
    pub total: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Every message complete.
    Done,
    /// Nothing left to happen, but messages unfinished.
    Stuck,
    /// The simulated-time limit passed.
    TimeLimit,
}

impl Status {
    /// The door's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stuck => "stuck",
            Self::TimeLimit => "time-limit",
        }
    }
}

/// One received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// When its last bit arrived.
    pub at: Ps,
    /// The link (port) that delivered it.
    pub link: u32,
    /// Row of the message.
    pub message: u32,
    /// Packet sequence number.
    pub psn: u32,
    /// Its kind, by the door's number.
    pub kind: u8,
}

/// Row i is message i.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowColumns {
    /// Frames in all.
    pub packets: Vec<u32>,
    /// First data frame started.
    pub started_at: Vec<Ps>,
    /// First data frame received.
    pub first_delivered_at: Vec<Ps>,
    /// Last data frame received, once all are.
    pub last_delivered_at: Vec<Ps>,
    /// Last ACK received, once all are.
    pub last_acked_at: Vec<Ps>,
    /// Frames received.
    pub delivered_packets: Vec<u32>,
    /// Frames acknowledged.
    pub acked_packets: Vec<u32>,
    /// Frames sent again.
    pub retransmitted_packets: Vec<u32>,
    /// Frames received after one with a larger number.
    pub reordered_packets: Vec<u32>,
    /// Sum over frames of the time from first sent to first received, once all are.
    pub delay: Vec<Ps>,
}

impl FlowColumns {
    /// Collects the flows of a finished run, in the order of the message rows. `flows_of` a host: what its transport keeps of them.
    pub fn collect<'a>(workload: &Workload, flows_of: impl Fn(usize) -> Option<&'a Flows>) -> Self {
        let mut flow_of_row = vec![0; workload.row.len()];
        for (flow, &row) in workload.row.iter().enumerate() {
            flow_of_row[row as usize] = flow;
        }
        let send = || flow_of_row.iter().map(|&flow| &workload.send[flow]);
        let receive = || send().map(|flow| &workload.receive[flow.receive_slot as usize]);
        let whole = |flow: &ReceiveFlow| flow.received == flow.packets;
        // Found by where each host's run of flows begins.
        let host_of = |base: &[u32], number: usize| base.partition_point(|&start| start as usize <= number) - 1;
        let sent = |flow: usize| {
            let host = host_of(&workload.send_base, flow);
            flows_of(host).map(|flows| &flows.sent[flow - workload.send_base[host] as usize])
        };
        let arrived = |flow: usize| {
            let slot = workload.send[flow].receive_slot as usize;
            let host = host_of(&workload.receive_base, slot);
            flows_of(host).map(|flows| &flows.arrived[slot - workload.receive_base[host] as usize])
        };
        let delay = |flow: usize| {
            let sums = sent(flow).zip(arrived(flow));
            let sums = sums.filter(|_| whole(&workload.receive[workload.send[flow].receive_slot as usize]));
            sums.map_or(NEVER, |(sent, arrived)| arrived.first_received_sum.wrapping_sub(sent.first_sent_sum))
        };
        let flows = || flow_of_row.iter().copied();
        Self {
            retransmitted_packets: flows().map(|flow| sent(flow).map_or(0, |sent| sent.retransmitted)).collect(),
            reordered_packets: flows().map(|flow| arrived(flow).map_or(0, |arrived| arrived.reordered)).collect(),
            delay: flows().map(delay).collect(),
            packets: send().map(|flow| flow.packets).collect(),
            started_at: send().map(|flow| flow.started_at).collect(),
            first_delivered_at: receive().map(|flow| flow.first_at).collect(),
            last_delivered_at: receive().map(|flow| if whole(flow) { flow.last_at } else { Ps::MAX }).collect(),
            last_acked_at: send().map(|flow| flow.last_acked_at).collect(),
            delivered_packets: receive().map(|flow| flow.received).collect(),
            acked_packets: send().map(|flow| flow.acked).collect(),
        }
    }
}

/// What has been counted up to a moment, or, as a row of a series, between two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// The moment; of a row, the end of its interval.
    pub at: Ps,
    /// What hosts have counted.
    pub hosts: Counts,
    /// Frames dropped at ports, by size class.
    pub drops: [u64; 2],
    /// Frames that the watched port has sent, by size class.
    pub port_frames: [u64; 2],
    /// Sims among them.
    pub port_sims: u64,
    /// Data frames marked.
    pub marks: u64,
    /// Datas and Sims that wait at the watched port. This and what follows: no sums, but what is there at the moment.
    pub port_waiting: [u64; 2],
    /// Bytes queued in all ports of switches, and in that with most.
    pub queued_bytes: u64,
    /// See `queued_bytes`.
    pub max_queue_bytes: u64,
    /// Congestion windows of all flows under way, and their bytes in flight.
    pub window_bytes: u64,
    /// See `window_bytes`.
    pub in_flight_bytes: u64,
}

/// The window of a watched message at the end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRow {
    /// The moment.
    pub at: Ps,
    /// Row of the message.
    pub message: u32,
    /// Its congestion window.
    pub window_bytes: u64,
    /// Its bytes in flight.
    pub in_flight_bytes: u64,
    /// Its packets acknowledged up to then.
    pub acked_packets: u64,
}

impl Sample {
    /// Adds what another thread has counted up to the same moment.
    pub fn add(&mut self, other: &Self) {
        self.hosts.add(&other.hosts);
        for class in 0..2 {
            self.drops[class] += other.drops[class];
            self.port_frames[class] += other.port_frames[class];
            self.port_waiting[class] += other.port_waiting[class];
        }
        self.port_sims += other.port_sims;
        self.marks += other.marks;
        self.queued_bytes += other.queued_bytes;
        self.max_queue_bytes = self.max_queue_bytes.max(other.max_queue_bytes);
        self.window_bytes += other.window_bytes;
        self.in_flight_bytes += other.in_flight_bytes;
    }

    /// The row that this and the next make together: sums of both, moments of the next, and the largest queue of either.
    pub fn joined(&self, next: &Self) -> Self {
        let mut both = *next;
        both.hosts.delivered_packets += self.hosts.delivered_packets;
        both.hosts.delivered_bytes += self.hosts.delivered_bytes;
        both.hosts.reordered += self.hosts.reordered;
        both.hosts.sent_data += self.hosts.sent_data;
        for class in 0..2 {
            both.drops[class] += self.drops[class];
            both.port_frames[class] += self.port_frames[class];
        }
        both.port_sims += self.port_sims;
        both.marks += self.marks;
        both.max_queue_bytes = both.max_queue_bytes.max(self.max_queue_bytes);
        both
    }

    /// The row between an earlier moment and this.
    pub fn since(&self, earlier: &Self) -> Self {
        let (now, then) = (&self.hosts, &earlier.hosts);
        let hosts = Counts {
            delivered_packets: now.delivered_packets - then.delivered_packets,
            delivered_bytes: now.delivered_bytes - then.delivered_bytes,
            reordered: now.reordered - then.reordered,
            sent_data: now.sent_data - then.sent_data,
            ..*now
        };
        let between = |now: [u64; 2], then: [u64; 2]| [now[0] - then[0], now[1] - then[1]];
        Self {
            hosts,
            drops: between(self.drops, earlier.drops),
            port_frames: between(self.port_frames, earlier.port_frames),
            port_sims: self.port_sims - earlier.port_sims,
            marks: self.marks - earlier.marks,
            ..*self
        }
    }
}

/// What a run hands back.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: Status,
    /// Flows by message row.
    pub flows: FlowColumns,
    /// The fabric it ran on: names and speeds of the ports.
    pub fabric: Fabric,
    /// Tally of each port.
    pub tallies: Vec<PortTally>,
    /// Tally of each port's lanes, where ports have dcSim's arbiter.
    pub lanes: Vec<[LaneTally; 4]>,
    /// What happened in each interval, when asked for.
    pub series: Vec<Sample>,
    /// Windows of the watched messages at the end of each interval.
    pub windows: Vec<WindowRow>,
    /// What hosts have counted.
    pub counts: Counts,
    /// Every reception, when asked for; in order of (time, link).
    pub trace: Vec<TraceRow>,
    /// End of the last window.
    pub end_at: Ps,
    /// Length of a window.
    pub window: Ps,
    /// Windows lived through.
    pub windows_count: u64,
    /// Packets that crossed a link.
    pub packet_hops_count: u64,
    /// Packets at switches that had no valid uplink for them, by size class.
    pub unroutable: [u64; 2],
    /// Bytes of all rings at the end (they never shrink).
    pub rings_bytes: u64,
    /// Threads used.
    pub threads: u32,
}
