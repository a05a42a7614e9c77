//! The leader: what happens between windows. Counts what is finished, hands signals on, and says what comes next.

use super::intervals::Intervals;
use super::shared::{Plan, Report, Shared, Step, lock};
use crate::fabric::Change;
use crate::measure::{Progress, Status};
use crate::transport::Signals;
use crate::units::{NEVER, Ps};
use crate::workload::{Effect, Trigger};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often the caller hears of the run.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// The thread that decides between windows.
pub(super) struct Leader<'a> {
    pub(super) triggers: Vec<Trigger>,
    pub(super) total: u64,
    pub(super) finished: u64,
    pub(super) window: Ps,
    pub(super) time_limit: Ps,
    /// What happens to links, and how much of it has.
    pub(super) changes: &'a [Change],
    pub(super) changed: usize,
    /// How long nothing must have been under way before time may jump.
    pub(super) settles_in: Ps,
    /// End of the last window in which anything happened.
    pub(super) active_until: Ps,
    /// Where the present window ends, and what has happened in it so far.
    window_ends_at: Ps,
    activity: u64,
    /// Whether the present window is there only because an interval of the series ends with it.
    only_ends_interval: bool,
    has_released: bool,
    pub(super) packet_hops_count: u64,
    pub(super) unroutable: [u64; 2],
    pub(super) windows_count: u64,
    pub(super) end_at: Ps,
    pub(super) status: Option<Status>,
    pub(super) intervals: Intervals,
    pub(super) watch: &'a mut (dyn FnMut(Progress) -> bool + Send),
    pub(super) watched_at: Instant,
}

impl<'a> Leader<'a> {
    #[allow(clippy::too_many_arguments, reason = "each is a separate part of the run")]
    pub(super) fn new(
        triggers: Vec<Trigger>,
        total: u64,
        changes: &'a [Change],
        settles_in: Ps,
        window: Ps,
        time_limit: Ps,
        intervals: Intervals,
        watch: &'a mut (dyn FnMut(Progress) -> bool + Send),
    ) -> Self {
        Self {
            triggers,
            total,
            finished: 0,
            window,
            time_limit,
            changes,
            changed: 0,
            settles_in,
            active_until: 0,
            window_ends_at: 0,
            activity: 0,
            only_ends_interval: false,
            has_released: false,
            packet_hops_count: 0,
            unroutable: [0; 2],
            windows_count: 0,
            end_at: 0,
            status: None,
            intervals,
            watch,
            watched_at: Instant::now(),
        }
    }

    /// Plans the first window.
    pub(super) fn begin(&mut self, shared: &Shared) {
        self.end_window(&mut lock(&shared.plan));
    }

    pub(super) fn decide(&mut self, shared: &Shared) {
        let mut plan = lock(&shared.plan);
        plan.releases.clear();
        if lock(&shared.fault).is_some() {
            plan.step = Step::Stop;
            return;
        }
        if matches!(plan.step, Step::Change(_)) {
            plan.step = Step::Window;
        } else if plan.step == Step::Look {
            let earliest = |times: &[AtomicU64]| times.iter().map(|at| at.load(Ordering::Acquire)).min().unwrap_or(NEVER);
            let arrival = earliest(&shared.next_arrival_at);
            let next = arrival.min(earliest(&shared.next_send_at));
            plan.step = Step::Window;
            let may_jump = self.settles_in == 0 || (arrival == NEVER && plan.from >= self.active_until + self.settles_in);
            if may_jump {
                self.jump(&mut plan, next.min(self.next_change_at()), shared);
            }
            if next == NEVER {
                self.stop(&mut plan, Status::Stuck);
            }
        } else {
            let mut signals = Signals::new();
            for report in &shared.reports {
                let Report { completed, hops, sent, unroutable, signals: new, .. } = &mut *lock(report);
                self.unroutable[0] += unroutable[0];
                self.unroutable[1] += unroutable[1];
                self.finished += *completed;
                self.packet_hops_count += *hops;
                self.activity += *hops + *sent;
                signals.append(new);
            }
            self.end_at = plan.until;
            plan.from = self.end_at;
            if plan.samples {
                self.intervals.pass(shared, self.end_at);
            }
            shared.reports.iter().for_each(|report| *lock(report) = Report::default());
            self.spread(signals, &mut plan.releases);
            self.has_released |= !plan.releases.is_empty();
            // A window that an interval of the series has cut in two is not over before its second part is: series do not change what comes of a run.
            if self.end_at == self.window_ends_at {
                self.judge(&mut plan);
            }
        }
        if plan.step != Step::Stop && plan.from >= self.time_limit {
            self.status = Some(Status::TimeLimit);
            self.end_at = self.end_at.max(self.time_limit);
            *plan = Plan { from: self.end_at, step: Step::Cut, releases: Vec::new(), ..*plan };
        }
        self.end_window(&mut plan);
        if self.watched_at.elapsed() > WATCH_EVERY {
            self.watched_at = Instant::now();
            if !(self.watch)(Progress { at: self.end_at, finished: self.finished, total: self.total }) {
                plan.step = Step::Stop;
                self.status = None;
            }
        }
    }

    /// Nothing happens before `target`, but that ports work off what they have: an interval of the series that ends meanwhile ends in a window of its own.
    fn jump(&mut self, plan: &mut Plan, target: Ps, shared: &Shared) {
        if target != NEVER && self.intervals.next_at < target.min(self.time_limit) {
            self.window_ends_at = self.intervals.next_at;
            self.only_ends_interval = true;
        } else {
            plan.from = plan.from.max(target);
            self.intervals.pass(shared, plan.from.min(self.time_limit));
        }
    }

    /// A window is over: says what comes next.
    fn judge(&mut self, plan: &mut Plan) {
        self.windows_count += u64::from(!std::mem::take(&mut self.only_ends_interval));
        if self.activity > 0 {
            self.active_until = self.end_at;
        }
        if self.finished == self.total {
            self.stop(plan, Status::Done);
        } else if self.activity == 0 && !self.has_released {
            plan.step = Step::Look;
        }
        (self.activity, self.has_released) = (0, false);
    }

    /// Ends the last interval, when the run has ended in the midst of it.
    pub(super) fn end(&mut self, shared: &Shared) {
        self.intervals.end(shared, self.end_at);
    }

    fn next_change_at(&self) -> Ps {
        self.changes.get(self.changed).map_or(NEVER, |change| change.at)
    }

    /// Ends the window where links change or the time is over; when links change where it begins, the change comes first.
    fn end_window(&mut self, plan: &mut Plan) {
        if plan.step == Step::Window && self.next_change_at() <= plan.from {
            plan.routes = self.changes[self.changed].routes.unwrap_or(plan.routes);
            plan.step = Step::Change(self.changed);
            self.changed += 1;
        }
        if plan.from >= self.window_ends_at {
            self.window_ends_at = (plan.from + self.window).min(self.next_change_at()).min(self.time_limit);
        }
        plan.until = self.window_ends_at.min(self.intervals.next_at);
        plan.samples = plan.step == Step::Window && plan.until == self.intervals.next_at;
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
