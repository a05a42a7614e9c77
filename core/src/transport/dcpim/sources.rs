//! Where flows begin: what the host may send, by tokens or for nothing, what it sends next, and whom it has not heard of for long.

use crate::transport::received::Received;
use crate::units::{NEVER, Ps};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// Leave to send one packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// Which packet.
    pub(super) psn: u32,
    /// Whether its channel is used before its data phase.
    pub(super) is_early: bool,
    pub(super) expires_at: Ps,
}

/// A packet that the host sends now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outgoing {
    /// Number of its flow among those that the host sends.
    pub(super) flow: u32,
    pub(super) psn: u32,
    pub(super) is_first: bool,
    pub(super) is_early: bool,
}

/// Which flow sends first: the kind of leave that it has, packets that it has not sent, when it was ready, its number.
type Rank = (u8, u32, Ps, u32);
const FREE: u8 = 0;
const MATCHED: u8 = 1;
const EARLY: u8 = 2;

/// One flow.
#[derive(Clone, Debug, Default)]
struct Source {
    packets: u32,
    ready_at: Ps,
    /// Packets that may be sent without tokens begin here, and end with the flow.
    free: u32,
    /// Tokens, those of early channels apart.
    tokens: [VecDeque<Token>; 2],
    /// What has been sent.
    sent: Received,
    /// Its place among those that may send.
    rank: Option<Rank>,
    /// When its receiver was last heard of.
    heard_at: Ps,
    is_over: bool,
}

impl Source {
    fn rank(&self, own: u32) -> Option<Rank> {
        let leave = if self.free < self.packets {
            FREE
        } else if !self.tokens[0].is_empty() {
            MATCHED
        } else if !self.tokens[1].is_empty() {
            EARLY
        } else {
            return None;
        };
        Some((leave, self.packets - self.sent.count(), self.ready_at, own))
    }

    /// The packet that its leave is for; none if that was a token too old, which counts in `expired`.
    fn next(&mut self, leave: u8, now: Ps, expired: &mut u64) -> Option<(u32, bool)> {
        if leave == FREE {
            self.free += 1;
            return Some((self.free - 1, false));
        }
        let Token { psn, is_early, expires_at } = self.tokens[usize::from(leave == EARLY)].pop_front()?;
        if expires_at < now {
            *expired += 1;
            return None;
        }
        Some((psn, is_early))
    }
}

/// All flows that a host sends.
#[derive(Debug)]
pub(super) struct Sources {
    flows: Vec<Source>,
    /// Those that may send, the first first.
    ready: BTreeSet<Rank>,
    /// When each flow that has begun is to be looked at, if it has not been heard of.
    silences: BinaryHeap<Reverse<(Ps, u32)>>,
    retry: Ps,
}

impl Sources {
    pub(super) fn new(packets: impl Iterator<Item = u32>, retry: Ps) -> Self {
        let flows = packets.map(|packets| Source { packets, free: packets, ..Source::default() }).collect();
        Self { flows, ready: BTreeSet::new(), silences: BinaryHeap::new(), retry }
    }

    /// A flow begins; a short one may send everything.
    pub(super) fn begin(&mut self, own: u32, is_short: bool, now: Ps) {
        let flow = &mut self.flows[own as usize];
        (flow.ready_at, flow.heard_at) = (now, now);
        if is_short {
            flow.free = 0;
        }
        self.rank(own);
        self.silences.push(Reverse((now + self.retry, own)));
    }

    /// A flow has been heard of.
    pub(super) fn hear(&mut self, own: u32, now: Ps) {
        self.flows[own as usize].heard_at = now;
    }

    /// A token has come. Those that are too old make room, and are counted.
    pub(super) fn add(&mut self, own: u32, token: Token, now: Ps) -> u64 {
        let flow = &mut self.flows[own as usize];
        if flow.is_over {
            return 0;
        }
        let tokens = &mut flow.tokens[usize::from(token.is_early)];
        let mut expired = 0;
        while tokens.front().is_some_and(|token| token.expires_at < now) {
            tokens.pop_front();
            expired += 1;
        }
        tokens.push_back(token);
        self.rank(own);
        expired
    }

    /// A flow has got there.
    pub(super) fn end(&mut self, own: u32) {
        let flow = &mut self.flows[own as usize];
        (flow.is_over, flow.free) = (true, flow.packets);
        (flow.tokens, flow.sent) = Default::default();
        self.rank(own);
    }

