//! Selective repeat under a congestion controller: every packet is acknowledged by itself, only what is missing is sent again, and what is sent again goes before new data.
//!
//! *Source*: Ultra Ethernet transport as in uet-htsim; Ofan paper, section 6.7 ("a full stack of CCA, loss recovery, and load balancing"). Data out of order is accepted, so that spraying costs nothing.
//! The oldest packet in flight times out after a fixed RTO; nothing else follows from that but what the controller makes of it. A NACK (trimming) has its packet sent again at once. *Differs*: ACKs say all
//! that has arrived (`workload/arrivals.rs`), not 64 packets of it. *State*: 16 bytes a packet in flight (host). *Cost*: an ACK a packet, or fewer.

use super::outstanding::Outstanding;
use super::sender::{Frames, Report, Sender};
use crate::congestion::{Controller, Feedback, Route};
use crate::units::{NEVER, Ps};
use crate::workload::SendFlow;
use std::collections::VecDeque;

/// How far beyond the first hole a flow may get: the receiver's bitmap ends there (uet-htsim).
const REACH: u32 = 16_384;

/// What the flows of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct Rules<R> {
    /// A packet that is not acknowledged for so long counts as lost.
    pub rto: Ps,
    /// Those of the controller.
    pub controller: R,
}

/// A flow's sender.
#[derive(Debug)]
pub struct SelectiveRepeat<C> {
    controller: C,
    /// What has to be sent again; what has arrived meanwhile is passed over.
    lost: VecDeque<u32>,
    sent_at: Ps,
}

impl<C> SelectiveRepeat<C> {
    fn forget(&mut self, out: &Outstanding) {
        while self.lost.front().is_some_and(|&psn| !out.is_lost(psn)) {
            self.lost.pop_front();
        }
    }
}

impl<C: Controller> SelectiveRepeat<C> {
    /// When a frame may leave though the window is smaller.
    fn opens_at(&self) -> Ps {
        self.controller.pace().map_or(0, |pace| self.sent_at.saturating_add(pace))
    }
}

impl<C: Controller> Sender for SelectiveRepeat<C> {
    type Rules = Rules<C::Rules>;

    fn new(rules: &Self::Rules, route: &Route, _paths: u32) -> Self {
        Self { controller: C::new(&rules.controller, route), lost: VecDeque::new(), sent_at: 0 }
    }

    #[inline(always)]
    fn next(&self, flow: &SendFlow, out: &Outstanding, now: Ps, frames: Frames<'_>) -> Option<u32> {
        let psn = match self.lost.front() {
            Some(&lost) => lost,
            None => Some(out.next_new()).filter(|&psn| psn < flow.packets && psn - out.base() < REACH)?,
        };
        let bytes = u64::from(frames.bytes(flow, psn));
        let fits = out.in_flight() + bytes <= self.controller.window() || out.in_flight() == 0 && now >= self.opens_at();
        fits.then_some(psn)
    }

    #[inline(always)]
    fn sent(&mut self, _psn: u32, now: Ps, out: &Outstanding) {
        self.sent_at = now;
        self.forget(out);
    }

    #[inline(always)]
    fn acked(&mut self, rules: &Self::Rules, report: &Report, out: &mut Outstanding) {
        self.forget(out);
        let feedback = Feedback {
            now: report.now,
            newly: report.newly_bytes,
            is_marked: report.is_marked,
            rtt: report.rtt,
            in_flight: out.in_flight(),
        };
        self.controller.acked(&rules.controller, &feedback);
    }

    fn nacked(&mut self, rules: &Self::Rules, psn: u32, now: Ps, out: &mut Outstanding) {
        if let Some(bytes) = out.lose(psn) {
            self.lost.push_back(psn);
            self.controller.nacked(&rules.controller, bytes.into(), out.in_flight(), now);
        }
    }

    #[inline(always)]
    fn wakes_at(&self, rules: &Self::Rules, out: &mut Outstanding) -> Ps {
        match out.oldest() {
            Some((at, _)) => at.saturating_add(rules.rto),
            // Nothing is in flight, so that only the pace of a small window can be in the way.
            None => Some(self.opens_at()).filter(|&at| at > 0).unwrap_or(NEVER),
        }
    }

    fn wake(&mut self, rules: &Self::Rules, now: Ps, out: &mut Outstanding) -> Option<u32> {
        let (_, psn) = out.oldest().filter(|&(at, _)| at.saturating_add(rules.rto) <= now)?;
        let bytes = out.lose(psn)?;
        self.lost.push_back(psn);
        self.controller.timed_out(&rules.controller, bytes.into(), out.in_flight(), now);
        Some(psn)
    }

    fn window(&self) -> u64 {
        self.controller.window()
    }
}
