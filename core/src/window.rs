//! The engine: windows, threads and the barrier between them.
//!
//! A window is no longer than the smallest link latency, so within it no node can influence another: nodes are handled one by one, in any order, by any
//! number of threads. Threads own nodes: each has a run of every tier, with its ports and flows. Whatever crosses from one node to another crosses in a ring, or,
//! for dependencies across hosts, as a signal that takes one link latency and is handed over at the barrier.

mod deal;
mod intervals;
mod leader;
mod pausing;
mod shared;
mod watching;
mod worker;

use crate::balancer::{SwitchBalancer, everywhere};
use crate::config::Config;
use crate::config::DisciplineConfig;
use crate::discipline::{Discipline, Marking, PortPlace};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::host::Host;
use crate::link::Link;
use crate::measure::{FlowColumns, Output, Progress, TraceRow};
use crate::order::{TieSalt, WINDOW_LIMIT};
use crate::port::{LossRates, Losses, Pauses, Port, PortLimits};
use crate::switch::Memory;
use crate::transport::{Counts, HostRules, clock_rate};
use crate::units::{NEVER, Ps};
use crate::workload::Workload;
use deal::deal;
use intervals::Intervals;
use leader::Leader;
use shared::{Context, Plan, Shared, Step, lock};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Barrier, Mutex};

/// Directed links from which on the rings (some 1.5 kB each) outgrow a second-level cache.
const LARGE_PORTS: usize = 4_000;

/// Directed links from which on memory is worth more than the last per cent of speed.
const HUGE_PORTS: usize = 200_000;

/// The window's length. Any length up to the smallest latency gives the same run. The longest has the fewest batches; a shorter one leaves less in the rings
/// at a time: between windows a ring holds what is in flight, one latency's worth, and within one up to a window's worth more.
fn window_of(fabric: &Fabric) -> Ps {
    let latency = fabric.smallest_latency();
    let longest = if fabric.ports() > HUGE_PORTS { latency * 11 / 16 } else { latency };
    longest.clamp(1, WINDOW_LIMIT)
}

/// All ports, empty.
fn ports(config: &Config, fabric: &Fabric, limits: PortLimits) -> Result<Vec<Port>, Error> {
    let losses = LossRates::new(config.fabric.losses())?;
    let hosts = fabric.hosts() as usize;
    let hold_control = matches!(config.port.discipline, DisciplineConfig::Fifo {});
    let port = |port| {
        let (is_nic, clock_rate) = (port < hosts, if port < hosts { clock_rate(config, port as u32) } else { 1.0 });
        let place = PortPlace { number: port as u64, seed: config.seed, is_nic, pace: fabric.pace(port), clock_rate };
        let discipline = Discipline::new(&config.port, &config.frame, place);
        let marking = Marking::new(&config.port, config.seed, port as u64).filter(|_| !is_nic);
        // The NIC of a host that paces or has windows sends when it is free and never queues.
        let limits = if is_nic { PortLimits::NONE } else { limits };
        let losses = losses
            .filter(|_| !is_nic || discipline.is_some() || config.transport.window().is_some())
            .map(|rates| Losses::new(rates, port, config.seed));
        // Hosts take in whatever comes.
        let pauses = config.port.pfc.filter(|_| fabric.peer[port] as usize >= hosts).map(|_| Pauses::new(hold_control));
        let port = Port::new(fabric, port, &config.frame, limits, config.measure.queues);
        port.with(losses, discipline, marking).with_pauses(pauses)
    };
    Ok((0..fabric.ports()).map(port).collect())
}

/// Flows of the watched messages.
fn watched_flows(config: &Config, workload: &Workload) -> Result<Vec<u32>, Error> {
    let flow = |&row: &u32| {
        let flow = workload.row.iter().position(|&own| own == row).map(|flow| flow as u32);
        flow.ok_or_else(|| Error::value("measure.watched_messages", row, format!("rows below {}", workload.row.len())))
    };
    config.measure.watched_messages.iter().flatten().map(flow).collect()
}

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
    memories: Vec<Memory>,
    ports: Vec<Port>,
    salts: Vec<TieSalt>,
    window: Ps,
    catches_up: bool,
    interval: Option<Ps>,
    most_rows: Option<u32>,
    watched_port: Option<usize>,
    watched_flows: Vec<u32>,
}

