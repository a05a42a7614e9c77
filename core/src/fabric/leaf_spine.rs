//! Two-level tree: every leaf is wired to every spine. Leaves play the edge's part, spines the core's; a host's pod is its leaf.
//!
//! *Source*: Ofan paper, section 6.3 (k leaves of k/2 hosts under k/2 spines when non-blocking).

use super::builder::{Builder, check_dimensions};
use super::{Addressing, Fabric, SwitchShape, Tier};
use crate::config::FabricConfig;
use crate::error::Error;

pub(super) fn build(config: &FabricConfig) -> Result<Fabric, Error> {
    let &FabricConfig::LeafSpine { leaves, hosts_per_leaf, spines, host_link, leaf_spine_link, .. } = config else {
        unreachable!("called for leaf-spine trees only")
    };
    check_dimensions(
        &[("leaves", leaves), ("hosts_per_leaf", hosts_per_leaf), ("spines", spines)],
        &[("host_link", host_link), ("leaf_spine_link", leaf_spine_link)],
    )?;
    let addressing = Addressing::new(leaves, 1, hosts_per_leaf)?;
    let mut builder =
        Builder::new([(leaves * hosts_per_leaf, 0, 1), (leaves, hosts_per_leaf, spines), (0, 0, 0), (spines, leaves, 0)]);
    for leaf in 0..leaves {
        for slot in 0..hosts_per_leaf {
            builder.cable((Tier::Host, leaf * hosts_per_leaf + slot), 0, (Tier::Edge, leaf), slot, host_link);
        }
        for spine in 0..spines {
            builder.cable((Tier::Edge, leaf), spine, (Tier::Core, spine), leaf, leaf_spine_link);
        }
    }
    let slot_bits = addressing.slot_bits;
    let leaf_shape = |leaf| SwitchShape {
        tier: Tier::Edge,
        down: hosts_per_leaf,
        up: spines,
        prefix_shift: slot_bits,
        prefix: leaf,
        down_shift: 0,
        down_mask: (1 << slot_bits) - 1,
        keys: leaves,
    };
    let spine_shape = SwitchShape {
        tier: Tier::Core,
        down: leaves,
        up: 0,
        prefix_shift: 31,
        prefix: 0,
        down_shift: slot_bits,
        down_mask: u32::MAX,
        keys: 0,
    };
    let switches = (0..leaves).map(leaf_shape).chain((0..spines).map(|_| spine_shape.clone())).collect();
    Ok(builder.finish(switches, addressing))
}
