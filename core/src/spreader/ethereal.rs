//! Ethereal: the sender divides messages into equal subflows and gives every path as many of them (`workload::Subflows` says how); a subflow stays on its path.
//!
//! *Source*: Addanki et al., "Ethereal: divide and conquer network load balancing in large-scale distributed training"; Ofan paper,
//! section 3.4 and appendix E (Theorem 4: O(1) queues, edge uplinks at most k^2/4 + 1 packets). The subflows of a message take turns in a random order.
//! *Differs*: paths are named in header fields, not by source ports that hash to them; a host that sends several messages takes turns over messages, and
//! within one over its subflows. An ACK takes its packet's path backwards. A packet that times out moves its subflow to another random path; switches deflect
//! from an uplink that routing knows to be dead. *State*: a queue pair a subflow, up to w^2 a message (host). *Cost*: short last frames, a table at the host.

use super::in_flight::InFlight;
use crate::fabric::Fabric;
use crate::rng::{Purpose, Stream};
use crate::units::Ps;
use crate::workload::Subflows;
use std::collections::HashMap;

/// Ethereal at one host.
#[derive(Debug)]
pub struct Ethereal {
    aggs: u32,
    rto: Ps,
    flows: Box<[Flow]>,
    stream: Stream,
}

#[derive(Debug)]
struct Flow {
    subflows: Subflows,
    /// Path of each subflow, in the order of their turns.
    paths: Box<[u16]>,
    in_flight: InFlight,
}

impl Ethereal {
    /// `subflows` are those of the messages that leave the host.
    pub(super) fn new(subflows: &[Subflows], rto: Ps, fabric: &Fabric, host: u32, seed: u64) -> Self {
        let mut stream = Stream::new(seed, Purpose::Spreader, u64::from(host));
        let aggs = fabric.switch(fabric.edge_of(host)).up;
        let mut starts = HashMap::new();
        let flows = subflows
            .iter()
            .map(|&subflows| {
                let all = subflows.paths;
                let start = *starts.entry(subflows.group).or_insert_with(|| stream.below(u64::from(all)) as u32);
                let path = |i: u32| path((start + subflows.offset + i) % all, aggs);
                let mut paths: Box<[u16]> = (0..subflows.count).map(path).collect();
                for last in (1..paths.len()).rev() {
                    paths.swap(last, stream.below(last as u64 + 1) as usize);
                }
                Flow { subflows, paths, in_flight: InFlight::default() }
            })
            .collect();
        Self { aggs, rto, flows, stream }
    }

    /// Path and size of a flow's packet; `whole` is its size when frames are dealt out whole.
    #[inline(always)]
    pub(super) fn data(&mut self, flow: usize, psn: u32, whole: u32, now: Ps) -> (u16, u32) {
        self.look_for_timeouts(flow, now);
        let flow = &mut self.flows[flow];
        let path = flow.paths[(psn % flow.subflows.count) as usize];
        flow.in_flight.send(psn, path, now);
        (path, flow.subflows.frame_bytes(psn).unwrap_or(whole))
    }

    pub(super) fn acked(&mut self, flow: usize, psn: u32, now: Ps) {
        self.look_for_timeouts(flow, now);
        self.flows[flow].in_flight.acked(psn);
    }

    pub(super) fn passed(&mut self, flow: usize, psn: u32) {
        self.flows[flow].in_flight.passed(psn);
    }

    pub(super) fn timed_out(&mut self, flow: usize, psn: u32) {
        if let Some(lost) = self.flows[flow].in_flight.path(psn) {
            self.leave(flow, psn, lost);
        }
    }

    fn look_for_timeouts(&mut self, number: usize, now: Ps) {
        while let Some((psn, lost, _)) = self.flows[number].in_flight.give_up(now, self.rto) {
            self.leave(number, psn, lost);
        }
    }

    /// Moves the subflow of a packet that was lost on a path to another.
    fn leave(&mut self, number: usize, psn: u32, lost: u16) {
        let flow = &mut self.flows[number];
        let path_of = &mut flow.paths[(psn % flow.subflows.count) as usize];
        let others = u64::from(flow.subflows.paths) - 1;
        // Packets that were under way when the subflow moved say nothing of its new path.
        if *path_of == lost && others > 0 {
            let current = u32::from(lost & 0xFF) + u32::from(lost >> 8) * self.aggs;
            let other = self.stream.below(others) as u32;
            *path_of = path(other + u32::from(other >= current), self.aggs);
        }
    }
}

/// The path field of path number `number`: consecutive paths alternate the aggregation switch.
fn path(number: u32, aggs: u32) -> u16 {
    let (j, c) = (number % aggs, number / aggs);
    (j | c << 8) as u16
}
