//! The engine: windows, threads and the barrier between them.
//!
//! A window is no longer than the smallest link latency, so within it no node can influence another: nodes are handled one by one, in any order, by any
//! number of threads. Threads own nodes: each has a run of every tier, with its ports and flows. Whatever crosses from one node to another crosses in a ring, or,
//! for dependencies across hosts, as a signal that takes one link latency and is handed over at the barrier.

use crate::balancer::SwitchBalancer;
use crate::config::Config;
use crate::error::Error;
use crate::fabric::Fabric;
use crate::host::{Host, HostRules, HostSurroundings, Signals};
use crate::link::{Arena, Incoming, Link};
use crate::measure::{FlowColumns, Output, Status, TraceRow};
use crate::packet::{Kind, Slot};
use crate::port::{Port, PortLimits, Space};
use crate::run::Progress;
use crate::switch::{Agenda, TieSalt, WINDOW_LIMIT};
use crate::units::{NEVER, Ps};
use crate::workload::{Effect, ReceiveFlow, SendFlow, Trigger, Workload};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the caller hears of the run.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// Directed links from which on the rings (some 1.5 kB each) outgrow a second-level cache.
const LARGE_PORTS: usize = 4_000;

/// Everything that a run needs, before it is dealt out to threads.
pub struct Engine {
    threads: usize,
    time_limit: Ps,
    trace: bool,
    rules: HostRules,
    fabric: Fabric,
    workload: Workload,
    hosts: Vec<Host>,
    balancers: Vec<SwitchBalancer>,
    ports: Vec<Port>,
    salts: Vec<TieSalt>,
    window: Ps,
    marks: bool,
}

impl Engine {
    /// Draws every initial state.
    ///
    /// # Errors
    /// [`Error::Value`] when the scheme refuses a parameter.
    pub fn new(config: &Config, fabric: Fabric, mut workload: Workload) -> Result<Self, Error> {
        let limits = PortLimits {
            buffer_bytes: config.port.buffer_bytes.unwrap_or(u64::MAX),
            ecn_threshold_bytes: config.port.ecn_threshold_bytes.unwrap_or(u64::MAX),
        };
        let host_ports = fabric.hosts() as usize;
        let ports: Vec<Port> = (0..fabric.ports())
            .map(|port| {
                // A host's NIC sends when it is free and never queues.
                let limits = if port < host_ports { PortLimits::NONE } else { limits };
                Port::new(&fabric, port, &config.frame, limits, config.measure.queues)
            })
            .collect();
        let rules = HostRules::new(config, &fabric);
        let hosts = (0..fabric.hosts())
            .map(|host| Host::new(config, &fabric, &mut workload, host, &ports[host as usize], &rules))
            .collect();
        Ok(Self {
            threads: (config.threads as usize).min(fabric.tiers[1].len()),
            time_limit: config.time_limit_ps,
            trace: config.measure.trace,
            rules,
            hosts,
            balancers: SwitchBalancer::everywhere(config.balancer, &fabric, config.seed)?,
            salts: (0..fabric.ports() as u32).map(|port| TieSalt::new(config.seed, port)).collect(),
            window: fabric.smallest_latency().min(WINDOW_LIMIT),
            marks: limits.ecn_threshold_bytes != u64::MAX,
            ports,
            fabric,
            workload,
        })
    }

