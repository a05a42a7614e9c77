//! What every scheme must do, whatever it is.

use super::*;
use crate::config::{
    AckRouting, Acks, BalancerConfig, Deployment, FabricConfig, FrameConfig, LastFrame, LinkConfig, Pointers, PortOrderKind,
    Salts,
};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::packet::Kind;
use crate::port::PortLimits;
use crate::workload::{Messages, Workload};
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
        link_events: vec![],
        reconvergence_delay_ps: 0,
        losses: vec![],
    })
    .unwrap()
}

/// One message, so that there is a flow in each direction.
fn workload(fabric: &Fabric) -> Workload {
    let messages = Messages {
        src: vec![0],
        dst: vec![3],
        bytes: vec![1],
        start: vec![0],
        rank: vec![0],
        collective: vec![0],
        ..Messages::default()
    };
    Workload::new(&messages, fabric, &FRAME, Acks::PerPacket, None).unwrap()
}

fn switches(scheme: BalancerConfig, fabric: &Fabric, seed: u64) -> Result<Vec<SwitchBalancer>, Error> {
    everywhere(scheme, &[], true, fabric, &workload(fabric), seed)
}

fn uplink_ports(fabric: &Fabric, node: u32) -> Vec<Port> {
    let ports = fabric.ports_of(node).skip(fabric.switch(node).down as usize);
    ports.map(|port| Port::new(fabric, port, &FRAME, PortLimits::NONE, false)).collect()
}

/// Asks a scheme for `count` packets, alternating keys, classes and inputs, within the valid set of each step.
struct Picks<'a> {
    valid: &'a [ValidPorts],
    fabric: &'a Fabric,
    node: u32,
    uplinks: Vec<Port>,
    count: usize,
    picked: Vec<u16>,
}

impl Picks<'_> {
    fn ask(&mut self, mut pick: impl FnMut(Decision<'_>) -> u16) {
        for step in 0..self.count {
            let kind = if step % 3 == 0 { Kind::Ack } else { Kind::Data };
            let valid = &self.valid[step % self.valid.len()];
            // What a host names may not be valid: it is deflected then.
            let path = (step % self.uplinks.len()) as u16;
            let packet = Packet::new(kind, 0, step as u32, 1, path, 64);
            let (key, ingress) = (step as u32 % 4 + 1, step as u32 % 3);
            let port = pick(Decision { now: step as Ps, packet, key, ingress, valid, uplinks: &mut self.uplinks });
            assert!(valid.contains(port), "picked {port}, valid {:?}", valid.ports);
            self.picked.push(port);
        }
    }
}

impl Visit for Picks<'_> {
    fn balancer(&mut self, scheme: &mut impl Balancer) {
        self.ask(|decision| scheme.pick(decision));
    }

    fn watchful(&mut self, scheme: &mut impl Watchful) {
        let (reach, mut ports) = (self.fabric.routes[0].reach(self.node), all_ports(self.fabric, self.node));
        self.ask(|decision| {
            scheme.advance(decision.now, reach, &mut ports);
            let mut packet = decision.packet;
            scheme.climb(decision, &mut packet)
        });
    }
}

fn all_ports(fabric: &Fabric, node: u32) -> Vec<Port> {
    fabric.ports_of(node).map(|port| Port::new(fabric, port, &FRAME, PortLimits::NONE, false)).collect()
}

fn picks(scheme: BalancerConfig, uplinks: u32, masks: &[u64], count: usize, seed: u64) -> Vec<u16> {
    let fabric = leaf_spine(uplinks);
    let node = fabric.tiers[1].start;
    let valid: Vec<ValidPorts> = masks.iter().map(|&mask| ValidPorts::from_mask(mask)).collect();
    let uplinks = uplink_ports(&fabric, node);
    let mut picks = Picks { valid: &valid, fabric: &fabric, node, uplinks, count, picked: Vec::new() };
    switches(scheme, &fabric, seed).unwrap()[0].visit(&mut picks);
    picks.picked
}

