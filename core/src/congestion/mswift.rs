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