    /// Lives through windows until every message is complete, nothing is left to happen, or the time is over.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when `watch` returns false.
    pub fn run(mut self, watch: &mut (dyn FnMut(Progress) -> bool + Send)) -> Result<Output, Error> {
        let shared = Shared {
            links: (0..self.fabric.ports()).map(|_| Link::default()).collect(),
            consumed: (0..self.fabric.ports()).map(|_| AtomicU32::new(0)).collect(),
            barrier: Barrier::new(self.threads),
            plan: Mutex::new(Plan { from: 0, step: Step::Window, releases: Vec::new() }),
            reports: (0..self.threads).map(|_| Mutex::default()).collect(),
            next_at: (0..self.threads).map(|_| AtomicU64::new(NEVER)).collect(),
            fault: Mutex::default(),
        };
        let mut send = std::mem::take(&mut self.workload.send);
        let mut receive = std::mem::take(&mut self.workload.receive);
        let triggers = std::mem::take(&mut self.workload.triggers);
        let total = send.len() as u64;
        let mut leader = Leader::new(triggers, total, self.window, self.time_limit, watch);
        let mut ended = Vec::new();
        {
            let (fabric, workload) = (&self.fabric, &self.workload);
            let context = Context {
                fabric,
                workload,
                shared: &shared,
                rules: &self.rules,
                salts: &self.salts,
                window: self.window,
                trace: self.trace,
                marks: self.marks,
                is_large: fabric.ports() > LARGE_PORTS,
            };
            let workers = deal(
                self.threads,
                fabric,
                workload,
                &mut self.hosts,
                &mut self.balancers,
                &mut self.ports,
                &mut send,
                &mut receive,
            );
            std::thread::scope(|scope| {
                let mut workers = workers.into_iter();
                let first = workers.next();
                let handles: Vec<_> = workers
                    .map(|worker| {
                        let context = &context;
                        scope.spawn(move || worker.run(context, None))
                    })
                    .collect();
                ended.extend(first.map(|worker| worker.run(&context, Some(&mut leader))));
                ended.extend(
                    handles.into_iter().map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
                );
            });
        }
        self.workload.send = send;
        self.workload.receive = receive;
        let Leader { status, windows_count, packet_hops_count, end_at, .. } = leader;
        if let Some(fault) = lock(&shared.fault).take() {
            return Err(Error::Internal(fault));
        }
        let status = status.ok_or(Error::Interrupted)?;
        let rings_bytes = ended.iter().map(|(_, bytes)| bytes).sum();
        let mut trace: Vec<TraceRow> = ended.into_iter().flat_map(|(trace, _)| trace).collect();
        trace.sort_by_key(|row| (row.at, row.link, row.kind, row.message, row.psn));
        Ok(Output {
            status,
            flows: FlowColumns::collect(&self.workload),
            tallies: self.ports.iter().map(|port| *port.tally()).collect(),
            rings_bytes,
            fabric: self.fabric,
            trace,
            end_at,
            window: self.window,
            windows_count,
            packet_hops_count,
            threads: self.threads as u32,
        })
    }
}

/// What all threads read.
struct Context<'a> {
    fabric: &'a Fabric,
    workload: &'a Workload,
    shared: &'a Shared,
    rules: &'a HostRules,
    salts: &'a [TieSalt],
    window: Ps,
    trace: bool,
    marks: bool,
    /// Whether the rings outgrow the cache, so that fetching ahead pays.
    is_large: bool,
}

/// What threads hand each other at the barrier.
struct Shared {
    links: Vec<Link>,
    /// For each port, the next slot to be taken from the link that enters through it.
    consumed: Vec<AtomicU32>,
    barrier: Barrier,
    plan: Mutex<Plan>,
    reports: Vec<Mutex<Report>>,
    /// For each thread, when its next event is; asked for only after an idle window.
    next_at: Vec<AtomicU64>,
    /// What a thread panicked with. The others must not wait for it at the barrier for ever.
    fault: Mutex<Option<String>>,
}

/// A lock whose holder panicked still guards plain data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a thread panicked".into())
}

/// What the leader wants done next.
struct Plan {
    from: Ps,
    step: Step,
    releases: Vec<(Ps, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Live through the window that begins at `from`.
    Window,
    /// Nothing happened in the last window: say when the next event is.
    Look,
    /// The run is over.
    Stop,
}

/// What a thread did in a window.
#[derive(Default)]
struct Report {
    completed: u64,
    hops: u64,
    sent: u64,
    signals: Signals,
}

/// The thread that decides between windows.
struct Leader<'a> {
    triggers: Vec<Trigger>,
    total: u64,
    finished: u64,
    window: Ps,
    time_limit: Ps,
    packet_hops_count: u64,
    windows_count: u64,
    end_at: Ps,
    status: Option<Status>,
    watch: &'a mut (dyn FnMut(Progress) -> bool + Send),
    watched_at: Instant,
}

