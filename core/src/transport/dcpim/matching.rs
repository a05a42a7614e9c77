//! Matching of senders with receivers: the rounds that all hosts keep together, what a matching packet says, and how a host shares out its channels.

use crate::rng::Stream;
use crate::units::Ps;

/// Rounds, and epochs of rounds, since time 0. The matching of an epoch is followed by its data phase, beside which the next matching takes place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    rounds: u64,
    round: Ps,
}

impl Calendar {
    pub(super) fn new(rounds: u32, round: Ps) -> Self {
        Self { rounds: rounds.into(), round }
    }

    /// The round that `at` lies in.
    pub(super) fn round_at(self, at: Ps) -> u64 {
        at / self.round
    }

    /// When a round begins, and receivers request.
    pub(super) fn start(self, round: u64) -> Ps {
        round.saturating_mul(self.round)
    }

    /// The middle of a round, when senders grant. It ends half a round later, when receivers accept.
    pub(super) fn middle(self, round: u64) -> Ps {
        self.start(round) + self.round / 2
    }

    /// The epoch whose matching a round belongs to.
    pub(super) fn epoch_of(self, round: u64) -> u64 {
        round / self.rounds
    }

    /// Whether a round is the first of its epoch.
    pub(super) fn is_first(self, round: u64) -> bool {
        round % self.rounds == 0
    }

    /// When the epoch ends that is matched at a round: the data phase that runs beside this matching ends then too.
    pub(super) fn epoch_end(self, epoch: u64) -> Ps {
        self.start((epoch + 1) * self.rounds)
    }

    /// How long an epoch's matching, and its data phase, take.
    pub(super) fn phase(self) -> Ps {
        self.start(self.rounds)
    }

    /// How long a control packet may be under way.
    pub(super) fn half_round(self) -> Ps {
        self.round / 2
    }
}

/// What the path field of a request, grant or accept says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// How many channels.
    pub(super) channels: u32,
    /// The round.
    pub(super) round: u64,
    /// A grant that takes back what was accepted beyond the sender's channels.
    pub(super) is_returned: bool,
}

impl Terms {
    const ROUNDS: u64 = 1 << 7;

    /// As a field: 8 bits for channels, 7 for the round modulo 128, 1 for the rest.
    pub(super) fn pack(self) -> u16 {
        (self.channels << 8) as u16 | ((self.round % Self::ROUNDS) << 1) as u16 | u16::from(self.is_returned)
    }

    /// From a field that arrives in round `now`: the round is the last one that it can mean.
    pub(super) fn unpack(path: u16, now: u64) -> Self {
        let age = now.wrapping_sub(u64::from(path >> 1)) % Self::ROUNDS;
        Self { channels: u32::from(path >> 8), round: now.saturating_sub(age), is_returned: path & 1 == 1 }
    }
}

/// Channels that another host asks for, or grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// The flow that stands for the pair of hosts.
    pub(super) flow: u32,
    /// How many channels.
    pub(super) channels: u32,
    /// How many of them could be used at once, before the data phase of the epoch.
    pub(super) early: u32,
    /// Packets left of the pair's shortest flow.
    pub(super) remaining: u32,
}

/// The channels of a host in one direction.
#[derive(Debug)]
pub(super) struct Channels {
    channels: u32,
    /// The epoch that is being matched.
    epoch: u64,
    /// How many are taken in its matching.
    taken: u32,
    /// How many of these are used at once.
    early: u32,
    /// How many were taken in the matching before, whose data phase has begun.
    busy: u32,
    /// What came in this round.
    pub(super) offers: Vec<Offer>,
}

impl Channels {
    pub(super) fn new(channels: u32) -> Self {
        Self { channels, epoch: 0, taken: 0, early: 0, busy: 0, offers: Vec::new() }
    }

    /// The epoch that is being matched is `epoch`.
    pub(super) fn advance(&mut self, epoch: u64) {
        if epoch == self.epoch {
            return;
        }
        self.busy = if epoch == self.epoch + 1 { self.taken } else { 0 };
        (self.epoch, self.taken, self.early) = (epoch, 0, 0);
    }

    /// The epoch that is being matched.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// How many are not taken in this matching.
    pub(super) fn free(&self) -> u32 {
        self.channels - self.taken
    }

