//! Ofan and POfan: destination-based rotation at the switch. One pointer for each (destination edge switch at an edge switch, destination pod at an
//! aggregation switch; size class), and with POfan for each pipe of down-facing ports; every pointer walks over all uplinks in an order of its own.
//!
//! *Source*: Ofan paper sections 4 and 5, appendices F and H (Theorems 5 and 7: O(1) queues). *Differs*: none.
//! When `ports_per_pipe` does not divide the down ports, the last pipe is short. *State*: a pointer for each (pipe, key, class).
//! *Cost*: one pointer, one permuted port.

use super::{Balancer, Decision, SwitchBalancer, cheapest};
use crate::config::PortOrderKind;
use crate::fabric::{Fabric, Tier, UPLINKS_LIMIT};
use crate::rng::{Purpose, Stream};
use crate::units::Ps;
use std::sync::Arc;

/// The orders in which pointers walk over `w` uplinks: `pi(i) = (x(P[i], id1) + id2) mod w`, with `x(v, u) = v XOR u` if that is below w, else `v`.
///
/// *Source*: Ofan paper, appendix F.2, equations 16 to 18. P is the same for all switches and seeds: the first of a fixed sequence of random
/// permutations whose w shifts are different cyclic orders (for w = 6, also one that reaches the paper's 30 orders in all). With w = 2 and 3 there
/// are not enough cyclic orders for that, and any P serves.
#[derive(Clone, Debug)]
struct PortOrder {
    uplinks: u32,
    /// P; what lies beyond the uplinks is never asked for.
    basis: [u8; UPLINKS_LIMIT as usize],
}

impl PortOrder {
    /// The order of the ports themselves.
    fn identity(uplinks: u32) -> Self {
        Self { uplinks, basis: std::array::from_fn(|i| i as u8) }
    }

    /// The basis for `uplinks` uplinks (1 to 64).
    fn new(uplinks: u32) -> Self {
        let mut stream = Stream::new(0, Purpose::Balancer, u64::from(uplinks));
        loop {
            let mut basis = std::array::from_fn(|i| i as u8);
            for last in (1..uplinks as usize).rev() {
                basis.swap(last, stream.below(last as u64 + 1) as usize);
            }
            let order = Self { uplinks, basis };
            if uplinks <= 3 || (order.shifts_differ() && (uplinks != 6 || order.cyclic_orders() == 30)) {
                return order;
            }
        }
    }

    /// Bits of `id1`.
    fn low_bits(&self) -> u32 {
        self.uplinks.next_power_of_two().trailing_zeros()
    }

    /// The two numbers that make the order of pointer `id`: `id1`, and `id2 mod w`.
    fn twist(&self, id: u32) -> (u8, u8) {
        let bits = self.low_bits();
        ((id & ((1 << bits) - 1)) as u8, ((id >> bits) % self.uplinks) as u8)
    }

    /// The `i`-th uplink in an order.
    #[inline(always)]
    fn port(&self, i: u8, (id1, id2): (u8, u8)) -> u16 {
        let uplinks = self.uplinks;
        let value = u32::from(self.basis[usize::from(i) % self.basis.len()]);
        let xored = value ^ u32::from(id1);
        let sum = if xored < uplinks { xored } else { value } + u32::from(id2);
        // Modulo without a branch: below `uplinks` the subtraction wraps to something huge.
        sum.min(sum.wrapping_sub(uplinks)) as u16
    }

    /// An order as a cycle that begins with uplink 0.
    fn cycle(&self, twist: (u8, u8)) -> Vec<u16> {
        let mut ports: Vec<u16> = (0..self.uplinks as u8).map(|i| self.port(i, twist)).collect();
        let zero = ports.iter().position(|&port| port == 0).unwrap_or(0);
        ports.rotate_left(zero);
        ports
    }

    fn shifts_differ(&self) -> bool {
        let shifts: std::collections::HashSet<_> = (0..self.uplinks as u8).map(|id2| self.cycle((0, id2))).collect();
        shifts.len() == self.uplinks as usize
    }

