//! dcSim: a Sim of 64 bytes goes first, over a random path; where it gets through, a Data follows over the same path, RTT_max later.
//!
//! *Source*: dcSim paper, sections 2.2 to 2.5 (the port's part is in discipline/dcsim.rs).
//! *Differs*: what the paper leaves open is in docs/explanation/transports.md: a Sim counts as under way (Equation 3) from when it is made, not from when it leaves; a Data
//! that is not acknowledged for a long time waits again, at the head of its flow. *State*: a line of Sims under way, a few numbers a flow.
//! *Cost*: a Sim and a Sim-Ack a data packet, a Data-Ack every sixteen.

mod destination;
mod receiving;
mod sending;
mod sims;
mod source;

use super::flows::{Counts, Flows};
use super::rotation::Rotation;
use super::starts::Starts;
use super::{HostRules, Surroundings, Transport};
use crate::config::{ClockDrift, Config, TransportConfig};
use crate::fabric::Fabric;
use crate::hash::FastSet;
use crate::packet::{Kind, Packet, Slot};
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::spreader::Spreader;
use crate::units::{NEVER, Ps};
use crate::workload::{SendFlow, Workload};
use destination::Destination;
use sims::Sims;
use source::Source;
use std::collections::VecDeque;

/// Names of `Counts::own`.
pub const COUNTS: [&str; 5] =
    ["sims_sent_count", "sims_acked_count", "sims_timed_out_count", "sim_acks_late_count", "sim_rtt_sum_ps"];
const SENT: usize = 0;
const ACKED: usize = 1;
const TIMED_OUT: usize = 2;
const LATE: usize = 3;
const RTT_SUM: usize = 4;

/// A data packet handed to the NIC.
#[derive(Clone, Copy, Debug)]
struct Queued {
    flow: u32,
    psn: u32,
    is_first: bool,
}

/// One host.
#[derive(Debug)]
pub struct Dcsim {
    starts: Starts,
    rotation: Rotation,
    sources: Vec<Source>,
    sims: Sims,
    spreader: Spreader,
    /// Paths of Sims whose Data has not been sent: no other Sim takes one of them.
    paths: FastSet<u16>,
    /// What waits in the NIC's data lanes, in the same order.
    queued: [VecDeque<Queued>; 2],
    /// Data sent, by when, until it is acknowledged.
    unacked: VecDeque<(Ps, Queued)>,
    data_timeout: Ps,
    destination: Destination,
    /// Small flows that are being sent without Sims, in turn.
    direct: VecDeque<u32>,
    direct_below: u32,
    flows: Flows,
}

/// How fast the clock of a host runs.
pub fn clock_rate(config: &Config, host: u32) -> f64 {
    let TransportConfig::Dcsim { clock_drift_ppm, clock_drift, .. } = config.transport else { return 1.0 };
    let mut stream = Stream::new(config.seed, Purpose::Clock, u64::from(host));
    const STEPS: u64 = 1 << 32;
    let share = match clock_drift {
        ClockDrift::Uniform => stream.below(STEPS + 1) as f64 / STEPS as f64 * 2.0 - 1.0,
        ClockDrift::Extreme => stream.below(2) as f64 * 2.0 - 1.0,
    };
    1.0 + share * clock_drift_ppm * 1e-6
}

impl Dcsim {
    pub(crate) fn new(
        config: &Config,
        fabric: &Fabric,
        workload: &mut Workload,
        host: u32,
        port: &Port,
        rules: &HostRules,
    ) -> Self {
        let TransportConfig::Dcsim {
            rtt_max_ps, wait_ps, data_timeout_ps, ack_every, ack_interval_ps, direct_below_packets, ..
        } = config.transport
        else {
            unreachable!("hosts are made by the kind of their transport")
        };
        let rate = clock_rate(config, host);
        let by_its_clock = |time: Ps| (time as f64 / rate).round() as Ps;
        let jitter = rules.jitter(port.occupancy(rules.full_frame), host);
        let starts = Starts::new(workload, host, jitter);
        let own = workload.sent_by(host as usize);
        let own = own.start as usize..own.end as usize;
        let receives = workload.received_by(host as usize).len();
        Self {
            starts,
            rotation: Rotation::new(&workload.collective[own.clone()]),
            sources: workload.send[own.clone()].iter().map(|flow| Source::new(flow.packets)).collect(),
            sims: Sims::new(by_its_clock(wait_ps), by_its_clock(rtt_max_ps)),
            spreader: Spreader::new(config.balancer, true, fabric, workload, host, config.seed),
            paths: FastSet::default(),
            queued: Default::default(),
            unacked: VecDeque::new(),
            data_timeout: data_timeout_ps,
            destination: Destination::new(receives, ack_every, ack_interval_ps),
            direct: VecDeque::new(),
            direct_below: direct_below_packets,
            flows: Flows::new(own.len(), receives),
        }
    }
}

impl Transport for Dcsim {
    #[inline(always)]
    fn next_at(&self, port: &Port) -> Ps {
        let data_timeout = self.unacked.front().map_or(NEVER, |&(at, _)| at + self.data_timeout);
        port.next_start_at().min(self.sims.next_at()).min(self.destination.next_at()).min(self.starts.next_at()).min(data_timeout)
    }

    fn act(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while let Some(flow) = self.starts.due(now) {
            self.begin(flow, around);
        }
        self.mind_sims(now, around);
        self.mind_data(now);
        while let Some(own) = self.destination.overdue(now) {
            self.acknowledge(own, now, around);
        }
        self.simulate(now, around);
        self.send_directly(now, around);
        if around.port.next_start_at() <= now {
            self.start(now, around);
            self.simulate(now, around);
            self.send_directly(now, around);
        }
    }

    fn receive(&mut self, Slot { at, packet }: Slot, around: &mut Surroundings<'_, '_>) -> bool {
        match packet.kind() {
            Kind::Sim => {
                let own = (packet.flow() - around.receive_base) as usize;
                let flow = &around.receive[own];
                let (number, path) = (packet.psn(), packet.path());
                let ack = Packet::new(Kind::SimAck, flow.send_slot, number, flow.address, path, around.rules.ack_frame);
                around.port.add(at, ack, &mut |_| {});
                false
            }
            Kind::SimAck => {
                self.receive_sim_ack(packet, at, around);
                false
            }
            Kind::DataAck | Kind::BlockAck => self.receive_data_ack(packet, at, around),
            _ => {
                self.receive_data(packet, at, around);
                false
            }
        }
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
