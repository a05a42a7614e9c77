//! Swift: the window grows by a packet an RTT while the round trip is below a target, and shrinks by how far it is above, at most once an RTT. The target is
//! higher for small windows, so that many flows on one link do not starve each other; below one packet a flow sends one in several RTTs.
//!
//! *Source*: Kumar et al., SIGCOMM 2020, algorithm 1, with the constants of csg-htsim's `swift.cpp`. *Differs*: the target is the idle RTT of the flow's own
//! route and more (there: a constant and more for each hop, which is possible too); no reaction to duplicate ACKs, since sprayed packets overtake each other, but
//! a NACK halves like fast recovery; timeouts within one RTT are one event, since the sender waits for each packet on its own; an ACK without a sample of its
//! own is judged by the samples so far. *State*: window, smoothed RTT, some 10 words a flow (host). *Cost*: none in the network.
//!
//! Windows are doubles: additions, products, quotients and square roots only, which IEEE 754 defines to the last bit.

use super::{Controller, Feedback, Route};
use crate::units::Ps;

/// What the flows of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Packets a window of ACKs below the target.
    pub increase_packets: f64,
    /// Gain of a decrease.
    pub decrease_gain: f64,
    /// Largest part of the window that one decrease takes.
    pub most_decrease: f64,
    /// Target beyond the idle RTT.
    pub base_target: Ps,
    /// And for each link.
    pub hop_target: Ps,
    /// And for small windows.
    pub flow_scaling: FlowScaling,
    /// Least window.
    pub min_window_packets: f64,
    /// So many timeouts in a row leave the least window, at least 1.
    pub reset_after_timeouts: u32,
}

/// How much higher the target is for small windows: from the whole range at one window down to nothing at another, as one over the square root.
#[derive(Clone, Copy, Debug)]
pub struct FlowScaling {
    range: f64,
    scale: f64,
    offset: f64,
}

impl FlowScaling {
    /// The whole `range` up to windows of `from` packets and nothing at `to`, where 0 < `from` < `to`.
    pub fn new(range: Ps, from: f64, to: f64) -> Self {
        let range = range as f64;
        let scale = range / (1.0 / from.sqrt() - 1.0 / to.sqrt());
        Self { range, scale, offset: scale / to.sqrt() }
    }

    /// Picoseconds at a window of so many packets.
    fn at(&self, packets: f64) -> f64 {
        (self.scale / packets.sqrt() - self.offset).clamp(0.0, self.range)
    }
}

/// One flow that goes by the latest sample.
#[derive(Debug)]
pub struct Swift {
    law: Law,
    latest: Option<Ps>,
}

impl Controller for Swift {
    type Rules = Rules;

    fn new(rules: &Rules, route: &Route) -> Self {
        Self { law: Law::new(rules, route), latest: None }
    }

    fn acked(&mut self, rules: &Rules, feedback: &Feedback) {
        self.latest = feedback.rtt.or(self.latest);
        self.law.acked(rules, feedback, self.latest);
    }

    fn nacked(&mut self, rules: &Rules, _bytes: u64, _in_flight: u64, now: Ps) {
        self.law.nacked(rules, now);
    }

    fn timed_out(&mut self, rules: &Rules, _bytes: u64, _in_flight: u64, now: Ps) {
        self.law.timed_out(rules, now);
    }

    fn window(&self) -> u64 {
        self.law.window()
    }

    fn pace(&self) -> Option<Ps> {
        self.law.pace()
    }
}

/// How a window follows a signal, whichever that is.
#[derive(Debug)]
pub struct Law {
    /// Bytes.
    window: f64,
    min_window: f64,
    max_window: f64,
    frame: f64,
    /// Target of large windows.
    target: f64,
    /// Smoothed RTT; the idle one until there is a sample.
    rtt: Ps,
    has_sample: bool,
    decreased_at: Option<Ps>,
    /// In a row.
    timeouts: u32,
    timed_out_at: Option<Ps>,
}

impl Law {
    pub(super) fn new(rules: &Rules, route: &Route) -> Self {
        let frame = f64::from(route.frame);
        Self {
            window: route.initial_window as f64,
            min_window: rules.min_window_packets * frame,
            max_window: route.max_window as f64,
            frame,
            target: (route.base_rtt + rules.base_target + u64::from(route.hops) * rules.hop_target) as f64,
            rtt: route.base_rtt,
            has_sample: false,
            decreased_at: None,
            timeouts: 0,
            timed_out_at: None,
        }
    }

    /// An ACK, and the round trip to judge it by. Says whether the window has shrunk.
    pub(super) fn acked(&mut self, rules: &Rules, feedback: &Feedback, signal: Option<Ps>) -> bool {
        self.timeouts = 0;
        let may_decrease = self.may_decrease(feedback.now);
        if let Some(rtt) = feedback.rtt {
            self.rtt = if self.has_sample { (7 * self.rtt + rtt) / 8 } else { rtt };
            self.has_sample = true;
        }
        let Some(signal) = signal.map(|signal| signal as f64) else { return false };
        let target = self.target + rules.flow_scaling.at(self.packets());
        if signal < target {
            let increase = rules.increase_packets * feedback.newly as f64;
            self.window += increase * if self.window < self.frame { 1.0 } else { self.frame / self.window };
            self.clamp();
            return false;
        }
        let factor = (1.0 - rules.decrease_gain * (signal - target) / signal).max(1.0 - rules.most_decrease);
        may_decrease && self.decrease(factor, feedback.now)
    }

    /// A packet was cut to its header.
    pub(super) fn nacked(&mut self, rules: &Rules, now: Ps) {
        self.timeouts = 0;
        if self.may_decrease(now) {
            self.decrease(1.0 - rules.most_decrease, now);
        }
    }

    /// A packet was not acknowledged in time.
    pub(super) fn timed_out(&mut self, rules: &Rules, now: Ps) {
        if self.timed_out_at.is_some_and(|before| now - before < self.rtt) {
            return;
        }
        self.timed_out_at = Some(now);
        self.timeouts += 1;
        if self.timeouts >= rules.reset_after_timeouts {
            self.decrease(0.0, now);
        } else if self.may_decrease(now) {
            self.decrease(1.0 - rules.most_decrease, now);
        }
    }

    pub(super) fn window(&self) -> u64 {
        self.window as u64
    }

    pub(super) fn pace(&self) -> Option<Ps> {
        (self.window < self.frame).then(|| (self.rtt as f64 * self.frame / self.window) as Ps)
    }

    /// Packets in the window.
    pub(super) fn packets(&self) -> f64 {
        self.window / self.frame
    }

    fn may_decrease(&self, now: Ps) -> bool {
        self.decreased_at.is_none_or(|before| now - before >= self.rtt)
    }

    fn decrease(&mut self, factor: f64, now: Ps) -> bool {
        let before = self.window;
        self.window *= factor;
        self.clamp();
        let has_shrunk = self.window < before;
        if has_shrunk {
            self.decreased_at = Some(now);
        }
        has_shrunk
    }

    fn clamp(&mut self) {
        self.window = self.window.min(self.max_window).max(self.min_window);
    }
}
