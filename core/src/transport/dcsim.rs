//! dcSim: a Sim of 64 bytes goes first, over a random path; where it gets through, a Data follows over the same path, RTT_max later.
//!
//! *Source*: dcSim paper, sections 2.2 to 2.5 (the port's part is in discipline/dcsim.rs).
//! *Differs*: what the paper leaves open is in docs/explanation/transports.md: a Sim counts as under way (Equation 3) from when it is made, not from when it leaves; a Data
//! that is not acknowledged for a long time waits again, at the head of its flow. *State*: a line of Sims under way, a few numbers a flow.
//! *Cost*: a Sim and a Sim-Ack a data packet, a Data-Ack every sixteen.

mod destination;
mod sims;
mod source;

use super::flows::{Counts, Flows};
use super::rotation::Rotation;
use super::starts::Starts;
use super::{HostRules, Surroundings, Transport, set_off};
use crate::config::{ClockDrift, Config, TransportConfig};
use crate::discipline::Lane;
use crate::fabric::Fabric;
use crate::hash::FastSet;
use crate::packet::{Kind, Packet, Slot};
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::spreader::{Outgoing, Spreader};
use crate::units::{NEVER, Ps};
use crate::workload::{Event, SendFlow, Workload};
use destination::{Destination, Words, of_block};
use sims::{Fate, Sim, Sims};
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
            spreader: Spreader::new(config.balancer, rules.acks, fabric, workload, host, config.seed),
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

    fn begin(&mut self, flow: u32, around: &Surroundings<'_, '_>) {
        let own = flow - around.send_base;
        if around.send[own as usize].packets < self.direct_below {
            self.direct.push_back(own);
        } else {
            self.rotation.set(own as usize, true);
        }
    }

    /// Adds Sims to the NIC's queue while it has room and a flow may send one.
    fn simulate(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while around.port.lanes().is_some_and(|lanes| lanes.has_room(Lane::Sim)) {
            let Some(own) = self.rotation.turn() else { break };
            let source = &mut self.sources[own];
            source.add_sim();
            let wants_more = source.wants_sim();
            self.rotation.set(own, wants_more);
            let (address, receive_slot) = (around.send[own].address, around.send[own].receive_slot);
            let path = self.unused_path(own, address, now, around);
            let number = self.sims.push(own as u32, path);
            let sim = Packet::new(Kind::Sim, receive_slot, number, address, path, around.rules.ack_frame);
            around.port.add(now, sim, &mut |_| {});
        }
    }

    /// A path of which no Sim is using the like, if there are plenty.
    fn unused_path(&mut self, own: usize, address: u32, now: Ps, around: &Surroundings<'_, '_>) -> u16 {
        const TRIES: usize = 64;
        let mut path = 0;
        for _ in 0..TRIES {
            let (fabric, routes, bytes) = (around.fabric, around.routes, around.rules.ack_frame);
            path = self.spreader.data(Outgoing { now, fabric, routes, flow: own, psn: 0, address, bytes }).0;
            if self.paths.insert(path) || !self.spreader.draws_paths() {
                break;
            }
        }
        path
    }

    /// Adds packets of small flows to the NIC's last queue while it has room.
    fn send_directly(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while around.port.lanes().is_some_and(|lanes| lanes.has_room(Lane::Direct)) {
            let Some(own) = self.direct.pop_front() else { break };
            let source = &mut self.sources[own as usize];
            let Some(psn) = source.next_new() else { continue };
            if source.has_new() {
                self.direct.push_back(own);
            }
            let (fabric, routes, address) = (around.fabric, around.routes, around.send[own as usize].address);
            let outgoing = Outgoing { now, fabric, routes, flow: own as usize, psn, address, bytes: 0 };
            let (path, _) = self.spreader.data(outgoing);
            self.hand_over(Kind::DirectData, Queued { flow: own, psn, is_first: true }, path, now, around);
        }
    }

    /// Hands a data packet to the NIC. What is dropped there counts as sent: it will be missed in time.
    fn hand_over(&mut self, kind: Kind, data: Queued, path: u16, now: Ps, around: &mut Surroundings<'_, '_>) {
        let flow = &around.send[data.flow as usize];
        let bytes = if data.psn + 1 == flow.packets { flow.last_frame } else { around.rules.full_frame };
        let packet = Packet::new(kind, flow.receive_slot, data.psn, flow.address, path, bytes);
        self.queued[usize::from(kind == Kind::DirectData)].push_back(data);
        let mut dropped = [0; 2];
        around.port.add(now, packet, &mut |victim| dropped[usize::from(victim.kind() == Kind::DirectData)] += 1);
        for (lane, count) in dropped.into_iter().enumerate() {
            for _ in 0..count {
                if let Some(victim) = self.queued[lane].pop_back() {
                    self.note_sent(victim, now, around);
                }
            }
        }
    }

    fn note_sent(&mut self, data: Queued, now: Ps, around: &mut Surroundings<'_, '_>) {
        self.flows.note_sent(data.flow as usize, data.is_first, now);
        note_start(&mut around.send[data.flow as usize], now);
        self.unacked.push_back((now, data));
    }

    /// The NIC takes up what is next in it.
    fn start(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Some(packet) = around.port.start(now) else { return };
        match packet.kind() {
            Kind::Sim => {
                let own = self.sims.start(now);
                note_start(&mut around.send[own as usize], now);
                self.flows.counts.own[SENT] += 1;
            }
            Kind::Data | Kind::DirectData => {
                self.paths.remove(&packet.path());
                let data = self.queued[usize::from(packet.kind() == Kind::DirectData)].pop_front();
                if let Some(data) = data {
                    self.note_sent(data, now, around);
                }
            }
            _ => {}
        }
    }

    /// What time has done to Sims: Datas are due, Sims are lost.
    fn mind_sims(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while let Some((Sim { flow, path, .. }, psn, is_first)) = self.sims.due(now) {
            self.hand_over(Kind::Data, Queued { flow, psn, is_first }, path, now, around);
        }
        while let Some(Sim { flow, path, .. }) = self.sims.expired(now) {
            self.flows.counts.own[TIMED_OUT] += 1;
            self.paths.remove(&path);
            self.sources[flow as usize].drop_sim();
            self.ask(flow as usize);
        }
    }

    /// Lets a flow have turns if it may send a Sim.
    fn ask(&mut self, own: usize) {
        self.rotation.set(own, self.sources[own].wants_sim());
    }

    fn mind_data(&mut self, now: Ps) {
        while let Some(&(_, data)) = self.unacked.front().filter(|&&(at, _)| at + self.data_timeout <= now) {
            self.unacked.pop_front();
            if self.sources[data.flow as usize].give_up(data.psn) {
                self.flows.counts.data_timeouts += 1;
                self.ask(data.flow as usize);
            }
        }
    }

    fn receive_sim_ack(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Some((sim, is_due)) = self.sims.get(packet.psn()) else {
            self.flows.counts.own[LATE] += 1;
            return;
        };
        let (flow, path, rtt) = (sim.flow, sim.path, now - sim.sent_at);
        let counts = &mut self.flows.counts;
        counts.own[ACKED] += 1;
        counts.own[RTT_SUM] += rtt;
        counts.largest = counts.largest.max(rtt);
        let source = &mut self.sources[flow as usize];
        source.drop_sim();
        match source.next() {
            Some((psn, is_first)) if !is_due => sim.fate = Fate::Matched { psn, is_first },
            Some((psn, is_first)) => {
                sim.fate = Fate::Over;
                self.hand_over(Kind::Data, Queued { flow, psn, is_first }, path, now, around);
            }
            None => {
                sim.fate = Fate::Over;
                self.paths.remove(&path);
            }
        }
        self.ask(flow as usize);
    }

    fn receive_data(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let flow = &mut around.receive[own];
        let is_new = self.flows.note_arrival(own, packet.psn(), packet.bytes(), now, flow);
        let is_complete = is_new && flow.received == flow.packets;
        let (send_slot, is_last) = (flow.send_slot, is_complete || packet.psn() + 1 == flow.packets);
        if self.destination.note(own, packet.psn(), is_last, &self.flows.arrived[own].set, now) {
            self.acknowledge(own, now, around);
        }
        if is_complete {
            set_off(self, send_slot, Event::Received, now, around);
        }
    }

    fn acknowledge(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Words { below, blocks } = self.destination.words(own, &self.flows.arrived[own].set);
        let (address, flow) = (around.receive[own].address, around.receive[own].send_slot);
        let words = std::iter::once((Kind::DataAck, below)).chain(blocks.into_iter().map(|word| (Kind::BlockAck, word)));
        for (kind, word) in words {
            let path = self.spreader.ack(around.fabric, around.routes, address, 0);
            around.port.add(now, Packet::new(kind, flow, word, address, path, around.rules.ack_frame), &mut |_| {});
        }
    }

    /// Whether that completes the flow.
    fn receive_data_ack(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        let own = (packet.flow() - around.send_base) as usize;
        let source = &mut self.sources[own];
        if packet.kind() == Kind::DataAck {
            source.acked.insert_below(packet.psn());
        } else {
            of_block(packet.psn(), source.acked.below()).for_each(|psn| {
                source.acked.insert(psn);
            });
        }
        source.note_acked();
        let (acked, flow) = (source.acked.count(), &mut around.send[own]);
        let is_complete = acked == flow.packets && flow.acked < acked;
        flow.acked = acked;
        self.ask(own);
        while self.unacked.front().is_some_and(|(_, data)| self.sources[data.flow as usize].acked.contains(data.psn)) {
            self.unacked.pop_front();
        }
        if is_complete {
            around.send[own].last_acked_at = now;
            set_off(self, packet.flow(), Event::Acked, now, around);
        }
        is_complete
    }
}

/// The first frame of a flow leaves.
fn note_start(flow: &mut SendFlow, now: Ps) {
    if flow.started_at == NEVER {
        flow.started_at = now;
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
