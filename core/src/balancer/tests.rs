//! What every scheme must do, whatever it is.

use super::*;
use crate::config::{FabricConfig, FrameConfig, LastFrame, LinkConfig};
use crate::packet::Kind;
use crate::port::PortLimits;
use proptest::prelude::*;

const FRAME: FrameConfig =
    FrameConfig { payload_bytes: 4096, header_bytes: 62, ack_bytes: 64, gap_bytes: 20, last_frame: LastFrame::Full };

fn leaf_spine(uplinks: u32) -> Fabric {
    let link = LinkConfig { rate_bps: 800_000_000_000, latency_ps: 500_000 };
    Fabric::build(&FabricConfig::LeafSpine {
        leaves: 5,
        hosts_per_leaf: 3,
        spines: uplinks,
        host_link: link,
        leaf_spine_link: link,
        links_down: vec![],
        links_degraded: vec![],
    })
    .unwrap()
}

/// Picks for `count` packets at leaf 0, alternating keys, classes and inputs, all within the valid set of each step.
fn picks(scheme: BalancerConfig, uplinks: u32, masks: &[u128], count: usize, seed: u64) -> Vec<u16> {
    fn with(scheme: &mut impl Balancer, choice: Choice<'_>) -> u16 {
        scheme.pick(choice)
    }
    let fabric = leaf_spine(uplinks);
    let node = fabric.tiers[1].start;
    let first = fabric.ports_of(node).start + fabric.switch(node).down as usize;
    let mut ports: Vec<Port> =
        (0..uplinks as usize).map(|up| Port::new(&fabric, first + up, &FRAME, PortLimits::NONE, false)).collect();
    let mut switch = SwitchBalancer::everywhere(scheme, &fabric, seed).unwrap().remove(0);
    (0..count)
        .map(|step| {
            let kind = if step % 3 == 0 { Kind::Ack } else { Kind::Data };
            let valid = ValidPorts::from_mask(masks[step % masks.len()]);
            // A pinned path names a valid uplink: its host has seen to that.
            let path = valid.ports[step % valid.len()];
            let packet = Packet::new(kind, step as u32 % 7, step as u32, 1, path, 64);
            let choice = Choice {
                now: step as Ps,
                packet,
                key: step as u32 % 4 + 1,
                ingress: step as u32 % 3,
                valid: &valid,
                uplinks: &mut ports,
            };
            let port = match &mut switch {
                SwitchBalancer::Ecmp(scheme) => with(scheme, choice),
                SwitchBalancer::SimpleRr(scheme) => with(scheme, choice),
                SwitchBalancer::Jsq(scheme) => with(scheme, choice),
                SwitchBalancer::Rsq(scheme) => with(scheme, choice),
                SwitchBalancer::Pinned(scheme) => with(scheme, choice),
                SwitchBalancer::Ofan(scheme) => with(scheme, choice),
            };
            assert!(valid.contains(port), "{scheme:?} picked {port}, valid {:?}", valid.ports);
            port
        })
        .collect()
}

fn schemes() -> impl Strategy<Value = BalancerConfig> {
    prop_oneof![
        Just(BalancerConfig::Ecmp {}),
        Just(BalancerConfig::SimpleRr {}),
        Just(BalancerConfig::Jsq {}),
        Just(BalancerConfig::Rsq {}),
        Just(BalancerConfig::Rps {}),
        Just(BalancerConfig::Drb {}),
        Just(BalancerConfig::Ofan {}),
        (1u32..5).prop_map(|ports_per_pipe| BalancerConfig::Pofan { ports_per_pipe }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A valid port, never another while one is valid; the same seed gives the same picks; 1 and 128 uplinks are as good as any.
    #[test]
    fn picks_are_valid_and_repeatable(
        scheme in schemes(),
        uplinks in prop_oneof![Just(1u32), Just(64), Just(128), 2u32..128],
        masks in prop::collection::vec(any::<u128>(), 1..5),
        seed in any::<u64>(),
    ) {
        let all = ValidPorts::all(uplinks);
        let within = |mask: u128| all.ports.iter().map(|&port| 1u128 << port).filter(|bit| mask & bit != 0).sum::<u128>();
        let masks: Vec<u128> = masks.into_iter().map(|mask| if within(mask) == 0 { 1 } else { within(mask) }).collect();
        prop_assert_eq!(picks(scheme, uplinks, &masks, 60, seed), picks(scheme, uplinks, &masks, 60, seed));
    }

    /// Without failures SimpleRR gives every uplink floor or ceil of its share, for any number of packets.
    #[test]
    fn one_pointer_is_even(uplinks in 1u32..128, count in 1usize..400, seed in any::<u64>()) {
        let picked = picks(BalancerConfig::SimpleRr {}, uplinks, &[within_first(uplinks)], count, seed);
        for port in 0..uplinks as u16 {
            let share = picked.iter().filter(|&&other| other == port).count();
            prop_assert!(share == count / uplinks as usize || share == count.div_ceil(uplinks as usize));
        }
    }
}

fn within_first(uplinks: u32) -> u128 {
    ValidPorts::all(uplinks).ports.iter().map(|&port| 1u128 << port).sum()
}

/// Ofan: each (key, class) of its own is even; with valid ports missing, the others share equally (every valid port gets one packet a round).
#[test]
fn each_destination_pointer_is_even() {
    let valid = 0b10_1101u128;
    let fabric = leaf_spine(6);
    let node = fabric.tiers[1].start;
    let mut ports: Vec<Port> = (0..6).map(|up| Port::new(&fabric, up, &FRAME, PortLimits::NONE, false)).collect();
    let SwitchBalancer::Ofan(mut ofan) = SwitchBalancer::everywhere(BalancerConfig::Ofan {}, &fabric, 9).unwrap().remove(0)
    else {
        panic!("asked for Ofan at switch {node}")
    };
    for mask in [within_first(6), valid] {
        let set = ValidPorts::from_mask(mask);
        for key in 1..5 {
            for kind in [Kind::Data, Kind::Ack] {
                let mut counts = [0; 6];
                for step in 0..24u32 {
                    let packet = Packet::new(kind, step, step, 0, 0, 64);
                    let choice = Choice { now: 0, packet, key, ingress: step % 3, valid: &set, uplinks: &mut ports };
                    counts[usize::from(ofan.pick(choice))] += 1;
                }
                let share = 24 / set.len();
                assert!(set.ports.iter().all(|&port| counts[usize::from(port)] == share), "{key} {kind:?}: {counts:?}");
            }
        }
    }
}

#[test]
fn a_pipe_of_no_ports_is_refused() {
    let error = SwitchBalancer::everywhere(BalancerConfig::Pofan { ports_per_pipe: 0 }, &leaf_spine(2), 1).unwrap_err();
    assert_eq!(error.to_string(), "balancer.ports_per_pipe: got 0; allowed: at least 1");
}
