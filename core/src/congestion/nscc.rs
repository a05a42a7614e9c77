//! NSCC, the congestion control of Ultra Ethernet's senders: the mark and the queueing delay of each ACK say together whether the window grows, shrinks or stays.
//!
//! *Source*: Ultra Ethernet specification 1.0 (network signal congestion control) as `uec.cpp` of uet-htsim has it; with a median of delays, MNSCC of
//! "Congestion Control for Spraying with Congested Paths" (arXiv 2509.07907). *Differs*: what htsim counts from moment 0 (the first adjustment, the first
//! decrease) a flow may do at its first ACK, so that nothing depends on when it starts; the median also takes the place of the average in a decrease. Window,
//! increments and average are whole numbers, as there; products with the gains are rounded down. *State*: some 20 words a flow, and the samples (host).
//! *Cost*: none in the network.

use super::median::SlidingMedian;
use super::{Controller, Feedback, Route};
use crate::units::Ps;

/// What the flows of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Idle round trip between the hosts that are farthest apart; also the queueing delay that a NACK stands for.
    pub network_rtt: Ps,
    /// Queueing delay that is aimed at.
    pub target: Ps,
    /// Proportional increase: bytes a window of ACKs for each microsecond below the target.
    pub proportional_bytes_per_us: f64,
    /// Fair increase: bytes a window of ACKs.
    pub fair_bytes: f64,
    /// Added once an adjustment period.
    pub eta_bytes: f64,
    /// Fast increase: bytes for each byte acknowledged.
    pub fast_scale: f64,
    /// It takes a window of delays below this.
    pub fast_below: Ps,
    /// Gain of the multiplicative decrease.
    pub decrease_gain: f64,
    /// Least factor of one decrease.
    pub least_factor: f64,
    /// Weight of a sample in the average delay.
    pub delay_gain: f64,
    /// Adjustment period.
    pub adjust: Ps,
    /// Increments are given to the window after so many bytes, too.
    pub adjust_bytes: u64,
    /// A delay above this may cut the window to what has got through.
    pub quick_adapt_above: Ps,
    /// But only if that is less than the largest window shifted right by so many bits.
    pub quick_adapt_shift: u32,
    /// Least window, at least 1.
    pub min_window: u64,
    /// Most samples in the median, and no more than packets in the window; 0: the latest sample and the average instead.
    pub median_samples: u32,
}

/// One flow.
#[derive(Debug)]
pub struct Nscc {
    window: u64,
    max_window: u64,
    frame: u64,
    base_rtt: Ps,
    average_delay: Ps,
    samples: SlidingMedian,
    /// Increments, times the window, since the last adjustment.
    increments: u64,
    /// Bytes acknowledged since then.
    received: u64,
    adjusted_at: Option<Ps>,
    decreased_at: Option<Ps>,
    /// Bytes acknowledged in a row with next to no delay.
    idle_bytes: u64,
    is_fast: bool,
    /// End of the period after which quick adapt looks again.
    quick_adapt_at: Option<Ps>,
    /// Bytes acknowledged in that period.
    achieved: u64,
    /// Bytes heard of since the last quick adapt, and how many say nothing new.
    heard: u64,
    stale: u64,
    has_trimmed: bool,
}

impl Controller for Nscc {
    type Rules = Rules;

    fn new(_rules: &Rules, route: &Route) -> Self {
        Self {
            window: route.initial_window,
            max_window: route.max_window,
            frame: u64::from(route.frame),
            base_rtt: route.base_rtt,
            average_delay: 0,
            samples: SlidingMedian::default(),
            increments: 0,
            received: 0,
            adjusted_at: None,
            decreased_at: None,
            idle_bytes: 0,
            is_fast: false,
            quick_adapt_at: None,
            achieved: 0,
            heard: 0,
            stale: 0,
            has_trimmed: false,
        }
    }

    fn acked(&mut self, rules: &Rules, feedback: &Feedback) {
        let &Feedback { now, newly, is_marked, rtt, in_flight } = feedback;
        self.achieved += newly;
        self.received += newly;
        self.heard += newly;
        if let Some(rtt) = rtt {
            self.lower_base_rtt(rtt);
            self.sample(rules, rtt - self.base_rtt, is_marked);
        }
        let (delay, average) = self.delays(rules, rtt);
        if self.quick_adapt(rules, now, is_marked, delay > rules.quick_adapt_above, in_flight) {
            return;
        }
        match (is_marked, delay >= rules.target) {
            (false, true) => self.increments += (rules.fair_bytes * newly as f64) as u64,
            (false, false) => self.grow(rules, newly, delay),
            (true, true) => self.decrease(rules, average, now),
            // Queues are short where it matters: it is for the balancer to find another path.
            (true, false) => (),
        }
        self.clamp(rules);
        self.adjust(rules, now);
        self.clamp(rules);
    }

