//! One order for the same messages, however they are listed.
//!
//! Flows are numbered by what they are: host, start, place in the round robin, receiver, size. Messages that agree in all of these differ at most in what they
//! wait for and what waits for them, so their places in that graph decide (colour refinement, as in tests of graph isomorphism). What is still equal then
//! is interchangeable.

use super::Messages;
use crate::rng::mix;

/// Rounds of refinement: how many steps away a difference in the graph still tells two messages apart.
const ROUNDS: usize = 16;

/// Rows in canonical order.
pub(super) fn order(messages: &Messages) -> Vec<u32> {
    let what = |row: u32| {
        let row = row as usize;
        (messages.src[row], messages.start[row], messages.rank[row], messages.dst[row], messages.bytes[row])
    };
    let mut rows: Vec<u32> = (0..messages.src.len() as u32).collect();
    rows.sort_by_key(|&row| what(row));
    let has_graph = !messages.dependents.is_empty() || !messages.trigger_counts.is_empty();
    if has_graph && rows.windows(2).any(|pair| what(pair[0]) == what(pair[1])) {
        let colours = refine(messages);
        rows.sort_by_key(|&row| (what(row), colours[row as usize]));
    }
    rows
}

/// A number for each message that depends on what it is and on its place in the graph, not on its row.
fn refine(messages: &Messages) -> Vec<u64> {
    let absorb = |words: &[u64]| words.iter().fold(0, |hash: u64, &word| mix(hash.wrapping_add(word).wrapping_add(1)));
    let mut colours: Vec<u64> = (0..messages.src.len())
        .map(|row| {
            let hosts = u64::from(messages.src[row]) << 32 | u64::from(messages.dst[row]);
            absorb(&[hosts, messages.bytes[row], messages.start[row], u64::from(messages.rank[row])])
        })
        .collect();
    for _ in 0..ROUNDS {
        // Sums, because the order of edges carries no meaning; only the targets of a trigger are an ordered list.
        let mut sums = vec![0u64; colours.len()];
        let mut add = |row: u32, words: &[u64]| sums[row as usize] = sums[row as usize].wrapping_add(absorb(words));
        for (edge, &dependent) in messages.dependents.iter().enumerate() {
            let (dependency, event) = (messages.dependencies[edge], u64::from(messages.dependency_events[edge]));
            add(dependent, &[1, event, colours[dependency as usize]]);
            add(dependency, &[2, event, colours[dependent as usize]]);
        }
        let mut triggers: Vec<u64> = messages.trigger_counts.iter().map(|&count| u64::from(count)).collect();
        let mut places = vec![0; triggers.len()];
        for (edge, &trigger) in messages.activated.iter().enumerate() {
            let word = absorb(&[3, u64::from(messages.activation_events[edge]), colours[messages.activators[edge] as usize]]);
            triggers[trigger as usize] = triggers[trigger as usize].wrapping_add(word);
        }
        for (edge, &trigger) in messages.triggers_of_targets.iter().enumerate() {
            places[trigger as usize] += 1;
            let word = absorb(&[4, places[trigger as usize], colours[messages.targets[edge] as usize]]);
            triggers[trigger as usize] = triggers[trigger as usize].wrapping_add(word);
        }
        for (edge, &trigger) in messages.activated.iter().enumerate() {
            let event = u64::from(messages.activation_events[edge]);
            add(messages.activators[edge], &[5, event, triggers[trigger as usize]]);
        }
        let mut places = vec![0; triggers.len()];
        for (edge, &trigger) in messages.triggers_of_targets.iter().enumerate() {
            places[trigger as usize] += 1;
            add(messages.targets[edge], &[6, places[trigger as usize], triggers[trigger as usize]]);
        }
        for (colour, sum) in colours.iter_mut().zip(sums) {
            *colour = absorb(&[*colour, sum]);
        }
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two equal messages 0 -> 1, of which the one in row `first` is waited for by 1 -> 2, and that by 2 -> 3.
    fn chain(first: u32) -> Messages {
        Messages {
            src: vec![0, 0, 1, 2],
            dst: vec![1, 1, 2, 3],
            bytes: vec![10; 4],
            start: vec![0; 4],
            rank: vec![0; 4],
            dependents: vec![2, 3],
            dependencies: vec![first, 2],
            dependency_events: vec![0, 0],
            ..Messages::default()
        }
    }

    #[test]
    fn equal_messages_are_told_apart_by_what_waits_for_them() {
        let awaited = |first: u32| order(&chain(first)).iter().position(|&row| row == first);
        assert_eq!(awaited(0), awaited(1));
    }

    #[test]
    fn the_order_of_rows_and_edges_carries_no_meaning() {
        let messages = chain(0);
        let shuffle = [2usize, 0, 3, 1];
        let place = |row: u32| shuffle.iter().position(|&old| old as u32 == row).unwrap() as u32;
        let take = |column: &[u32]| shuffle.iter().map(|&old| column[old]).collect::<Vec<_>>();
        let shuffled = Messages {
            src: take(&messages.src),
            dst: take(&messages.dst),
            dependents: vec![place(3), place(2)],
            dependencies: vec![place(2), place(0)],
            ..messages.clone()
        };
        let original: Vec<u32> = order(&messages);
        let restored: Vec<u32> = order(&shuffled).iter().map(|&row| shuffle[row as usize] as u32).collect();
        assert_eq!(original, restored);
    }
}
