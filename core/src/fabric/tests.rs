use super::*;
use crate::config::LinkConfig;

fn link() -> LinkConfig {
    LinkConfig { rate_bps: 800_000_000_000, latency_ps: 500_000 }
}

fn fat_tree(radix: u32, links_down: &[(&str, &str)]) -> Result<Fabric, Error> {
    let w = radix / 2;
    Fabric::build(&FabricConfig::FatTree {
        pods: radix,
        edges_per_pod: w,
        hosts_per_edge: w,
        aggs_per_pod: w,
        cores_per_agg: w,
        host_link: link(),
        edge_agg_link: link(),
        agg_core_link: link(),
        links_down: links_down.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect(),
        links_degraded: vec![],
        link_events: vec![],
        reconvergence_delay_ps: 0,
        losses: vec![],
    })
}

fn leaf_spine(radix: u32) -> Fabric {
    Fabric::build(&FabricConfig::LeafSpine {
        leaves: radix,
        hosts_per_leaf: radix / 2,
        spines: radix / 2,
        host_link: link(),
        leaf_spine_link: link(),
        links_down: vec![],
        links_degraded: vec![],
        link_events: vec![],
        reconvergence_delay_ps: 0,
        losses: vec![],
    })
    .unwrap()
}

/// Follows the routing of one packet with the given uplink choices; the node where it ends.
fn walk(fabric: &Fabric, src: u32, dst: u32, choices: [u32; 2]) -> u32 {
    let address = fabric.addressing.address(dst);
    let mut node = fabric.edge_of(src);
    let mut choices = choices.into_iter();
    for _ in 0..6 {
        if node < fabric.hosts() {
            return node;
        }
        let shape = fabric.switch(node);
        let local = if address >> shape.prefix_shift == shape.prefix {
            address >> shape.down_shift & shape.down_mask
        } else {
            shape.down + choices.next().unwrap() % shape.up
        };
        node = fabric.port_node[fabric.peer[fabric.ports_of(node).start + local as usize] as usize];
    }
    node
}

#[test]
fn counts_of_the_k_ary_fat_tree() {
    for radix in (2..=128).step_by(2) {
        let (fabric, w) = (fat_tree(radix, &[]).unwrap(), radix / 2);
        let counts = fabric.tiers.clone().map(|tier| tier.len() as u32);
        assert_eq!(counts, [radix * w * w, radix * w, radix * w, w * w], "k={radix}");
        // Hosts have one port, every switch k: 6n directed links in all (5n of them leave switches: Ofan paper, appendix B).
        assert_eq!(fabric.ports() as u32, 6 * fabric.hosts(), "k={radix}");
        assert!(fabric.peer.iter().enumerate().all(|(port, &peer)| fabric.peer[peer as usize] as usize == port));
        for port in 0..fabric.ports() {
            let ends = [port, fabric.peer[port] as usize].map(|p| fabric.tier_of(fabric.port_node[p]) as i32);
            assert_eq!((ends[0] - ends[1]).abs(), 1, "cables join neighbouring tiers");
        }
    }
}

#[test]
fn every_choice_leads_to_the_destination() {
    for fabric in [fat_tree(6, &[]).unwrap(), fat_tree(2, &[]).unwrap(), leaf_spine(6)] {
        for src in 0..fabric.hosts() {
            for dst in (0..fabric.hosts()).filter(|&dst| dst != src) {
                for (j, c) in [(0, 0), (1, 2), (2, 1)] {
                    assert_eq!(walk(&fabric, src, dst, [j, c]), dst);
                }
            }
        }
    }
}

/// V by brute force: an uplink is valid if some complete up-down path through it uses working links only.
fn brute_force_valid(fabric: &Fabric, edge: u32, dst_edge: u32) -> Vec<u16> {
    let next = |node: u32, local: u32| {
        let port = fabric.ports_of(node).start + local as usize;
        fabric.alive[port].then(|| fabric.port_node[fabric.peer[port] as usize])
    };
    let down_to = |node: u32, target: u32| (0..fabric.switch(node).down).any(|local| next(node, local) == Some(target));
    let w = fabric.switch(edge).up;
    (0..w)
        .filter(|&j| {
            let Some(agg) = next(edge, fabric.switch(edge).down + j) else { return false };
            let same_pod = (edge - fabric.hosts()) / w == (dst_edge - fabric.hosts()) / w;
            if same_pod {
                return down_to(agg, dst_edge);
            }
            (0..w).any(|c| {
                let Some(core) = next(agg, fabric.switch(agg).down + c) else { return false };
                (0..fabric.switch(core).down).any(|pod| next(core, pod).is_some_and(|far| far != agg && down_to(far, dst_edge)))
            })
        })
        .map(|j| j as u16)
        .collect()
}

#[test]
fn valid_ports_match_brute_force() {
    let down = [
        ("edge-0", "agg-1"),
        ("edge-5", "agg-4"),
        ("agg-2", "core-6"),
        ("agg-2", "core-7"),
        ("agg-2", "core-8"),
        ("agg-9", "core-0"),
    ];
    let fabric = fat_tree(6, &down).unwrap();
    for edge in fabric.tiers[1].clone() {
        for dst in fabric.tiers[1].clone().filter(|&dst| dst != edge) {
            let got = fabric.routes[0].valid_ports(edge, fabric.switch(dst).prefix);
            assert_eq!(got.ports.to_vec(), brute_force_valid(&fabric, edge, dst), "{edge} -> {dst}");
        }
    }
    // agg-2 (pod 0, index 2) has lost all its cores, so pod 0 reaches other pods through aggregation switches 0 and 1 only.
    assert!(fabric.routes[0].valid_ports(fabric.tiers[2].start + 2, 3).is_empty());
    assert_eq!(
        fabric.routes[0].valid_ports(fabric.tiers[1].start + 1, fabric.switch(fabric.tiers[1].start + 4).prefix).ports[..],
        [0, 1]
    );
}

#[test]
fn bad_links_are_named() {
    let message = |links: &[(&str, &str)]| fat_tree(4, links).unwrap_err().to_string();
    assert!(message(&[("edge-0", "agg-5")]).starts_with("fabric.links_down[0]: got edge-0/agg-5; allowed: two ends of one link"));
    assert!(message(&[("edge-00", "agg-1")]).contains("got edge-00"));
    assert!(message(&[("edge-99", "agg-1")]).contains("got edge-99"));
    assert!(message(&[("agg-0", "edge-0")]).contains("lower tier first"));
    assert!(message(&[("host-0", "edge-0")]).contains("links between switches"));
    assert!(message(&[("leaf-0", "spine-0")]).contains("got leaf-0"));
}

#[test]
fn limits_are_errors() {
    assert!(fat_tree(130, &[]).unwrap_err().to_string().contains("fabric.aggs_per_pod: got 65; allowed: at most 64"));
    assert!(fat_tree(0, &[]).unwrap_err().to_string().contains("fabric.pods: got 0; allowed: at least 1"));
}