    fn nacked(&mut self, rules: &Rules, bytes: u64, in_flight: u64, now: Ps) {
        self.heard += bytes;
        self.sample(rules, rules.network_rtt, true);
        self.has_trimmed = true;
        if !self.quick_adapt(rules, now, true, true, in_flight) {
            self.window = self.window.saturating_sub(bytes);
            self.clamp(rules);
        }
    }

    fn timed_out(&mut self, rules: &Rules, bytes: u64, _in_flight: u64, _now: Ps) {
        self.window = self.window.saturating_sub(bytes).max(rules.min_window);
    }

    fn window(&self) -> u64 {
        self.window
    }
}

impl Nscc {
    /// A shorter round trip than was thought possible: less fits into the path, too.
    fn lower_base_rtt(&mut self, rtt: Ps) {
        if rtt < self.base_rtt {
            self.max_window = (u128::from(self.max_window) * u128::from(rtt) / u128::from(self.base_rtt)) as u64;
            self.base_rtt = rtt;
        }
    }

    fn sample(&mut self, rules: &Rules, delay: Ps, is_marked: bool) {
        if rules.median_samples > 0 {
            let most = (self.window / self.frame).min(u64::from(rules.median_samples));
            self.samples.push(self.base_rtt + delay, most as usize);
        }
        // A long delay without a mark is a queue that has just been left behind.
        let sample = if !is_marked && delay > rules.target { 0.25 * self.base_rtt as f64 } else { delay as f64 };
        self.average_delay = (rules.delay_gain * sample + (1.0 - rules.delay_gain) * self.average_delay as f64) as Ps;
    }

    /// What stands for the delay of an ACK, and for that of the last many.
    fn delays(&self, rules: &Rules, rtt: Option<Ps>) -> (Ps, Ps) {
        if rules.median_samples > 0 {
            let median = self.samples.lower().map_or(self.average_delay, |rtt| rtt - self.base_rtt);
            (median, median)
        } else {
            (rtt.map_or(self.average_delay, |rtt| rtt - self.base_rtt), self.average_delay)
        }
    }

    /// Once a period: where next to nothing gets through, that is the window. Whether it was so, or the signal is from before it was.
    fn quick_adapt(&mut self, rules: &Rules, now: Ps, is_marked: bool, is_severe: bool, in_flight: u64) -> bool {
        let mut handled = is_marked && self.heard < self.stale;
        if !handled && self.quick_adapt_at.is_none_or(|end| now > end) {
            let has_begun = self.quick_adapt_at.is_some();
            if has_begun && (self.has_trimmed || is_severe) && self.achieved < self.max_window >> rules.quick_adapt_shift {
                self.window = self.achieved.max(rules.min_window);
                (self.heard, self.stale) = (0, in_flight);
                self.has_trimmed = false;
                handled = true;
            }
            self.achieved = 0;
            self.quick_adapt_at = Some(now + self.base_rtt + rules.target);
        }
        if handled {
            (self.increments, self.received) = (0, 0);
        }
        handled
    }

    /// Proportional increase, or fast increase after a whole window of next to no delay.
    fn grow(&mut self, rules: &Rules, newly: u64, delay: Ps) {
        if delay < rules.fast_below {
            self.idle_bytes += newly;
            self.is_fast |= self.idle_bytes > self.window;
        } else {
            self.idle_bytes = 0;
            self.is_fast = false;
        }
        if self.is_fast {
            self.window += (rules.fast_scale * newly as f64) as u64;
        } else {
            let microseconds = (rules.target - delay) as f64 / 1e6;
            self.increments += (rules.proportional_bytes_per_us * newly as f64 * microseconds) as u64;
        }
    }

    fn decrease(&mut self, rules: &Rules, average: Ps, now: Ps) {
        self.is_fast = false;
        self.idle_bytes = 0;
        if average > rules.target && self.decreased_at.is_none_or(|before| now - before > self.base_rtt) {
            let excess = (average - rules.target) as f64 / average as f64;
            self.window = (self.window as f64 * (1.0 - rules.decrease_gain * excess).max(rules.least_factor)) as u64;
            self.decreased_at = Some(now);
        }
    }

    fn clamp(&mut self, rules: &Rules) {
        self.window = self.window.min(self.max_window).max(rules.min_window);
    }

    /// Gives the window what has been added up.
    fn adjust(&mut self, rules: &Rules, now: Ps) {
        let since = self.adjusted_at.map(|before| now - before);
        if self.received > rules.adjust_bytes || since.is_none_or(|since| since > rules.adjust) {
            self.window += self.increments / self.window;
            (self.increments, self.received) = (0, 0);
            if since.is_none_or(|since| since >= rules.adjust) {
                self.window += rules.eta_bytes as u64;
                self.adjusted_at = Some(now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
