//! dcPIM: in rounds, receivers ask senders for channels, senders grant and receivers accept; then receivers send tokens over the channels that they have. Short flows
//! are sent at once.
//!
//! *Source*: Cai, Arashloo, Agarwal, "dcPIM: near-optimal proactive datacenter transport", SIGCOMM 2022, and, for what the paper leaves open (windows, priorities, early
//! channels, how long tokens are good for), its authors' public simulator. An epoch's matching takes `rounds` rounds, beside the data phase of the epoch before. A
//! channel that no data phase uses is used as soon as it is matched (early): its tokens come last at the sender, and its data last at every port.
//! *Differs*: control packets may be lost. A sender that has not heard of a flow for `retry` announces it again, and is answered; the final ACK is repeated whenever
//! data or an announcement of a finished flow comes; late requests and grants count for nothing. Ports know priorities of data by the size of its flow and one for
//! early data; among a sender's tokens the flow with least left to send comes first. A pair of hosts with several flows asks for all of them together, and a flow that
//! waits for its window lets another flow of the pair go first.
//! *State*: numbers a flow, what has been sent and has come out of order, tokens out (a window a flow), a few channels a host.
//! *Cost*: a token a data packet of a long flow; a request a sender with unmet demand, a round.

mod clocks;
mod matching;
mod pass;
mod receiver;
mod receiving;
mod sending;
mod sources;

use super::flows::{Counts, Flows};
use super::starts::Starts;
use super::{HostRules, Surroundings, Transport};
use crate::config::{Config, TransportConfig};
use crate::packet::{Kind, Slot};
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::units::{NEVER, Ps};
use crate::workload::{SendFlow, Workload};
use matching::{Calendar, Channels};
use receiver::{Pace, Receiver};
use sending::announce;
use sources::Sources;

/// Names of `Counts::own`.
pub const COUNTS: [&str; 3] = ["tokens_sent_count", "tokens_expired_count", "channels_matched_count"];
const TOKENS: usize = 0;
const EXPIRED: usize = 1;
const MATCHED: usize = 2;

/// One host.
#[derive(Debug)]
pub struct Dcpim {
    starts: Starts,
    pace: Pace,
    sources: Sources,
    /// The channels that it gives to receivers.
    given: Channels,
    stream: Stream,
    /// The middle of the round in which requests have come.
    grant_at: Ps,
    receiver: Receiver,
    /// The latest moment that it has seen.
    now: Ps,
    flows: Flows,
}

/// What a token says besides its packet: the data phase for which it is good, modulo half of 2^16, and whether its channel is early.
fn token_path(phase: u64, is_early: bool) -> u16 {
    (phase << 1) as u16 | u16::from(is_early)
}

impl Dcpim {
    pub(crate) fn new(config: &Config, workload: &mut Workload, host: u32, port: &Port, rules: &HostRules) -> Self {
        let TransportConfig::Dcpim {
            rounds, channels, round_ps, short_packets, window_packets, resend_timeout_ps, retry_ps, ..
        } = config.transport
        else {
            unreachable!("hosts are made by the kind of their transport")
        };
        let frame = port.occupancy(rules.full_frame);
        let starts = Starts::new(workload, host, rules.jitter(frame, host));
        let (sends, receives) = (workload.sent_by(host as usize), workload.received_by(host as usize));
        let send = &workload.send[sends.start as usize..sends.end as usize];
        let receive = &workload.receive[receives.start as usize..receives.end as usize];
        let pace = Pace {
            calendar: Calendar::new(rounds, round_ps),
            channels,
            frame,
            window: window_packets,
            patience: resend_timeout_ps,
            short: short_packets,
        };
        // The two sides of a host draw apart, so that neither's luck depends on the other's traffic.
        let stream = |side: u64| Stream::new(config.seed, Purpose::Transport, u64::from(host) * 2 + side);
        Self {
            starts,
            pace,
            sources: Sources::new(send.iter().map(|flow| flow.packets), retry_ps),
            given: Channels::new(channels),
            stream: stream(0),
            grant_at: NEVER,
            receiver: Receiver::new(pace, stream(1), receive),
            now: 0,
            flows: Flows::new(sends.len(), receives.len()),
        }
    }
}

impl Transport for Dcpim {
    #[inline(always)]
    fn next_at(&self, port: &Port) -> Ps {
        let data_at = if self.sources.is_ready() { port.busy_until.max(self.now) } else { NEVER };
        let receiver_at = self.receiver.next_round_at().min(self.receiver.next_token_at());
        let sender_at = self.starts.next_at().min(self.sources.next_silence_at()).min(self.grant_at);
        port.next_start_at().min(data_at).min(receiver_at).min(sender_at)
    }

    fn act(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        self.now = now;
        while let Some(flow) = self.starts.due(now) {
            self.begin(flow, now, around);
        }
        while let Some(own) = self.sources.silent(now) {
            announce(own, now, around);
        }
        if self.receiver.next_round_at() <= now {
            self.turn(now, around);
        }
        if self.grant_at <= now {
            self.grant(now, around);
        }
        while self.receiver.next_token_at() <= now {
            if let Some(granted) = self.receiver.token(now, &self.flows, around.receive) {
                self.send_token(granted, now, around);
            }
        }
        if around.port.busy_until <= now {
            self.start(now, around);
        }
    }

    fn receive(&mut self, Slot { at, packet }: Slot, around: &mut Surroundings<'_, '_>) -> bool {
        self.now = at;
        if !packet.travels_back() {
            match packet.kind() {
                Kind::Rts => self.receive_rts(packet, at, around),
                Kind::Grant => self.receive_grant(packet, at, around),
                _ => self.receive_data(packet, at, around),
            }
            return false;
        }
        let own = packet.flow() - around.send_base;
        self.sources.hear(own, at);
        match packet.kind() {
            Kind::Token => self.receive_token(own, packet, at),
            Kind::Request => self.receive_request(own, packet, at),
            Kind::Accept => self.receive_accept(own, packet, at, around),
            _ => return self.receive_ack(own, packet, at, around),
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
