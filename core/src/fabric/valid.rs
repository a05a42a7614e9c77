//! Valid ports V(switch, destination): the uplinks through which some up-down path to the destination works, once routing has converged.
//!
//! *Source*: Ofan paper section 4.1 (failures) and footnote 5.

use super::{Fabric, Tier};
use std::collections::HashMap;

/// Most uplinks that a switch may have: a set of ports is one 64-bit mask.
pub const UPLINKS_LIMIT: u32 = 64;

/// A set of uplinks of one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidPorts {
    /// Uplink numbers, ascending.
    pub ports: Box<[u16]>,
    /// The set as a mask.
    pub mask: u64,
}

impl ValidPorts {
    /// The set with these members.
    pub fn from_mask(mask: u64) -> Self {
        Self { ports: (0..64).filter(|port| mask >> port & 1 == 1).collect(), mask }
    }

    /// All of the first `uplinks` uplinks.
    pub fn all(uplinks: u32) -> Self {
        Self::from_mask(first(uplinks))
    }

    /// Whether the uplink is a member.
    #[inline(always)]
    pub fn contains(&self, port: u16) -> bool {
        self.mask >> (port & 63) & 1 == 1
    }

    /// Members.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.ports.len()
    }

    /// Whether nothing is reachable.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }
}

fn first(uplinks: u32) -> u64 {
    if uplinks == UPLINKS_LIMIT { u64::MAX } else { (1 << uplinks) - 1 }
}

/// V for every switch and key. Sets are interned; a switch without a table reaches every key through every uplink.
#[derive(Debug, Default)]
pub struct Routes {
    /// Whether any link is down.
    pub any_dead: bool,
    hosts: u32,
    sets: Vec<ValidPorts>,
    switches: Vec<SwitchTable>,
}

#[derive(Clone, Debug)]
struct SwitchTable {
    full: u32,
    of_key: Box<[u32]>,
}

/// The valid uplinks of one switch.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    sets: &'a [ValidPorts],
    full: &'a ValidPorts,
    of_key: &'a [u32],
}

impl<'a> Reach<'a> {
    /// Uplinks through which `key` can be reached.
    #[inline(always)]
    pub fn of(self, key: u32) -> &'a ValidPorts {
        if self.of_key.is_empty() { self.full } else { &self.sets[self.of_key[key as usize] as usize] }
    }
}

impl Routes {
    /// The valid uplinks of a switch towards each key.
    #[inline(always)]
    pub fn reach(&self, node: u32) -> Reach<'_> {
        let table = &self.switches[(node - self.hosts) as usize];
        Reach { sets: &self.sets, full: &self.sets[table.full as usize], of_key: &table.of_key }
    }

    /// Uplinks of a switch through which `key` can be reached.
    pub fn valid_ports(&self, node: u32, key: u32) -> &ValidPorts {
        self.reach(node).of(key)
    }

    /// What routing converges to when these links work.
    pub(super) fn compute(fabric: &Fabric, alive: &[bool]) -> Self {
        let mut interner = Interner::default();
        let any_dead = alive.iter().any(|&alive| !alive);
        let alive_up: Vec<u64> = (fabric.hosts()..fabric.tiers[3].end).map(|node| alive_uplinks(fabric, alive, node)).collect();
        let switches = (fabric.hosts()..fabric.tiers[3].end)
            .map(|node| {
                let shape = fabric.switch(node);
                let full = interner.intern(first(shape.up));
                let masks = if !any_dead || shape.up == 0 { Vec::new() } else { reachable(fabric, &alive_up, node) };
                let of_key = if masks.iter().all(|&mask| mask == first(shape.up)) {
                    Box::default()
                } else {
                    masks.into_iter().map(|mask| interner.intern(mask)).collect()
                };
                SwitchTable { full, of_key }
            })
            .collect();
        Self { any_dead, hosts: fabric.hosts(), sets: interner.sets, switches }
    }
}

#[derive(Default)]
struct Interner {
    sets: Vec<ValidPorts>,
    known: HashMap<u64, u32>,
}

impl Interner {
    fn intern(&mut self, mask: u64) -> u32 {
        *self.known.entry(mask).or_insert_with(|| {
            self.sets.push(ValidPorts::from_mask(mask));
            self.sets.len() as u32 - 1
        })
    }
}

fn alive_uplinks(fabric: &Fabric, alive: &[bool], node: u32) -> u64 {
    let down = fabric.switch(node).down as usize;
    let ports = fabric.ports_of(node);
    ports.skip(down).enumerate().filter(|(_, port)| alive[*port]).fold(0, |mask, (up, _)| mask | 1 << up)
}

/// For one switch: the mask of valid uplinks for each key.
fn reachable(fabric: &Fabric, alive_up: &[u64], node: u32) -> Vec<u64> {
    let up_of = |other: u32| alive_up[(other - fabric.hosts()) as usize];
    let shape = fabric.switch(node);
    let own = up_of(node);
    if shape.tier == Tier::Agg {
        let aggs_per_pod = fabric.switch(fabric.tiers[1].start).up;
        let j = (node - fabric.tiers[2].start) % aggs_per_pod;
        return (0..shape.keys).map(|pod| own & up_of(fabric.tiers[2].start + pod * aggs_per_pod + j)).collect();
    }
    let addressing = fabric.addressing;
    let mut masks = vec![first(shape.up); shape.keys as usize];
    for edge in fabric.tiers[1].clone() {
        let key = fabric.switch(edge).prefix;
        let common = own & up_of(edge);
        let (here, there) = (shape.prefix >> addressing.edge_bits, key >> addressing.edge_bits);
        masks[key as usize] = if !fabric.is_three_level() || here == there {
            common
        } else {
            let agg = |pod: u32, j: u32| fabric.tiers[2].start + pod * shape.up + j;
            (0..shape.up)
                .filter(|&j| common >> j & 1 == 1 && up_of(agg(here, j)) & up_of(agg(there, j)) != 0)
                .fold(0, |mask, j| mask | 1 << j)
        };
    }
    masks
}
