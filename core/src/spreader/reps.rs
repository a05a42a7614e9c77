//! REPS, recycled entropy packet spraying: a flow sends an entropy value again once it has come back without a mark, oldest first, else a random one.
//!
//! *Source*: Bonato et al., EuroSys 2026; Ofan paper, section 3.1 (queues grow about as sqrt(m)) and section 6.1 (freezing). A timeout freezes the flow: for a
//! while it repeats the values that it remembers, good for avoiding dead paths; after that it explores. *Differs*: every data packet has its ACK, so
//! that a value is used once for each time that it came back. Without retransmission a timeout is only noticed. *State*: 8 values a flow (host).
//! *Cost*: a ring of values at the host, a hash at each switch.

use super::in_flight::InFlight;
use crate::config::{BalancerConfig, Freezing};
use crate::rng::{Purpose, Stream};
use crate::units::{NEVER, Ps};

/// What all flows of a run share.
#[derive(Clone, Copy, Debug)]
struct Rules {
    entropies: u64,
    explore_packets: u32,
    rto: Ps,
    freeze: Ps,
    freezes: bool,
}

/// REPS at one host.
#[derive(Debug)]
pub struct Reps {
    rules: Rules,
    stream: Stream,
    flows: Box<[Flow]>,
}

impl Reps {
    /// `flows` messages leave the host. `times_out`: whether nobody else says which packets are overdue.
    pub(super) fn new(config: BalancerConfig, times_out: bool, flows: usize, host: u32, seed: u64) -> Self {
        let BalancerConfig::Reps { entropies, slots, explore_packets, freezing, rto_ps, freeze_ps } = config else {
            unreachable!("called for REPS only")
        };
        let freezes = freezing == Freezing::OnTimeout;
        let rto = if freezes && times_out { rto_ps } else { NEVER };
        Self {
            rules: Rules { entropies: entropies.into(), explore_packets, rto, freeze: freeze_ps, freezes },
            stream: Stream::new(seed, Purpose::Spreader, u64::from(host)),
            flows: (0..flows).map(|_| Flow::new(slots as usize)).collect(),
        }
    }

    #[inline(always)]
    pub(super) fn data(&mut self, flow: usize, psn: u32, now: Ps) -> u16 {
        let (flow, rules) = (&mut self.flows[flow], &self.rules);
        flow.look_for_timeouts(now, rules);
        let value = flow.recycled().unwrap_or_else(|| self.stream.below(rules.entropies) as u16);
        flow.in_flight.send(psn, value, now);
        value
    }

    #[inline(always)]
    pub(super) fn ack(&mut self) -> u16 {
        self.stream.below(self.rules.entropies) as u16
    }

    #[inline(always)]
    pub(super) fn acked(&mut self, flow: usize, psn: u32, is_marked: bool, now: Ps) {
        let (flow, rules) = (&mut self.flows[flow], &self.rules);
        flow.look_for_timeouts(now, rules);
        if let Some(value) = flow.in_flight.acked(psn) {
            flow.came_back(value, is_marked, now, rules);
        }
    }
}

impl Reps {
    pub(super) fn passed(&mut self, flow: usize, psn: u32) {
        self.flows[flow].in_flight.passed(psn);
    }

    pub(super) fn timed_out(&mut self, flow: usize, now: Ps) {
        if self.rules.freezes {
            self.flows[flow].freeze(now, &self.rules);
        }
    }
}

/// The values that one flow remembers.
#[derive(Debug)]
struct Flow {
    in_flight: InFlight,
    /// Ring of values and whether each waits to be sent again.
    slots: Box<[(u16, bool)]>,
    /// Where the next value goes.
    head: usize,
    stored: usize,
    explore: u32,
    /// End of the freeze.
    frozen_until: Option<Ps>,
    replay: usize,
}

impl Flow {
    fn new(slots: usize) -> Self {
        let slots: Box<[_]> = vec![(0, false); slots].into();
        Self { in_flight: InFlight::default(), slots, head: 0, stored: 0, explore: 0, frozen_until: None, replay: 0 }
    }

