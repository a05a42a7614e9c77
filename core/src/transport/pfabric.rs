//! pFabric: flows put a whole window on the wire at once, ports send what belongs to the flow with the least left, and what they drop is sent again after a timeout.
//!
//! *Source*: Alizadeh et al., "pFabric: minimal near-optimal datacenter transport", SIGCOMM 2013, section 4.2 (the port's part, section 4.1, is in discipline/pfabric.rs). Each
//! packet carries what its flow had left when it was handed to the NIC, in packets. Windows start at a BDP and grow as TCP's; timeouts are fixed and the only sign of a
//! loss; each sets the window back to one packet, and the flow goes on from its first hole. After some timeouts in a row it sends probes instead, one a timeout.
//! *Differs*: as in the public dcPIM simulator, there is one timeout a flow, which begins anew when its first hole is filled, and windows have a largest size. Every data packet is
//! acknowledged by itself, and each ACK says besides where the first hole is, so that a lost ACK is made up for by the next. What is acknowledged beyond the hole is not
//! sent again; it opens and widens the window only when the hole is filled, as in TCP that heeds no duplicate ACKs. A probe has no payload at all. What the host's own
//! port drops counts as sent. With back-pressure, which the paper has not, flows take turns at their host's port while it has room.
//! *State*: a few numbers and two sets of packets a flow, and the timeouts that are running. *Cost*: an ACK a data packet, and what the port costs.

mod source;
mod timeouts;
mod window;
mod words;

use super::flows::{Counts, Flows};
use super::rotation::Rotation;
use super::starts::Starts;
use super::{HostRules, Surroundings, Transport, set_off};
use crate::config::{Config, TransportConfig};
use crate::packet::{Kind, Packet, Slot};
use crate::port::Port;
use crate::units::Ps;
use crate::workload::{Event, SendFlow, Workload};
use source::Source;
use timeouts::Timeouts;
use window::Window;

/// Names of `Counts::own`.
pub const COUNTS: [&str; 1] = ["probes_count"];
const PROBES: usize = 0;

/// One host.
#[derive(Debug)]
pub struct Pfabric {
    starts: Starts,
    sources: Vec<Source>,
    timeouts: Timeouts,
    /// Flows that wait for room in the NIC; nothing where they do not wait.
    waiting: Option<Rotation>,
    /// They wait while more bytes than these are in it.
    supply_up_to: u64,
    probe_after: u32,
    flows: Flows,
}

impl Pfabric {
    pub(crate) fn new(config: &Config, workload: &mut Workload, host: u32, port: &Port, rules: &HostRules) -> Self {
        let TransportConfig::Pfabric {
            initial_window_packets,
            max_window_packets,
            slow_start_threshold_packets,
            rto_ps,
            probe_after_timeouts,
            nic_backpressure,
            ..
        } = config.transport
        else {
            unreachable!("hosts are made by the kind of their transport")
        };
        let jitter = rules.jitter(port.occupancy(rules.full_frame), host);
        let starts = Starts::new(workload, host, jitter);
        let own = workload.sent_by(host as usize);
        let own = own.start as usize..own.end as usize;
        let receives = workload.received_by(host as usize).len();
        let window = Window::new(initial_window_packets, max_window_packets, slow_start_threshold_packets);
        Self {
            starts,
            sources: workload.send[own.clone()].iter().map(|flow| Source::new(flow.packets, window)).collect(),
            timeouts: Timeouts::new(rto_ps),
            waiting: nic_backpressure.then(|| Rotation::new(&workload.collective[own.clone()])),
            supply_up_to: config.port.buffer_bytes.unwrap_or(u64::MAX).saturating_sub(2 * u64::from(rules.full_frame)),
            probe_after: probe_after_timeouts,
            flows: Flows::new(own.len(), receives),
        }
    }

    /// Hands over what the window of a flow allows, at once or in turns.
    fn supply(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
        match &mut self.waiting {
            Some(waiting) => {
                waiting.set(own, self.sources[own].may_send());
                self.supply_in_turns(now, around);
            }
            None => {
                while self.sources[own].may_send() {
                    self.hand_over(own, now, around);
                }
            }
        }
    }

    /// Hands over a packet a turn while the NIC has room for it and for one more, which is left to what the host has to answer meanwhile.
    fn supply_in_turns(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while around.port.waiting_bytes() <= self.supply_up_to {
            let Some(own) = self.waiting.as_mut().and_then(Rotation::turn) else { break };
            self.hand_over(own, now, around);
            let may_send = self.sources[own].may_send();
            if let Some(waiting) = &mut self.waiting {
                waiting.set(own, may_send);
            }
        }
    }

