//! A window that stays as it is: no congestion control.
//!
//! *Source*: what htsim calls `-sender_cc_algo constant`. *Differs*: none. *State*: the window (host). *Cost*: none.

use super::{Controller, Feedback, Route};
use crate::units::Ps;

/// The constant.
#[derive(Debug)]
pub struct Constant {
    window: u64,
}

impl Controller for Constant {
    type Rules = ();

    fn new(_rules: &(), route: &Route) -> Self {
        Self { window: route.initial_window }
    }

    fn acked(&mut self, _rules: &(), _feedback: &Feedback) {}

    fn nacked(&mut self, _rules: &(), _bytes: u64, _in_flight: u64, _now: Ps) {}

    fn timed_out(&mut self, _rules: &(), _bytes: u64, _in_flight: u64, _now: Ps) {}

    fn window(&self) -> u64 {
        self.window
    }
}
