//! Hosts that send under a congestion window: the NIC, the flows that may send, the receiver. Which packet comes next, and how large windows are, senders say.
//!
//! *Source*: Ofan paper, sections 6.5 and 6.7 and appendix A for the NIC: data and ACKs alternate strictly when both wait; round robin over the flows that may send, one frame a turn; a frame is built when it is sent; an ACK
//! is ready as soon as its data packet has arrived whole.

mod answers;
mod new_reno;
mod outstanding;
mod selective_repeat;
mod sender;
mod timers;

use super::flows::{Counts, Flows};
use super::starts::Starts;
use super::{HostRules, Surroundings, Transport, set_off};
use crate::config::{Config, WindowSize};
use crate::congestion::Route;
use crate::fabric::Fabric;
use crate::packet::{Kind, Packet, Slot};
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::spreader::{Outgoing, Spreader};
use crate::units::{NEVER, Ps};
use crate::workload::{Event, SendFlow, Workload};
use answers::Answers;
pub use new_reno::{NewReno, Rules as NewRenoRules};
use outstanding::Outstanding;
pub use selective_repeat::{Rules as SelectiveRepeatRules, SelectiveRepeat};
use sender::{Report, Sender};
use std::collections::VecDeque;
use timers::Timers;

/// Names of `Counts::own`.
pub const COUNTS: [&str; 3] = ["acks_sent_count", "nacks_sent_count", "fast_retransmits_count"];
const ACKS: usize = 0;
const NACKS: usize = 1;
const FAST_RETRANSMITS: usize = 2;

/// One host.
#[derive(Debug)]
pub struct Windowed<S: Sender> {
    rules: S::Rules,
    spreader: Spreader,
    starts: Starts,
    flows: Vec<Flow<S>>,
    /// Flows that may send, in round-robin order; what may no longer is passed over.
    live: VecDeque<u32>,
    /// When the first of them came to be there: nothing leaves before.
    live_since: Ps,
    timers: Timers,
    answers: Answers,
    sent_data_last: bool,
    /// Turns to skip before the first frame, so that hosts do not walk in step.
    first_turn: u32,
    /// Whether receivers wait for more before they acknowledge.
    coalesces: bool,
    noted: Flows,
}

/// The sending side of one flow.
#[derive(Debug)]
struct Flow<S> {
    sender: S,
    out: Outstanding,
    /// Arrivals that ACKs have told of, and how many they were when `out` last got beyond a hole.
    read: u32,
    moved_at: u32,
    has_begun: bool,
    is_live: bool,
}

impl<S: Sender> Windowed<S> {
    /// Host number `host`, with its start jitter drawn.
    #[allow(clippy::too_many_arguments, reason = "each is a separate part of the run")]
    pub(crate) fn new(
        config: &Config,
        rules: S::Rules,
        fabric: &Fabric,
        workload: &mut Workload,
        host: u32,
        port: &Port,
        host_rules: &HostRules,
    ) -> Self {
        let Some(window) = config.transport.window() else { unreachable!("hosts are made by the kind of their transport") };
        let jitter = host_rules.jitter(port.occupancy(host_rules.full_frame), host);
        let spreader = Spreader::new(config.balancer, false, fabric, workload, host, config.seed);
        let starts = Starts::new(workload, host, jitter);
        let own = workload.sent_by(host as usize);
        let receives = workload.received_by(host as usize).len();
        let flow = |flow: &SendFlow| {
            let (ports, paths) = fabric.shortest_path(host, flow.address);
            let frame = host_rules.full_frame;
            let base_rtt = window.base_rtt.unwrap_or_else(|| {
                // The way back has the same links.
                fabric.idle_time(&ports, frame) + fabric.idle_time(&ports, host_rules.ack_frame)
            });
            let bytes = |size| match size {
                WindowSize::Bdp(bdps) => (bdps * fabric.rate_bps[ports[0]] as f64 / 8e12 * base_rtt as f64).round() as u64,
                WindowSize::Bytes(bytes) => bytes,
            };
            let (max_window, initial_window) = (bytes(window.max).max(frame.into()), bytes(window.initial).max(frame.into()));
            let initial_window = initial_window.min(max_window);
            let route = Route { base_rtt, hops: ports.len() as u32, max_window, initial_window, frame };
            let sender = S::new(&rules, &route, paths);
            Flow { sender, out: Outstanding::default(), read: 0, moved_at: 0, has_begun: false, is_live: false }
        };
        Self {
            rules,
            spreader,
            starts,
            flows: workload.send[own.start as usize..own.end as usize].iter().map(flow).collect(),
            live: VecDeque::new(),
            live_since: 0,
            timers: Timers::new(own.len()),
            answers: Answers::new(receives, window.ack_every_bytes),
            sent_data_last: false,
            first_turn: Stream::new(config.seed, Purpose::FirstFlow, u64::from(host)).below(own.len().max(1) as u64) as u32,
            coalesces: window.ack_every_bytes > 1,
            noted: Flows::new(own.len(), receives),
        }
    }