impl<'a> Leader<'a> {
    fn new(
        triggers: Vec<Trigger>,
        total: u64,
        window: Ps,
        time_limit: Ps,
        watch: &'a mut (dyn FnMut(Progress) -> bool + Send),
    ) -> Self {
        Self {
            triggers,
            total,
            finished: 0,
            window,
            time_limit,
            packet_hops_count: 0,
            windows_count: 0,
            end_at: 0,
            status: None,
            watch,
            watched_at: Instant::now(),
        }
    }

    fn decide(&mut self, shared: &Shared) {
        let mut plan = lock(&shared.plan);
        plan.releases.clear();
        if lock(&shared.fault).is_some() {
            plan.step = Step::Stop;
            return;
        }
        if plan.step == Step::Look {
            let next = shared.next_at.iter().map(|at| at.load(Ordering::Acquire)).min().unwrap_or(NEVER);
            plan.step = Step::Window;
            plan.from = plan.from.max(next);
            if next == NEVER {
                self.stop(&mut plan, Status::Stuck);
            }
        } else {
            let (mut activity, mut signals) = (0, Signals::new());
            for report in &shared.reports {
                let Report { completed, hops, sent, signals: new } = std::mem::take(&mut *lock(report));
                self.finished += completed;
                self.packet_hops_count += hops;
                activity += hops + sent;
                signals.extend(new);
            }
            self.windows_count += 1;
            self.end_at = plan.from + self.window;
            plan.from = self.end_at;
            self.spread(signals, &mut plan.releases);
            if self.finished == self.total {
                self.stop(&mut plan, Status::Done);
            } else if activity == 0 && plan.releases.is_empty() {
                plan.step = Step::Look;
            }
        }
        if plan.step != Step::Stop && plan.from >= self.time_limit {
            self.stop(&mut plan, Status::TimeLimit);
        }
        if self.watched_at.elapsed() > WATCH_EVERY {
            self.watched_at = Instant::now();
            if !(self.watch)(Progress { at: self.end_at, finished: self.finished, total: self.total }) {
                plan.step = Step::Stop;
                self.status = None;
            }
        }
    }

    fn stop(&mut self, plan: &mut Plan, status: Status) {
        plan.step = Step::Stop;
        self.status = Some(status);
    }

    /// Turns signals into releases of flows. Triggers take their activations in order of time; ties go by trigger.
    fn spread(&mut self, mut signals: Signals, releases: &mut Vec<(Ps, u32)>) {
        signals.sort_by_key(|&(at, effect)| match effect {
            Effect::Release(flow) => (at, 0, flow),
            Effect::Activate(trigger) => (at, 1, trigger),
        });
        for (at, effect) in signals {
            match effect {
                Effect::Release(flow) => releases.push((at, flow)),
                Effect::Activate(trigger) => {
                    let trigger = &mut self.triggers[trigger as usize];
                    if trigger.is_multishot {
                        let next = trigger.needed as usize;
                        releases.extend(trigger.targets.get(next).map(|&flow| (at, flow)));
                        trigger.needed += 1;
                    } else if trigger.needed > 0 {
                        trigger.needed -= 1;
                        if trigger.needed == 0 {
                            releases.extend(trigger.targets.iter().map(|&flow| (at, flow)));
                        }
                    }
                }
            }
        }
    }
}

/// A tier's share of one thread.
struct Share<'a> {
    nodes: Range<u32>,
    ports: &'a mut [Port],
    first_port: usize,
}

impl Share<'_> {
    fn ports_of(&mut self, fabric: &Fabric, node: u32) -> &mut [Port] {
        let range = fabric.ports_of(node);
        &mut self.ports[range.start - self.first_port..range.end - self.first_port]
    }
}

impl Share<'_> {
    /// Fetches the ports of a node and the memory that they will write to first.
    #[inline(always)]
    fn prefetch_ports(&self, fabric: &Fabric, node: u32) {
        let range = fabric.ports_of(node);
        for port in &self.ports[range.start - self.first_port..range.end - self.first_port] {
            port.prefetch();
        }
    }
}

