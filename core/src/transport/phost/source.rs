//! Where flows begin: tokens that wait to be used, and whose turn it is.

use crate::transport::received::Received;
use crate::units::{NEVER, Ps};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// A token that has come.
#[derive(Clone, Copy, Debug)]
struct Token {
    psn: u32,
    low: u16,
    /// It is good up to this moment.
    good_until: Ps,
}

/// A data packet that a token lets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Released {
    /// Number of the flow among those that the host sends.
    pub(super) own: usize,
    pub(super) psn: u32,
    /// Low bits of the token's number.
    pub(super) low: u16,
    /// Whether the packet has not been sent before.
    pub(super) is_first: bool,
}

/// One flow.
#[derive(Clone, Debug)]
struct Flow {
    packets: u32,
    began_at: Ps,
    /// The first packet whose free token has not been used, and until when those are good.
    next_free: u32,
    free_until: Ps,
    tokens: VecDeque<Token>,
    /// Packets sent.
    sent: Received,
    /// When its receiver was last heard of, or asked.
    heard_at: Ps,
    is_over: bool,
}

impl Flow {
    fn remaining(&self) -> u32 {
        self.packets - self.sent.count()
    }

    /// Gives up tokens that are no longer good; how many.
    fn expire(&mut self, now: Ps) -> u64 {
        let expired = self.tokens.iter().take_while(|token| token.good_until < now).count();
        self.tokens.drain(..expired);
        expired as u64
    }

    fn has_free(&self, now: Ps) -> bool {
        self.next_free < self.packets && now <= self.free_until
    }
}

/// All flows that a host sends.
#[derive(Debug)]
pub(super) struct Source {
    flows: Vec<Flow>,
    /// Flows that had a token when last looked at: what has the least left first, then what began first.
    ready: BTreeSet<(u32, Ps, u32)>,
    /// When the last of them came in.
    ready_at: Ps,
    /// When to ask about which flow, unless its receiver is heard of.
    retries: BinaryHeap<Reverse<(Ps, u32)>>,
    retry: Ps,
    token_lifetime: Ps,
    pub(super) expired: u64,
}

impl Source {
    /// Flows of so many packets.
    pub(super) fn new(packets: impl Iterator<Item = u32>, retry: Ps, token_lifetime: Ps) -> Self {
        let flow = |packets| Flow {
            packets,
            began_at: 0,
            next_free: packets,
            free_until: 0,
            tokens: VecDeque::new(),
            sent: Received::default(),
            heard_at: 0,
            is_over: false,
        };
        Self {
            flows: packets.map(flow).collect(),
            ready: BTreeSet::new(),
            ready_at: 0,
            retries: BinaryHeap::new(),
            retry,
            token_lifetime,
            expired: 0,
        }
    }

    /// When a flow may send, if the NIC is idle.
    #[inline(always)]
    pub(super) fn ready_at(&self) -> Ps {
        if self.ready.is_empty() { NEVER } else { self.ready_at }
    }

    /// When the next receiver may have to be asked.
    #[inline(always)]
    pub(super) fn retry_at(&self) -> Ps {
        self.retries.peek().map_or(NEVER, |&Reverse((at, _))| at)
    }

    /// A flow begins and its RTS is sent. With free tokens, it has one for each packet, as if one came every `interval`.
    pub(super) fn begin(&mut self, own: usize, has_free_tokens: bool, interval: Ps, now: Ps) {
        let flow = &mut self.flows[own];
        (flow.began_at, flow.heard_at) = (now, now);
        if has_free_tokens {
            flow.next_free = 0;
            flow.free_until = now + u64::from(flow.packets) * interval + self.token_lifetime;
            self.make_ready(own, now);
        }
        self.retries.push(Reverse((now + self.retry, own as u32)));
    }

    /// A token has come.
    pub(super) fn add(&mut self, own: usize, psn: u32, low: u16, now: Ps) {
        let flow = &mut self.flows[own];
        if flow.is_over {
            return;
        }
        flow.heard_at = now;
        self.expired += flow.expire(now);
        flow.tokens.push_back(Token { psn, low, good_until: now + self.token_lifetime });
        self.make_ready(own, now);
    }

    fn make_ready(&mut self, own: usize, now: Ps) {
        let flow = &self.flows[own];
        self.ready.insert((flow.remaining(), flow.began_at, own as u32));
        self.ready_at = now;
    }

    /// The receiver has everything.
    pub(super) fn end(&mut self, own: usize) {
        let flow = &mut self.flows[own];
        self.ready.remove(&(flow.remaining(), flow.began_at, own as u32));
        (flow.is_over, flow.tokens, flow.sent) = (true, VecDeque::new(), Received::default());
    }

    /// The packet that goes next: of the flow that has the least left among those with a good token.
    pub(super) fn release(&mut self, now: Ps) -> Option<Released> {
        loop {
            let own = self.ready.pop_first()?.2 as usize;
            let flow = &mut self.flows[own];
            self.expired += flow.expire(now);
            let (psn, low) = if flow.has_free(now) {
                flow.next_free += 1;
                (flow.next_free - 1, (flow.next_free - 1) as u16)
            } else if let Some(Token { psn, low, .. }) = flow.tokens.pop_front() {
                (psn, low)
            } else {
                continue;
            };
            let is_first = flow.sent.insert(psn);
            if flow.has_free(now) || !flow.tokens.is_empty() {
                self.make_ready(own, now);
            }
            return Some(Released { own, psn, low, is_first });
        }
    }

    /// The next flow whose receiver has not been heard of for too long by `now`: it is asked again.
    pub(super) fn unheard(&mut self, now: Ps) -> Option<usize> {
        while self.retry_at() <= now {
            let own = self.retries.pop()?.0.1;
            let flow = &mut self.flows[own as usize];
            if flow.is_over {
                continue;
            }
            let is_unheard = flow.heard_at + self.retry <= now;
            if is_unheard {
                flow.heard_at = now;
            }
            self.retries.push(Reverse((flow.heard_at + self.retry, own)));
            if is_unheard {
                return Some(own as usize);
            }
        }
        None
    }
}
