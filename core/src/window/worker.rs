//! One thread's part of a window: its cores, aggregation and edge switches, and its hosts.

use super::deal::Worker;
use super::leader::Leader;
use super::shared::{Context, Plan, Report, Step, lock, panic_message};
use crate::fabric::{Change, Routes};
use crate::link::Incoming;
use crate::measure::TraceRow;
use crate::port::Space;
use crate::switch::{CatchUp, SwitchSurroundings};
use crate::transport::Surroundings;
use crate::units::Ps;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

impl Worker<'_> {
    /// Lives until the leader stops the run. Returns the trace, and the bytes that the rings took.
    pub(super) fn run(mut self, context: &Context<'_>, mut leader: Option<&mut Leader<'_>>) -> (Vec<TraceRow>, u64) {
        let shared = context.shared;
        let mut jumped = false;
        loop {
            let Plan { from, until, step, routes, samples, .. } = self.read_plan(context);
            let routes = &context.fabric.routes[routes];
            match step {
                Step::Stop | Step::Cut => {
                    if std::mem::take(&mut jumped) && context.catches_up {
                        self.catch_up(context, routes, from);
                    }
                    let ports = self.shares.iter_mut().flat_map(|share| share.ports.iter_mut());
                    ports.filter(|port| step == Step::Cut || port.decides_on_arrival()).for_each(|port| port.cut(from));
                    // The last interval is shorter than the others.
                    self.note_sample(context, from);
                    return (self.trace, self.arena.bytes() as u64);
                }
                Step::Change(number) => {
                    if std::mem::take(&mut jumped) && context.catches_up {
                        self.catch_up(context, routes, from);
                    }
                    self.change_links(context, &context.fabric.changes[number]);
                }
                Step::Look => {
                    self.hear_all_pauses(context, from);
                    shared.next_arrival_at[self.number].store(self.next_arrival_at(context), Ordering::Release);
                    shared.next_send_at[self.number].store(self.next_send_at(), Ordering::Release);
                    self.note_sample(context, from);
                    jumped = true;
                }
                Step::Window => {
                    if std::mem::take(&mut jumped) && context.catches_up {
                        self.catch_up(context, routes, from);
                        shared.barrier.wait();
                    }
                    let lived = catch_unwind(AssertUnwindSafe(|| self.live(context, routes, from, until)));
                    match lived {
                        Ok(report) => {
                            *lock(&shared.reports[self.number]) = report;
                            if samples {
                                self.note_sample(context, until);
                            }
                        }
                        Err(panic) => *lock(&shared.fault) = Some(panic_message(panic.as_ref())),
                    }
                }
            }
            shared.barrier.wait();
            if let Some(leader) = leader.as_deref_mut() {
                leader.decide(shared);
            }
            shared.barrier.wait();
        }
    }

    /// The plan, but for the releases, which are carried out.
    fn read_plan(&mut self, context: &Context<'_>) -> Plan {
        let plan = lock(&context.shared.plan);
        let hosts = self.shares[0].nodes.clone();
        let flows = context.workload.send_base[hosts.start as usize]..context.workload.send_base[hosts.end as usize];
        for &(at, flow) in plan.releases.iter().filter(|(_, flow)| flows.contains(flow)) {
            let host = context.workload.send_base.partition_point(|&base| base <= flow) as u32 - 1;
            let send = &mut self.send[(flow - flows.start) as usize];
            self.hosts[(host - hosts.start) as usize].release(flow, send, at);
        }
        Plan { releases: Vec::new(), ..*plan }
    }

    /// One window of all nodes of this thread. Cores first: what goes up is then taken from the rings before more is put in.
    fn live(&mut self, context: &Context<'_>, routes: &Routes, from: Ps, until: Ps) -> Report {
        self.arena.begin_window();
        let mut report = Report::default();
        for tier in (1..4).rev() {
            for node in self.shares[tier].nodes.clone() {
                self.fetch_ahead(context, tier, node + 1);
                let (hops, stranded) = self.live_switch(context, routes, tier, node, from, until);
                report.hops += hops;
                report.unroutable[0] += stranded[0];
                report.unroutable[1] += stranded[1];
            }
        }
        for node in self.shares[0].nodes.clone() {
            self.fetch_ahead(context, 0, node + 1);
            let (completed, hops, sent) = self.live_host(context, routes, node, from, until);
            report.completed += completed;
            report.hops += hops;
            report.sent += sent;
        }
        report.signals = std::mem::take(&mut self.signals);
        report
    }

    /// While one node is handled, what the next will read and write is fetched: at large scale the rings do not fit in any cache.
    #[inline(always)]
    fn fetch_ahead(&self, context: &Context<'_>, tier: usize, next: u32) {
        if !context.is_large || next >= self.shares[tier].nodes.end {
            return;
        }
        for port in context.fabric.ports_of(next) {
            let link = &context.shared.links[context.fabric.peer[port] as usize];
            Incoming::open(link, context.shared.consumed[port].load(Ordering::Relaxed)).prefetch_slots();
        }
        self.shares[tier].prefetch_ports(context.fabric, next);
    }

    /// Packets received, and those for which no uplink was left.
    fn live_switch(
        &mut self,
        context: &Context<'_>,
        routes: &Routes,
        tier: usize,
        node: u32,
        from: Ps,
        until: Ps,
    ) -> (u64, [u64; 2]) {
        let (fabric, shared) = (context.fabric, context.shared);
        let inputs = fabric.ports_of(node);
        let shape = fabric.switch(node);
        self.agenda.clear(from);
        for port in inputs.clone() {
            let link = fabric.peer[port] as usize;
            let start = shared.consumed[port].load(Ordering::Relaxed);
            let mut incoming = Incoming::open(&shared.links[link], start);
            if context.trace {
                self.record(context, link, start, until);
            }
            self.agenda.gather(shape, &mut incoming, until, (port - inputs.start) as u32);
            if incoming.position() != start {
                shared.consumed[port].store(incoming.position(), Ordering::Release);
            }
        }
        if !shared.pauses.is_empty() {
            self.hear_pauses(context, tier, inputs.clone(), from);
        }
        let share = &mut self.shares[tier];
        let place = (node - share.nodes.start) as usize;
        let ports = share.ports_of(fabric, node);
        let memory = self.memories[tier - 1].get_mut(place);
        let (pool, ingress) = memory.map_or((None, None), |memory| (memory.pool.as_mut(), memory.ingress.as_mut()));
        let stranded = self.agenda.work_off(
            until,
            &mut SwitchSurroundings {
                shape,
                reach: routes.reach(node),
                salts: &context.salts[inputs.clone()],
                scheme: &mut self.balancers[tier - 1][place],
                ports,
                space: &mut Space { consumed: &shared.consumed, arena: &mut self.arena, pool },
                ingress,
            },
        );
        let space = &mut Space { consumed: &shared.consumed, arena: &mut self.arena, pool: None };
        for (port, link) in ports.iter_mut().zip(&shared.links[inputs]) {
            port.close_window(until, link, space);
        }
        if !shared.pauses.is_empty() {
            self.spread_pauses(context, tier, node);
        }
        (self.agenda.len() as u64, stranded)
    }

    /// Flows completed, packets received, and frames sent.
    fn live_host(&mut self, context: &Context<'_>, routes: &Routes, node: u32, from: Ps, until: Ps) -> (u64, u64, u64) {
        let (fabric, shared, workload) = (context.fabric, context.shared, context.workload);
        let index = node as usize;
        let first = self.shares[0].nodes.start as usize;
        let flows = |base: &[u32]| {
            let own = base[index] - base[first]..base[index + 1] - base[first];
            own.start as usize..own.end as usize
        };
        let link = fabric.peer[index] as usize;
        let start = shared.consumed[index].load(Ordering::Relaxed);
        let mut incoming = Incoming::open(&shared.links[link], start);
        if context.trace {
            self.record(context, link, start, until);
        }
        if !shared.pauses.is_empty() {
            self.hear_pauses(context, 0, index..index + 1, from);
        }
        let port = &mut self.shares[0].ports[index - first];
        let free_at = port.busy_until;
        let mut around = Surroundings {
            rules: context.rules,
            fabric,
            routes,
            workload,
            port,
            send: &mut self.send[flows(&workload.send_base)],
            send_base: workload.send_base[index],
            receive: &mut self.receive[flows(&workload.receive_base)],
            receive_base: workload.receive_base[index],
            space: &mut Space { consumed: &shared.consumed, arena: &mut self.arena, pool: None },
            signals: &mut self.signals,
        };
        let completed = self.hosts[index - first].run_window(until, &mut incoming, &mut around);
        let sent = u64::from(around.port.busy_until != free_at);
        around.port.close_window(until, &shared.links[index], around.space);
        let hops = incoming.position().wrapping_sub(start);
        if hops > 0 {
            shared.consumed[index].store(incoming.position(), Ordering::Release);
        }
        (completed, u64::from(hops), sent)
    }

    /// After a jump over windows in which nothing arrived anywhere: decides the marks of what left the ports before `now`, and lets schemes that watch
    /// notice that time has passed.
    fn catch_up(&mut self, context: &Context<'_>, routes: &Routes, now: Ps) {
        for share in &mut self.shares {
            let links = &context.shared.links[share.first_port..];
            let space = &mut Space { consumed: &context.shared.consumed, arena: &mut self.arena, pool: None };
            for (port, link) in share.ports.iter_mut().zip(links) {
                port.close_window(now, link, space);
            }
        }
        for tier in 1..4 {
            let share = &mut self.shares[tier];
            for (node, scheme) in share.nodes.clone().zip(self.balancers[tier - 1].iter_mut()) {
                let ports = share.ports_of(context.fabric, node);
                scheme.visit(&mut CatchUp { until: now, reach: routes.reach(node), ports });
            }
        }
    }

    /// Lets links go down and come up at the moment that begins.
    fn change_links(&mut self, context: &Context<'_>, change: &Change) {
        for &(port, is_up) in &change.links {
            let port = port as usize;
            for share in &mut self.shares {
                let own = port.checked_sub(share.first_port).and_then(|place| share.ports.get_mut(place));
                match own {
                    Some(own) if is_up => own.repair(),
                    Some(own) => own.fail(change.at, &context.shared.links[port]),
                    None => {}
                }
            }
            if !is_up {
                self.lose_in_memory(context, port, change.at);
            }
        }
    }
}