    fn came_back(&mut self, value: u16, is_marked: bool, now: Ps, rules: &Rules) {
        if self.frozen_until.is_some_and(|until| now > until) {
            self.slots.fill((0, false));
            (self.head, self.stored, self.frozen_until) = (0, 0, None);
            self.explore = rules.explore_packets;
        }
        if is_marked {
            return;
        }
        self.slots[self.head] = (value, true);
        self.head = (self.head + 1) % self.slots.len();
        self.stored = (self.stored + 1).min(self.slots.len());
    }

    /// The value to send again, if there is one.
    fn recycled(&mut self) -> Option<u16> {
        if self.explore > 0 {
            self.explore -= 1;
            return None;
        }
        let place = if self.frozen_until.is_some() {
            if self.stored == 0 {
                return None;
            }
            let place = self.replay % self.stored;
            self.replay = (place + 1) % self.stored;
            place
        } else {
            // The oldest first: from the head on, where the next value would go.
            (0..self.slots.len()).map(|i| (self.head + i) % self.slots.len()).find(|&place| self.slots[place].1)?
        };
        self.slots[place].1 = false;
        Some(self.slots[place].0)
    }

    fn look_for_timeouts(&mut self, now: Ps, rules: &Rules) {
        while let Some((_, _, at)) = self.in_flight.give_up(now, rules.rto) {
            self.freeze(at, rules);
        }
    }

    fn freeze(&mut self, at: Ps, rules: &Rules) {
        if self.frozen_until.is_none() && self.explore == 0 {
            self.frozen_until = Some(at.saturating_add(rules.freeze));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reps(slots: u32, freezing: Freezing) -> Reps {
        let config =
            BalancerConfig::Reps { entropies: 65_536, slots, explore_packets: 2, freezing, rto_ps: 100, freeze_ps: 1000 };
        Reps::new(config, true, 1, 3, 1)
    }

    /// What came back unmarked is sent again once, oldest first; what was marked is not.
    #[test]
    fn values_are_recycled_in_order() {
        let mut reps = reps(8, Freezing::OnTimeout);
        let sent: Vec<u16> = (0..4).map(|psn| reps.data(0, psn, 1)).collect();
        for (psn, is_marked) in [(1, false), (0, true), (3, false), (2, false)] {
            reps.acked(0, psn, is_marked, 10);
        }
        let again: Vec<u16> = (4..7).map(|psn| reps.data(0, psn, 20)).collect();
        assert_eq!(again, [sent[1], sent[3], sent[2]]);
        assert!(!sent.contains(&reps.data(0, 7, 20)), "then a random one (65,536 values)");
    }

    /// With two slots the third value takes the place of the first.
    #[test]
    fn the_newest_values_are_kept() {
        let mut reps = reps(2, Freezing::OnTimeout);
        let sent: Vec<u16> = (0..3).map(|psn| reps.data(0, psn, 1)).collect();
        (0..3).for_each(|psn| reps.acked(0, psn, false, 10));
        assert_eq!([reps.data(0, 3, 20), reps.data(0, 4, 20)], [sent[1], sent[2]]);
    }

    /// Packet 1 is lost: 100 ps after it was sent the flow freezes and repeats what it remembers; the first ACK after the freeze clears the memory.
    #[test]
    fn a_timeout_freezes() {
        let mut frozen = reps(8, Freezing::OnTimeout);
        let first = frozen.data(0, 0, 0);
        frozen.data(0, 1, 1);
        frozen.acked(0, 0, false, 50);
        assert_eq!([frozen.data(0, 2, 101), frozen.data(0, 3, 150), frozen.data(0, 4, 199)], [first; 3], "frozen at 101");
        frozen.acked(0, 2, false, 1102);
        assert_eq!(frozen.flows[0].explore, 2, "thawed: 101 + 1000 is over");
        let mut free = reps(8, Freezing::Off);
        let first = free.data(0, 0, 0);
        free.data(0, 1, 1);
        free.acked(0, 0, false, 50);
        assert_eq!(free.data(0, 2, 101), first);
        assert_ne!(free.data(0, 3, 150), first);
    }
}
