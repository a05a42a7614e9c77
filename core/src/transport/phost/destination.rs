//! Where flows end: which of them gets the next token, and for which packet.
//!
//! One clock a host: a token every T, which is what its link can take in. While there is nobody to give one to the clock sleeps until the first wait ends, or until a new
//! flow begins; a window that opens meanwhile does not wake it.

use crate::transport::flows::Flows;
use crate::units::{NEVER, Ps};
use crate::workload::ReceiveFlow;
use std::collections::BTreeSet;

/// What the configuration says, and T.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Time of a full frame and its gap.
    pub(super) interval: Ps,
    /// Flows of no more packets have been given a token a packet beforehand.
    pub(super) free_tokens: u32,
    /// Tokens that may be ahead of the largest seen in data.
    pub(super) window: u64,
    pub(super) window_timeout: Ps,
    pub(super) resend_timeout: Ps,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// Number of the flow among those that the host receives.
    pub(super) own: usize,
    /// Number of the token in its flow.
    pub(super) number: u64,
    /// The data packet that it is for.
    pub(super) psn: u32,
    /// Whether every packet of the flow has had a token before.
    pub(super) is_again: bool,
}

/// Where a flow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// It is not known, or all of it is here.
    #[default]
    Out,
    /// It may get a token; what was missing when it was put here.
    Ready(u32),
    /// Its window is full, until then or until data comes.
    Full(Ps),
    /// All that is missing has a token, which may be used until then.
    Granted(Ps),
}

/// One flow.
#[derive(Clone, Debug, Default)]
struct Flow {
    place: Place,
    is_known: bool,
    /// Tokens so far: the number of the next.
    given: u64,
    /// With so many tokens, all that is missing has one.
    goal: u64,
    /// One more than the largest number seen in data.
    seen: u64,
    /// Where to look for the next packet without a token.
    next: u32,
    /// When the last token was given; before the first, when the flow became known.
    given_at: Ps,
}

/// All flows that end at a host.
#[derive(Debug)]
pub(super) struct Destination {
    pace: Pace,
    flows: Vec<Flow>,
    /// Those that may get a token: what has the least missing first, then what has had none for longest.
    ready: BTreeSet<(u32, Ps, u32)>,
    /// Those that may not, by when they may.
    waiting: BTreeSet<(Ps, u32)>,
    next_at: Ps,
    is_asleep: bool,
}

impl Destination {
    pub(super) fn new(flows: usize, pace: Pace) -> Self {
        let flows = vec![Flow::default(); flows];
        Self { pace, flows, ready: BTreeSet::new(), waiting: BTreeSet::new(), next_at: NEVER, is_asleep: true }
    }

    /// When the clock next looks for a flow.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ps {
        self.next_at
    }

    /// An RTS has come, or data in its stead. Only the first counts.
    pub(super) fn begin(&mut self, own: usize, packets: u32, now: Ps) {
        let flow = &mut self.flows[own];
        if flow.is_known {
            return;
        }
        (flow.is_known, flow.given_at, flow.goal) = (true, now, packets.into());
        if packets <= self.pace.free_tokens {
            flow.given = packets.into();
            self.put(own, Place::Granted(now + 2 * u64::from(packets) * self.pace.interval));
        } else {
            self.put(own, Place::Ready(packets));
        }
        if self.is_asleep {
            (self.next_at, self.is_asleep) = (now, false);
        }
    }

    /// Data of a known flow has come, with the low `bits` bits of its token's number; so many packets are still missing.
    pub(super) fn note(&mut self, own: usize, low: u16, bits: u32, missing: u32) {
        let flow = &mut self.flows[own];
        // Serial numbers (RFC 1982): the nearest of that name, and none that was not given.
        let ahead = u32::from(low).wrapping_sub(flow.seen as u32) << (u32::BITS - bits);
        let seen = flow.seen.wrapping_add_signed(i64::from(ahead as i32 >> (u32::BITS - bits)) + 1);
        if seen <= flow.given && flow.seen < seen {
            flow.seen = seen;
        }
        let is_open = flow.given - flow.seen < self.pace.window;
        match flow.place {
            _ if missing == 0 => self.put(own, Place::Out),
            Place::Ready(_) => self.put(own, Place::Ready(missing)),
            Place::Full(_) if is_open => self.put(own, Place::Ready(missing)),
            _ => {}
        }
    }

    /// The next token, at [`Destination::next_at`].
    pub(super) fn grant(&mut self, now: Ps, flows: &Flows, receive: &[ReceiveFlow]) -> Option<Grant> {
        let missing = |own: usize| receive[own].packets - receive[own].received;
        while let Some(own) = self.waiting.first().filter(|&&(until, _)| until <= now).map(|&(_, own)| own as usize) {
            self.put(own, Place::Ready(missing(own)));
        }
        while let Some(own) = self.ready.first().map(|&(_, _, own)| own as usize) {
            let flow = &mut self.flows[own];
            if flow.given == flow.goal {
                flow.goal += u64::from(missing(own));
            }
            if flow.given - flow.seen >= self.pace.window {
                let until = flow.given_at + self.pace.window_timeout;
                if now < until {
                    self.put(own, Place::Full(until));
                    continue;
                }
                flow.seen = flow.given + 1 - self.pace.window;
            }
            let (set, packets) = (&flows.arrived[own].set, receive[own].packets);
            let psn = Some(set.next_missing(flow.next)).filter(|&psn| psn < packets).unwrap_or_else(|| set.below());
            let grant = Grant { own, number: flow.given, psn, is_again: flow.given >= packets.into() };
            // It leaves the order, which goes by what changes here.
            self.put(own, Place::Out);
            let flow = &mut self.flows[own];
            (flow.given, flow.given_at, flow.next) = (flow.given + 1, now, psn + 1);
            let has_all = flow.given == flow.goal;
            self.put(own, if has_all { Place::Granted(now + self.pace.resend_timeout) } else { Place::Ready(missing(own)) });
            self.next_at = now + self.pace.interval;
            return Some(grant);
        }
        (self.next_at, self.is_asleep) = (self.waiting.first().map_or(NEVER, |&(until, _)| until), true);
        None
    }

    fn put(&mut self, own: usize, place: Place) {
        let flow = &mut self.flows[own];
        let (number, given_at) = (own as u32, flow.given_at);
        match std::mem::replace(&mut flow.place, place) {
            Place::Out => false,
            Place::Ready(missing) => self.ready.remove(&(missing, given_at, number)),
            Place::Full(until) | Place::Granted(until) => self.waiting.remove(&(until, number)),
        };
        match place {
            Place::Out => false,
            Place::Ready(missing) => self.ready.insert((missing, given_at, number)),
            Place::Full(until) | Place::Granted(until) => self.waiting.insert((until, number)),
        };
    }
}
