//! Which packets of a flow its receiver has given tokens for: pass after pass over what is missing.

use crate::transport::received::Received;
use crate::units::Ps;
use std::collections::VecDeque;

/// A pass goes no farther beyond the first missing packet, so that what is kept of a flow is bounded however long it is.
const SPAN: u32 = 1 << 14;

/// The tokens of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    /// Everything below has a token in this pass, or is there.
    cursor: u32,
    /// Everything below has had one before.
    ahead: u32,
    /// Tokens out, in order, of which no later one's packet has come.
    out: VecDeque<u32>,
    /// When the last token was sent.
    last_at: Ps,
    /// The pass has ended, and the next begins then. 0: it has not.
    held_until: Ps,
}

impl Pass {
    /// Of a flow all of which has been sent without tokens: what is missing later gets some.
    pub(super) fn after_free(packets: u32, held_until: Ps) -> Self {
        Self { cursor: packets, ahead: packets, held_until, ..Self::default() }
    }

    /// How long the flow gets no tokens; a moment in the past if it may have some.
    pub(super) fn held_until(&self) -> Ps {
        self.held_until
    }

    /// When the flow may have a token: now, or later. Tokens that have been out for `patience` are given up.
    pub(super) fn next_at(&mut self, received: &Received, packets: u32, window: usize, patience: Ps, now: Ps) -> Ps {
        // What was missing from the cursor on may have come meanwhile.
        if self.held_until == 0 && self.missing(received) >= end(received, packets) {
            self.held_until = self.last_at + patience;
        }
        if self.held_until > now {
            return self.held_until;
        }
        if self.held_until > 0 {
            (self.held_until, self.cursor) = (0, received.below());
            self.out.clear();
        }
        if self.out.len() < window {
            return now;
        }
        let given_up_at = self.last_at + patience;
        if given_up_at <= now {
            self.out.clear();
        }
        given_up_at.max(now)
    }

    /// The next packet to have a token, and whether it had one before. After the last one that is missing, the next pass waits for `patience`.
    pub(super) fn grant(&mut self, received: &Received, packets: u32, patience: Ps, now: Ps) -> (u32, bool) {
        let psn = self.missing(received);
        let is_again = psn < self.ahead;
        self.cursor = psn + 1;
        self.ahead = self.ahead.max(self.cursor);
        self.out.push_back(psn);
        self.last_at = now;
        if self.missing(received) >= end(received, packets) {
            self.held_until = now + patience;
        }
        (psn, is_again)
    }

    /// A packet has come: its token, and those before it, are no longer out.
    #[inline(always)]
    pub(super) fn note_arrival(&mut self, psn: u32) {
        if let Some(place) = self.out.iter().position(|&out| out == psn) {
            self.out.drain(..=place);
        }
    }

    /// The first packet from the cursor on that is missing.
    fn missing(&self, received: &Received) -> u32 {
        let mut psn = self.cursor.max(received.below());
        while received.contains(psn) {
            psn += 1;
        }
        psn
    }
}

/// Where a pass over a flow of so many packets ends.
fn end(received: &Received, packets: u32) -> u32 {
    packets.min(received.below().saturating_add(SPAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_gets_another_token_after_a_while() {
        let (mut pass, mut received) = (Pass::default(), Received::default());
        for psn in 0..3 {
            let now = Ps::from(psn);
            assert_eq!(pass.next_at(&received, 3, 9, 100, now), now);
            assert_eq!(pass.grant(&received, 3, 100, now), (psn, false));
        }
        for psn in [0, 2] {
            received.insert(psn);
        }
        assert_eq!(pass.next_at(&received, 3, 9, 100, 50), 102);
        assert_eq!(pass.next_at(&received, 3, 9, 100, 102), 102);
        assert_eq!(pass.grant(&received, 3, 100, 102), (1, true));
        assert_eq!(pass.held_until(), 202);
    }

    /// The last two packets are late: the one before the last comes after it has its second token, the last before it does. There is nothing to give a token for then.
    #[test]
    fn what_comes_late_gets_no_token() {
        let (mut pass, mut received) = (Pass::after_free(3, 100), Received::default());
        received.insert(0);
        assert_eq!(pass.next_at(&received, 3, 9, 100, 100), 100);
        assert_eq!(pass.grant(&received, 3, 100, 100), (1, true));
        received.insert(2);
        assert_eq!(pass.next_at(&received, 3, 9, 100, 101), 200);
        assert_eq!(pass.next_at(&received, 3, 9, 100, 200), 200);
        assert_eq!(pass.grant(&received, 3, 100, 200), (1, true));
    }

    #[test]
    fn a_full_window_waits_for_a_packet_or_for_long() {
        let (mut pass, mut received) = (Pass::default(), Received::default());
        for _ in 0..4 {
            pass.grant(&received, 99, 100, 7);
        }
        assert_eq!(pass.next_at(&received, 99, 4, 100, 8), 107);
        received.insert(1);
        pass.note_arrival(1);
        assert_eq!((pass.next_at(&received, 99, 4, 100, 8), pass.out.len()), (8, 2));
        pass.grant(&received, 99, 100, 8);
        pass.grant(&received, 99, 100, 9);
        assert_eq!(pass.next_at(&received, 99, 4, 100, 108), 109);
        assert_eq!((pass.next_at(&received, 99, 4, 100, 109), pass.out.len()), (109, 0));
    }

    /// A lost packet of an endless flow: the pass ends within the span, and the lost packet comes next.
    #[test]
    fn an_endless_flow_keeps_little() {
        let (mut pass, mut received, mut last) = (Pass::default(), Received::default(), 0);
        pass.grant(&received, u32::MAX, 100, 0);
        while pass.held_until() == 0 {
            last = pass.grant(&received, u32::MAX, 100, 0).0;
            received.insert(last);
        }
        assert_eq!(last, SPAN - 1);
        assert_eq!(pass.next_at(&received, u32::MAX, 9, 100, 100), 100);
        assert_eq!(pass.grant(&received, u32::MAX, 100, 100), (0, true));
        received.insert(0);
        assert_eq!(pass.grant(&received, u32::MAX, 100, 100), (SPAN, false));
    }
}
