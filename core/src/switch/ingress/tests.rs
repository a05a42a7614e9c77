use super::*;
use crate::config::{DisciplineConfig, EcnAt, FabricConfig, FrameConfig, LastFrame, LinkConfig, PortConfig, Trimming};
use crate::discipline::{Discipline, PortPlace};
use crate::fabric::Fabric;
use crate::link::{Arena, Incoming, Link};
use crate::packet::Kind;
use crate::port::{Pauses, PortLimits};
use std::sync::atomic::{AtomicU32, Ordering};

/// The ports of a leaf with three hosts and an uplink, at 8 Gb/s: a nanosecond a byte.
struct Bench {
    ingress: Ingress,
    ports: Vec<Port>,
    /// The NIC of host 0, which pauses reach.
    upstream: Port,
    links: Vec<Link>,
    consumed: Vec<AtomicU32>,
    arena: Arena,
}

/// Latency and gap of a bench, its thresholds, and whether control goes first.
struct Case {
    latency: Ps,
    gap: u32,
    limits: PfcConfig,
    discipline: DisciplineConfig,
}

const FIFO: DisciplineConfig = DisciplineConfig::Fifo {};

impl Bench {
    fn new(case: Case) -> Self {
        let Case { latency, gap, limits, discipline } = case;
        let link = LinkConfig { rate_bps: 8_000_000_000, latency_ps: latency };
        let fabric = Fabric::build(&FabricConfig::LeafSpine {
            leaves: 1,
            hosts_per_leaf: 3,
            spines: 1,
            host_link: link,
            leaf_spine_link: link,
            links_down: vec![],
            links_degraded: vec![],
            link_events: vec![],
            reconvergence_delay_ps: 0,
            losses: vec![],
        })
        .unwrap();
        let config = PortConfig {
            buffer_bytes: None,
            ecn_threshold_bytes: None,
            ecn_full_bytes: None,
            ecn_at: EcnAt::Dequeue,
            shared_buffer: None,
            pfc: Some(limits),
            discipline,
        };
        let frame =
            FrameConfig { payload_bytes: 938, header_bytes: 62, ack_bytes: 100, gap_bytes: gap, last_frame: LastFrame::Full };
        let port = |number: usize| {
            let place = PortPlace { number: 0, seed: 1, is_nic: false, pace: fabric.pace(number), clock_rate: 1.0 };
            let port = Port::new(&fabric, number, &frame, PortLimits::NONE, true);
            let pauses = Pauses::new(discipline == FIFO);
            port.with(None, Discipline::new(&config, &frame, place), None).with_pauses(Some(pauses))
        };
        let own = fabric.ports_of(fabric.tiers[1].start);
        let delay = fabric.pace(own.start).time(100) + latency;
        Self {
            ingress: Ingress::new(limits, discipline == FIFO, own.clone().map(|_| delay)),
            ports: own.map(port).collect(),
            upstream: port(0),
            links: (0..fabric.ports()).map(|_| Link::default()).collect(),
            consumed: (0..fabric.ports()).map(|_| AtomicU32::new(0)).collect(),
            arena: Arena::default(),
        }
    }

    /// A packet of `kind` from `input` goes to output 2.
    fn pass(&mut self, now: Ps, kind: Kind, input: u32) {
        let bytes = if kind == Kind::Data { 1000 } else { 100 };
        let mut space = Space { consumed: &self.consumed, arena: &mut self.arena, pool: None };
        self.ingress.advance(now, &mut self.ports);
        let packet = Packet::new(kind, 0, 0, 0, 0, bytes);
        self.ingress.pass(now, packet, input, 2, &mut self.ports, &mut space);
    }

    /// (input, when it acts in ns, whether it pauses) of all that happens until `until`.
    fn heard(&mut self, until: Ps) -> Vec<(u32, Ps, bool)> {
        self.ingress.advance(until, &mut self.ports);
        self.ingress.take_heard().map(|heard| (heard.input, heard.at / 1000, heard.pauses)).collect()
    }
}

