//! Where Datas end: when which of them are acknowledged.
//!
//! *Source*: dcSim paper, section 2.4, step 4: a Data-Ack every 16 Datas, and with a minimum frequency. A Data-Ack says below which number everything has come. Datas that
//! have come beyond a missing one are acknowledged besides, once each, sixteen in a packet.

use crate::transport::received::Received;
use crate::units::{NEVER, Ps};
use std::collections::VecDeque;

/// Datas that one block acknowledgement speaks of.
const BLOCK: u32 = 16;

/// What a flow has to be told.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// Datas since the last Data-Ack.
    datas: u32,
    /// When they have to be acknowledged.
    due_at: Ps,
    /// Datas beyond a missing one that no acknowledgement has spoken of.
    beyond: Vec<u32>,
}

/// All flows that end at a host.
#[derive(Debug)]
pub(super) struct Destination {
    pending: Vec<Pending>,
    due: VecDeque<(Ps, u32)>,
    ack_every: u32,
    ack_interval: Ps,
}

/// The words of the acknowledgements of a flow: the number below which everything has come, then blocks beyond.
pub(super) struct Words {
    pub(super) below: u32,
    pub(super) blocks: Vec<u32>,
}

impl Destination {
    pub(super) fn new(flows: usize, ack_every: u32, ack_interval: Ps) -> Self {
        Self { pending: vec![Pending::default(); flows], due: VecDeque::new(), ack_every, ack_interval }
    }

    /// When something has to be acknowledged at the latest.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ps {
        self.due.front().map_or(NEVER, |&(at, _)| at)
    }

    /// A Data has come; whether it is time to say so. `is_last`: nothing or nothing new is to follow.
    pub(super) fn note(&mut self, own: usize, psn: u32, is_last: bool, set: &Received, now: Ps) -> bool {
        let pending = &mut self.pending[own];
        pending.datas += 1;
        if pending.datas == 1 {
            pending.due_at = now + self.ack_interval;
            self.due.push_back((pending.due_at, own as u32));
        }
        if psn >= set.below() {
            pending.beyond.push(psn);
        }
        pending.datas >= self.ack_every || is_last
    }

    /// The next flow that has waited long enough by `now`.
    pub(super) fn overdue(&mut self, now: Ps) -> Option<usize> {
        while let Some(&(at, own)) = self.due.front().filter(|&&(at, _)| at <= now) {
            self.due.pop_front();
            let pending = &self.pending[own as usize];
            if pending.datas > 0 && pending.due_at == at {
                return Some(own as usize);
            }
        }
        None
    }

    /// What there is to say of a flow.
    pub(super) fn words(&mut self, own: usize, set: &Received) -> Words {
        let (pending, below) = (&mut self.pending[own], set.below());
        pending.datas = 0;
        pending.beyond.sort_unstable();
        let mut blocks: Vec<u32> = pending.beyond.drain(..).filter(|&psn| psn >= below).map(|psn| psn / BLOCK).collect();
        blocks.dedup();
        Words { below, blocks: blocks.into_iter().map(|block| block_word(block, set)).collect() }
    }
}

/// The low bits of the block's number, and which of its sixteen have come.
fn block_word(block: u32, set: &Received) -> u32 {
    (0..BLOCK).filter(|&bit| set.contains(block * BLOCK + bit)).fold(block << 16, |word, bit| word | 1 << bit)
}

/// The numbers that a block acknowledgement speaks of, to a sender of which everything below `below` is known to have come: the block is the nearest of that name.
pub(super) fn of_block(word: u32, below: u32) -> impl Iterator<Item = u32> {
    let known = below / BLOCK;
    let ahead = i32::from(((word >> 16) as u16).wrapping_sub(known as u16) as i16);
    let block = known.wrapping_add_signed(ahead);
    (0..BLOCK).filter(move |bit| word >> bit & 1 == 1).map(move |bit| block.wrapping_mul(BLOCK).wrapping_add(bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(psns: impl IntoIterator<Item = u32>) -> Received {
        let mut set = Received::default();
        psns.into_iter().for_each(|psn| {
            set.insert(psn);
        });
        set
    }

    #[test]
    fn one_word_while_nothing_is_missing() {
        let mut destination = Destination::new(1, 4, 100);
        let set = received(0..4);
        assert_eq!((0..4).map(|psn| destination.note(0, psn, false, &set, 7)).collect::<Vec<_>>(), [false, false, false, true]);
        let words = destination.words(0, &set);
        assert_eq!((words.below, words.blocks), (4, vec![]));
        assert_eq!(destination.overdue(1000), None, "all has been said");
        assert!(!destination.note(0, 4, false, &received(0..5), 1000));
        assert_eq!((destination.next_at(), destination.overdue(1099), destination.overdue(1100)), (1100, None, Some(0)));
    }

    /// Number 3 of 70,000 is missing.
    #[test]
    fn blocks_tell_of_what_came_beyond_a_missing_one() {
        let mut destination = Destination::new(1, 4, 100);
        let set = received((0..70_000).filter(|&psn| psn != 3));
        for psn in [2, 4, 5, 69_999] {
            destination.note(0, psn, false, &set, 7);
        }
        let words = destination.words(0, &set);
        assert_eq!((words.below, words.blocks.len()), (3, 2));
        let told: Vec<u32> = words.blocks.iter().flat_map(|&word| of_block(word, 3)).collect();
        assert_eq!(told, (0..16).filter(|&psn| psn != 3).chain(69_984..70_000).collect::<Vec<_>>());
        assert!(destination.words(0, &set).blocks.is_empty(), "once is enough");
    }
}