    /// Lets the flows that are ready take turns.
    #[cold]
    fn begin(&mut self, now: Ps, around: &Surroundings<'_, '_>) {
        while let Some(flow) = self.starts.due(now) {
            let own = (flow - around.send_base) as usize;
            self.flows[own].has_begun = true;
            self.enliven(own, now, around);
        }
        let turns = std::mem::take(&mut self.first_turn) as usize % self.live.len().max(1);
        self.live.rotate_left(turns);
    }

    /// Lets a flow take turns if it has something that may leave.
    #[inline(always)]
    fn enliven(&mut self, own: usize, now: Ps, around: &Surroundings<'_, '_>) {
        let flow = &mut self.flows[own];
        if !flow.is_live && flow.may_send(&around.send[own], now, around.rules.full_frame).is_some() {
            flow.is_live = true;
            if self.live.is_empty() {
                self.live_since = now;
            }
            self.live.push_back(own as u32);
        }
    }

    fn set_timer(&mut self, own: usize, now: Ps) {
        let flow = &mut self.flows[own];
        let at = flow.sender.wakes_at(&self.rules, &mut flow.out);
        // An RTO that shrinks may be over already.
        self.timers.set(own, at.max(now));
    }

    #[cold]
    fn wake(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
        let flow = &mut self.flows[own];
        if flow.read == around.send[own].packets {
            return;
        }
        while let Some(psn) = flow.sender.wake(&self.rules, now, &mut flow.out) {
            self.noted.counts.data_timeouts += 1;
            self.spreader.timed_out(own, psn, now);
        }
        self.enliven(own, now, around);
        let flow = &mut self.flows[own];
        let at = flow.sender.wakes_at(&self.rules, &mut flow.out);
        if at > now {
            self.timers.set(own, at);
        }
    }

    #[inline(always)]
    fn send_data(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        while let Some(&number) = self.live.front() {
            let own = number as usize;
            let (flow, send) = (&mut self.flows[own], &mut around.send[own]);
            let full_frame = around.rules.full_frame;
            let Some(psn) = flow.may_send(send, now, full_frame) else {
                flow.is_live = false;
                self.live.pop_front();
                continue;
            };
            send.note_start(now);
            let bytes = send.frame_bytes(psn, full_frame);
            let (fabric, routes, address) = (around.fabric, around.routes, send.address);
            let (path, bytes) = self.spreader.data(Outgoing { now, fabric, routes, flow: own, psn, address, bytes });
            let is_first = flow.out.send(psn, bytes, now);
            flow.sender.sent(psn, now, &flow.out);
            self.noted.note_sent(own, is_first, now);
            let has_more = flow.may_send(send, now, full_frame).is_some();
            let kind = match is_first {
                true if self.coalesces && !has_more => Kind::DataAsking,
                true => Kind::Data,
                false => Kind::DataAgain,
            };
            let packet = Packet::new(kind, send.receive_slot, psn, address, path, bytes);
            flow.is_live = has_more;
            if !has_more || self.live.len() > 1 {
                self.live.pop_front();
                if has_more {
                    self.live.push_back(number);
                }
            }
            self.set_timer(own, now);
            self.sent_data_last = true;
            around.port.transmit(now, packet, around.space);
            return true;
        }
        false
    }

    #[inline(always)]
    fn send_answer(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Some(packet) = self.answers.next(&mut self.spreader, around) else { return };
        self.noted.counts.own[if packet.kind() == Kind::Nack { NACKS } else { ACKS }] += 1;
        self.sent_data_last = false;
        around.port.transmit(now, packet, around.space);
    }

    #[inline(always)]
    fn receive_data(&mut self, packet: Packet, at: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let flow = &mut around.receive[own];
        let is_new = self.noted.note_arrival(own, packet.psn(), packet.bytes(), at, flow);
        if is_new {
            let is_again = packet.kind() == Kind::DataAgain;
            around.workload.arrivals.note(packet.flow(), flow.received - 1, packet.psn(), is_again);
        }
        self.answers.acknowledge(own, flow, packet, is_new, at);
        let (send_slot, is_complete) = (flow.send_slot, is_new && flow.received == flow.packets);
        if is_complete {
            set_off(self, send_slot, Event::Received, at, around);
        }
    }

