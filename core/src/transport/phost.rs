//! pHost: a flow announces itself, and its receiver sends it a token a packet, at the rate that the receiver's link can take in.
//!
//! *Source*: Gao et al., "pHost: distributed near-optimal datacenter transport over commodity network fabric", CoNEXT 2015; what the paper leaves open as in the dcPIM
//! simulator, in which dcSim was compared with it. A flow begins with an RTS; flows of up to `free_tokens` packets have a token for each packet from the start. The
//! receiver gives a token every T to the flow with the least missing, for its packets in turn; a flow that is `window_packets` tokens ahead of its data is left out for a
//! while, and so is one that has a token for everything. The sender uses a token when its NIC is idle, of the flow with the least left, and lets it expire after
//! `token_lifetime`. An ACK ends the flow. Data of short flows goes before that of others.
//! *Differs*: free tokens are good as long as if one came every T, and their receiver waits 2 T a packet before it gives new ones (both as in the simulator). Of flows with as
//! much missing, the one that has had no token for longest is next, where the simulator leaves it to its heap: an order that stays would give the same flows tokens again
//! while others have had none. A sender goes by what it has not sent; there tokens tell it what is missing. What is lost of control is made good: an RTS is repeated every
//! `retry` while nothing is heard, and the ACK whenever an RTS or data of a flow comes that is over. `tokens_expired_count` is without free tokens.
//! *State*: a few numbers and a set of packets a flow, at each end; tokens in use; an order of flows at each end. *Cost*: a token a packet, an RTS and an ACK a flow.

mod destination;
mod source;

use super::flows::{Counts, Flows};
use super::starts::Starts;
use super::{HostRules, Surroundings, Transport, set_off};
use crate::config::{Config, TransportConfig};
use crate::discipline::PRIORITY_SHIFT;
use crate::packet::{Kind, Packet, Slot};
use crate::port::Port;
use crate::units::{NEVER, Ps};
use crate::workload::{Event, SendFlow, Workload};
use destination::{Destination, Grant, Pace};
use source::{Released, Source};
use std::collections::VecDeque;

/// Names of `Counts::own`.
pub const COUNTS: [&str; 2] = ["tokens_sent_count", "tokens_expired_count"];
const SENT: usize = 0;
const EXPIRED: usize = 1;

/// What the priority leaves of the path field: the low bits of a token's number.
const NUMBER_MASK: u16 = (1 << PRIORITY_SHIFT) - 1;
/// Priorities of data.
const SHORT: u16 = 1;
const LONG: u16 = 2;

/// One host.
#[derive(Debug)]
pub struct Phost {
    starts: Starts,
    source: Source,
    destination: Destination,
    pace: Pace,
    /// Flows whose RTS waits in the NIC, in the order in which they leave it.
    announced: VecDeque<usize>,
    flows: Flows,
}

impl Phost {
    pub(crate) fn new(config: &Config, workload: &mut Workload, host: u32, port: &Port, rules: &HostRules) -> Self {
        let TransportConfig::Phost {
            free_tokens,
            window_packets,
            window_timeout_ps,
            resend_timeout_ps,
            token_lifetime_ps,
            retry_ps,
            ..
        } = config.transport
        else {
            unreachable!("hosts are made by the kind of their transport")
        };
        let interval = port.occupancy(rules.full_frame);
        let starts = Starts::new(workload, host, rules.jitter(interval, host));
        let own = workload.sent_by(host as usize);
        let own = own.start as usize..own.end as usize;
        let receives = workload.received_by(host as usize).len();
        let pace = Pace {
            interval,
            free_tokens,
            window: window_packets.into(),
            window_timeout: window_timeout_ps,
            resend_timeout: resend_timeout_ps,
        };
        let flows = Flows::new(own.len(), receives);
        let packets = workload.send[own].iter().map(|flow| flow.packets);
        Self {
            starts,
            source: Source::new(packets, retry_ps, token_lifetime_ps),
            destination: Destination::new(receives, pace),
            pace,
            announced: VecDeque::new(),
            flows,
        }
    }

    fn begin(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
        self.source.begin(own, around.send[own].packets <= self.pace.free_tokens, self.pace.interval, now);
        self.announce(own, now, around);
    }

    /// Hands an RTS to the NIC.
    fn announce(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
        let flow = &around.send[own];
        let rts = Packet::new(Kind::Rts, flow.receive_slot, flow.packets, flow.address, 0, around.rules.ack_frame);
        self.announced.push_back(own);
        // What gives way is what was added last.
        around.port.add(now, rts, &mut |_| {
            self.announced.pop_back();
        });
    }

