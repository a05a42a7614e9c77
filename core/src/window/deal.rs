//! Who owns what: each thread gets a run of every tier's nodes, with their ports, schemes and flows.

use crate::balancer::SwitchBalancer;
use crate::fabric::Fabric;
use crate::host::Host;
use crate::link::Arena;
use crate::measure::TraceRow;
use crate::port::Port;
use crate::switch::{Agenda, Memory};
use crate::transport::Signals;
use crate::workload::{ReceiveFlow, SendFlow, Workload};
use std::ops::Range;

/// A tier's share of one thread.
pub(super) struct Share<'a> {
    pub(super) nodes: Range<u32>,
    pub(super) ports: &'a mut [Port],
    pub(super) first_port: usize,
}

impl Share<'_> {
    pub(super) fn ports_of(&mut self, fabric: &Fabric, node: u32) -> &mut [Port] {
        let range = fabric.ports_of(node);
        &mut self.ports[range.start - self.first_port..range.end - self.first_port]
    }

    /// Fetches the ports of a node and the memory that they will write to first.
    #[inline(always)]
    pub(super) fn prefetch_ports(&self, fabric: &Fabric, node: u32) {
        let range = fabric.ports_of(node);
        for port in &self.ports[range.start - self.first_port..range.end - self.first_port] {
            port.prefetch();
        }
    }
}

/// One thread and what it owns.
pub(super) struct Worker<'a> {
    pub(super) number: usize,
    /// Hosts, edges, aggregation switches, cores.
    pub(super) shares: [Share<'a>; 4],
    pub(super) hosts: &'a mut [Host],
    pub(super) balancers: [&'a mut [SwitchBalancer]; 3],
    /// As many as balancers, or none.
    pub(super) memories: [&'a mut [Memory]; 3],
    pub(super) send: &'a mut [SendFlow],
    pub(super) receive: &'a mut [ReceiveFlow],
    pub(super) agenda: Agenda,
    pub(super) arena: Arena,
    pub(super) signals: Signals,
    pub(super) trace: Vec<TraceRow>,
}

/// Deals nodes, and with them ports and flows, out to threads: a run of each tier to each.
#[allow(clippy::too_many_arguments, reason = "each is a separately borrowed part of the engine")]
pub(super) fn deal<'a>(
    threads: usize,
    fabric: &Fabric,
    workload: &Workload,
    mut hosts: &'a mut [Host],
    mut balancers: &'a mut [SwitchBalancer],
    mut memories: &'a mut [Memory],
    mut ports: &'a mut [Port],
    mut send: &'a mut [SendFlow],
    mut receive: &'a mut [ReceiveFlow],
) -> Vec<Worker<'a>> {
    let range = |tier: usize, number: usize| {
        let nodes = &fabric.tiers[tier];
        let cut = |part: usize| nodes.start + (nodes.len() * part / threads) as u32;
        cut(number)..cut(number + 1)
    };
    let mut shares: [Vec<Share<'a>>; 4] = Default::default();
    let mut schemes: [Vec<&'a mut [SwitchBalancer]>; 3] = Default::default();
    let mut shared: [Vec<&'a mut [Memory]>; 3] = Default::default();
    let has_memories = !memories.is_empty();
    for tier in 0..4 {
        for number in 0..threads {
            let nodes = range(tier, number);
            let first_port = fabric.port_base[nodes.start as usize] as usize;
            let count = fabric.port_base[nodes.end as usize] as usize - first_port;
            shares[tier].push(Share { nodes: nodes.clone(), ports: take(&mut ports, count), first_port });
            if tier > 0 {
                schemes[tier - 1].push(take(&mut balancers, nodes.len()));
                shared[tier - 1].push(take(&mut memories, if has_memories { nodes.len() } else { 0 }));
            }
        }
    }
    let [mut own_hosts, mut edges, mut aggs, mut cores] = shares.map(Vec::into_iter);
    let [mut edge_schemes, mut agg_schemes, mut core_schemes] = schemes.map(Vec::into_iter);
    let [mut edge_memories, mut agg_memories, mut core_memories] = shared.map(Vec::into_iter);
    let mut workers = Vec::with_capacity(threads);
    for number in 0..threads {
        let nodes = range(0, number);
        let flows = |base: &[u32]| (base[nodes.end as usize] - base[nodes.start as usize]) as usize;
        let parts = (own_hosts.next(), edges.next(), aggs.next(), cores.next());
        let of_tiers = (edge_schemes.next(), agg_schemes.next(), core_schemes.next());
        let ((Some(a), Some(b), Some(c), Some(d)), (Some(e), Some(f), Some(g))) = (parts, of_tiers) else { break };
        workers.push(Worker {
            number,
            shares: [a, b, c, d],
            hosts: take(&mut hosts, nodes.len()),
            balancers: [e, f, g],
            memories: [edge_memories.next(), agg_memories.next(), core_memories.next()].map(Option::unwrap_or_default),
            send: take(&mut send, flows(&workload.send_base)),
            receive: take(&mut receive, flows(&workload.receive_base)),
            agenda: Agenda::default(),
            arena: Arena::default(),
            signals: Signals::new(),
            trace: Vec::new(),
        });
    }
    workers
}

/// Cuts the first `count` elements off a slice.
fn take<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(slice).split_at_mut(count);
    *slice = tail;
    head
}