impl Engine {
    /// Draws every initial state.
    ///
    /// # Errors
    /// [`Error::Value`] when the scheme refuses a parameter.
    pub fn new(config: &Config, fabric: Fabric, mut workload: Workload) -> Result<Self, Error> {
        let ports = ports(config, &fabric, PortLimits::new(&config.port))?;
        let watched_port =
            config.measure.watched_port.as_ref().map(|ends| fabric.find_port(ends, "measure.watched_port")).transpose()?;
        let watched_flows = watched_flows(config, &workload)?;
        let rules = HostRules::new(config, &fabric);
        let balancers = everywhere(
            config.balancer,
            &config.deployments,
            !config.transport.writes_priority(),
            &fabric,
            &workload,
            config.seed,
        )?;
        let hosts = (0..fabric.hosts())
            .map(|host| Host::new(config, &fabric, &mut workload, host, &ports[host as usize], &rules))
            .collect();
        Ok(Self {
            threads: (config.threads as usize).min(fabric.tiers[1].len()),
            time_limit: config.time_limit_ps,
            trace: config.measure.trace,
            rules,
            hosts,
            salts: (0..fabric.ports() as u32).map(|port| TieSalt::new(config.seed, port)).collect(),
            window: window_of(&fabric),
            catches_up: config.port.ecn_threshold_bytes.is_some() || balancers.iter().any(SwitchBalancer::is_watchful),
            balancers,
            memories: Memory::everywhere(config, &fabric),
            ports,
            interval: config.measure.interval_ps,
            most_rows: config.measure.most_rows,
            watched_port,
            watched_flows,
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
            plan: Mutex::new(Plan { from: 0, until: 0, routes: 0, step: Step::Window, samples: false, releases: Vec::new() }),
            reports: (0..self.threads).map(|_| Mutex::default()).collect(),
            next_arrival_at: (0..self.threads).map(|_| AtomicU64::new(NEVER)).collect(),
            next_send_at: (0..self.threads).map(|_| AtomicU64::new(NEVER)).collect(),
            fault: Mutex::default(),
            pauses: (0..if self.ports.iter().any(Port::has_pauses) { self.ports.len() } else { 0 })
                .map(|_| Mutex::default())
                .collect(),
        };
        let mut send = std::mem::take(&mut self.workload.send);
        let mut receive = std::mem::take(&mut self.workload.receive);
        let triggers = std::mem::take(&mut self.workload.triggers);
        let total = send.len() as u64;
        let settles_in = self.balancers.iter().map(SwitchBalancer::settles_in).max().unwrap_or(0);
        let intervals = Intervals::new(self.interval, self.most_rows);
        let mut leader =
            Leader::new(triggers, total, &self.fabric.changes, settles_in, self.window, self.time_limit, intervals, watch);
        leader.begin(&shared);
        let mut ended = Vec::new();
        {
            let (fabric, workload) = (&self.fabric, &self.workload);
            let context = Context {
                fabric,
                workload,
                shared: &shared,
                rules: &self.rules,
                salts: &self.salts,
                trace: self.trace,
                has_series: self.interval.is_some(),
                watched_port: self.watched_port,
                watched_flows: &self.watched_flows,
                catches_up: self.catches_up,
                is_large: fabric.ports() > LARGE_PORTS,
            };
            let workers = deal(
                self.threads,
                fabric,
                workload,
                &mut self.hosts,
                &mut self.balancers,
                &mut self.memories,
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
        leader.end(&shared);
        let Leader { status, windows_count, packet_hops_count, unroutable, end_at, intervals, .. } = leader;
        if let Some(fault) = lock(&shared.fault).take() {
            return Err(Error::Internal(fault));
        }
        let status = status.ok_or(Error::Interrupted)?;
        let rings_bytes = ended.iter().map(|(_, bytes)| bytes).sum();
        let mut trace: Vec<TraceRow> = ended.into_iter().flat_map(|(trace, _)| trace).collect();
        trace.sort_by_key(|row| (row.at, row.link, row.kind, row.message, row.psn));
        let mut counts = Counts::default();
        self.hosts.iter().for_each(|host| counts.add(host.counts()));
        Ok(Output {
            status,
            flows: FlowColumns::collect(&self.workload, |host| self.hosts[host].flows()),
            lanes: self.ports.iter().filter_map(|port| port.lanes().map(|lanes| lanes.tallies())).collect(),
            series: intervals.rows,
            windows: intervals.windows,
            counts,
            tallies: self.ports.iter_mut().map(|port| port.tally_at(end_at)).collect(),
            rings_bytes,
            fabric: self.fabric,
            trace,
            end_at,
            window: self.window,
            windows_count,
            packet_hops_count,
            unroutable,
            threads: self.threads as u32,
        })
    }
}
