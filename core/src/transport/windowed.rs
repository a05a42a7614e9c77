//! Hosts that send under a congestion window: the NIC, the flows that may send, the receiver. Which packet comes next, and how large windows are, senders say.
//!
//! *Source*: Ofan paper, sections 6.5 and 6.7 and appendix A for the NIC: data and ACKs alternate strictly when both wait; round robin over the flows that may send, one frame a turn; a frame is built when it is sent; an ACK
//! is ready as soon as its data packet has arrived whole.

mod answers;
mod flow;
mod new_reno;
mod outstanding;
mod receiving;
mod selective_repeat;
mod sender;
mod sending;
mod timers;

use super::flows::{Counts, Flows};
use super::starts::Starts;
use super::{HostRules, Surroundings, Transport};
use crate::config::{Config, WindowSize};
use crate::congestion::Route;
use crate::fabric::Fabric;
use crate::packet::{Kind, Slot};
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::spreader::Spreader;
use crate::units::{NEVER, Ps};
use crate::workload::{SendFlow, Workload};
use answers::Answers;
use flow::Flow;
pub use new_reno::{NewReno, Rules as NewRenoRules};
use outstanding::Outstanding;
pub use selective_repeat::{Rules as SelectiveRepeatRules, SelectiveRepeat};
use sender::Sender;
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
        let nic = fabric.port_base[host as usize] as usize;
        let flow = |flow: &SendFlow| {
            let (frame, answer) = (host_rules.full_frame, host_rules.ack_frame);
            let (round_trip, hops) = fabric.idle_round_trip(host, flow.address, [frame, answer]);
            let base_rtt = window.base_rtt.unwrap_or(round_trip);
            let bytes = |size| match size {
                WindowSize::Bdp(bdps) => (bdps * fabric.rate_bps[nic] as f64 / 8e12 * base_rtt as f64).round() as u64,
                WindowSize::Bytes(bytes) => bytes,
            };
            let (max_window, initial_window) = (bytes(window.max).max(frame.into()), bytes(window.initial).max(frame.into()));
            let initial_window = initial_window.min(max_window);
            let route = Route { base_rtt, hops, max_window, initial_window, frame };
            let sender = S::new(&rules, &route, fabric.paths_to(host, flow.address));
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
        let may_send = around.port.data_opens_at(now) <= now && !(has_answer && self.sent_data_last);
        let has_sent = may_send && self.send_data(now, around);
        if has_answer && !has_sent {
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