    /// How many are idle before the data phase of this matching.
    fn idle(&self) -> u32 {
        self.channels.saturating_sub(self.busy + self.early)
    }

    /// Takes up to as many channels of a matching; how many there were. Those of any but this matching and the one before are past.
    pub(super) fn take(&mut self, epoch: u64, channels: u32, early: u32) -> u32 {
        let taken = if epoch == self.epoch {
            &mut self.taken
        } else if epoch + 1 == self.epoch {
            &mut self.busy
        } else {
            return 0;
        };
        let fit = channels.min(self.channels - *taken);
        *taken += fit;
        if epoch == self.epoch {
            self.early += early.min(fit);
        }
        fit
    }

    /// Gives back channels that were taken in a matching.
    pub(super) fn give_back(&mut self, epoch: u64, channels: u32, early: u32) {
        if epoch == self.epoch {
            self.taken = self.taken.saturating_sub(channels);
            self.early = self.early.saturating_sub(early);
        } else if epoch + 1 == self.epoch {
            self.busy = self.busy.saturating_sub(channels);
        }
    }

    /// Shares the free channels out among this round's offers: in the first round to those with the least remaining, in the others, and among equals, at random.
    pub(super) fn choose(&mut self, is_first: bool, stream: &mut Stream) -> Vec<Offer> {
        let mut offers = std::mem::take(&mut self.offers);
        for place in (1..offers.len()).rev() {
            offers.swap(place, stream.below(place as u64 + 1) as usize);
        }
        if is_first {
            offers.sort_by_key(|offer| offer.remaining);
        }
        let (mut free, mut idle) = (self.free(), self.idle());
        for offer in &mut offers {
            offer.channels = offer.channels.min(free);
            offer.early = offer.early.min(offer.channels).min(idle);
            free -= offer.channels;
            idle -= offer.early;
        }
        offers.retain(|offer| offer.channels > 0);
        offers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    const CHANNELS: u32 = 4;

    /// The matching of one epoch between as many senders as receivers, without delays: `wants[receiver][sender]` channels. What each pair gets.
    fn matched(wants: &[Vec<u32>], rounds: u64, seed: u64) -> Vec<Vec<u32>> {
        let hosts = wants.len();
        let mut stream = Stream::new(seed, Purpose::Transport, 0);
        let mut senders: Vec<_> = (0..hosts).map(|_| Channels::new(CHANNELS)).collect();
        let mut receivers: Vec<_> = (0..hosts).map(|_| Channels::new(CHANNELS)).collect();
        let mut got = vec![vec![0; hosts]; hosts];
        for round in 0..rounds {
            for (receiver, wants) in wants.iter().enumerate() {
                for (sender, want) in wants.iter().enumerate() {
                    let channels = (want - got[receiver][sender]).min(receivers[receiver].free());
                    if channels > 0 {
                        let offer = Offer { flow: receiver as u32, channels, early: u32::MAX, remaining: 1 };
                        senders[sender].offers.push(offer);
                    }
                }
            }
            for (sender, side) in senders.iter_mut().enumerate() {
                for grant in side.choose(round == 0, &mut stream) {
                    receivers[grant.flow as usize].offers.push(Offer { flow: sender as u32, ..grant });
                }
            }
            for (receiver, side) in receivers.iter_mut().enumerate() {
                for accept in side.choose(round == 0, &mut stream) {
                    assert_eq!(side.take(0, accept.channels, accept.early), accept.channels);
                    let sender = &mut senders[accept.flow as usize];
                    assert_eq!(sender.take(0, accept.channels, accept.early), accept.channels, "no surplus in step");
                    got[receiver][accept.flow as usize] += accept.channels;
                }
            }
        }
        got
    }

    #[test]
    fn a_lone_pair_gets_all_channels_in_one_round() {
        assert_eq!(matched(&[vec![0, 9], vec![0, 0]], 1, 1), [[0, CHANNELS], [0, 0]]);
    }

    /// Eight senders that want one channel each share the receiver's four; one that wants all of them in the first round gets them.
    #[test]
    fn senders_share_a_receiver() {
        let mut wants = vec![vec![0; 9]; 9];
        wants[0][1..].fill(1);
        let got = matched(&wants, 4, 3);
        assert_eq!(got[0].iter().sum::<u32>(), CHANNELS);
        assert_eq!(got[0].iter().filter(|&&channels| channels == 1).count(), 4);
    }

    /// Nobody gives or takes more than it has or than is wanted, and where all want something of all, nothing is left that both ends could use.
    #[test]
    fn never_beyond_the_channels_and_maximal_in_the_end() {
        for seed in 0..50 {
            let mut stream = Stream::new(seed, Purpose::Jitter, 0);
            let hosts = 2 + stream.below(9) as usize;
            let wants: Vec<Vec<u32>> = (0..hosts).map(|_| (0..hosts).map(|_| stream.below(7) as u32).collect()).collect();
            // In every round some pair that can is matched.
            let got = matched(&wants, u64::from(CHANNELS) * hosts as u64, seed);
            let taken: Vec<u32> = got.iter().map(|row| row.iter().sum()).collect();
            let given: Vec<u32> = (0..hosts).map(|sender| got.iter().map(|row| row[sender]).sum()).collect();
            assert!(taken.iter().chain(&given).all(|&channels| channels <= CHANNELS), "{taken:?} {given:?}");
            for (receiver, row) in got.iter().enumerate() {
                for (sender, &channels) in row.iter().enumerate() {
                    let can_more = taken[receiver] < CHANNELS && given[sender] < CHANNELS;
                    assert!(channels == wants[receiver][sender] || channels < wants[receiver][sender] && !can_more);
                }
            }
        }
    }

    /// A few rounds match most of what could be: with everybody wanting one channel of everybody, hosts of 4 channels fill 90 % of them in 4 rounds.
    #[test]
    fn four_rounds_are_nearly_enough() {
        let got = matched(&vec![vec![1; 32]; 32], 4, 1);
        let total: u32 = got.iter().flatten().sum();
        assert!(total >= 32 * CHANNELS * 9 / 10, "{total}");
    }

    #[test]
    fn the_least_remaining_comes_first_in_the_first_round_only() {
        let offers: Vec<_> = [9, 1, 5].map(|remaining| Offer { flow: remaining, channels: 3, early: 9, remaining }).into();
        let mut stream = Stream::new(1, Purpose::Transport, 0);
        let mut side = Channels::new(4);
        side.offers.clone_from(&offers);
        let first: Vec<_> = side.choose(true, &mut stream).iter().map(|offer| (offer.flow, offer.channels)).collect();
        assert_eq!(first, [(1, 3), (5, 1)]);
        let mut firsts = [0; 3];
        for _ in 0..3000 {
            side.offers.clone_from(&offers);
            let flow = side.choose(false, &mut stream)[0].flow;
            firsts[offers.iter().position(|offer| offer.flow == flow).unwrap()] += 1;
        }
        // Binomial with a standard deviation of 26: six of them.
        assert!(firsts.iter().all(|&count: &i32| (count - 1000).abs() < 156), "{firsts:?}");
    }

    /// Three channels carry data already, so that one of four can be used before its data phase; in the epoch after next all are idle.
    #[test]
    fn early_channels_are_those_that_no_data_phase_uses() {
        let mut stream = Stream::new(1, Purpose::Transport, 0);
        let mut side = Channels::new(4);
        assert_eq!(side.take(0, 3, 0), 3);
        side.advance(1);
        side.offers.push(Offer { flow: 0, channels: 4, early: 4, remaining: 1 });
        let [Offer { channels: 4, early: 1, .. }] = side.choose(true, &mut stream)[..] else { panic!() };
        assert_eq!((side.take(0, 2, 0), side.take(1, 9, 9)), (1, 4), "a late accept, and one that asks for too much");
        side.give_back(1, 4, 4);
        side.advance(3);
        assert_eq!((side.free(), side.idle()), (4, 4));
    }

    #[test]
    fn terms_survive_the_field_and_the_calendar_counts() {
        for (round, now) in [(0, 0), (0, 5), (127, 128), (1000, 1001), (1000, 1127)] {
            for (channels, is_returned) in [(0, false), (255, true)] {
                let terms = Terms { channels, round, is_returned };
                assert_eq!(Terms::unpack(terms.pack(), now), terms);
            }
        }
        let calendar = Calendar::new(4, 10);
        assert_eq!((calendar.round_at(39), calendar.middle(3), calendar.epoch_of(3), calendar.epoch_end(0)), (3, 35, 0, 40));
        assert!(calendar.is_first(4) && !calendar.is_first(5));
    }
}