const DATA: Kind = Kind::Data;
const ACK: Kind = Kind::Ack;

fn case(discipline: DisciplineConfig) -> Case {
    let limits = PfcConfig { xoff_bytes: 1500, xon_bytes: 1000, headroom_bytes: 10_000 };
    Case { latency: 5_000_000, gap: 20, limits, discipline }
}

/// Data from input 0 at 0, 100 and 200 ns and from input 1 at 150. At 100 input 0 has 2,000 bytes, more than 1,500: a pause frame, 100 ns long, is there 5,100 ns later. The
/// frames leave at 1,000, 2,020, 3,040 (that of input 1) and 4,060. At 2,020 input 0 has 1,000 bytes left, so that the neighbour may go on, again 5,100 ns later.
#[test]
fn a_neighbour_is_paused_and_let_go_on() {
    let mut bench = Bench::new(case(FIFO));
    for (at, input) in [(0, 0), (100, 0), (150, 1), (200, 0)] {
        bench.pass(at * 1000, DATA, input);
    }
    assert_eq!(bench.ingress.next_departure_at(), 1_000_000);
    assert_eq!(bench.heard(2_019_999), [(0, 5200, true)]);
    assert_eq!(bench.heard(2_020_000), [(0, 7120, false)]);
    assert_eq!((bench.heard(9_000_000), bench.ingress.next_departure_at()), (vec![], NEVER));
    assert_eq!(bench.ingress.inputs.iter().map(|input| input.bytes).collect::<Vec<_>>(), [0; 4]);
}

/// The same with one more at 2,020 ns: what leaves then has left before it comes, so that the neighbour may go on and is paused at the same moment. It may go on when the
/// frame that leaves at 4,060 has left 1,000 bytes.
#[test]
fn what_leaves_makes_room_before_what_comes() {
    let mut bench = Bench::new(case(FIFO));
    for (at, input) in [(0, 0), (100, 0), (150, 1), (200, 0), (2020, 0)] {
        bench.pass(at * 1000, DATA, input);
    }
    assert_eq!(bench.heard(9_000_000), [(0, 5200, true), (0, 7120, false), (0, 7120, true), (0, 9160, false)]);
}

/// ACKs count in a FIFO: the sixteenth makes 1,600 bytes. Where control goes first they do not, and leave before data.
#[test]
fn control_counts_where_it_waits_with_data() {
    for (discipline, wanted) in [(FIFO, vec![(0, 5100, true), (0, 5700, false)]), (CONTROL_FIRST, vec![])] {
        let mut bench = Bench::new(case(discipline));
        for _ in 0..16 {
            bench.pass(0, ACK, 0);
        }
        // The sixth ACK leaves at 6 * 100 + 5 * 20 = 700 ns; 1,000 bytes are left.
        let wanted: Vec<_> = wanted.into_iter().map(|(input, at, on)| (input, if on { at } else { at + 100 }, on)).collect();
        assert_eq!(bench.heard(9_000_000), wanted);
    }
    let mut bench = Bench::new(case(CONTROL_FIRST));
    for kind in [DATA, DATA, ACK, DATA] {
        bench.pass(0, kind, 0);
    }
    // The ACK from 0 to 100, data until 1,120 and 2,140: then 1,000 bytes of data are left.
    assert_eq!(bench.heard(9_000_000), [(0, 5100, true), (0, 7240, false)]);
}

const CONTROL_FIRST: DisciplineConfig = DisciplineConfig::ControlFirst { trimming: Trimming::Off };

/// 11,500 bytes at the most: the twelfth frame is dropped, and counted where it would have waited.
#[test]
fn beyond_the_headroom_frames_are_dropped() {
    let mut bench = Bench::new(case(FIFO));
    for _ in 0..12 {
        bench.pass(0, DATA, 0);
    }
    bench.pass(0, DATA, 1);
    assert_eq!((bench.ports[2].tally().drops, bench.ingress.inputs[0].bytes), ([1, 0], 11_000));
}

