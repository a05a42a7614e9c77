//! What the threads of a run share: the links, the barrier, and what is said at it.

use crate::fabric::Fabric;
use crate::link::Link;
use crate::measure::{Sample, WindowRow};
use crate::order::TieSalt;
use crate::port::Turn;
use crate::transport::{HostRules, Signals};
use crate::units::Ps;
use crate::workload::Workload;
use std::any::Any;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

/// What all threads read.
pub(super) struct Context<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) workload: &'a Workload,
    pub(super) shared: &'a Shared,
    pub(super) rules: &'a HostRules,
    pub(super) salts: &'a [TieSalt],
    pub(super) trace: bool,
    /// Whether there are series.
    pub(super) has_series: bool,
    /// Flows whose windows the series show.
    pub(super) watched_flows: &'a [u32],
    /// The port whose queue the series show.
    pub(super) watched_port: Option<usize>,
    /// Whether ports or schemes have to be brought up to the moment to which time jumps.
    pub(super) catches_up: bool,
    /// Whether the rings outgrow the cache, so that fetching ahead pays.
    pub(super) is_large: bool,
}

/// What threads hand each other at the barrier.
pub(super) struct Shared {
    pub(super) links: Vec<Link>,
    /// For each port, the next slot to be taken from the link that enters through it.
    pub(super) consumed: Vec<AtomicU32>,
    pub(super) barrier: Barrier,
    pub(super) plan: Mutex<Plan>,
    pub(super) reports: Vec<Mutex<Report>>,
    /// For each thread, when something under way arrives next and when a host sends next; asked for only after an idle window.
    pub(super) next_arrival_at: Vec<AtomicU64>,
    pub(super) next_send_at: Vec<AtomicU64>,
    /// What a thread panicked with. The others must not wait for it at the barrier for ever.
    pub(super) fault: Mutex<Option<String>>,
    /// For each port, what it has not heard yet of pauses; nothing where there are none.
    pub(super) pauses: Vec<Mutex<Vec<Turn>>>,
}

/// A lock whose holder panicked still guards plain data.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a thread panicked".into())
}

/// What the leader wants done next.
pub(super) struct Plan {
    pub(super) from: Ps,
    /// End of the window.
    pub(super) until: Ps,
    /// Number of the routes that switches and hosts follow.
    pub(super) routes: usize,
    pub(super) step: Step,
    /// Whether an interval of the series ends with the window.
    pub(super) samples: bool,
    pub(super) releases: Vec<(Ps, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Live through the window from `from` to `until`.
    Window,
    /// Let links go down and come up: the fabric's change of this number.
    Change(usize),
    /// Nothing happened in the last window: say when the next event is.
    Look,
    /// The run is over.
    Stop,
    /// The time is over: what has not left a port by `from` does not count.
    Cut,
}

/// What a thread did in a window.
#[derive(Default)]
pub(super) struct Report {
    pub(super) completed: u64,
    pub(super) hops: u64,
    pub(super) sent: u64,
    pub(super) unroutable: [u64; 2],
    pub(super) signals: Signals,
    /// What has been counted up to the window's end, when asked for.
    pub(super) sample: Option<Sample>,
    /// With it, the windows of the watched messages.
    pub(super) windows: Vec<WindowRow>,
}
