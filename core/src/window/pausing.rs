//! Pauses, from the switch that decides on them to the port that they stop, and what becomes of shared memory when a link goes down.
//!
//! Between the two lies a box for each port. A pause acts a link latency and more after it was decided on, which is in a later window; so it does not matter whether a
//! port looks into its box before or after the switch has put something in.

use super::deal::Worker;
use super::shared::{Context, lock};
use crate::units::Ps;
use std::ops::Range;

impl Worker<'_> {
    /// Lets these ports hear what has been put into their boxes. `now` is when the window begins.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_pauses(&mut self, context: &Context<'_>, tier: usize, ports: Range<usize>, now: Ps) {
        let share = &mut self.shares[tier];
        for (port, number) in share.ports[ports.start - share.first_port..].iter_mut().zip(ports) {
            if port.has_pauses() {
                port.hear(lock(&context.shared.pauses[number]).drain(..), now);
            }
        }
    }

    /// The same for all of this thread's ports, before it says when something happens next.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_all_pauses(&mut self, context: &Context<'_>, now: Ps) {
        for tier in 0..self.shares.len() {
            let (first, count) = (self.shares[tier].first_port, self.shares[tier].ports.len());
            if !context.shared.pauses.is_empty() {
                self.hear_pauses(context, tier, first..first + count, now);
            }
        }
    }

    /// Puts what a switch has decided on into its neighbours' boxes.
    #[cold]
    #[inline(never)]
    pub(super) fn spread_pauses(&mut self, context: &Context<'_>, tier: usize, node: u32) {
        let place = (node - self.shares[tier].nodes.start) as usize;
        let first = context.fabric.ports_of(node).start;
        let ingress = self.memories[tier - 1].get_mut(place).and_then(|memory| memory.ingress.as_mut());
        for heard in ingress.into_iter().flat_map(|ingress| ingress.take_heard()) {
            let neighbour = context.fabric.peer[first + heard.input as usize];
            lock(&context.shared.pauses[neighbour as usize]).push((heard.at, heard.pauses));
        }
    }

    /// The link that a port feeds goes down at `now`: what has not left is in no memory any more.
    #[cold]
    #[inline(never)]
    pub(super) fn lose_in_memory(&mut self, context: &Context<'_>, port: usize, now: Ps) {
        let node = context.fabric.port_node[port];
        let Some(tier) = (1..4).find(|&tier| self.shares[tier].nodes.contains(&node)) else { return };
        let place = (node - self.shares[tier].nodes.start) as usize;
        let Some(memory) = self.memories[tier - 1].get_mut(place) else { return };
        if let Some(pool) = &mut memory.pool {
            pool.lose(now, context.fabric.peer[port]);
        }
        if let Some(ingress) = &mut memory.ingress {
            ingress.lose(now, (port - context.fabric.ports_of(node).start) as u32);
            self.spread_pauses(context, tier, node);
        }
    }
}
