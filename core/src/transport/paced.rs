//! Paced hosts: the source, the receiver, and the NIC that both share.
//!
//! *Source*: Ofan paper, section 2.2 and appendix A; the choices that it leaves open stand in docs/explanation/model.md. One data frame may start every `Td' / load`; round robin over flows, one frame a turn; data and ACKs
//! alternate strictly when both wait; the frame is built when it is sent; an ACK is ready as soon as its data packet has arrived whole.

use super::starts::Starts;
use super::{Counts, Flows, HostRules, Surroundings, Transport, set_off};
use crate::config::{Acks, Config};
use crate::fabric::Fabric;
use crate::packet::{Kind, Packet, Slot};
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::spreader::{Outgoing, Spreader};
use crate::units::{NEVER, Ps};
use crate::workload::{Event, SendFlow, Workload};
use std::collections::VecDeque;

/// One host.
#[derive(Debug)]
pub struct Paced {
    spreader: Spreader,
    /// Flows that may send, in round-robin order.
    live: VecDeque<u32>,
    starts: Starts,
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
    counts: Counts,
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

impl Paced {
    /// Host number `host`, with its start jitter drawn.
    pub(crate) fn new(
        config: &Config,
        fabric: &Fabric,
        workload: &mut Workload,
        host: u32,
        port: &Port,
        rules: &HostRules,
    ) -> Self {
        let full_interval = rules.pacing(port, rules.full_frame);
        let jitter = rules.jitter(full_interval, host);
        let spreader = Spreader::new(config.balancer, rules.acks == Acks::PerPacket, fabric, workload, host, config.seed);
        let flows = workload.sent_by(host as usize);
        let starts = Starts::new(workload, host, jitter);
        Self {
            spreader,
            live: VecDeque::new(),
            data_at: starts.next_at(),
            starts,
            acks: VecDeque::new(),
            next_data_at: 0,
            ack_at: NEVER,
            sent_data_last: false,
            first_turn: Stream::new(config.seed, Purpose::FirstFlow, u64::from(host)).below(flows.len().max(1) as u64) as u32,
            full_interval,
            counts: Counts::default(),
        }
    }

    fn refresh_data_at(&mut self) {
        self.data_at = if self.live.is_empty() { self.starts.next_at().max(self.next_data_at) } else { self.next_data_at };
    }

    /// Lets the flows that are ready take turns.
    #[cold]
    fn wake(&mut self, now: Ps) {
        while let Some(flow) = self.starts.due(now) {
            self.live.push_back(flow);
        }
        let turns = std::mem::take(&mut self.first_turn) as usize % self.live.len().max(1);
        self.live.rotate_left(turns);
        self.refresh_data_at();
    }

    #[inline(always)]
    fn send_data(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
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
        self.counts.sent_data += u64::from(around.rules.counts);
        let is_full = bytes == around.rules.full_frame;
        self.next_data_at = now + if is_full { self.full_interval } else { around.rules.pacing(around.port, bytes) };
        self.refresh_data_at();
        around.port.send(now, packet, around.space);
    }

    #[inline(always)]
    fn send_ack(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
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

impl Transport for Paced {
    #[inline(always)]
    fn next_at(&self, port: &Port) -> Ps {
        self.data_at.min(self.ack_at).max(port.busy_until)
    }

    fn release(&mut self, flow: u32, send: &mut SendFlow, at: Ps) {
        self.starts.release(flow, send, at);
        self.refresh_data_at();
    }

    #[inline(always)]
    fn receive(&mut self, Slot { at, packet }: Slot, around: &mut Surroundings<'_, '_>) -> bool {
        if packet.is_control() {
            let own = (packet.flow() - around.send_base) as usize;
            self.spreader.acked(own, packet.psn(), packet.is_marked(), at);
            let flow = &mut around.send[own];
            flow.acked += 1;
            let is_complete = flow.acked == flow.packets;
            if is_complete {
                flow.last_acked_at = at;
                set_off(self, packet.flow(), Event::Acked, at, around);
            }
            return is_complete;
        }
        if around.rules.counts {
            self.counts.delivered_packets += 1;
            self.counts.delivered_bytes += u64::from(packet.bytes());
        }
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
            set_off(self, send_slot, Event::Received, at, around);
        }
        is_complete && around.rules.acks == Acks::Off
    }

    #[inline(always)]
    fn act(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        if self.starts.next_at() <= now {
            self.wake(now);
        }
        let (has_data, has_ack) = (self.data_at <= now, self.ack_at <= now);
        if has_data && !(has_ack && self.sent_data_last) {
            self.send_data(now, around);
        } else {
            self.send_ack(now, around);
        }
    }

    fn flows(&self) -> Option<&Flows> {
        None
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }
}
