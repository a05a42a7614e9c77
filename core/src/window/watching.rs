//! What a thread notes or looks up without changing anything.

use super::deal::Worker;
use super::shared::Context;
use crate::discipline::Lane;
use crate::link::Incoming;
use crate::measure::{Sample, TraceRow};
use crate::packet::Slot;
use crate::port::Port;
use crate::switch::Ingress;
use crate::units::{NEVER, Ps};
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

    /// What this thread's hosts and ports have counted so far.
    pub(super) fn sample(&self, context: &Context<'_>) -> Sample {
        let mut sample = Sample::default();
        self.hosts.iter().for_each(|host| sample.hosts.add(host.counts()));
        for share in &self.shares {
            for port in share.ports.iter() {
                let tally = port.tally();
                sample.drops[0] += tally.drops[0];
                sample.drops[1] += tally.drops[1];
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
