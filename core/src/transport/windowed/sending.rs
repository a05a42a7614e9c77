//! What leaves a host with windows: which flow is next, its packet, and the answers in between.

use super::sender::{Frames, Sender};
use super::{ACKS, NACKS, Windowed};
use crate::packet::{Kind, Packet};
use crate::spreader::Outgoing;
use crate::transport::Surroundings;
use crate::units::Ps;

/// Sizes of the frames of a host's flow.
#[inline(always)]
fn frames<'a>(own: usize, around: &Surroundings<'a, '_>) -> Frames<'a> {
    Frames { full: around.rules.full_frame, subflows: around.workload.subflows.get(around.send_base as usize + own) }
}

impl<S: Sender> Windowed<S> {
    /// Lets the flows that are ready take turns.
    #[cold]
    pub(super) fn begin(&mut self, now: Ps, around: &Surroundings<'_, '_>) {
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
    pub(super) fn enliven(&mut self, own: usize, now: Ps, around: &Surroundings<'_, '_>) {
        let flow = &mut self.flows[own];
        if !flow.is_live && flow.may_send(&around.send[own], now, frames(own, around)).is_some() {
            flow.is_live = true;
            if self.live.is_empty() {
                self.live_since = now;
            }
            self.live.push_back(own as u32);
        }
    }

    pub(super) fn set_timer(&mut self, own: usize, now: Ps) {
        let flow = &mut self.flows[own];
        let at = flow.sender.wakes_at(&self.rules, &mut flow.out);
        // An RTO that shrinks may be over already.
        self.timers.set(own, at.max(now));
    }

    #[cold]
    pub(super) fn wake(&mut self, own: usize, now: Ps, around: &mut Surroundings<'_, '_>) {
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
    pub(super) fn send_data(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) -> bool {
        while let Some(&number) = self.live.front() {
            let own = number as usize;
            let frames = frames(own, around);
            let (flow, send) = (&mut self.flows[own], &mut around.send[own]);
            let Some(psn) = flow.may_send(send, now, frames) else {
                flow.is_live = false;
                self.live.pop_front();
                continue;
            };
            send.note_start(now);
            let bytes = frames.bytes(send, psn);
            let (fabric, routes, address) = (around.fabric, around.routes, send.address);
            let (path, bytes) = self.spreader.data(Outgoing { now, fabric, routes, flow: own, psn, address, bytes });
            let is_first = flow.out.send(psn, bytes, now);
            flow.sender.sent(psn, now, &flow.out);
            self.noted.note_sent(own, is_first, now);
            let has_more = flow.may_send(send, now, frames).is_some();
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
    pub(super) fn send_answer(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Some(packet) = self.answers.next(&mut self.spreader, around) else { return };
        self.noted.counts.own[if packet.kind() == Kind::Nack { NACKS } else { ACKS }] += 1;
        self.sent_data_last = false;
        around.port.transmit(now, packet, around.space);
    }
}