/// The output's link dies at 1,500 ns: the second frame, on the wire, and the third go. The input has nothing left, and its neighbour may go on.
#[test]
fn what_a_dead_link_loses_does_not_count() {
    let mut case = case(FIFO);
    case.limits.xon_bytes = 0;
    let mut bench = Bench::new(case);
    for _ in 0..3 {
        bench.pass(0, DATA, 0);
    }
    assert_eq!(bench.heard(1_500_000), [(0, 5100, true)]);
    let space = &mut Space { consumed: &bench.consumed, arena: &mut bench.arena, pool: None };
    bench.ports[2].close_window(1_500_000, &bench.links[0], space);
    bench.ports[2].fail(1_500_000, &bench.links[0]);
    bench.ingress.lose(1_500_000, 2);
    bench.ingress.begin_window(&bench.ports);
    bench.pass(1_600_000, DATA, 0);
    assert_eq!(bench.heard(9_000_000), [(0, 6600, false)]);
    assert_eq!((bench.ingress.inputs[0].bytes, bench.ports[2].tally().lost), (0, [3, 0]));
}

/// The largest count of an input whose neighbour always has something to send, while nothing leaves; what is dropped; and when the neighbour last began a frame.
fn fill(latency: Ps, headroom_bytes: u64) -> (u64, u64, Ps) {
    let limits = PfcConfig { xoff_bytes: 3000, xon_bytes: 0, headroom_bytes };
    let mut bench = Bench::new(Case { latency, gap: 0, limits, discipline: FIFO });
    bench.ports[2].hear([(0, true)], 0);
    let mut told = Vec::new();
    let mut last = 0;
    for window in 0..100 {
        let (from, until) = (window * latency, (window + 1) * latency);
        bench.upstream.hear(told.drain(..), from);
        let mut space = Space { consumed: &bench.consumed, arena: &mut bench.arena, pool: None };
        if window == 0 {
            for _ in 0..100 {
                bench.upstream.push(0, Packet::new(DATA, 0, 0, 0, 0, 1000), &mut space);
            }
        }
        bench.upstream.close_window(until, &bench.links[0], &mut space);
        let mut incoming = Incoming::open(&bench.links[0], bench.consumed[0].load(Ordering::Relaxed));
        while let Some(slot) = incoming.take_before(until) {
            bench.pass(slot.at, DATA, 0);
            last = slot.at - latency - 1_000_000;
        }
        bench.consumed[0].store(incoming.position(), Ordering::Relaxed);
        bench.ingress.advance(until, &mut bench.ports);
        told.extend(bench.ingress.take_heard().map(|heard| (heard.at, heard.pauses)));
    }
    (bench.ingress.inputs[0].bytes, bench.ports[2].tally().drops[0], last)
}

/// Frames of 1,000 bytes without gaps. The fourth, there at 4 us + latency, is above xoff = 3,000, and the pause acts at 4 us + 2 * latency + 100 ns. With a latency of 2,450,001 ps that is
/// 2 ps after 9 us, so that the frame that begins at 9 us is still sent, the tenth, and that is all: 10,000 bytes. The formula, C * (2 * latency + pause time) / 8 + 2 frames, is
/// 5,000 + 2,000: all of it is needed, and with a byte less the tenth frame is dropped.
#[test]
fn the_headroom_is_what_the_formula_says() {
    let latency = 2_450_001;
    let formula = (2 * latency + 100_000) / 1000 + 2 * 1000;
    assert_eq!(formula, 7000);
    assert_eq!(fill(latency, formula), (10_000, 0, 9_000_000));
    assert_eq!(fill(latency, formula - 1), (9_000, 1, 9_000_000));
    // A picosecond less each way, and the pause acts at the very moment at which the tenth frame would begin.
    assert_eq!(fill(latency - 1, formula - 1), (9_000, 0, 8_000_000));
}