    /// Whether any flow may send.
    #[inline(always)]
    pub(super) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// What the host sends now; and how many tokens turned out to be too old.
    pub(super) fn next(&mut self, now: Ps) -> (Option<Outgoing>, u64) {
        let mut expired = 0;
        while let Some(&(leave, .., own)) = self.ready.first() {
            let flow = &mut self.flows[own as usize];
            let packet = flow.next(leave, now, &mut expired).map(|(psn, is_early)| Outgoing {
                flow: own,
                psn,
                is_first: flow.sent.insert(psn),
                is_early,
            });
            self.rank(own);
            if packet.is_some() {
                return (packet, expired);
            }
        }
        (None, expired)
    }

    /// When next a flow has not been heard of for so long that it asks again.
    #[inline(always)]
    pub(super) fn next_silence_at(&self) -> Ps {
        self.silences.peek().map_or(NEVER, |&Reverse((at, _))| at)
    }

    /// The next flow that asks again by `now`.
    pub(super) fn silent(&mut self, now: Ps) -> Option<u32> {
        while self.next_silence_at() <= now {
            let Reverse((_, own)) = self.silences.pop()?;
            let flow = &self.flows[own as usize];
            if flow.is_over {
                continue;
            }
            let is_silent = flow.heard_at + self.retry <= now;
            let from = if is_silent { now } else { flow.heard_at };
            self.silences.push(Reverse((from + self.retry, own)));
            if is_silent {
                return Some(own);
            }
        }
        None
    }

    /// Puts a flow where it belongs among those that may send.
    fn rank(&mut self, own: u32) {
        let flow = &mut self.flows[own as usize];
        let rank = flow.rank(own);
        if rank != flow.rank {
            if let Some(old) = flow.rank {
                self.ready.remove(&old);
            }
            self.ready.extend(rank);
            flow.rank = rank;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(psn: u32, is_early: bool, expires_at: Ps) -> Token {
        Token { psn, is_early, expires_at }
    }

    /// Short flows go first and whole, the shorter one before the longer; then matched tokens, then early ones.
    #[test]
    fn leave_and_length_decide_who_sends() {
        let mut sources = Sources::new([3, 2, 50, 40].into_iter(), 100);
        for own in 0..4 {
            sources.begin(own, own < 2, 0);
        }
        assert_eq!(sources.add(3, token(7, true, 50), 10), 0);
        assert_eq!(sources.add(2, token(9, false, 50), 10), 0);
        let order: Vec<_> = std::iter::from_fn(|| sources.next(20).0).map(|packet| (packet.flow, packet.psn)).collect();
        assert_eq!(order, [(1, 0), (1, 1), (0, 0), (0, 1), (0, 2), (2, 9), (3, 7)]);
        assert!(!sources.is_ready());
    }

    #[test]
    fn tokens_expire_and_are_counted_wherever_that_is_noticed() {
        let mut sources = Sources::new([50].into_iter(), 100);
        sources.begin(0, false, 0);
        assert_eq!(sources.add(0, token(0, false, 10), 5), 0);
        assert_eq!(sources.add(0, token(1, false, 30), 11), 1);
        assert_eq!(sources.next(31), (None, 1));
        assert_eq!(sources.add(0, token(1, false, 50), 40), 0);
        let packet = Outgoing { flow: 0, psn: 1, is_first: true, is_early: false };
        assert_eq!(sources.next(50), (Some(packet), 0));
        assert_eq!(sources.add(0, token(1, false, 90), 60), 0);
        assert_eq!(sources.next(60), (Some(Outgoing { is_first: false, ..packet }), 0));
        sources.end(0);
        assert_eq!(sources.add(0, token(2, false, 90), 60), 0);
        assert!(!sources.is_ready(), "what has got there is sent no more");
    }

    #[test]
    fn who_is_not_heard_of_asks_again_until_it_is_over() {
        let mut sources = Sources::new([50, 50].into_iter(), 100);
        sources.begin(0, false, 0);
        sources.begin(1, false, 40);
        sources.hear(0, 70);
        assert_eq!((sources.next_silence_at(), sources.silent(100), sources.next_silence_at()), (100, None, 140));
        assert_eq!((sources.silent(140), sources.silent(170), sources.silent(170)), (Some(1), Some(0), None));
        sources.end(1);
        assert_eq!((sources.silent(269), sources.silent(270), sources.next_silence_at()), (None, Some(0), 370));
    }
}
