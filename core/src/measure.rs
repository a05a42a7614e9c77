//! What a run hands back: columns, in the order of the door's contract.

use crate::fabric::Fabric;
use crate::port::PortTally;
use crate::units::Ps;
use crate::workload::Workload;

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
    /// 0 data, 1 ACK.
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
}

impl FlowColumns {
    /// Collects the flows of a finished run, in the order of the message rows.
    pub fn collect(workload: &Workload) -> Self {
        let mut flow_of_row = vec![0; workload.row.len()];
        for (flow, &row) in workload.row.iter().enumerate() {
            flow_of_row[row as usize] = flow;
        }
        let send = || flow_of_row.iter().map(|&flow| &workload.send[flow]);
        let receive = || send().map(|flow| &workload.receive[flow.receive_slot as usize]);
        let whole = |flow: &crate::workload::ReceiveFlow| flow.received == flow.packets;
        Self {
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