    fn receive_header(&mut self, packet: Packet, at: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let has_it = self.noted.arrived[own].set.contains(packet.psn());
        self.answers.refuse(&around.receive[own], packet, has_it, at);
    }

    fn receive_nack(&mut self, packet: Packet, at: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.send_base) as usize;
        let flow = &mut self.flows[own];
        if flow.read < around.send[own].packets {
            flow.sender.nacked(&self.rules, packet.psn(), at, &mut flow.out);
            self.enliven(own, at, around);
        }
    }

    /// Whether that completes the flow.
    #[inline(always)]
    fn receive_ack(&mut self, packet: Packet, at: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        let own = (packet.flow() - around.send_base) as usize;
        let (flow, send) = (&mut self.flows[own], &mut around.send[own]);
        if flow.read == send.packets {
            return false;
        }
        let count = packet.psn();
        let echoes = packet.kind() == Kind::Ack;
        let arrivals = &around.workload.arrivals;
        let mut report = Report { now: at, newly_bytes: 0, is_marked: packet.is_marked(), rtt: None, is_old: false };
        for place in flow.read..count {
            let (psn, is_again) = arrivals.entry(send.receive_slot, place);
            let base = flow.out.base();
            let Some(acked) = flow.out.acked(psn, is_again, at) else { continue };
            report.newly_bytes += u64::from(acked.bytes);
            if flow.out.base() != base {
                flow.moved_at = place + 1;
            }
            if place + 1 == count && echoes {
                report.rtt = acked.rtt;
            } else {
                self.spreader.passed(own, psn);
            }
        }
        if echoes {
            let (psn, _) = arrivals.entry(send.receive_slot, count - 1);
            self.spreader.acked(own, psn, packet.is_marked(), at);
        }
        report.is_old = count < flow.moved_at;
        flow.read = flow.read.max(count);
        send.acked = flow.read;
        let fast = flow.sender.fast_retransmits();
        flow.sender.acked(&self.rules, &report, &mut flow.out);
        self.noted.counts.own[FAST_RETRANSMITS] += flow.sender.fast_retransmits() - fast;
        if flow.read == send.packets {
            send.last_acked_at = at;
            set_off(self, packet.flow(), Event::Acked, at, around);
            return true;
        }
        self.enliven(own, at, around);
        self.set_timer(own, at);
        false
    }
}

impl<S: Sender> Flow<S> {
    #[inline(always)]
    fn may_send(&self, flow: &SendFlow, now: Ps, full_frame: u32) -> Option<u32> {
        if self.has_begun { self.sender.next(flow, &self.out, now, full_frame) } else { None }
    }
}

impl<S: Sender> Transport for Windowed<S> {
    #[inline(always)]
    fn next_at(&self, port: &Port) -> Ps {
        let data_at = if self.live.is_empty() { NEVER } else { self.live_since };
        let data_at = port.data_opens_at(data_at.max(port.busy_until));
        let answer_at = port.control_opens_at(self.answers.next_at().max(port.busy_until));
        data_at.min(answer_at).min(self.timers.next_at()).min(self.starts.next_at())
    }

    #[inline(always)]
    fn act(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        if self.starts.next_at() <= now {
            self.begin(now, around);
        }
        while let Some(own) = self.timers.due(now) {
            self.wake(own, now, around);
        }
        if around.port.busy_until > now {
            return;
        }
        let has_answer = self.answers.next_at() <= now && around.port.control_opens_at(now) <= now;
        let may_send = around.port.data_opens_at(now) <= now;
        if has_answer && self.sent_data_last || !(may_send && self.send_data(now, around)) && has_answer {
            self.send_answer(now, around);
        }
    }

    #[inline(always)]
    fn receive(&mut self, Slot { at, packet }: Slot, around: &mut Surroundings<'_, '_>) -> bool {
        if !packet.is_control() {
            self.receive_data(packet, at, around);
            return false;
        }
        match packet.kind() {
            Kind::Trimmed => self.receive_header(packet, at, around),
            Kind::Nack => self.receive_nack(packet, at, around),
            _ => return self.receive_ack(packet, at, around),
        }
        false
    }

    fn release(&mut self, flow: u32, send: &mut SendFlow, at: Ps) {
        self.starts.release(flow, send, at);
    }

    fn flows(&self) -> Option<&Flows> {
        Some(&self.noted)
    }

    fn counts(&self) -> &Counts {
        &self.noted.counts
    }

    fn window_of(&self, own: usize, send: &SendFlow) -> Option<(u64, u64)> {
        let flow = &self.flows[own];
        let is_under_way = flow.has_begun && flow.read < send.packets;
        is_under_way.then(|| (flow.sender.window(), flow.out.in_flight()))
    }
}
