//! Strict priority by a number in the packet: control first, then data, smaller numbers first, first come first served among equals.
//!
//! *Source*: pHost (Gao et al., CoNEXT 2015) and dcPIM (Cai et al., SIGCOMM 2022), whose switches have a few priorities each. Hosts write the number into the three top
//! bits of the path field. When the buffer is full, the last packet of the largest number gives way, which may be the one that comes.
//! *State*: a queue a number. *Cost*: one look at each queue a packet.

use super::Queueing;
use crate::packet::{Packet, Slot};
use crate::units::{NEVER, Ps};
use std::collections::VecDeque;

/// Bits of the path field below the priority.
pub const PRIORITY_SHIFT: u32 = 13;
/// Numbers that data can have.
const DATA_LEVELS: usize = 1 << (u16::BITS - PRIORITY_SHIFT);

/// What waits at one port: control, then data by its number.
#[derive(Debug)]
pub struct StrictPriority {
    levels: [VecDeque<Slot>; DATA_LEVELS + 1],
    waiting_bytes: u64,
    buffer_bytes: u64,
}

fn level_of(packet: Packet) -> usize {
    if packet.is_control() { 0 } else { 1 + usize::from(packet.path() >> PRIORITY_SHIFT) }
}

impl StrictPriority {
    pub(super) fn new(buffer_bytes: u64) -> Self {
        Self { levels: Default::default(), waiting_bytes: 0, buffer_bytes }
    }
}

impl Queueing for StrictPriority {
    fn add(&mut self, slot: Slot, dropped: &mut impl FnMut(Slot)) {
        self.levels[level_of(slot.packet)].push_back(slot);
        self.waiting_bytes += u64::from(slot.packet.bytes());
        while self.waiting_bytes > self.buffer_bytes {
            let Some(worst) = self.levels.iter_mut().rev().find_map(VecDeque::pop_back) else { return };
            self.waiting_bytes -= u64::from(worst.packet.bytes());
            dropped(worst);
        }
    }

    fn next_start(&self, free_at: Ps) -> Ps {
        if self.waiting_bytes == 0 { NEVER } else { free_at }
    }

    fn take(&mut self, _at: Ps) -> Option<Slot> {
        let slot = self.levels.iter_mut().find_map(VecDeque::pop_front)?;
        self.waiting_bytes -= u64::from(slot.packet.bytes());
        Some(slot)
    }

    fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    fn clear(&mut self, lost: &mut impl FnMut(Slot)) {
        self.levels.iter_mut().flat_map(|level| level.drain(..)).for_each(lost);
        self.waiting_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::rng::{Purpose, Stream};

    fn packet(kind: Kind, priority: u16, psn: u32) -> Packet {
        // The bits below the priority mean nothing here.
        let path = priority << PRIORITY_SHIFT | (psn as u16 & ((1 << PRIORITY_SHIFT) - 1));
        Packet::new(kind, 0, psn, 0, path, if kind == Kind::Data { 1000 } else { 40 })
    }

    /// Adds packets of these kinds and priorities, numbered from 0; the numbers of those that gave way, in order.
    fn add(levels: &mut StrictPriority, packets: &[(Kind, u16)]) -> Vec<u32> {
        let mut dropped = Vec::new();
        for (psn, &(kind, priority)) in (0..).zip(packets) {
            levels.add(Slot { at: 0, packet: packet(kind, priority, psn) }, &mut |victim| dropped.push(victim.packet.psn()));
        }
        dropped
    }

    fn drain(levels: &mut StrictPriority) -> Vec<u32> {
        std::iter::from_fn(|| levels.take(0)).map(|slot| slot.packet.psn()).collect()
    }

    use Kind::{Data, Token};

    #[test]
    fn control_first_then_smaller_numbers_then_who_came_first() {
        let mut levels = StrictPriority::new(u64::MAX);
        add(&mut levels, &[(Data, 2), (Data, 1), (Data, 7), (Token, 7), (Data, 1), (Data, 0), (Token, 0), (Data, 2)]);
        assert_eq!((levels.waiting_bytes(), levels.next_start(70)), (6080, 70));
        assert_eq!(drain(&mut levels), [3, 6, 5, 1, 4, 0, 7, 2]);
        assert_eq!((levels.waiting_bytes(), levels.next_start(70)), (0, NEVER));
    }

    /// Room for three data packets: the last of the largest number gives way, be it the one that comes or not; control only where there is nothing else.
    #[test]
    fn the_last_of_the_largest_number_gives_way() {
        let mut levels = StrictPriority::new(3000);
        assert_eq!(add(&mut levels, &[(Data, 2), (Data, 2), (Data, 1), (Data, 2)]), [3], "the one that comes is the last");
        assert_eq!(drain(&mut levels), [2, 0, 1]);
        assert_eq!(add(&mut levels, &[(Data, 2), (Data, 2), (Data, 1), (Data, 1), (Token, 0)]), [1, 0]);
        assert_eq!(drain(&mut levels), [4, 2, 3]);
        let mut small = StrictPriority::new(100);
        assert_eq!(add(&mut small, &[(Token, 0), (Data, 0), (Token, 0), (Token, 0)]), [1, 3], "control waits in 80 of 100 bytes");
        let mut lost = 0;
        small.clear(&mut |_| lost += 1);
        assert_eq!((lost, small.waiting_bytes(), small.take(0).is_none()), (2, 0, true));
    }

    /// Against a list that is searched: random packets come and go.
    #[test]
    fn as_a_search_does() {
        const ROOM: usize = 12_345;
        let mut levels = StrictPriority::new(ROOM as u64);
        let (mut list, mut stream): (Vec<Packet>, _) = (Vec::new(), Stream::new(1, Purpose::Loss, 0));
        let (mut dropped, mut wanted) = (Vec::new(), Vec::new());
        let rank = |packet: &Packet| if packet.is_control() { 0 } else { 1 + (packet.path() >> PRIORITY_SHIFT) };
        for psn in 0..5000 {
            if stream.below(3) == 0 {
                let best = (0..list.len()).min_by_key(|&place| (rank(&list[place]), list[place].psn()));
                assert_eq!(levels.take(0).map(|slot| slot.packet), best.map(|place| list.remove(place)));
            }
            let new = packet(if stream.below(4) == 0 { Token } else { Data }, stream.below(8) as u16, psn);
            levels.add(Slot { at: 0, packet: new }, &mut |victim| dropped.push(victim.packet));
            list.push(new);
            while list.iter().map(|packet| packet.bytes() as usize).sum::<usize>() > ROOM {
                let worst = (0..list.len()).max_by_key(|&place| (rank(&list[place]), list[place].psn()));
                wanted.extend(worst.map(|place| list.remove(place)));
            }
        }
        assert_eq!(dropped, wanted);
        assert!(dropped.len() > 100);
    }
}
