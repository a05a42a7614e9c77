//! Three-level fat tree: pods of edge and aggregation switches under cores.
//!
//! *Source*: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008. Uplink j of an edge switch leads to the pod's
//! aggregation switch j, uplink c of aggregation switch j to core j * cores_per_agg + c, whose down port p leads to pod p.

use super::builder::{Builder, check_dimensions};
use super::{Addressing, Fabric, SwitchShape, Tier};
use crate::config::FabricConfig;
use crate::error::Error;

pub(super) fn build(config: &FabricConfig) -> Result<Fabric, Error> {
    let &FabricConfig::FatTree {
        pods,
        edges_per_pod,
        hosts_per_edge,
        aggs_per_pod,
        cores_per_agg,
        host_link,
        edge_agg_link,
        agg_core_link,
        ..
    } = config
    else {
        unreachable!("called for fat trees only")
    };
    check_dimensions(
        &[
            ("pods", pods),
            ("edges_per_pod", edges_per_pod),
            ("hosts_per_edge", hosts_per_edge),
            ("aggs_per_pod", aggs_per_pod),
            ("cores_per_agg", cores_per_agg),
        ],
        &[("host_link", host_link), ("edge_agg_link", edge_agg_link), ("agg_core_link", agg_core_link)],
    )?;
    let addressing = Addressing::new(pods, edges_per_pod, hosts_per_edge)?;
    let (edges, aggs, cores) = (pods * edges_per_pod, pods * aggs_per_pod, aggs_per_pod * cores_per_agg);
    let mut builder = Builder::new([
        (edges * hosts_per_edge, 0, 1),
        (edges, hosts_per_edge, aggs_per_pod),
        (aggs, edges_per_pod, cores_per_agg),
        (cores, pods, 0),
    ]);
    for edge in 0..edges {
        let (pod, edge_in_pod) = (edge / edges_per_pod, edge % edges_per_pod);
        for slot in 0..hosts_per_edge {
            builder.cable((Tier::Host, edge * hosts_per_edge + slot), 0, (Tier::Edge, edge), slot, host_link);
        }
        for j in 0..aggs_per_pod {
            builder.cable((Tier::Edge, edge), j, (Tier::Agg, pod * aggs_per_pod + j), edge_in_pod, edge_agg_link);
        }
    }
    for agg in 0..aggs {
        let (pod, j) = (agg / aggs_per_pod, agg % aggs_per_pod);
        for c in 0..cores_per_agg {
            builder.cable((Tier::Agg, agg), c, (Tier::Core, j * cores_per_agg + c), pod, agg_core_link);
        }
    }

    let Addressing { slot_bits, edge_bits, .. } = addressing;
    let pod_shift = slot_bits + edge_bits;
    let mut switches = Vec::with_capacity((edges + aggs + cores) as usize);
    for edge in 0..edges {
        switches.push(SwitchShape {
            tier: Tier::Edge,
            down: hosts_per_edge,
            up: aggs_per_pod,
            prefix_shift: slot_bits,
            prefix: addressing.edge_key(edge * hosts_per_edge),
            down_shift: 0,
            down_mask: (1 << slot_bits) - 1,
            keys: pods << edge_bits,
        });
    }
    for agg in 0..aggs {
        switches.push(SwitchShape {
            tier: Tier::Agg,
            down: edges_per_pod,
            up: cores_per_agg,
            prefix_shift: pod_shift,
            prefix: agg / aggs_per_pod,
            down_shift: slot_bits,
            down_mask: (1 << edge_bits) - 1,
            keys: pods,
        });
    }
    for _ in 0..cores {
        switches.push(SwitchShape {
            tier: Tier::Core,
            down: pods,
            up: 0,
            prefix_shift: 31,
            prefix: 0,
            down_shift: pod_shift,
            down_mask: u32::MAX,
            keys: 0,
        });
    }
    Ok(builder.finish(switches, addressing))
}