    /// How many different cyclic orders all pointers together can follow.
    fn cyclic_orders(&self) -> usize {
        let firsts = 0..1u32 << self.low_bits();
        let seconds = 0..self.uplinks as u8;
        let cycles = firsts.flat_map(|id1| seconds.clone().map(move |id2| (id1 as u8, id2)));
        cycles.map(|twist| self.cycle(twist)).collect::<std::collections::HashSet<_>>().len()
    }
}

/// What all switches of a tier share.
#[derive(Debug)]
struct Plan {
    order: PortOrder,
    keys: u32,
    pipes: u32,
    /// The twist of each (key, class).
    twists: Box<[(u8, u8)]>,
    /// First pointer of the pipe that a down port belongs to.
    pipe_base: Box<[u32]>,
}

impl Plan {
    fn new(fabric: &Fabric, node: u32, ports_per_pipe: u32, kind: PortOrderKind) -> Self {
        let shape = fabric.switch(node);
        let ports_per_pipe = ports_per_pipe.min(shape.down);
        let is_identity = kind == PortOrderKind::Identity;
        let order = if is_identity { PortOrder::identity(shape.up) } else { PortOrder::new(shape.up) };
        // N_d of equation 16: how many edge switches, or pods, there are.
        let destinations = if shape.tier == Tier::Edge { fabric.tiers[1].len() as u32 } else { shape.keys };
        let twists = (0..shape.keys * 2)
            .map(|key_class| {
                let key = key_class / 2;
                if is_identity {
                    return (0, 0);
                }
                let destination = if shape.tier == Tier::Edge { fabric.addressing.dense_edge(key) } else { key };
                order.twist(destination + destinations * (key_class & 1))
            })
            .collect();
        let pipe_base = (0..shape.down).map(|port| port / ports_per_pipe * shape.keys * 2).collect();
        Self { order, keys: shape.keys, pipes: shape.down.div_ceil(ports_per_pipe), twists, pipe_base }
    }
}

/// The plans of the two tiers that choose, made when first asked for.
pub(super) struct Plans {
    ports_per_pipe: u32,
    order: PortOrderKind,
    idle_reset: Option<Ps>,
    of_tier: [Option<Arc<Plan>>; 2],
}

impl Plans {
    /// `ports_per_pipe` down-facing ports share a pipe; Ofan itself is the case of one pipe. A pointer that starts at the least occupied uplink goes on
    /// in the order of the ports (appendix F.5).
    pub(super) fn new(ports_per_pipe: u32, order: PortOrderKind, idle_reset: Option<Ps>) -> Self {
        let order = if idle_reset.is_some() { PortOrderKind::Identity } else { order };
        Self { ports_per_pipe, order, idle_reset, of_tier: [None, None] }
    }

    fn of_tier(&mut self, fabric: &Fabric, node: u32) -> Arc<Plan> {
        let slot = &mut self.of_tier[usize::from(fabric.switch(node).tier != Tier::Edge)];
        slot.get_or_insert_with(|| Arc::new(Plan::new(fabric, node, self.ports_per_pipe, self.order))).clone()
    }

    /// The pointers of switch `node`: data pointers start at random, ACK pointers half a rotation further (section 4.1).
    pub(super) fn ofan(&mut self, fabric: &Fabric, node: u32, seed: u64) -> SwitchBalancer {
        let plan = self.of_tier(fabric, node);
        let uplinks = fabric.switch(node).up;
        let mut stream = Stream::new(seed, Purpose::Balancer, u64::from(node));
        let pointers: Box<[u8]> = (0..plan.pipes * plan.keys)
            .flat_map(|_| {
                let data = stream.below(u64::from(uplinks)) as u32;
                [data as u8, ((data + uplinks / 2) % uplinks) as u8]
            })
            .collect();
        let ofan = Ofan { plan, pointers };
        match self.idle_reset {
            None => SwitchBalancer::Ofan(ofan),
            Some(idle_reset) => {
                let last_used = vec![None; ofan.pointers.len()].into();
                SwitchBalancer::DynamicOfan(DynamicOfan { ofan, idle_reset, last_used, stream })
            }
        }
    }
}

