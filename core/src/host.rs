//! A host: the paced source, the receiver, and the NIC that both share.
//!
//! *Source*: Ofan paper, section 2.2 and appendix A; the choices that it leaves open stand in docs/explanation/model.md. One data frame may start every `Td' / load`; round robin over flows, one frame a turn; data and ACKs
//! alternate strictly when both wait; the frame is built when it is sent; an ACK is ready as soon as its data packet has arrived whole.

mod rules;

use crate::config::{Acks, Config, StartJitter, TransportConfig};
use crate::fabric::{Fabric, Routes};
use crate::link::Incoming;
use crate::packet::{Kind, Packet, Slot};
use crate::port::{Port, Space};
use crate::rng::{Purpose, Stream};
use crate::spreader::{Outgoing, Spreader};
use crate::units::{NEVER, Ps};
use crate::workload::{Effect, Event, ReceiveFlow, SendFlow, Workload};
pub use rules::HostRules;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// One host.
#[derive(Debug)]
pub struct Host {
    spreader: Spreader,
    /// Flows that may send, in round-robin order.
    live: VecDeque<u32>,
    /// Flows that will be ready at a known time.
    waiting: BinaryHeap<Reverse<(Ps, u32)>>,
    /// When the first of them will be.
    next_ready_at: Ps,
    acks: VecDeque<PendingAck>,
    /// The pacer lets the next data frame start here.
    next_data_at: Ps,
    /// When data could next be sent, and when an ACK, if the transmitter were free.
    data_at: Ps,
    ack_at: Ps,
    sent_data_last: bool,
    /// Turns to skip before the first frame, so that hosts do not walk in step.
    first_turn: u32,
    /// The whole frame's pacing interval, which nearly all frames have.
    full_interval: Ps,
}

#[derive(Clone, Copy, Debug)]
struct PendingAck {
    ready_at: Ps,
    address: u32,
    flow: u32,
    psn: u32,
    /// Path field of the data packet, and whether it was marked.
    path: u16,
    is_marked: bool,
}

/// Effects that leave the host: they take one link latency.
pub type Signals = Vec<(Ps, Effect)>;

/// Everything that a host touches besides itself during a window.
pub struct HostSurroundings<'a, 'space> {
    /// Rules of the run.
    pub rules: &'a HostRules,
    /// The fabric.
    pub fabric: &'a Fabric,
    /// What routing knows of it.
    pub routes: &'a Routes,
    /// The graph of dependencies.
    pub workload: &'a Workload,
    /// The host's NIC.
    pub port: &'a mut Port,
    /// Flows that it sends, the first being number `send_base`.
    pub send: &'a mut [SendFlow],
    /// Number of the first flow in `send`.
    pub send_base: u32,
    /// Flows that it receives, the first being number `receive_base`.
    pub receive: &'a mut [ReceiveFlow],
    /// Number of the first flow in `receive`.
    pub receive_base: u32,
    /// Where rings grow.
    pub space: &'a mut Space<'space>,
    /// Effects on other hosts.
    pub signals: &'a mut Signals,
}

impl Host {
    /// Host number `host`, with its start jitter drawn.
    pub fn new(config: &Config, fabric: &Fabric, workload: &mut Workload, host: u32, port: &Port, rules: &HostRules) -> Self {
        let TransportConfig::Paced { start_jitter, acks, .. } = config.transport;
        let full_interval = rules.pacing(port, rules.full_frame);
        let draw = |purpose, n: u64| Stream::new(config.seed, purpose, u64::from(host)).below(n);
        let jitter = match start_jitter {
            StartJitter::Uniform => draw(Purpose::Jitter, full_interval),
            StartJitter::None => 0,
        };
        let spreader = Spreader::new(config.balancer, acks, fabric, workload, host, config.seed);
        let flows = workload.sent_by(host as usize);
        let mut waiting = Vec::new();
        for flow in flows.clone() {
            let send = &mut workload.send[flow as usize];
            send.ready_at += jitter;
            if send.waits == 0 {
                waiting.push(Reverse((send.ready_at, flow)));
            }
        }
        let next_ready_at = waiting.iter().map(|&Reverse((at, _))| at).min().unwrap_or(NEVER);
        Self {
            spreader,
            live: VecDeque::new(),
            next_ready_at,
            waiting: waiting.into(),
            acks: VecDeque::new(),
            next_data_at: 0,
            data_at: next_ready_at,
            ack_at: NEVER,
            sent_data_last: false,
            first_turn: draw(Purpose::FirstFlow, flows.len().max(1) as u64) as u32,
            full_interval,
        }
    }

    /// When the host will next send, if nothing arrives.
    #[inline(always)]
    pub fn next_send_at(&self, port: &Port) -> Ps {
        self.data_at.min(self.ack_at).max(port.busy_until)
    }

    fn refresh_data_at(&mut self) {
        self.data_at = if self.live.is_empty() { self.next_ready_at.max(self.next_data_at) } else { self.next_data_at };
    }

    /// Counts one open wait of a flow of this host as over at `at`.
    pub fn release(&mut self, flow: u32, send: &mut SendFlow, at: Ps) {
        send.ready_at = send.ready_at.max(at);
        send.waits -= 1;
        if send.waits == 0 {
            self.waiting.push(Reverse((send.ready_at, flow)));
            self.next_ready_at = self.next_ready_at.min(send.ready_at);
            self.refresh_data_at();
        }
    }

