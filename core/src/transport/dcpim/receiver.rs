//! Where flows end: whom the host asks for channels, round after round, and when it sends which token over those that it has.

use super::clocks::Clocks;
use super::matching::{Calendar, Channels, Offer, Terms};
use super::pass::Pass;
use crate::hash::FastMap;
use crate::packet::Kind;
use crate::rng::Stream;
use crate::transport::flows::Flows;
use crate::units::{NEVER, Ps};
use crate::workload::ReceiveFlow;

/// What a receiver goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) calendar: Calendar,
    pub(super) channels: u32,
    /// Time of a full frame.
    pub(super) frame: Ps,
    /// Tokens out, over all channels.
    pub(super) window: u32,
    pub(super) patience: Ps,
    pub(super) short: u32,
}

impl Pace {
    /// Packets that one channel carries in a data phase.
    fn channel_packets(&self) -> u64 {
        (self.calendar.phase() / self.frame / u64::from(self.channels)).max(1)
    }
}

/// What a receiver tells a sender in a matching.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) kind: Kind,
    /// Number of the flow that stands for the pair, among those that the host receives.
    pub(super) flow: u32,
    pub(super) terms: Terms,
    pub(super) number: u32,
}

/// A packet that may be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Granted {
    pub(super) flow: u32,
    pub(super) psn: u32,
    pub(super) is_early: bool,
    pub(super) is_again: bool,
}

/// What a host receives, by whom it comes from.
#[derive(Debug)]
pub(super) struct Receiver {
    pace: Pace,
    channels: Channels,
    stream: Stream,
    /// Unfinished flows of each sender, in the order in which they were heard of.
    pairs: Vec<Vec<u32>>,
    /// The sender of each flow.
    pair_of: Vec<u32>,
    /// Each flow once it has been heard of.
    passes: Vec<Option<Pass>>,
    /// Senders with unfinished flows.
    active: Vec<u32>,
    /// Channels of the data phase, and early ones.
    clocks: Clocks,
    /// Channels of the next data phase.
    matched: Vec<(u32, u32)>,
    next_round_at: Ps,
}

impl Receiver {
    pub(super) fn new(pace: Pace, stream: Stream, flows: &[ReceiveFlow]) -> Self {
        let mut pair_of_address = FastMap::default();
        let pair_of: Vec<u32> = flows
            .iter()
            .map(|flow| {
                let count = pair_of_address.len() as u32;
                *pair_of_address.entry(flow.address).or_insert(count)
            })
            .collect();
        Self {
            pace,
            channels: Channels::new(pace.channels),
            stream,
            pairs: vec![Vec::new(); pair_of_address.len()],
            pair_of,
            passes: vec![None; flows.len()],
            active: Vec::new(),
            clocks: Clocks::new(),
            matched: Vec::new(),
            next_round_at: NEVER,
        }
    }

    /// When a round begins in which there is something to do.
    #[inline(always)]
    pub(super) fn next_round_at(&self) -> Ps {
        self.next_round_at
    }

    /// When the next token is due.
    #[inline(always)]
    pub(super) fn next_token_at(&self) -> Ps {
        self.clocks.next_at()
    }

    /// A packet of a flow has come, or word of it; whether it is the first that is heard of it.
    #[inline(always)]
    pub(super) fn hear(&mut self, own: usize, packets: u32, now: Ps) -> bool {
        let is_new = self.passes[own].is_none();
        if is_new {
            self.begin(own, packets, now);
        }
        is_new
    }

    fn begin(&mut self, own: usize, packets: u32, now: Ps) {
        let Pace { short, frame, patience, .. } = self.pace;
        let pass = if packets <= short {
            Pass::after_free(packets, now + u64::from(packets) * frame + patience)
        } else {
            Pass::default()
        };
        self.passes[own] = Some(pass);
        let pair = self.pair_of[own];
        let flows = &mut self.pairs[pair as usize];
        if flows.is_empty() {
            self.active.push(pair);
        }
        flows.push(own as u32);
        self.clocks.wake(pair, now);
        self.mind_next_round(now);
    }

    /// A data packet has come.
    #[inline(always)]
    pub(super) fn note_arrival(&mut self, own: usize, psn: u32, now: Ps) {
        if let Some(pass) = &mut self.passes[own] {
            pass.note_arrival(psn);
        }
        self.clocks.wake(self.pair_of[own], now);
    }

    /// All of a flow has come.
    pub(super) fn end(&mut self, own: usize) {
        let pair = self.pair_of[own];
        let flows = &mut self.pairs[pair as usize];
        flows.retain(|&flow| flow != own as u32);
        if flows.is_empty() {
            self.active.retain(|&active| active != pair);
        }
        self.passes[own] = Some(Pass::default());
    }

    /// A sender grants channels, for what that is worth: late grants are worth nothing.
    pub(super) fn add_grant(&mut self, own: u32, terms: Terms, early: u32, flow: &ReceiveFlow, now: Ps) {
        let epoch = self.pace.calendar.epoch_of(terms.round);
        if terms.is_returned {
            self.give_back(self.pair_of[own as usize], epoch, terms.channels, early);
        } else if terms.round == self.pace.calendar.round_at(now) {
            let remaining = flow.packets - flow.received;
            self.channels.offers.push(Offer { flow: own, channels: terms.channels, early, remaining });
            self.mind_next_round(now);
        }
    }