/// The pointers of one switch.
#[derive(Debug)]
pub struct Ofan {
    plan: Arc<Plan>,
    /// Pointer of each (pipe, key, class).
    pointers: Box<[u8]>,
}

impl Ofan {
    /// Number of a packet's pointer, and its key and class.
    #[inline(always)]
    fn place(&self, decision: &Decision<'_>) -> (usize, usize) {
        let key_class = decision.key << 1 | decision.packet.class() as u32;
        ((self.plan.pipe_base[decision.ingress as usize] + key_class) as usize, key_class as usize)
    }
}

impl Balancer for Ofan {
    #[inline(always)]
    fn pick(&mut self, decision: Decision<'_>) -> u16 {
        let (place, key_class) = self.place(&decision);
        let twist = self.plan.twists[key_class];
        let pointer = &mut self.pointers[place];
        loop {
            let i = *pointer;
            *pointer = if u32::from(i) + 1 == self.plan.order.uplinks { 0 } else { i + 1 };
            let port = self.plan.order.port(i, twist);
            if decision.allows(port) {
                return port;
            }
        }
    }
}

/// Ofan with the dynamic first pointer (appendix F.5): what begins a collective starts where the queue is shortest. The paper does not say how a switch
/// knows that a collective begins; here a pointer that has been idle for a while takes its next packet for the first of one.
#[derive(Debug)]
pub struct DynamicOfan {
    ofan: Ofan,
    idle_reset: Ps,
    last_used: Box<[Option<Ps>]>,
    stream: Stream,
}

impl Balancer for DynamicOfan {
    #[inline(always)]
    fn pick(&mut self, mut decision: Decision<'_>) -> u16 {
        let (place, _) = self.ofan.place(&decision);
        let last = self.last_used[place].replace(decision.now);
        if last.is_none_or(|at| decision.now - at >= self.idle_reset) {
            let shortest = cheapest(decision.valid.mask, &mut self.stream, |port| decision.queued_bytes(port));
            self.ofan.pointers[place] = shortest as u8;
        }
        self.ofan.pick(decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_cyclic_orders_at_six_uplinks() {
        let order = PortOrder::new(6);
        assert_eq!(order.cyclic_orders(), 30, "appendix F.2");
        assert!(order.shifts_differ(), "additions alone give w = 6");
    }

    #[test]
    fn every_order_is_a_permutation() {
        for uplinks in 1..=64 {
            let order = PortOrder::new(uplinks);
            assert!(uplinks <= 3 || order.shifts_differ(), "w = {uplinks}");
            for id in [0, 1, 5, 77, 4095, 100_000] {
                let mut ports: Vec<u16> = (0..uplinks as u8).map(|i| order.port(i, order.twist(id))).collect();
                ports.sort_unstable();
                assert!(ports.iter().copied().eq(0..uplinks as u16), "w = {uplinks}, id = {id}");
            }
        }
    }

    /// By hand for w = 4 (b = 2) and P = [2, 0, 3, 1]: pointer 6 has id1 = 2, id2 = 1, so pi = ((P ^ 2) + 1) mod 4 = [1, 3, 2, 0].
    #[test]
    fn the_formula_by_hand() {
        let mut order = PortOrder::new(4);
        order.basis[..4].copy_from_slice(&[2, 0, 3, 1]);
        assert_eq!((0..4).map(|i| order.port(i, order.twist(6))).collect::<Vec<_>>(), [1, 3, 2, 0]);
        // w = 3 (b = 2), P = [0, 1, 2], id = 5: id1 = 1, id2 = 1. 0^1 = 1, 1^1 = 0, 2^1 = 3 stays 2; plus 1: [2, 1, 0].
        let mut order = PortOrder::new(3);
        order.basis[..3].copy_from_slice(&[0, 1, 2]);
        assert_eq!((0..3).map(|i| order.port(i, order.twist(5))).collect::<Vec<_>>(), [2, 1, 0]);
    }
}
