//! One order for the same messages, however they are listed.
//!
//! Flows are numbered by what they are: host, start, place in the round robin, receiver, size, collective. Messages that agree in all of these differ at most in what they
//! wait for and what waits for them, so their places in that graph decide: what leads up to each, from the roots on, and what follows it, from the last on.
//! What is still equal then is interchangeable.

use super::Messages;
use crate::rng::mix;

/// Rows in canonical order.
pub(super) fn order(messages: &Messages) -> Vec<u32> {
    let what = |row: u32| {
        let row = row as usize;
        let turn = (messages.start[row], messages.rank[row]);
        (messages.src[row], turn, messages.dst[row], messages.bytes[row], messages.collective[row])
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

/// A number for each message that depends on what it is and on its place in the graph, not on its row. Each sweep carries every difference along all
/// chains in both directions at once; the second one brings together what the two directions of the first have told apart.
fn refine(messages: &Messages) -> Vec<u64> {
    let count = messages.src.len();
    let mut colours: Vec<u64> = (0..count)
        .map(|row| {
            let hosts = u64::from(messages.src[row]) << 32 | u64::from(messages.dst[row]);
            let turn = u64::from(messages.collective[row]) << 32 | u64::from(messages.rank[row]);
            absorb(&[hosts, messages.bytes[row], messages.start[row], turn])
        })
        .chain(messages.trigger_counts.iter().map(|&count| absorb(&[u64::from(count)])))
        .collect();
    let graph = Graph::new(messages);
    for _ in 0..2 {
        let before = graph.sweep(&colours, |edge| (edge.from, edge.to));
        let after = graph.sweep(&colours, |edge| (edge.to, edge.from));
        for (colour, (before, after)) in colours.iter_mut().zip(before.into_iter().zip(after)) {
            *colour = absorb(&[before, after]);
        }
    }
    colours.truncate(count);
    colours
}

fn absorb(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash: u64, &word| mix(hash.wrapping_add(word).wrapping_add(1)))
}

/// Messages, and behind them triggers, with what leads from one to another.
struct Graph {
    nodes: usize,
    edges: Vec<Edge>,
}

#[derive(Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    /// Kind of the edge, and event or place: all that tells it from another between the same two.
    label: [u64; 2],
}

impl Graph {
    fn new(messages: &Messages) -> Self {
        let count = messages.src.len() as u32;
        let mut edges = Vec::new();
        for (edge, &to) in messages.dependents.iter().enumerate() {
            let label = [1, u64::from(messages.dependency_events[edge])];
            edges.push(Edge { from: messages.dependencies[edge], to, label });
        }
        for (edge, &trigger) in messages.activated.iter().enumerate() {
            let label = [2, u64::from(messages.activation_events[edge])];
            edges.push(Edge { from: messages.activators[edge], to: count + trigger, label });
        }
        // Only the targets of a trigger are an ordered list; all other edges are sets.
        let mut places = vec![0; messages.trigger_counts.len()];
        for (edge, &trigger) in messages.triggers_of_targets.iter().enumerate() {
            places[trigger as usize] += 1;
            edges.push(Edge { from: count + trigger, to: messages.targets[edge], label: [3, places[trigger as usize]] });
        }
        Self { nodes: messages.src.len() + messages.trigger_counts.len(), edges }
    }

    /// For each node, its colour together with those of all that leads to it, in the direction that `ends` gives the edges. Nodes on a cycle, which never
    /// happen, keep what has reached them.
    fn sweep(&self, colours: &[u64], ends: impl Fn(&Edge) -> (u32, u32)) -> Vec<u64> {
        let mut first = vec![0usize; self.nodes + 1];
        let mut waits = vec![0u32; self.nodes];
        for edge in &self.edges {
            let (from, to) = ends(edge);
            first[from as usize + 1] += 1;
            waits[to as usize] += 1;
        }
        for node in 0..self.nodes {
            first[node + 1] += first[node];
        }
        let mut leaving = vec![0u32; self.edges.len()];
        let mut next = first.clone();
        for (number, edge) in self.edges.iter().enumerate() {
            let (from, _) = ends(edge);
            leaving[next[from as usize]] = number as u32;
            next[from as usize] += 1;
        }
        let mut sums = vec![0u64; self.nodes];
        let mut ready: Vec<u32> = (0..self.nodes as u32).filter(|&node| waits[node as usize] == 0).collect();
        while let Some(node) = ready.pop() {
            let reached = absorb(&[colours[node as usize], sums[node as usize]]);
            for &number in &leaving[first[node as usize]..first[node as usize + 1]] {
                let edge = &self.edges[number as usize];
                let to = ends(edge).1 as usize;
                // A sum, because the order of edges carries no meaning.
                sums[to] = sums[to].wrapping_add(absorb(&[edge.label[0], edge.label[1], reached]));
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready.push(to as u32);
                }
            }
        }
        colours.iter().zip(sums).map(|(&colour, sum)| absorb(&[colour, sum])).collect()
    }
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
            collective: vec![0; 4],
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