    fn hand_over(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
        let (source, flow) = (&mut self.sources[own], &around.send[own]);
        let priority = source.left().min(u16::MAX.into()) as u16;
        let psn = source.next();
        let bytes = flow.frame_bytes(psn, around.rules.full_frame);
        self.timeouts.start(own, source, now);
        let packet = Packet::new(Kind::Data, flow.receive_slot, psn, flow.address, priority, bytes);
        self.add(packet, now, around);
    }

    /// Adds a packet to the NIC. Data that is dropped there counts as sent: it will be missed in time.
    fn add(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let (sources, flows, base) = (&mut self.sources, &mut self.flows, around.send_base);
        around.port.add(now, packet, &mut |victim| {
            if !victim.is_control() {
                note_sent(victim, sources, flows, own_flow(victim, around.workload, base), now);
            }
        });
    }

    /// The NIC takes up what is next in it.
    fn start(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Some(packet) = around.port.start(now).filter(|packet| !packet.is_control()) else { return };
        let own = own_flow(packet, around.workload, around.send_base);
        note_sent(packet, &mut self.sources, &mut self.flows, own, now);
        around.send[own].note_start(now);
    }

    fn time_out(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
        let source = &mut self.sources[own];
        self.flows.counts.data_timeouts += u64::from(!source.is_probing());
        source.time_out(self.probe_after);
        if !source.is_probing() {
            return self.supply(own, now, around);
        }
        self.timeouts.start(own, source, now);
        self.flows.counts.own[PROBES] += 1;
        let flow = &around.send[own];
        let probe = Packet::new(Kind::Probe, flow.receive_slot, 0, flow.address, 0, around.rules.ack_frame);
        self.add(probe, now, around);
    }

    fn receive_data(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let flow = &mut around.receive[own];
        let is_new = self.flows.note_arrival(own, packet.psn(), packet.bytes(), now, flow);
        let (send_slot, is_complete) = (flow.send_slot, is_new && flow.received == flow.packets);
        self.acknowledge(own, Some(packet.psn()), now, around);
        if is_complete {
            set_off(self, send_slot, Event::Received, now, around);
        }
    }

    /// `psn`: the packet that has come; none when it was a probe.
    fn acknowledge(&mut self, own: usize, psn: Option<u32>, now: Ps, around: &mut Surroundings<'_, '_>) {
        let (psn, code) = words::written(psn, self.flows.arrived[own].set.below());
        let flow = &around.receive[own];
        let ack = Packet::new(Kind::Ack, flow.send_slot, psn, flow.address, code, around.rules.ack_frame);
        self.add(ack, now, around);
    }

    /// Whether that completes the flow.
    fn receive_ack(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        let own = (packet.flow() - around.send_base) as usize;
        let (source, flow) = (&mut self.sources[own], &mut around.send[own]);
        if source.left() == 0 {
            return false;
        }
        if source.acknowledge(words::read(packet.psn(), packet.path())) {
            self.timeouts.restart(own, source, now);
        }
        flow.acked = flow.packets - source.left();
        let is_complete = source.left() == 0;
        if is_complete {
            flow.last_acked_at = now;
        }
        self.supply(own, now, around);
        self.timeouts.forget(&self.sources);
        if is_complete {
            set_off(self, packet.flow(), Event::Acked, now, around);
        }
        is_complete
    }
}

/// The flow of a data packet among those that its host sends.
fn own_flow(packet: Packet, workload: &Workload, send_base: u32) -> usize {
    (workload.flow_of_receive_slot[packet.flow() as usize] - send_base) as usize
}

fn note_sent(packet: Packet, sources: &mut [Source], flows: &mut Flows, own: usize, now: Ps) {
    let is_first = sources[own].note_sent(packet.psn());
    flows.note_sent(own, is_first, now);
}

impl Transport for Pfabric {
    #[inline(always)]
    fn next_at(&self, port: &Port) -> Ps {
        port.next_start_at().min(self.timeouts.next_at()).min(self.starts.next_at())
    }

    fn act(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while let Some(flow) = self.starts.due(now) {
            self.supply((flow - around.send_base) as usize, now, around);
        }
        while let Some(own) = self.timeouts.due(&self.sources, now) {
            self.time_out(own, now, around);
        }
        if around.port.next_start_at() <= now {
            self.start(now, around);
            self.supply_in_turns(now, around);
        }
    }

    fn receive(&mut self, Slot { at, packet }: Slot, around: &mut Surroundings<'_, '_>) -> bool {
        match packet.kind() {
            Kind::Ack => return self.receive_ack(packet, at, around),
            Kind::Probe => self.acknowledge((packet.flow() - around.receive_base) as usize, None, at, around),
            _ => self.receive_data(packet, at, around),
        }
        false
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
