//! MSwift: Swift, with the median of the latest window of samples in the place of the latest, since a sprayed flow's feedback comes from many paths.
//!
//! *Source*: "Congestion Control for Spraying with Congested Paths" (arXiv 2509.07907), of which the abstract was read; Ofan paper, section 6.5. *Differs*: that
//! the window of samples is as many as packets in the congestion window, up to a bound, is inferred. *State*: Swift's, and the samples (host). *Cost*: none in
//! the network.

use super::median::SlidingMedian;
use super::swift::{self, Law};
use super::{Controller, Feedback, Route};
use crate::units::Ps;

/// What the flows of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Those of Swift.
    pub swift: swift::Rules,
    /// Most samples in the median, at least 1.
    pub median_samples: u32,
    /// Whether samples from before a decrease are forgotten.
    pub flushes_on_decrease: bool,
}

/// One flow.
#[derive(Debug)]
pub struct MSwift {
    law: Law,
    samples: SlidingMedian,
}

impl Controller for MSwift {
    type Rules = Rules;

    fn new(rules: &Rules, route: &Route) -> Self {
        Self { law: Law::new(&rules.swift, route), samples: SlidingMedian::default() }
    }

    fn acked(&mut self, rules: &Rules, feedback: &Feedback) {
        if let Some(rtt) = feedback.rtt {
            let most = self.law.packets().min(f64::from(rules.median_samples));
            self.samples.push(rtt, most as usize);
        }
        let has_shrunk = self.law.acked(&rules.swift, feedback, self.samples.lower());
        if has_shrunk && rules.flushes_on_decrease {
            self.samples.clear();
        }
    }

    fn nacked(&mut self, rules: &Rules, _bytes: u64, _in_flight: u64, now: Ps) {
        self.law.nacked(&rules.swift, now);
    }

    fn timed_out(&mut self, rules: &Rules, _bytes: u64, _in_flight: u64, now: Ps) {
        self.law.timed_out(&rules.swift, now);
    }

    fn window(&self) -> u64 {
        self.law.window()
    }

    fn pace(&self) -> Option<Ps> {
        self.law.pace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::swift::{FlowScaling, Swift};
    use proptest::prelude::*;

    const RTT: Ps = 6_000_000;
    const TARGET: Ps = 7_500_000;

    fn rules(median_samples: u32) -> Rules {
        let swift = swift::Rules {
            increase_packets: 1.0,
            decrease_gain: 0.8,
            most_decrease: 0.5,
            base_target: TARGET - RTT,
            hop_target: 0,
            flow_scaling: FlowScaling::new(7_500_000, 0.1, 100.0),
            min_window_packets: 0.01,
            reset_after_timeouts: 5,
        };
        Rules { swift, median_samples, flushes_on_decrease: false }
    }

    fn route(packets: u64) -> Route {
        Route { base_rtt: RTT, hops: 6, max_window: 225_000, initial_window: packets * 1000, frame: 1000 }
    }

    fn ack(now: Ps, rtt: Ps) -> Feedback {
        Feedback { now, newly: 1000, is_marked: false, rtt: Some(rtt), in_flight: 0 }
    }

    #[test]
    fn one_outlier_cuts_swift_but_not_the_median() {
        let rules = rules(256);
        let (mut swift, mut mswift) = (Swift::new(&rules.swift, &route(150)), MSwift::new(&rules, &route(150)));
        for now in 0..9 {
            let rtt = if now == 5 { 10 * TARGET } else { RTT };
            swift.acked(&rules.swift, &ack(now, rtt));
            mswift.acked(&rules, &ack(now, rtt));
        }
        // 150 packets + 9 ACKs of 1/150 packet each; Swift has halved after five of them, then grown three times by 1/75.
        assert!(mswift.window().abs_diff(150_060) <= 1, "{}", mswift.window());
        assert!(swift.window().abs_diff(75_017 + 40) <= 1, "{}", swift.window());
    }

    /// Of 5 samples it takes 3 above the target; what was sampled before the latest window does not count.
    #[test]
    fn most_samples_of_a_window_cut() {
        let rules = rules(5);
        let mut flow = MSwift::new(&rules, &route(150));
        for now in 0..20 {
            flow.acked(&rules, &ack(now, RTT));
        }
        let before = flow.window();
        let has_shrunk = [20, 21, 22].map(|now| {
            flow.acked(&rules, &ack(now, 2 * TARGET));
            flow.window() < before
        });
        assert_eq!(has_shrunk, [false, false, true]);
        assert!(flow.window().abs_diff(before * 6 / 10) < 20, "1 - 0.8 / 2 = 0.6: {}", flow.window());
    }

    #[test]
    fn no_more_samples_than_packets_in_the_window() {
        let rules = rules(256);
        let mut flow = MSwift::new(&rules, &route(2));
        for now in 0..10 {
            flow.acked(&rules, &ack(now, 3 * TARGET));
        }
        assert!(flow.window() < 2000);
        // A window of a packet and a half: one sample, which the next replaces.
        let before = flow.window();
        flow.acked(&rules, &ack(10, RTT));
        assert!(flow.window() > before);
    }

    #[test]
    fn samples_from_before_a_decrease_may_be_forgotten() {
        for flushes_on_decrease in [false, true] {
            let rules = Rules { flushes_on_decrease, ..rules(9) };
            let mut flow = MSwift::new(&rules, &route(150));
            // The third is the first to cut; the fourth comes too early to cut again.
            for (now, rtt) in [RTT, 2 * TARGET, 2 * TARGET, 2 * TARGET].into_iter().enumerate() {
                flow.acked(&rules, &ack(now as Ps, rtt));
            }
            let before = flow.window();
            flow.acked(&rules, &ack(4, RTT));
            assert_eq!(flow.window() > before, flushes_on_decrease, "medians of 2 samples and of 5");
        }
    }

    proptest! {
        /// A median of one sample is Swift, to the last bit.
        #[test]
        fn one_sample_is_swift(events in proptest::collection::vec((0u8..10, 0u64..3_000_000, 1u64..30_000_000), 1..200)) {
            let rules = rules(1);
            let (mut swift, mut mswift) = (Swift::new(&rules.swift, &route(150)), MSwift::new(&rules, &route(150)));
            let mut now = 0;
            for (kind, gap, rtt) in events {
                now += gap;
                match kind {
                    0 => {
                        swift.timed_out(&rules.swift, 1000, 0, now);
                        mswift.timed_out(&rules, 1000, 0, now);
                    }
                    1 => {
                        swift.nacked(&rules.swift, 1000, 0, now);
                        mswift.nacked(&rules, 1000, 0, now);
                    }
                    _ => {
                        let feedback = Feedback { rtt: (kind > 2).then_some(rtt), ..ack(now, rtt) };
                        swift.acked(&rules.swift, &feedback);
                        mswift.acked(&rules, &feedback);
                    }
                }
                prop_assert_eq!((swift.window(), swift.pace()), (mswift.window(), mswift.pace()));
            }
        }
    }
}
