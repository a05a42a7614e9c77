use super::*;
use crate::config::{DisciplineConfig, EcnAt, FabricConfig, LastFrame, LinkConfig, PortConfig};
use crate::discipline::PortPlace;
use crate::link::Incoming;
use crate::packet::Kind;

const FRAME: FrameConfig =
    FrameConfig { payload_bytes: 938, header_bytes: 62, ack_bytes: 100, gap_bytes: 20, last_frame: LastFrame::Full };

/// First come, first served, without limits.
const PLAIN: PortConfig = PortConfig {
    buffer_bytes: None,
    ecn_threshold_bytes: None,
    ecn_full_bytes: None,
    ecn_at: EcnAt::Dequeue,
    shared_buffer: None,
    pfc: None,
    discipline: DisciplineConfig::Fifo {},
};

/// The port of leaf 0 towards host 0, at 8 Gb/s: 1 ns a byte, a data frame of 1,000 bytes, an ACK of 100; latency 5 us.
struct Bench {
    port: Port,
    link: Link,
    consumed: Vec<AtomicU32>,
    arena: Arena,
    pool: Option<Pool>,
}

impl Bench {
    fn new(config: PortConfig) -> Self {
        let link = LinkConfig { rate_bps: 8_000_000_000, latency_ps: 5_000_000 };
        let fabric = Fabric::build(&FabricConfig::LeafSpine {
            leaves: 2,
            hosts_per_leaf: 1,
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
        let number = fabric.ports_of(2).start;
        let place = PortPlace { number: number as u64, seed: 1, is_nic: false, pace: fabric.pace(number), clock_rate: 1.0 };
        let discipline = Discipline::new(&config, &FRAME, place);
        let port = Port::new(&fabric, number, &FRAME, PortLimits::new(&config), true);
        let port = port.with(None, discipline, Marking::new(&config, 1, number as u64));
        let consumed = (0..fabric.ports()).map(|_| AtomicU32::new(0)).collect();
        Self { port, link: Link::default(), consumed, arena: Arena::default(), pool: None }
    }

    fn push(&mut self, now_ns: u64, kind: Kind) {
        let bytes = if kind == Kind::Data { 1000 } else { 100 };
        let mut space = Space { consumed: &self.consumed, arena: &mut self.arena, pool: self.pool.as_mut() };
        self.port.push(now_ns * 1000, Packet::new(kind, 0, now_ns as u32, 0, 0, bytes), &mut space);
    }

    /// Everything sent.
    fn slots(&mut self) -> Vec<Slot> {
        let space = &mut Space { consumed: &self.consumed, arena: &mut self.arena, pool: self.pool.as_mut() };
        self.port.close_window(1_000_000_000, &self.link, space);
        let mut incoming = Incoming::open(&self.link, 0);
        std::iter::from_fn(|| incoming.take_before(u64::MAX)).collect()
    }

    /// Arrival times in ns of everything sent, and which packets carry a mark.
    fn arrivals(&mut self) -> Vec<(u64, bool)> {
        self.slots().iter().map(|slot| (slot.at / 1000, slot.packet.is_marked())).collect()
    }
}

/// Two frames at 0 and one at 500 ns: they start at 0, 1,020 and 2,040 (the gap delays the next frame, not its own) and arrive 6 us after they start.
#[test]
fn frames_follow_each_other_with_a_gap() {
    let mut bench = Bench::new(PLAIN);
    for now in [0, 0, 500] {
        bench.push(now, Kind::Data);
    }
    assert_eq!(bench.arrivals(), [(6000, false), (7020, false), (8040, false)]);
    let tally = bench.port.tally();
    assert_eq!((tally.bytes, tally.frames, tally.max_queue_bytes), ([3000, 0], [3, 0], 3000));
    // Stays of 1,000, 2,020 and 2,540 ns, each of 1,000 bytes.
    assert_eq!(tally.queue_byte_ps, (1000 + 2020 + 2540) * 1000 * 1000);
}

/// A frame counts in full until its last bit has left, at 1,000 ns: one that comes at 999 finds it, one at 1,000 does not.
#[test]
fn the_frame_in_service_counts_in_full() {
    let mut bench = Bench::new(PLAIN);
    bench.push(0, Kind::Data);
    assert_eq!((bench.port.queued_bytes(999_999), bench.port.queued_bytes(1_000_000)), (1000, 0));
    bench.push(1000, Kind::Data);
    assert_eq!(bench.port.tally().max_queue_bytes, 1000);
    bench.push(1999, Kind::Ack);
    assert_eq!(bench.port.tally().max_queue_bytes, 1100);
}

/// Room for 2,500 bytes: the third frame does not fit, an ACK still does, and once the first frame has left another one does.
#[test]
fn a_full_buffer_drops_and_counts() {
    let mut bench = Bench::new(PortConfig { buffer_bytes: Some(2500), ..PLAIN });
    for _ in 0..3 {
        bench.push(0, Kind::Data);
    }
    bench.push(0, Kind::Ack);
    bench.push(1000, Kind::Data);
    bench.push(1000, Kind::Data);
    assert_eq!((bench.port.tally().drops, bench.port.tally().frames), ([2, 0], [3, 1]));
    assert_eq!(bench.arrivals().len(), 4);
}

/// Threshold 2,000: three frames at once. The first leaves 3,000 bytes (itself included) and is marked; the second leaves exactly 2,000, which is not
/// above the threshold. A frame that comes before the second has left (at 2,020 ns) makes it 3,000 after all. ACKs are never marked.
#[test]
fn marks_are_decided_when_a_frame_leaves() {
    let marking = PortConfig { ecn_threshold_bytes: Some(2000), ..PLAIN };
    let mut bench = Bench::new(marking);
    for _ in 0..3 {
        bench.push(0, Kind::Data);
    }
    assert_eq!(bench.arrivals().iter().map(|&(_, marked)| marked).collect::<Vec<_>>(), [true, false, false]);
    let mut bench = Bench::new(marking);
    for now in [0, 0, 0, 2019] {
        bench.push(now, Kind::Data);
    }
    assert_eq!(bench.arrivals().iter().map(|&(_, marked)| marked).collect::<Vec<_>>(), [true, true, false, false]);
    let mut bench = Bench::new(marking);
    bench.push(0, Kind::Ack);
    for _ in 0..3 {
        bench.push(0, Kind::Data);
    }
    assert_eq!(bench.arrivals().iter().map(|&(_, marked)| marked).collect::<Vec<_>>(), [false, true, false, false]);
    assert_eq!(bench.port.tally().marks, 1);
}

/// Three frames at once, cut at 1,500 ns: one has left, one is being sent, one waits. Carried: 1,000 bytes; in the queue: 1,000 for 1,000 ns, then
/// 2,000 more for all 1,500.
#[test]
fn a_cut_run_counts_what_has_left() {
    let mut bench = Bench::new(PLAIN);
    for _ in 0..3 {
        bench.push(0, Kind::Data);
    }
    bench.port.cut(1_500_000);
    let tally = bench.port.tally();
    assert_eq!((tally.bytes, tally.frames), ([1000, 0], [1, 0]));
    assert_eq!(tally.queue_byte_ps, (1000 + 2 * 1500) * 1000 * 1000);
}

/// Three frames at once, and the link dies at 1,500 ns: the first has left and arrives, the one in service and the one that waits are lost, and so is what
/// comes while the link is dead. After the repair the transmitter is free at once.
#[test]
fn a_dead_link_loses_what_has_not_left() {
    for limits in [PLAIN, PortConfig { buffer_bytes: Some(1_000_000), ecn_threshold_bytes: Some(1_000_000), ..PLAIN }] {
        let mut bench = Bench::new(limits);
        for kind in [Kind::Data, Kind::Data, Kind::Ack] {
            bench.push(0, kind);
        }
        let space = &mut Space { consumed: &bench.consumed, arena: &mut bench.arena, pool: bench.pool.as_mut() };
        bench.port.close_window(1_500_000, &bench.link, space);
        bench.port.fail(1_500_000, &bench.link);
        assert_eq!(bench.port.queued_bytes(1_500_000), 0);
        bench.push(1600, Kind::Data);
        bench.port.repair();
        bench.push(1700, Kind::Data);
        bench.push(1700, Kind::Ack);
        let tally = bench.port.tally();
        assert_eq!((tally.lost, tally.frames, tally.drops), ([2, 1], [2, 1], [0, 0]));
        assert_eq!(bench.arrivals(), [(6000, false), (7700, false), (7820, false)]);
        // Stays: 1,000; 1,500 of the two that were lost (1,000 and 100 bytes); 1,000 and 1,120 of the last two.
        assert_eq!(tally.queue_byte_ps, (1000 * 1000 + 1500 * 1100 + 1000 * 1000 + 1120 * 100) * 1000);
    }
}

/// Many more frames than the ring holds at first, the queue growing all the while: the largest queue is all of them.
#[test]
fn long_queues_are_counted_exactly() {
    let mut bench = Bench::new(PLAIN);
    for now in 0..500 {
        bench.push(now * 100, if now % 3 == 0 { Kind::Ack } else { Kind::Data });
    }
    // By brute force: start = max(arrival, end of the last frame and its gap).
    let (mut free_at, mut lefts, mut largest) = (0, Vec::new(), 0);
    for now in 0..500 {
        let bytes = if now % 3 == 0 { 100 } else { 1000 };
        let left = free_at.max(now * 100) + bytes;
        free_at = left + 20;
        lefts.push((left, bytes));
        largest = largest.max(lefts.iter().filter(|(left, _)| *left > now * 100).map(|(_, bytes)| bytes).sum::<u64>());
    }
    assert_eq!(bench.port.tally().max_queue_bytes, largest);
    assert!(bench.arrivals().iter().map(|&(at, _)| at).eq(lefts.iter().map(|(left, _)| left + 5000)));
}

/// A bench whose port sends control first.
fn prioritised(buffer_bytes: Option<u64>) -> Bench {
    Bench::new(PortConfig { buffer_bytes, discipline: DisciplineConfig::StrictPriority {}, ..PLAIN })
}

/// Data at 0, 100 and 200 ns, an ACK at 300: the first data frame is not interrupted, and takes 1,000 + 20 ns; then the ACK goes, 100 + 20; then data.
#[test]
fn what_is_held_back_leaves_in_order_of_priority_without_preemption() {
    let mut bench = prioritised(None);
    for (at, kind) in [(0, Kind::Data), (100, Kind::Data), (200, Kind::Data), (300, Kind::Ack)] {
        bench.push(at, kind);
    }
    let got: Vec<_> = bench.slots().iter().map(|slot| (slot.at / 1000 - 5000, slot.packet.psn())).collect();
    assert_eq!(got, [(1000, 0), (1120, 300), (2140, 100), (3160, 200)]);
    let tally = bench.port.tally();
    assert_eq!((tally.frames, tally.bytes), ([3, 1], [3000, 100]));
    // Stays: 1000, 2040 and 2960 ns of 1,000 bytes; 820 ns of 100. Largest: three data frames and the ACK, at 300.
    assert_eq!(tally.queue_byte_ps, u128::from((1000u64 + 2040 + 2960) * 1000 + 820 * 100) * 1000);
    assert_eq!(tally.max_queue_bytes, 3100);
}

/// The frame on the wire is in no buffer: of two that would wait in a buffer of one, the later is dropped.
#[test]
fn a_full_buffer_drops_what_is_worst() {
    let mut bench = prioritised(Some(1000));
    for at in [0, 100, 200] {
        bench.push(at, Kind::Data);
    }
    assert_eq!(bench.port.queued_bytes(250_000), 2000);
    bench.push(300, Kind::Ack);
    let got: Vec<_> = bench.slots().iter().map(|slot| slot.packet.psn()).collect();
    assert_eq!((got, bench.port.tally().drops), (vec![0, 300], [2, 0]));
}

/// The link dies at 1,500 ns: the frame on the wire is lost with those that wait.
#[test]
fn what_is_held_back_is_lost_with_the_link() {
    let mut bench = prioritised(None);
    for at in [0, 100, 200] {
        bench.push(at, Kind::Data);
    }
    let space = &mut Space { consumed: &bench.consumed, arena: &mut bench.arena, pool: bench.pool.as_mut() };
    bench.port.close_window(1_500_000, &bench.link, space);
    bench.port.fail(1_500_000, &bench.link);
    bench.push(1_600, Kind::Data);
    bench.port.repair();
    bench.push(1_700, Kind::Data);
    let got: Vec<_> = bench.slots().iter().map(|slot| (slot.at / 1000 - 5000, slot.packet.psn())).collect();
    assert_eq!((got, bench.port.tally().lost), (vec![(1000, 0), (2700, 1700)], [3, 0]));
}
