//! Round robin over collectives, and over the flows of each: who is next among those that want something.

use std::collections::HashMap;

/// A circle of places, some of which want a turn.
#[derive(Clone, Debug, Default)]
struct Circle {
    words: Vec<u64>,
    /// Bit i of word j: word 64 j + i is not empty.
    summary: Vec<u64>,
    next: usize,
}

impl Circle {
    fn new(places: usize) -> Self {
        let words = places.div_ceil(64);
        Self { words: vec![0; words], summary: vec![0; words.div_ceil(64)], next: 0 }
    }

    fn set(&mut self, place: usize, wants: bool) {
        let word = &mut self.words[place / 64];
        *word = *word & !(1 << (place % 64)) | u64::from(wants) << (place % 64);
        let is_full = *word != 0;
        let summary = &mut self.summary[place / 64 / 64];
        *summary = *summary & !(1 << (place / 64 % 64)) | u64::from(is_full) << (place / 64 % 64);
    }

    fn is_empty(&self) -> bool {
        self.summary.iter().all(|&word| word == 0)
    }

    /// The first place from `from` on that wants a turn.
    fn first_from(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let rest = self.words.get(word)? & (u64::MAX << (from % 64));
        if rest != 0 {
            return Some(word * 64 + rest.trailing_zeros() as usize);
        }
        let after = word + 1;
        let summaries = self.summary.iter().enumerate().skip(after / 64);
        let (number, bits) = summaries
            .map(|(number, &bits)| (number, if number == after / 64 { bits & (u64::MAX << (after % 64)) } else { bits }))
            .find(|&(_, bits)| bits != 0)?;
        let word = number * 64 + bits.trailing_zeros() as usize;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    /// The next in turn; the turn then passes on.
    fn turn(&mut self) -> Option<usize> {
        let place = self.first_from(self.next).or_else(|| self.first_from(0))?;
        self.next = place + 1;
        Some(place)
    }
}

/// The flows of one host.
#[derive(Debug)]
pub(super) struct Rotation {
    groups: Vec<Group>,
    wanting: Circle,
    /// Group of each flow, and its place there.
    place: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct Group {
    members: Vec<u32>,
    wanting: Circle,
}

impl Rotation {
    /// Nobody wants anything yet. `collective` of each flow, flows in the order in which they take turns.
    pub(super) fn new(collective: &[u32]) -> Self {
        let mut group_of: HashMap<u32, u32> = HashMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut place = Vec::with_capacity(collective.len());
        for (flow, &collective) in (0..).zip(collective) {
            let group = *group_of.entry(collective).or_insert_with(|| {
                members.push(Vec::new());
                members.len() as u32 - 1
            });
            place.push((group, members[group as usize].len() as u32));
            members[group as usize].push(flow);
        }
        let groups: Vec<Group> =
            members.into_iter().map(|members| Group { wanting: Circle::new(members.len()), members }).collect();
        Self { wanting: Circle::new(groups.len()), groups, place }
    }

    /// Says whether a flow wants a turn.
    #[inline(always)]
    pub(super) fn set(&mut self, flow: usize, wants: bool) {
        let (group, place) = self.place[flow];
        let members = &mut self.groups[group as usize].wanting;
        members.set(place as usize, wants);
        let any = !members.is_empty();
        self.wanting.set(group as usize, any);
    }

    /// The next flow: of the next collective, its next flow.
    #[inline(always)]
    pub(super) fn turn(&mut self) -> Option<usize> {
        let group = &mut self.groups[self.wanting.turn()?];
        group.wanting.turn().map(|place| group.members[place] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn collectives_first_then_their_flows() {
        let mut rotation = Rotation::new(&[7, 7, 9, 7]);
        for flow in [0, 1, 2, 3] {
            rotation.set(flow, true);
        }
        let turns: Vec<_> = (0..6).filter_map(|_| rotation.turn()).collect();
        assert_eq!(turns, [0, 2, 1, 2, 3, 2]);
        rotation.set(2, false);
        assert_eq!([rotation.turn(), rotation.turn()], [Some(0), Some(1)]);
        for flow in [0, 1, 3] {
            rotation.set(flow, false);
        }
        assert_eq!(rotation.turn(), None);
    }

    /// Against a walk over a list, on a circle with a second level of words.
    #[test]
    fn as_a_walk_does() {
        let (places, mut stream) = (9_000, Stream::new(1, Purpose::Transport, 0));
        let (mut circle, mut wants, mut next) = (Circle::new(places), vec![false; places], 0);
        for step in 0..4_000 {
            let place = stream.below(places as u64) as usize;
            wants[place] = step % 3 > 0;
            circle.set(place, wants[place]);
            let wanted = (next..places).chain(0..next).find(|&place| wants[place]);
            assert_eq!(circle.turn(), wanted);
            next = wanted.map_or(next, |place| place + 1) % places;
            if step % 100 == 0 {
                wants.fill(false);
                circle = Circle { next, ..Circle::new(places) };
            }
        }
    }
}
