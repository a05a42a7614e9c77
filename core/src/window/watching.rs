//! What a thread notes or looks up without changing anything.

use super::deal::Worker;
use super::shared::{Context, lock};
use crate::discipline::Lane;
use crate::link::Incoming;
use crate::measure::{Sample, TraceRow, WindowRow};
use crate::packet::Slot;
use crate::port::Port;
use crate::switch::Ingress;
use crate::units::{NEVER, Ps};
use std::ops::Range;
use std::sync::atomic::Ordering;

impl Worker<'_> {
    /// Notes what a link delivers before `until`, without taking it. What travels back carries the sender's name for the flow, what travels on the receiver's;
    /// both lead to the same row.
    pub(super) fn record(&mut self, context: &Context<'_>, link: usize, start: u32, until: Ps) {
        let (workload, mut ahead) = (context.workload, Incoming::open(&context.shared.links[link], start));
        while let Some(Slot { at, packet }) = ahead.take_before(until) {
            let flow = if packet.travels_back() { packet.flow() } else { workload.flow_of_receive_slot[packet.flow() as usize] };
            let message = workload.row[flow as usize];
            self.trace.push(TraceRow { at, link: link as u32, message, psn: packet.psn(), kind: packet.kind().number() });
        }
    }

    /// Notes for the series what this thread's hosts and ports have counted so far, and what is in them at `now`.
    pub(super) fn note_sample(&mut self, context: &Context<'_>, now: Ps) {
        if !context.has_series {
            return;
        }
        let (sample, windows) = (self.sample(context, now), self.windows(context));
        let mut report = lock(&context.shared.reports[self.number]);
        (report.sample, report.windows) = (Some(sample), windows);
    }

    fn sample(&mut self, context: &Context<'_>, now: Ps) -> Sample {
        let mut sample = Sample::default();
        for (place, host) in self.hosts.iter().enumerate() {
            sample.hosts.add(host.counts());
            let (window, in_flight) = host.windows(&self.send[self.flows_of(context, place)]);
            sample.window_bytes += window;
            sample.in_flight_bytes += in_flight;
        }
        for (tier, share) in self.shares.iter_mut().enumerate() {
            for port in share.ports.iter_mut() {
                if tier > 0 {
                    let queued = port.queued_bytes(now);
                    sample.queued_bytes += queued;
                    sample.max_queue_bytes = sample.max_queue_bytes.max(queued);
                }
                let tally = port.tally();
                sample.drops[0] += tally.drops[0];
                sample.drops[1] += tally.drops[1];
                sample.marks += tally.marks;
            }
            let watched = context.watched_port.and_then(|port| share.ports.get(port.checked_sub(share.first_port)?));
            if let Some(port) = watched {
                sample.port_frames = port.tally().frames;
                if let Some(lanes) = port.lanes() {
                    sample.port_sims = lanes.tallies()[Lane::Sim as usize].frames;
                    sample.port_waiting = [Lane::Data, Lane::Sim].map(|lane| lanes.waiting(lane) as u64);
                }
            }
        }
        sample
    }

    /// The flows of one of this thread's hosts among those that the thread's hosts send.
    fn flows_of(&self, context: &Context<'_>, place: usize) -> Range<usize> {
        let base = &context.workload.send_base;
        let first = self.shares[0].nodes.start as usize;
        let of = |host: usize| (base[host] - base[first]) as usize;
        of(first + place)..of(first + place + 1)
    }

    /// Windows of the watched flows that this thread's hosts send and that are under way.
    fn windows(&self, context: &Context<'_>) -> Vec<WindowRow> {
        let (workload, hosts) = (context.workload, &self.shares[0].nodes);
        let own = workload.send_base[hosts.start as usize]..workload.send_base[hosts.end as usize];
        let rows = context.watched_flows.iter().filter(|flow| own.contains(flow)).filter_map(|&flow| {
            let host = workload.send_base.partition_point(|&base| base <= flow) - 1;
            let send = &self.send[(flow - own.start) as usize];
            let place = (flow - workload.send_base[host]) as usize;
            let (window, in_flight) = self.hosts[host - hosts.start as usize].window_of(place, send)?;
            let message = workload.row[flow as usize];
            Some(WindowRow { at: 0, message, window_bytes: window, in_flight_bytes: in_flight, acked_packets: send.acked.into() })
        });
        rows.collect()
    }

    /// When anything under way next arrives at this thread's nodes, or leaves a port that holds it back.
    pub(super) fn next_arrival_at(&mut self, context: &Context<'_>) -> Ps {
        let (fabric, shared) = (context.fabric, context.shared);
        let mut next = NEVER;
        for share in &self.shares {
            for node in share.nodes.clone() {
                for port in fabric.ports_of(node) {
                    let link = &shared.links[fabric.peer[port] as usize];
                    let incoming = Incoming::open(link, shared.consumed[port].load(Ordering::Relaxed));
                    next = next.min(incoming.next_at().unwrap_or(NEVER));
                }
            }
            next = share.ports.iter().map(Port::next_start_at).fold(next, Ps::min);
        }
        let ingresses = self.memories.iter().flat_map(|memories| memories.iter()).filter_map(|memory| memory.ingress.as_ref());
        next = ingresses.map(Ingress::next_departure_at).fold(next, Ps::min);
        next
    }

    /// When any of this thread's hosts next sends.
    pub(super) fn next_send_at(&self) -> Ps {
        let hosts = self.hosts.iter().zip(self.shares[0].ports.iter());
        hosts.map(|(host, port)| host.next_at(port)).min().unwrap_or(NEVER)
    }
}
