//! TCP's recovery: cumulative ACKs only, duplicate ACKs as the sign of a loss, one hole a round trip.
//!
//! *Source*: NewReno (RFC 6582) as in htsim's `tcp.cpp`, with DCTCP's window (`congestion/dctcp.rs`); Ofan paper, section 6.5: "3 plus the number of paths that can be taken by the flow" duplicate ACKs. An ACK that was overtaken by one
//! that says more is passed over. *Differs*: the flow begins without a handshake, in congestion avoidance at its first window; what the receiver has beyond a hole it keeps. RTO: RFC 6298, doubled by
//! each timeout until an ACK brings progress; from the first hole on all is sent again. *State*: some ten numbers a flow (host). *Cost*: an ACK a packet.

use super::outstanding::Outstanding;
use super::sender::{Frames, Report, Sender};
use crate::congestion::{Route, dctcp};
use crate::units::{NEVER, Ps};
use crate::workload::SendFlow;

/// What the flows of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Least RTO.
    pub least_rto: Ps,
    /// ACKs without progress that mean a loss.
    pub duplicate_acks: u32,
    /// Whether the number of a flow's paths is added to them.
    pub counts_paths: bool,
    /// Of the window.
    pub window: dctcp::Rules,
}

/// A flow's sender. Sequence numbers count packets, windows bytes.
#[derive(Debug)]
pub struct NewReno {
    window: dctcp::Dctcp,
    mss: u64,
    threshold: u32,
    /// Everything below has been acknowledged.
    acked: u32,
    /// The next to be sent while nothing is missing; less than what has been sent after a timeout.
    next: u32,
    /// The hole to be filled first.
    hole: Option<u32>,
    duplicates: u32,
    /// In recovery until so many are acknowledged.
    recovers_until: Option<u32>,
    /// What had been sent when the last recovery began: duplicate ACKs for less begin none.
    recovered: u32,
    smoothed: Option<(Ps, Ps)>,
    rto: Ps,
    /// The timer's start.
    since: Ps,
    fast_retransmits: u64,
}

impl NewReno {
    /// RFC 6298, section 2.
    fn sample(&mut self, rtt: Ps) {
        let (mean, deviation) = match self.smoothed {
            None => (rtt, rtt / 2),
            Some((mean, deviation)) => (mean - mean / 8 + rtt / 8, deviation - deviation / 4 + mean.abs_diff(rtt) / 4),
        };
        self.smoothed = Some((mean, deviation));
    }

    /// Takes back what timeouts have added.
    fn restore_rto(&mut self, rules: &Rules) {
        self.rto = self.smoothed.map_or(0, |(mean, deviation)| mean + 4 * deviation).max(rules.least_rto);
    }

    fn bytes(&self, packets: u32) -> u64 {
        u64::from(packets) * self.mss
    }
}

impl Sender for NewReno {
    type Rules = Rules;

    fn new(rules: &Rules, route: &Route, paths: u32) -> Self {
        Self {
            window: dctcp::Dctcp::new(&rules.window, route.frame, route.initial_window, route.max_window),
            mss: route.frame.into(),
            threshold: rules.duplicate_acks.saturating_add(if rules.counts_paths { paths } else { 0 }),
            acked: 0,
            next: 0,
            hole: None,
            duplicates: 0,
            recovers_until: None,
            recovered: 0,
            smoothed: None,
            rto: rules.least_rto,
            since: 0,
            fast_retransmits: 0,
        }
    }

    #[inline(always)]
    fn next(&self, flow: &SendFlow, _out: &Outstanding, _now: Ps, _frames: Frames<'_>) -> Option<u32> {
        if self.hole.is_some() {
            return self.hole;
        }
        let fits = self.bytes(self.acked) + self.window.window() >= self.bytes(self.next + 1);
        (fits && self.next < flow.packets).then_some(self.next)
    }

    fn sent(&mut self, psn: u32, now: Ps, _out: &Outstanding) {
        if self.acked == self.next {
            self.since = now;
        }
        if self.hole.take().is_none() {
            self.next = psn + 1;
        }
    }

    fn acked(&mut self, rules: &Rules, report: &Report, out: &mut Outstanding) {
        self.window.count(&rules.window, report.is_marked);
        if let Some(rtt) = report.rtt {
            self.sample(rtt);
        }
        if report.is_old {
            return;
        }
        let highest = out.next_new();
        let base = out.base();
        if base > self.acked {
            let newly = self.bytes(base - self.acked);
            self.acked = base;
            self.next = self.next.max(base);
            self.hole = self.hole.filter(|&hole| hole >= base);
            self.duplicates = 0;
            self.since = report.now;
            // Timestamps, which htsim's ACKs echo, would give a sample here even of what was sent again.
            self.restore_rto(rules);
            match self.recovers_until {
                None => self.window.grow(newly),
                Some(until) if base >= until => {
                    self.window.end_recovery(self.bytes(highest - base));
                    self.recovers_until = None;
                    self.hole = None;
                }
                Some(_) => {
                    self.window.deflate(newly);
                    self.hole = Some(base);
                }
            }
        } else if base < highest {
            if self.recovers_until.is_some() {
                self.window.inflate();
                return;
            }
            self.duplicates += 1;
            if self.duplicates == self.threshold && base >= self.recovered {
                self.window.begin_recovery();
                self.recovers_until = Some(highest);
                self.recovered = highest;
                self.hole = Some(base);
                self.fast_retransmits += 1;
            }
        }
    }

    fn nacked(&mut self, _rules: &Rules, psn: u32, _now: Ps, out: &mut Outstanding) {
        // TCP knows no NACKs: the first hole is filled at once, and what is beyond waits for its turn.
        if psn == out.base() {
            self.hole = Some(psn);
        }
    }

    fn wakes_at(&self, _rules: &Rules, _out: &mut Outstanding) -> Ps {
        if self.next > self.acked || self.hole.is_some() { self.since.saturating_add(self.rto) } else { NEVER }
    }

    fn wake(&mut self, rules: &Rules, now: Ps, out: &mut Outstanding) -> Option<u32> {
        if now < self.wakes_at(rules, out) {
            return None;
        }
        self.window.collapse();
        self.rto = self.rto.saturating_mul(2);
        (self.since, self.duplicates, self.recovers_until) = (now, 0, None);
        (self.recovered, self.next) = (out.next_new(), self.acked + 1);
        self.hole = Some(self.acked);
        Some(self.acked)
    }

    fn window(&self) -> u64 {
        self.window.window()
    }

    fn fast_retransmits(&self) -> u64 {
        self.fast_retransmits
    }
}
