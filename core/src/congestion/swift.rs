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
        // What came without a sample of its own is no news of the delay.
        feedback.rtt.is_some() && may_decrease && self.decrease(factor, feedback.now)
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

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: u32 = 4158;
    const RTT: Ps = 6_253_320;
    const MICROSECOND: Ps = 1_000_000;
    const TARGET: Ps = RTT + 3 * MICROSECOND / 2;

    fn rules() -> Rules {
        Rules {
            increase_packets: 1.0,
            decrease_gain: 0.8,
            most_decrease: 0.5,
            base_target: 3 * MICROSECOND / 2,
            hop_target: 0,
            flow_scaling: FlowScaling::new(15 * MICROSECOND / 2, 0.1, 100.0),
            min_window_packets: 0.01,
            reset_after_timeouts: 5,
        }
    }

    fn flow(packets: f64) -> Swift {
        let frame = f64::from(FRAME);
        let route =
            Route { base_rtt: RTT, hops: 6, max_window: 225 * 4158, initial_window: (packets * frame) as u64, frame: FRAME };
        let mut flow = Swift::new(&rules(), &route);
        flow.law.window = packets * frame;
        flow
    }

    fn ack(now: Ps, rtt: Ps) -> Feedback {
        Feedback { now, newly: FRAME.into(), is_marked: false, rtt: Some(rtt), in_flight: 0 }
    }

    fn packets(flow: &Swift) -> f64 {
        flow.law.packets()
    }

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-5 * right.abs().max(1.0)
    }

    /// scale = 7.5 us / (sqrt(10) - 0.1) = 2.449160 us, offset a tenth of it.
    #[test]
    fn flow_scaling_by_hand() {
        let scaling = rules().flow_scaling;
        let points = [(0.1, 7.5), (1.0, 2.204244), (4.0, 0.979664), (25.0, 0.244916), (100.0, 0.0), (0.01, 7.5), (225.0, 0.0)];
        for (packets, microseconds) in points {
            assert!(near(scaling.at(packets) / 1e6, microseconds), "{packets}: {}", scaling.at(packets));
        }
    }

    #[test]
    fn a_packet_more_each_rtt_below_the_target() {
        let mut flow = flow(150.0);
        for packet in 0..150 {
            flow.acked(&rules(), &ack(packet, TARGET - 1));
        }
        // Each ACK adds 1 / window: sqrt(150^2 + 2 * 150) = 150.9967, a bit less than 1 as the window grows meanwhile.
        assert!((packets(&flow) - 150.9967).abs() < 1e-3, "{}", packets(&flow));
    }

    #[test]
    fn a_decrease_by_the_share_of_the_rtt_above_the_target() {
        // 150 packets: no flow scaling. 7.75332 us aimed at, 9.691650 seen: 1 - 0.8 * 0.2 = 0.84.
        let mut first = flow(150.0);
        first.acked(&rules(), &ack(0, 9_691_650));
        assert!(near(packets(&first), 126.0), "{}", packets(&first));
        // 25 packets: 0.244916 us more. 1 - 0.8 * (9.691650 - 7.998236) / 9.691650 = 0.860217.
        let mut scaled = flow(25.0);
        scaled.acked(&rules(), &ack(0, 9_691_650));
        assert!(near(packets(&scaled), 25.0 * 0.860217), "{}", packets(&scaled));
        // At four times the target, 1 - 0.8 * 0.75 = 0.4 would be less than half.
        let mut half = flow(150.0);
        half.acked(&rules(), &ack(0, 4 * TARGET));
        assert!(near(packets(&half), 75.0));
    }

    #[test]
    fn hops_raise_the_target() {
        let rules = Rules { hop_target: MICROSECOND / 2, ..rules() };
        let route = Route { base_rtt: RTT, hops: 6, max_window: 225 * 4158, initial_window: 150 * 4158, frame: FRAME };
        let mut flow = Swift::new(&rules, &route);
        flow.acked(&rules, &ack(0, TARGET + 3 * MICROSECOND - 1));
        assert!(packets(&flow) > 150.0);
        flow.acked(&rules, &ack(0, TARGET + 4 * MICROSECOND));
        assert!(packets(&flow) < 150.0);
    }

    #[test]
    fn one_decrease_a_smoothed_rtt() {
        let mut flow = flow(200.0);
        let rtt = 2 * TARGET; // a factor of 1 - 0.8 / 2 = 0.6
        flow.acked(&rules(), &ack(100, rtt));
        assert!(near(packets(&flow), 120.0));
        flow.acked(&rules(), &ack(100 + rtt - 1, rtt));
        assert!(near(packets(&flow), 120.0), "too early");
        // The gate is the smoothed RTT of the ACKs before: still 2 TARGET.
        flow.acked(&rules(), &ack(100 + rtt, 10 * rtt));
        assert!(near(packets(&flow), 60.0));
        // (7 * 1 + 10) / 8 = 2.125 times as long now.
        flow.acked(&rules(), &ack(100 + rtt + rtt * 17 / 8 - 2, 10 * rtt));
        assert!(near(packets(&flow), 60.0));
    }

    #[test]
    fn an_ack_without_a_sample_is_judged_by_the_last() {
        let mut flow = flow(150.0);
        let unknown = Feedback { rtt: None, ..ack(0, 0) };
        flow.acked(&rules(), &unknown);
        assert!(near(packets(&flow), 150.0), "nothing is known yet");
        flow.acked(&rules(), &ack(0, RTT));
        flow.acked(&rules(), &unknown);
        assert!((packets(&flow) - 150.0 - 2.0 / 150.0).abs() < 1e-4);
    }

    #[test]
    fn below_a_packet_one_in_several_rtts() {
        let mut flow = flow(0.25);
        assert_eq!((flow.window(), flow.pace()), (1039, Some(4 * RTT)));
        flow.acked(&rules(), &ack(0, 2 * RTT));
        // 12.50664 us is above 7.75332 + 2.449160 * (2 - 0.1) = 12.40672: 0.8 * 0.09992 / 12.50664 = 0.006391 less.
        assert!(near(packets(&flow), 0.25 * (1.0 - 0.006391)), "{}", packets(&flow));
        let pace = 2.0 * RTT as f64 / packets(&flow);
        assert!((flow.pace().unwrap() as f64 - pace).abs() < 2.0);
        // Below the target, a packet acknowledged is a packet more.
        flow.acked(&rules(), &ack(0, RTT));
        assert!(near(packets(&flow), 0.25 * (1.0 - 0.006391) + 1.0));
        assert_eq!(flow.pace(), None);
    }

    #[test]
    fn losses_take_half_once_an_rtt() {
        let mut flow = flow(160.0);
        flow.nacked(&rules(), 4158, 0, MICROSECOND);
        flow.nacked(&rules(), 4158, 0, 2 * MICROSECOND);
        flow.timed_out(&rules(), 4158, 0, 3 * MICROSECOND);
        assert!(near(packets(&flow), 80.0));
        flow.timed_out(&rules(), 4158, 0, 3 * MICROSECOND + RTT);
        assert!(near(packets(&flow), 40.0));
    }

    #[test]
    fn five_timeouts_in_a_row_leave_the_least_window() {
        let mut flow = flow(160.0);
        let windows: Vec<f64> = (1..=5)
            .map(|timeout| {
                // Four packets of the same burst at once.
                for _ in 0..4 {
                    flow.timed_out(&rules(), 4158, 0, timeout * 60 * MICROSECOND);
                }
                packets(&flow)
            })
            .collect();
        assert!(
            windows.iter().zip([80.0, 40.0, 20.0, 10.0, 0.01]).all(|(&window, expected)| near(window, expected)),
            "{windows:?}"
        );

        let mut heard = self::flow(160.0);
        for timeout in 1..=9 {
            if timeout == 5 {
                heard.acked(&rules(), &ack(timeout * 60 * MICROSECOND - 1, RTT));
            }
            heard.timed_out(&rules(), 4158, 0, timeout * 60 * MICROSECOND);
            assert_eq!(packets(&heard) < 0.02, timeout == 9, "an ACK begins the row anew");
        }
    }
}