/// One thread and what it owns.
struct Worker<'a> {
    number: usize,
    /// Hosts, edges, aggregation switches, cores.
    shares: [Share<'a>; 4],
    hosts: &'a mut [Host],
    balancers: [&'a mut [SwitchBalancer]; 3],
    send: &'a mut [SendFlow],
    receive: &'a mut [ReceiveFlow],
    agenda: Agenda,
    arena: Arena,
    signals: Signals,
    trace: Vec<TraceRow>,
}

/// Deals nodes, and with them ports and flows, out to threads: a run of each tier to each.
#[allow(clippy::too_many_arguments, reason = "each is a separately borrowed part of the engine")]
fn deal<'a>(
    threads: usize,
    fabric: &Fabric,
    workload: &Workload,
    mut hosts: &'a mut [Host],
    mut balancers: &'a mut [SwitchBalancer],
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
    for tier in 0..4 {
        for number in 0..threads {
            let nodes = range(tier, number);
            let first_port = fabric.port_base[nodes.start as usize] as usize;
            let count = fabric.port_base[nodes.end as usize] as usize - first_port;
            shares[tier].push(Share { nodes: nodes.clone(), ports: take(&mut ports, count), first_port });
            if tier > 0 {
                schemes[tier - 1].push(take(&mut balancers, nodes.len()));
            }
        }
    }
    let [mut own_hosts, mut edges, mut aggs, mut cores] = shares.map(Vec::into_iter);
    let [mut edge_schemes, mut agg_schemes, mut core_schemes] = schemes.map(Vec::into_iter);
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

impl Worker<'_> {
    /// Lives until the leader stops the run. Returns the trace, and the bytes that the rings took.
    fn run(mut self, context: &Context<'_>, mut leader: Option<&mut Leader<'_>>) -> (Vec<TraceRow>, u64) {
        let shared = context.shared;
        let mut jumped = false;
        loop {
            let (from, step) = self.read_plan(context);
            match step {
                Step::Stop => return (self.trace, self.arena.bytes() as u64),
                Step::Look => {
                    let next = self.next_event_at(context);
                    shared.next_at[self.number].store(next, Ordering::Release);
                    jumped = true;
                }
                Step::Window => {
                    if std::mem::take(&mut jumped) && context.marks {
                        self.close_ports(context, from);
                        shared.barrier.wait();
                    }
                    let lived = catch_unwind(AssertUnwindSafe(|| self.live(context, from, from + context.window)));
                    match lived {
                        Ok(report) => *lock(&shared.reports[self.number]) = report,
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

    fn read_plan(&mut self, context: &Context<'_>) -> (Ps, Step) {
        let plan = lock(&context.shared.plan);
        let hosts = self.shares[0].nodes.clone();
        let flows = context.workload.send_base[hosts.start as usize]..context.workload.send_base[hosts.end as usize];
        for &(at, flow) in plan.releases.iter().filter(|(_, flow)| flows.contains(flow)) {
            let host = context.workload.send_base.partition_point(|&base| base <= flow) as u32 - 1;
            let send = &mut self.send[(flow - flows.start) as usize];
            self.hosts[(host - hosts.start) as usize].release(flow, send, at);
        }
        (plan.from, plan.step)
    }

    /// One window of all nodes of this thread. Cores first: what goes up is then taken from the rings before more is put in.
    fn live(&mut self, context: &Context<'_>, from: Ps, until: Ps) -> Report {
        self.arena.begin_window();
        let mut report = Report::default();
        for tier in (1..4).rev() {
            let nodes = self.shares[tier].nodes.clone();
            for node in nodes.clone() {
                if context.is_large && node + 1 < nodes.end {
                    prefetch_inputs(context, node + 1);
                    self.shares[tier].prefetch_ports(context.fabric, node + 1);
                }
                report.hops += self.live_switch(context, tier, node, from, until);
            }
        }
        let nodes = self.shares[0].nodes.clone();
        for node in nodes.clone() {
            if context.is_large && node + 1 < nodes.end {
                prefetch_inputs(context, node + 1);
                self.shares[0].prefetch_ports(context.fabric, node + 1);
            }
            let (completed, hops, sent) = self.live_host(context, node, until);
            report.completed += completed;
            report.hops += hops;
            report.sent += sent;
        }
        report.signals = std::mem::take(&mut self.signals);
        report
    }

    fn live_switch(&mut self, context: &Context<'_>, tier: usize, node: u32, from: Ps, until: Ps) -> u64 {
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
        self.agenda.sort(context.window, &context.salts[inputs.clone()]);
        let share = &mut self.shares[tier];
        let place = (node - share.nodes.start) as usize;
        let ports = share.ports_of(fabric, node);
        let mut space = Space { consumed: &shared.consumed, arena: &mut self.arena };
        self.agenda.forward(shape, fabric.reach(node), &mut self.balancers[tier - 1][place], ports, &mut space);
        for (port, link) in ports.iter_mut().zip(&shared.links[inputs]) {
            port.close_window(until, link);
        }
        self.agenda.len() as u64
    }

    /// Flows completed, packets received, and frames sent.
    fn live_host(&mut self, context: &Context<'_>, node: u32, until: Ps) -> (u64, u64, u64) {
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
        let port = &mut self.shares[0].ports[index - first];
        let free_at = port.busy_until;
        let mut around = HostSurroundings {
            rules: context.rules,
            fabric,
            workload,
            port,
            send: &mut self.send[flows(&workload.send_base)],
            send_base: workload.send_base[index],
            receive: &mut self.receive[flows(&workload.receive_base)],
            receive_base: workload.receive_base[index],
            space: &mut Space { consumed: &shared.consumed, arena: &mut self.arena },
            signals: &mut self.signals,
        };
        let completed = self.hosts[index - first].run_window(until, &mut incoming, &mut around);
        let sent = u64::from(around.port.busy_until != free_at);
        around.port.close_window(until, &shared.links[index]);
        let hops = incoming.position().wrapping_sub(start);
        if hops > 0 {
            shared.consumed[index].store(incoming.position(), Ordering::Release);
        }
        (completed, u64::from(hops), sent)
    }

    /// Notes what a link delivers before `until`, without taking it. An ACK's flow is the sender's name for it, a data packet's the receiver's; both
    /// lead to the same row.
    fn record(&mut self, context: &Context<'_>, link: usize, start: u32, until: Ps) {
        let (workload, mut ahead) = (context.workload, Incoming::open(&context.shared.links[link], start));
        while let Some(Slot { at, packet }) = ahead.take_before(until) {
            let flow = match packet.kind() {
                Kind::Data => workload.flow_of_receive_slot[packet.flow() as usize],
                Kind::Ack => packet.flow(),
            };
            let message = workload.row[flow as usize];
            self.trace.push(TraceRow { at, link: link as u32, message, psn: packet.psn(), kind: packet.kind() as u8 });
        }
    }

    /// When anything next happens at this thread's nodes.
    fn next_event_at(&mut self, context: &Context<'_>) -> Ps {
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
        }
        for (host, port) in self.hosts.iter().zip(self.shares[0].ports.iter()) {
            next = next.min(host.next_send_at(port));
        }
        next
    }

    /// Decides the marks of what left the ports before `now`, after a jump over windows in which nothing arrived anywhere.
    fn close_ports(&mut self, context: &Context<'_>, now: Ps) {
        for share in &mut self.shares {
            let links = &context.shared.links[share.first_port..];
            for (port, link) in share.ports.iter_mut().zip(links) {
                port.close_window(now, link);
            }
        }
    }
}

/// While one node is handled, what the next will read is fetched: at large scale the rings do not fit in any cache.
#[inline(always)]
fn prefetch_inputs(context: &Context<'_>, node: u32) {
    for port in context.fabric.ports_of(node) {
        let link = &context.shared.links[context.fabric.peer[port] as usize];
        Incoming::open(link, context.shared.consumed[port].load(Ordering::Relaxed)).prefetch_slots();
    }
}