    /// Lives through the window: what arrives at `t` is known to what is sent at `t`. Returns the number of flows that completed here.
    pub fn run_window(&mut self, until: Ps, incoming: &mut Incoming, around: &mut HostSurroundings<'_, '_>) -> u64 {
        let mut completed = 0;
        loop {
            let send_at = self.next_send_at(around.port);
            let arrival_limit = until.min(send_at.saturating_add(1));
            if let Some(slot) = incoming.take_before(arrival_limit) {
                completed += u64::from(self.receive(slot, around));
            } else if send_at < until {
                self.send(send_at, around);
            } else {
                return completed;
            }
        }
    }

    #[inline(always)]
    fn receive(&mut self, Slot { at, packet }: Slot, around: &mut HostSurroundings<'_, '_>) -> bool {
        match packet.kind() {
            Kind::Data => {
                let flow = &mut around.receive[(packet.flow() - around.receive_base) as usize];
                if flow.received == 0 {
                    flow.first_at = at;
                }
                flow.received += 1;
                flow.last_at = at;
                let (is_complete, send_slot) = (flow.received == flow.packets, flow.send_slot);
                if around.rules.acks == Acks::PerPacket {
                    let ack = PendingAck {
                        ready_at: at,
                        address: flow.address,
                        flow: send_slot,
                        psn: packet.psn(),
                        path: packet.path(),
                        is_marked: packet.is_marked(),
                    };
                    self.acks.push_back(ack);
                    self.ack_at = self.ack_at.min(at);
                }
                if is_complete {
                    self.set_off(send_slot, Event::Received, at, around);
                }
                is_complete && around.rules.acks == Acks::Off
            }
            Kind::Ack => {
                let own = (packet.flow() - around.send_base) as usize;
                self.spreader.acked(own, packet.psn(), packet.is_marked(), at);
                let flow = &mut around.send[own];
                flow.acked += 1;
                let is_complete = flow.acked == flow.packets;
                if is_complete {
                    flow.last_acked_at = at;
                    self.set_off(packet.flow(), Event::Acked, at, around);
                }
                is_complete
            }
        }
    }

    /// A completion at this host: acts at once on its own flows, one link latency later on anything else.
    fn set_off(&mut self, flow: u32, event: Event, at: Ps, around: &mut HostSurroundings<'_, '_>) {
        for &effect in around.workload.effects(flow, event) {
            let own = match effect {
                Effect::Release(target) => {
                    around.send.get_mut(target.wrapping_sub(around.send_base) as usize).map(|send| (target, send))
                }
                Effect::Activate(_) => None,
            };
            match own {
                Some((target, send)) => self.release(target, send, at),
                None => around.signals.push((at + around.rules.signal_latency, effect)),
            }
        }
    }

    #[inline(always)]
    fn send(&mut self, now: Ps, around: &mut HostSurroundings<'_, '_>) {
        if self.next_ready_at <= now {
            self.wake(now);
        }
        let (has_data, has_ack) = (self.data_at <= now, self.ack_at <= now);
        if has_data && !(has_ack && self.sent_data_last) {
            self.send_data(now, around);
        } else {
            self.send_ack(now, around);
        }
    }

    /// Lets the flows that are ready take turns.
    #[cold]
    fn wake(&mut self, now: Ps) {
        while let Some(&Reverse((at, flow))) = self.waiting.peek() {
            if at > now {
                break;
            }
            self.waiting.pop();
            self.live.push_back(flow);
        }
        self.next_ready_at = self.waiting.peek().map_or(NEVER, |&Reverse((at, _))| at);
        let turns = std::mem::take(&mut self.first_turn) as usize % self.live.len().max(1);
        self.live.rotate_left(turns);
        self.refresh_data_at();
    }

    #[inline(always)]
    fn send_data(&mut self, now: Ps, around: &mut HostSurroundings<'_, '_>) {
        let Some(&number) = self.live.front() else { return };
        let own = (number - around.send_base) as usize;
        let flow = &mut around.send[own];
        let psn = flow.sent;
        if psn == 0 {
            flow.started_at = now;
        }
        flow.sent += 1;
        let is_last = flow.sent == flow.packets;
        let bytes = if is_last { flow.last_frame } else { around.rules.full_frame };
        let (fabric, routes, address) = (around.fabric, around.routes, flow.address);
        let (path, bytes) = self.spreader.data(Outgoing { now, fabric, routes, flow: own, psn, address, bytes });
        let packet = Packet::new(Kind::Data, flow.receive_slot, psn, address, path, bytes);
        if is_last || self.live.len() > 1 {
            self.live.pop_front();
            if !is_last {
                self.live.push_back(number);
            }
        }
        self.sent_data_last = true;
        let is_full = bytes == around.rules.full_frame;
        self.next_data_at = now + if is_full { self.full_interval } else { around.rules.pacing(around.port, bytes) };
        self.refresh_data_at();
        around.port.send(now, packet, around.space);
    }

    #[inline(always)]
    fn send_ack(&mut self, now: Ps, around: &mut HostSurroundings<'_, '_>) {
        let Some(ack) = self.acks.pop_front() else { return };
        self.ack_at = self.acks.front().map_or(NEVER, |ack| ack.ready_at);
        let path = self.spreader.ack(around.fabric, around.routes, ack.address, ack.path);
        let mut packet = Packet::new(Kind::Ack, ack.flow, ack.psn, ack.address, path, around.rules.ack_frame);
        // RFC 3168: the receiver echoes what it has seen.
        if ack.is_marked {
            packet.mark();
        }
        self.sent_data_last = false;
        around.port.send(now, packet, around.space);
    }
}