fn schemes() -> impl Strategy<Value = BalancerConfig> {
    let salts = prop_oneof![Just(Salts::PerSwitch), Just(Salts::Shared)];
    let acks = || prop_oneof![Just(AckRouting::Random), Just(AckRouting::AsData)];
    let order = || prop_oneof![Just(PortOrderKind::Xor), Just(PortOrderKind::Identity)];
    let idle = || prop_oneof![Just(None), (0u64..40).prop_map(Some)];
    let (nominal_buffer_bytes, load_gain) = (800_000, 0.25);
    prop_oneof![
        salts.prop_map(|salts| BalancerConfig::Ecmp { salts }),
        acks().prop_map(|acks| BalancerConfig::SimpleRr { acks, pointers: Pointers::PerSwitch }),
        acks().prop_map(|acks| BalancerConfig::Jsq { acks }),
        Just(BalancerConfig::Rsq {}),
        (1u32..200).prop_map(|ports_sampled| BalancerConfig::Choice { ports_sampled }),
        (1u32..200, 0u32..200)
            .prop_map(|(ports_sampled, ports_remembered)| BalancerConfig::Drill { ports_sampled, ports_remembered }),
        (acks(), 0u64..30).prop_map(move |(acks, refresh_ps)| BalancerConfig::Ar {
            nominal_buffer_bytes,
            level_fractions: [0.05, 0.1, 0.2],
            refresh_ps,
            acks
        }),
        (1u64..30).prop_map(|interval| BalancerConfig::Conga { dre_interval_ps: interval, dre_gain: 0.2, aging_ps: 100 }),
        (1u64..30).prop_map(move |sample_interval_ps| BalancerConfig::Dlb {
            nominal_buffer_bytes,
            sample_interval_ps,
            load_gain
        }),
        Just(BalancerConfig::Sglb {
            nominal_buffer_bytes,
            sample_interval_ps: 250_000,
            load_gain,
            advertise_interval_ps: 1_000_000
        }),
        (0u64..30).prop_map(|gap_ps| BalancerConfig::Flowlet { gap_ps }),
        Just(BalancerConfig::Rps { entropies: 65_536, salts: Salts::PerSwitch }),
        Just(BalancerConfig::Drb {}),
        (order(), idle()).prop_map(|(port_order, idle_reset_ps)| BalancerConfig::Ofan { port_order, idle_reset_ps }),
        (1u32..5, order(), idle()).prop_map(|(ports_per_pipe, port_order, idle_reset_ps)| BalancerConfig::Pofan {
            ports_per_pipe,
            port_order,
            idle_reset_ps
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A valid port, never another while one is valid; the same seed gives the same picks; 1 and 64 uplinks are as good as any.
    #[test]
    fn picks_are_valid_and_repeatable(
        scheme in schemes(),
        uplinks in prop_oneof![Just(1u32), Just(64), 2u32..64],
        masks in prop::collection::vec(any::<u64>(), 1..5),
        seed in any::<u64>(),
    ) {
        let all = ValidPorts::all(uplinks);
        let within = |mask: u64| all.ports.iter().map(|&port| 1u64 << port).filter(|bit| mask & bit != 0).sum::<u64>();
        let masks: Vec<u64> = masks.into_iter().map(|mask| if within(mask) == 0 { 1 } else { within(mask) }).collect();
        prop_assert_eq!(picks(scheme, uplinks, &masks, 60, seed), picks(scheme, uplinks, &masks, 60, seed));
    }

    /// Without failures SimpleRR gives every uplink floor or ceil of its share, for any number of packets.
    #[test]
    fn one_pointer_is_even(uplinks in 1u32..64, count in 1usize..400, seed in any::<u64>()) {
        let picked = picks(BalancerConfig::SimpleRr { acks: AckRouting::AsData, pointers: Pointers::PerSwitch }, uplinks, &[within_first(uplinks)], count, seed);
        for port in 0..uplinks as u16 {
            let share = picked.iter().filter(|&&other| other == port).count();
            prop_assert!(share == count / uplinks as usize || share == count.div_ceil(uplinks as usize));
        }
    }
}

fn within_first(uplinks: u32) -> u64 {
    ValidPorts::all(uplinks).ports.iter().map(|&port| 1u64 << port).sum()
}

const OFAN: BalancerConfig = BalancerConfig::Ofan { port_order: PortOrderKind::Xor, idle_reset_ps: None };

/// Ofan: each (key, class) of its own is even; with valid ports missing, the others share equally (every valid port gets one packet a round).
#[test]
fn each_destination_pointer_is_even() {
    let valid = 0b10_1101u64;
    let fabric = leaf_spine(6);
    let node = fabric.tiers[1].start;
    let mut uplinks = uplink_ports(&fabric, node);
    let SwitchBalancer::Ofan(mut ofan) = switches(OFAN, &fabric, 9).unwrap().remove(0) else {
        panic!("asked for Ofan at switch {node}")
    };
    for mask in [within_first(6), valid] {
        let set = ValidPorts::from_mask(mask);
        for key in 1..5 {
            for kind in [Kind::Data, Kind::Ack] {
                let mut counts = [0; 6];
                for step in 0..24u32 {
                    let packet = Packet::new(kind, step, step, 0, 0, 64);
                    let decision = Decision { now: 0, packet, key, ingress: step % 3, valid: &set, uplinks: &mut uplinks };
                    counts[usize::from(ofan.pick(decision))] += 1;
                }
                let share = 24 / set.len();
                assert!(set.ports.iter().all(|&port| counts[usize::from(port)] == share), "{key} {kind:?}: {counts:?}");
            }
        }
    }
}

/// The dynamic first pointer starts where the queue is shortest, walks on in the order of the ports, and starts anew after a pause.
#[test]
fn a_collective_starts_at_the_shortest_queue() {
    let fabric = leaf_spine(4);
    let node = fabric.tiers[1].start;
    let config = BalancerConfig::Ofan { port_order: PortOrderKind::Xor, idle_reset_ps: Some(50) };
    let SwitchBalancer::DynamicOfan(mut ofan) = switches(config, &fabric, 1).unwrap().remove(0) else {
        panic!("asked for Ofan at switch {node}")
    };
    let (all, mut uplinks) = (ValidPorts::all(4), uplink_ports(&fabric, node));
    let (mut arena, consumed) =
        (crate::link::Arena::default(), fabric.peer.iter().map(|_| Default::default()).collect::<Vec<_>>());
    let packet = Packet::new(Kind::Data, 0, 0, 0, 0, 4158);
    let mut fill = |uplinks: &mut [Port], ports: &[usize], now| {
        let mut space = crate::port::Space { consumed: &consumed, arena: &mut arena, pool: None };
        ports.iter().for_each(|&port| uplinks[port].push(now, packet, &mut space));
    };
    fill(&mut uplinks, &[0, 1, 3], 0);
    let mut pick = |uplinks: &mut [Port], now| ofan.pick(Decision { now, packet, key: 1, ingress: 0, valid: &all, uplinks });
    assert_eq!([0, 1, 2, 3, 4].map(|now| pick(&mut uplinks, now)), [2, 3, 0, 1, 2]);
    fill(&mut uplinks, &[1, 2, 3], 100_000);
    assert_eq!([100_000, 100_049, 100_098].map(|now| pick(&mut uplinks, now)), [0, 1, 2], "a pause of 50 starts anew");
}

/// DRILL(1, 1): the remembered port stays while it is no longer than the drawn one; an empty memory is CHOICE(1).
#[test]
fn drill_remembers_the_shortest() {
    let fabric = leaf_spine(5);
    let node = fabric.tiers[1].start;
    let config = BalancerConfig::Drill { ports_sampled: 1, ports_remembered: 1 };
    let (all, mut uplinks) = (ValidPorts::all(5), uplink_ports(&fabric, node));
    let (mut arena, consumed) =
        (crate::link::Arena::default(), fabric.peer.iter().map(|_| Default::default()).collect::<Vec<_>>());
    let packet = Packet::new(Kind::Data, 0, 0, 0, 0, 4158);
    for port in [0, 1, 2, 4] {
        uplinks[port].push(0, packet, &mut crate::port::Space { consumed: &consumed, arena: &mut arena, pool: None });
    }
    let SwitchBalancer::Drill(mut drill) = switches(config, &fabric, 1).unwrap().remove(0) else {
        panic!("asked for DRILL at switch {node}")
    };
    let mut pick = || drill.pick(Decision { now: 1, packet, key: 1, ingress: 0, valid: &all, uplinks: &mut uplinks });
    let picked: Vec<u16> = (0..200).map(|_| pick()).collect();
    let found = picked.iter().position(|&port| port == 3).expect("3 is drawn once in 5");
    assert!(picked[found..].iter().all(|&port| port == 3), "the only empty port is never forgotten");
}

/// CHOICE(2): each pair of ports is as likely as any other (chi-square with 9 degrees of freedom: 27.9 at p = 0.001).
#[test]
fn samples_are_uniform() {
    let (all, mut stream) = (ValidPorts::all(5), crate::rng::Stream::new(1, crate::rng::Purpose::Balancer, 0));
    let mut counts = std::collections::HashMap::new();
    for _ in 0..10_000 {
        *counts.entry(choice::sample(&all, 2, &mut stream)).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 10);
    let chi: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi < 27.9, "chi-square {chi}");
}

/// A flow keeps its uplink while it does not pause; after a pause any uplink is as likely.
#[test]
fn flowlets_end_with_a_pause() {
    let config = BalancerConfig::Flowlet { gap_ps: 10 };
    let fabric = leaf_spine(8);
    let node = fabric.tiers[1].start;
    let SwitchBalancer::Flowlet(mut flowlet) = switches(config, &fabric, 1).unwrap().remove(0) else {
        panic!("asked for flowlets at switch {node}")
    };
    let (all, mut uplinks) = (ValidPorts::all(8), uplink_ports(&fabric, node));
    let mut now = 0;
    let mut bursts = std::collections::HashSet::new();
    for _ in 0..100 {
        now += 10;
        let mut burst = std::collections::HashSet::new();
        for _ in 0..5 {
            let packet = Packet::new(Kind::Data, 3, 0, 0, 0, 64);
            burst.insert(flowlet.pick(Decision { now, packet, key: 1, ingress: 0, valid: &all, uplinks: &mut uplinks }));
            now += 9;
        }
        now -= 9;
        assert_eq!(burst.len(), 1, "one port a burst");
        bursts.extend(burst);
    }
    assert_eq!(bursts.len(), 8, "100 bursts find all 8 ports");
}

#[test]
fn parameters_out_of_range_are_refused() {
    let order = PortOrderKind::Xor;
    let refusals = [
        (
            BalancerConfig::Pofan { ports_per_pipe: 0, port_order: order, idle_reset_ps: None },
            "balancer.ports_per_pipe: got 0; allowed: at least 1",
        ),
        (BalancerConfig::Choice { ports_sampled: 0 }, "balancer.ports_sampled: got 0; allowed: at least 1"),
        (
            BalancerConfig::Conga { dre_interval_ps: 1, dre_gain: 1.5, aging_ps: 1 },
            "balancer.dre_gain: got 1.5; allowed: above 0, at most 1",
        ),
    ];
    for (config, wanted) in refusals {
        assert_eq!(switches(config, &leaf_spine(2), 1).unwrap_err().to_string(), wanted);
    }
}

/// Switches named in a deployment run its balancer, the others the default; cores, hosts and host-side schemes are refused.
#[test]
fn deployments_name_switches() {
    let fabric = leaf_spine(2);
    let with = |switches: &[&str], balancer| {
        let switches = switches.iter().map(ToString::to_string).collect();
        let deployments = [Deployment { switches, balancer }];
        everywhere(OFAN, &deployments, true, &fabric, &workload(&fabric), 1)
    };
    let mixed = with(&["leaf-1", "leaf-3"], BalancerConfig::Rsq {}).unwrap();
    let has_rsq: Vec<bool> = mixed.iter().map(|one| matches!(one, SwitchBalancer::Rsq(_))).collect();
    assert_eq!(has_rsq, [false, true, false, true, false, false, false]);
    for wrong in [&["spine-0"][..], &["host-0"], &["leaf-9"], &["leaf-0", "leaf-0"]] {
        assert!(with(wrong, BalancerConfig::Rsq {}).is_err(), "{wrong:?}");
    }
    assert!(with(&["leaf-0"], BalancerConfig::Drb {}).unwrap_err().to_string().contains("runs on switches"));
}