    /// The NIC takes up what is next in it; where nothing is, a token may be used.
    fn start(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        if around.port.next_start_at() <= now {
            let started = around.port.start(now).filter(|packet| packet.kind() == Kind::Rts);
            if let Some(own) = started.and_then(|_| self.announced.pop_front()) {
                around.send[own].note_start(now);
            }
        } else if around.port.next_start_at() == NEVER && around.port.busy_until <= now {
            if let Some(released) = self.source.release(now) {
                self.send(released, now, around);
            }
        }
    }

    fn send(&mut self, Released { own, psn, low, is_first }: Released, now: Ps, around: &mut Surroundings<'_, '_>) {
        let flow = &mut around.send[own];
        flow.note_start(now);
        self.flows.note_sent(own, is_first, now);
        let bytes = flow.frame_bytes(psn, around.rules.full_frame);
        let priority = if flow.packets <= self.pace.free_tokens { SHORT } else { LONG };
        let path = priority << PRIORITY_SHIFT | low & NUMBER_MASK;
        let packet = Packet::new(Kind::Data, flow.receive_slot, psn, flow.address, path, bytes);
        around.port.add(now, packet, &mut |_| {});
        around.port.start(now);
    }

    fn give_token(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Some(Grant { own, number, psn, is_again }) = self.destination.grant(now, &self.flows, around.receive) else {
            return;
        };
        self.flows.counts.own[SENT] += 1;
        self.flows.counts.data_timeouts += u64::from(is_again);
        let flow = &around.receive[own];
        let low = number as u16 & NUMBER_MASK;
        let token = Packet::new(Kind::Token, flow.send_slot, psn, flow.address, low, around.rules.ack_frame);
        around.port.add(now, token, &mut |_| {});
    }

    fn receive_forward(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) {
        let own = (packet.flow() - around.receive_base) as usize;
        let flow = &mut around.receive[own];
        self.destination.begin(own, flow.packets, now);
        let mut is_new = false;
        if packet.kind() == Kind::Data {
            is_new = self.flows.note_arrival(own, packet.psn(), packet.bytes(), now, flow);
            let low = packet.path() & NUMBER_MASK;
            self.destination.note(own, low, PRIORITY_SHIFT, flow.packets - flow.received);
        }
        if flow.received == flow.packets {
            let (send_slot, packets) = (flow.send_slot, flow.packets);
            let ack = Packet::new(Kind::Ack, send_slot, packets, flow.address, 0, around.rules.ack_frame);
            around.port.add(now, ack, &mut |_| {});
            if is_new {
                set_off(self, send_slot, Event::Received, now, around);
            }
        }
    }

    /// Whether that completes the flow.
    fn receive_ack(&mut self, packet: Packet, now: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        let own = (packet.flow() - around.send_base) as usize;
        let flow = &mut around.send[own];
        let is_complete = flow.acked < flow.packets;
        if is_complete {
            (flow.acked, flow.last_acked_at) = (flow.packets, now);
            self.source.end(own);
            set_off(self, packet.flow(), Event::Acked, now, around);
        }
        is_complete
    }
}

impl Transport for Phost {
    #[inline(always)]
    fn next_at(&self, port: &Port) -> Ps {
        let start_at = match port.next_start_at() {
            NEVER => self.source.ready_at().max(port.busy_until),
            start_at => start_at,
        };
        start_at.min(self.starts.next_at()).min(self.source.retry_at()).min(self.destination.next_at())
    }

    fn act(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while let Some(flow) = self.starts.due(now) {
            self.begin((flow - around.send_base) as usize, now, around);
        }
        while let Some(own) = self.source.unheard(now) {
            self.announce(own, now, around);
        }
        if self.destination.next_at() <= now {
            self.give_token(now, around);
        }
        self.start(now, around);
        self.flows.counts.own[EXPIRED] = self.source.expired;
    }

    fn receive(&mut self, Slot { at, packet }: Slot, around: &mut Surroundings<'_, '_>) -> bool {
        match packet.kind() {
            Kind::Token => {
                let own = (packet.flow() - around.send_base) as usize;
                self.source.add(own, packet.psn(), packet.path(), at);
                false
            }
            Kind::Ack => self.receive_ack(packet, at, around),
            _ => {
                self.receive_forward(packet, at, around);
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

#[cfg(test)]
mod tests;