    /// What was accepted was more than the sender had.
    fn give_back(&mut self, pair: u32, epoch: u64, channels: u32, early: u32) {
        self.channels.give_back(epoch, channels, early);
        for (_, held) in self.matched.iter_mut().filter(|(of, _)| *of == pair && epoch == self.channels.epoch()) {
            *held = held.saturating_sub(channels);
        }
        self.matched.retain(|&(_, held)| held > 0);
        let held = if epoch + 1 == self.channels.epoch() { channels } else { 0 };
        self.clocks.give_back(pair, held, early);
    }

    /// A round begins, which is [`Receiver::next_round_at`]: what was granted in the last is accepted, and what is still wanted is requested. Returns the channels that
    /// enter their data phase.
    pub(super) fn turn(&mut self, now: Ps, flows: &Flows, receive: &[ReceiveFlow], say: &mut Vec<Message>) -> u64 {
        let calendar = self.pace.calendar;
        let round = calendar.round_at(now);
        if !self.channels.offers.is_empty() {
            self.accept(round - 1, now, say);
        }
        let mut begun = 0;
        if calendar.is_first(round) {
            begun = self.matched.iter().map(|&(_, channels)| u64::from(channels)).sum();
            self.clocks.begin_phase(self.matched.drain(..), now);
        }
        self.channels.advance(calendar.epoch_of(round));
        self.request(round, now, flows, receive, say);
        self.next_round_at = NEVER;
        if !(self.active.is_empty() && self.clocks.is_empty() && self.matched.is_empty()) {
            self.mind_next_round(now);
        }
        begun
    }

    fn accept(&mut self, round: u64, now: Ps, say: &mut Vec<Message>) {
        let epoch = self.pace.calendar.epoch_of(round);
        self.channels.advance(epoch);
        for Offer { flow, channels, early, .. } in self.channels.choose(self.pace.calendar.is_first(round), &mut self.stream) {
            let pair = self.pair_of[flow as usize];
            let Some(&flow) = self.pairs[pair as usize].first() else { continue };
            self.channels.take(epoch, channels, early);
            match self.matched.iter_mut().find(|(of, _)| *of == pair) {
                Some((_, held)) => *held += channels,
                None => self.matched.push((pair, channels)),
            }
            self.clocks.add_early(pair, early, now);
            let terms = Terms { channels, round, is_returned: false };
            say.push(Message { kind: Kind::Accept, flow, terms, number: early });
        }
    }

    fn request(&mut self, round: u64, now: Ps, flows: &Flows, receive: &[ReceiveFlow], say: &mut Vec<Message>) {
        let free = self.channels.free();
        for &pair in self.active.iter().filter(|_| free > 0) {
            let (mut remaining, mut shortest) = (0, None);
            for &flow in &self.pairs[pair as usize] {
                let is_held = self.passes[flow as usize].as_ref().is_none_or(|pass| pass.held_until() > now);
                let left = receive[flow as usize].packets - flows.arrived[flow as usize].set.count();
                if !is_held {
                    remaining += u64::from(left);
                    shortest = shortest.min(Some((left, flow))).or(Some((left, flow)));
                }
            }
            let Some((number, flow)) = shortest else { continue };
            let channels = remaining.div_ceil(self.pace.channel_packets()).saturating_sub(self.held_of(pair).into());
            let channels = channels.min(free.into()) as u32;
            if channels > 0 {
                let terms = Terms { channels, round, is_returned: false };
                say.push(Message { kind: Kind::Request, flow, terms, number });
            }
        }
    }

    /// Channels of a sender, in this data phase and the next.
    fn held_of(&self, pair: u32) -> u32 {
        let matched = self.matched.iter().filter(|(of, _)| *of == pair).map(|(_, channels)| channels);
        self.clocks.held_of(pair) + matched.sum::<u32>()
    }

    /// The next token that is due by `now`, if there is a flow for it: of the sender's flows, the one with the least remaining.
    pub(super) fn token(&mut self, now: Ps, flows: &Flows, receive: &[ReceiveFlow]) -> Option<Granted> {
        let Pace { channels, window, patience, frame, .. } = self.pace;
        let (place, clock) = self.clocks.due(now)?;
        let window = (u64::from(window) * u64::from(clock.channels)).div_ceil(channels.into()) as usize;
        let (mut wake_at, mut best) = (NEVER, None);
        for &flow in &self.pairs[clock.pair as usize] {
            let set = &flows.arrived[flow as usize].set;
            let Some(pass) = &mut self.passes[flow as usize] else { continue };
            let packets = receive[flow as usize].packets;
            let (next_at, left) = (pass.next_at(set, packets, window, patience, now), packets - set.count());
            if next_at > now {
                wake_at = wake_at.min(next_at);
            } else if best.is_none_or(|(least, _)| left < least) {
                best = Some((left, flow));
            }
        }
        let interval = frame * u64::from(channels) / u64::from(clock.channels);
        self.clocks.set(place, if best.is_some() { now + interval } else { wake_at }, best.is_none());
        let (_, flow) = best?;
        let pass = self.passes[flow as usize].as_mut()?;
        let (psn, is_again) = pass.grant(&flows.arrived[flow as usize].set, receive[flow as usize].packets, patience, now);
        Some(Granted { flow, psn, is_early: clock.is_early, is_again })
    }

    fn mind_next_round(&mut self, now: Ps) {
        let calendar = self.pace.calendar;
        self.next_round_at = self.next_round_at.min(calendar.start(calendar.round_at(now) + 1));
    }
}
