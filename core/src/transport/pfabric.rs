//! Pfabric.

use super::flows::{Counts, Flows};
use super::starts::Starts;
use super::{HostRules, Surroundings, Transport};
use crate::config::Config;
use crate::packet::Slot;
use crate::port::Port;
use crate::units::Ps;
use crate::workload::{SendFlow, Workload};

/// Names of `Counts::own`.
pub const COUNTS: [&str; 0] = [];

/// One host.
#[derive(Debug)]
pub struct Pfabric {
    starts: Starts,
    flows: Flows,
}

impl Pfabric {
    pub(crate) fn new(_config: &Config, workload: &mut Workload, host: u32, port: &Port, rules: &HostRules) -> Self {
        let jitter = rules.jitter(port.occupancy(rules.full_frame), host);
        let (sends, receives) = (workload.sent_by(host as usize).len(), workload.received_by(host as usize).len());
        Self { starts: Starts::new(workload, host, jitter), flows: Flows::new(sends, receives) }
    }
}

impl Transport for Pfabric {
    fn next_at(&self, port: &Port) -> Ps {
        port.next_start_at().min(self.starts.next_at())
    }

    fn act(&mut self, _now: Ps, _around: &mut Surroundings<'_, '_>) {
        todo!()
    }

    fn receive(&mut self, _slot: Slot, _around: &mut Surroundings<'_, '_>) -> bool {
        todo!()
    }

    fn release(&mut self, flow: u32, send: &mut SendFlow, at: Ps) {
        self.starts.release(flow, send, at);
    }

    fn flows(&self) -> Option<&Flows> {
        Some(&self.flows)
    }

    fn counts(&self) -> &Counts {
        &self.flows.counts
    }
}
