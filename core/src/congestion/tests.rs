//! Controllers in a closed loop: flows share one link whose queue never drops, and each hears its own round trips and marks.

use super::mswift::{self, MSwift};
use super::nscc::{self, Nscc};
use super::swift::{self, FlowScaling, Swift};
use super::{Controller, Feedback, Route};
use crate::units::Ps;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const FRAME: u32 = 4158;
/// Of a frame at 800 Gb/s.
const FRAME_TIME: Ps = 41_580;
const BASE_RTT: Ps = 6_253_320;
const BDP: u64 = BASE_RTT / 10;
const MICROSECOND: Ps = 1_000_000;
/// The queue marks what waits longer: 80,000 bytes.
const MARKS_ABOVE: Ps = 800_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Send,
    Ack { sent_at: Ps, is_marked: bool },
}

struct Flow<C> {
    controller: C,
    in_flight: u64,
    last_sent: Option<Ps>,
    wakes_at: Option<Ps>,
    sent: u64,
    /// In the second half.
    delivered: u64,
}

/// What the second half of a run was like.
#[derive(Debug)]
struct Outcome {
    utilisation: f64,
    mean_wait: f64,
    least_wait: Ps,
    most_wait: Ps,
    /// Bytes of each flow.
    delivered: Vec<u64>,
    least_window: u64,
}

impl Outcome {
    fn most_to_least(&self) -> f64 {
        *self.delivered.iter().max().unwrap() as f64 / *self.delivered.iter().min().unwrap() as f64
    }
}

struct Loop {
    flows: usize,
    /// Between the starts of two flows.
    stagger: Ps,
    initial_window: u64,
    until: Ps,
    /// Every so many packets of a flow take a path that is `detour` longer.
    detour_every: u64,
    detour: Ps,
}

impl Loop {
    fn run<C: Controller>(&self, rules: &C::Rules) -> Outcome {
        let route =
            Route { base_rtt: BASE_RTT, hops: 6, max_window: BDP * 3 / 2, initial_window: self.initial_window, frame: FRAME };
        let mut flows: Vec<Flow<C>> = (0..self.flows)
            .map(|_| Flow {
                controller: C::new(rules, &route),
                in_flight: 0,
                last_sent: None,
                wakes_at: None,
                sent: 0,
                delivered: 0,
            })
            .collect();
        let mut events: BinaryHeap<Reverse<(Ps, usize, Event)>> =
            (0..self.flows).map(|flow| Reverse((flow as Ps * self.stagger, flow, Event::Send))).collect();
        let (half, mut free_at) = (self.until / 2, 0);
        let (mut waits, mut carried) = (Vec::new(), 0u64);
        let mut least_window = u64::MAX;
        while let Some(Reverse((now, index, event))) = events.pop() {
            if now > self.until {
                break;
            }
            let flow = &mut flows[index];
            match event {
                Event::Send => flow.wakes_at = None,
                Event::Ack { sent_at, is_marked } => {
                    flow.in_flight -= u64::from(FRAME);
                    let feedback =
                        Feedback { now, newly: FRAME.into(), is_marked, rtt: Some(now - sent_at), in_flight: flow.in_flight };
                    flow.controller.acked(rules, &feedback);
                    if now > half {
                        flow.delivered += u64::from(FRAME);
                        least_window = least_window.min(flow.controller.window());
                    }
                }
            }
            loop {
                let pace = flow.controller.pace();
                let may = match pace {
                    Some(_) => flow.in_flight == 0,
                    None => flow.controller.window() >= flow.in_flight + u64::from(FRAME),
                };
                let next_at = flow.last_sent.map_or(now, |last| last + pace.unwrap_or(FRAME_TIME));
                if !may {
                    break;
                }
                if next_at > now {
                    if flow.wakes_at.is_none_or(|at| at > next_at) {
                        flow.wakes_at = Some(next_at);
                        events.push(Reverse((next_at, index, Event::Send)));
                    }
                    break;
                }
                flow.last_sent = Some(now);
                flow.in_flight += u64::from(FRAME);
                flow.sent += 1;
                let wait = now.max(free_at) - now;
                free_at = now + wait + FRAME_TIME;
                if now > half {
                    waits.push(wait);
                    carried += 1;
                }
                let detour = if flow.sent % self.detour_every == 0 { self.detour } else { 0 };
                let ack = Event::Ack { sent_at: now, is_marked: wait > MARKS_ABOVE };
                events.push(Reverse((now + wait + BASE_RTT + detour, index, ack)));
            }
        }
        Outcome {
            utilisation: (carried * FRAME_TIME) as f64 / (self.until - half) as f64,
            mean_wait: waits.iter().sum::<Ps>() as f64 / waits.len() as f64,
            least_wait: *waits.iter().min().unwrap(),
            most_wait: *waits.iter().max().unwrap(),
            delivered: flows.iter().map(|flow| flow.delivered).collect(),
            least_window,
        }
    }
}

fn sharing(flows: usize, until: Ps) -> Loop {
    Loop { flows, stagger: 10 * MICROSECOND, initial_window: BDP * 3 / 2, until, detour_every: u64::MAX, detour: 0 }
}

fn swift_rules() -> swift::Rules {
    swift::Rules {
        increase_packets: 1.0,
        decrease_gain: 0.8,
        most_decrease: 0.5,
        base_target: 3 * MICROSECOND / 2,
        hop_target: 0,
        flow_scaling: FlowScaling::new(15 * MICROSECOND / 2, 0.1, 100.0),
        min_window_packets: 0.01,
        reset_after_timeouts: 5,
    }
}

fn mswift_rules() -> mswift::Rules {
    mswift::Rules { swift: swift_rules(), median_samples: 256, flushes_on_decrease: false }
}

fn nscc_rules(median_samples: u32) -> nscc::Rules {
    nscc::Rules {
        network_rtt: BASE_RTT,
        target: BASE_RTT,
        proportional_bytes_per_us: 5691.91,
        fair_bytes: 85_378.66,
        eta_bytes: 2561.36,
        fast_scale: 1.04222,
        fast_below: MICROSECOND,
        decrease_gain: 0.8,
        least_factor: 0.5,
        delay_gain: 0.0125,
        adjust: BASE_RTT,
        adjust_bytes: 8 * 4158,
        quick_adapt_above: 4 * BASE_RTT,
        quick_adapt_shift: 3,
        min_window: 4158,
        median_samples,
    }
}

/// Where a queue stands at which the Swift targets of so many equal flows are met: each has its share of what the path and the queue hold.
fn swift_fixed_point(flows: usize) -> f64 {
    let (scale, offset) = (2.449160 * MICROSECOND as f64, 0.2449160 * MICROSECOND as f64);
    let (mut low, mut high) = (1.5 * MICROSECOND as f64, 9.0 * MICROSECOND as f64);
    for _ in 0..60 {
        let wait = (low + high) / 2.0;
        let packets = (BASE_RTT as f64 + wait) / FRAME_TIME as f64 / flows as f64;
        let target = 1.5 * MICROSECOND as f64 + (scale / packets.sqrt() - offset).max(0.0);
        (low, high) = if target > wait { (wait, high) } else { (low, wait) };
    }
    low
}

#[test]
fn one_flow_fills_the_link_and_not_the_queue() {
    let alone = sharing(1, 2_000 * MICROSECOND);
    let outcomes = [
        alone.run::<Nscc>(&nscc_rules(0)),
        alone.run::<Nscc>(&nscc_rules(4)),
        alone.run::<Swift>(&swift_rules()),
        alone.run::<MSwift>(&mswift_rules()),
    ];
    for outcome in outcomes {
        assert!(outcome.utilisation > 0.999 && outcome.most_wait == 0, "{outcome:?}");
    }
}

/// Every flow adds a packet an RTT until the target is passed: the mean may lie above it by half of that.
#[test]
fn swift_and_mswift_settle_at_the_target_in_equal_shares() {
    for flows in [2, 8, 64] {
        let shared = sharing(flows, 10_000 * MICROSECOND);
        for outcome in [shared.run::<Swift>(&swift_rules()), shared.run::<MSwift>(&mswift_rules())] {
            let (target, rise) = (swift_fixed_point(flows), (flows as Ps * FRAME_TIME) as f64);
            let range = 0.95 * target..1.05 * target + rise / 2.0;
            assert!(range.contains(&outcome.mean_wait), "{flows}: {range:?} {outcome:?}");
            assert!(outcome.least_wait > 0 && outcome.utilisation > 0.99, "{flows}: never empty: {outcome:?}");
            assert!(outcome.most_to_least() < 1.25, "{flows}: {outcome:?}");
        }
    }
}

/// More flows than packets on the path: windows of less than a packet share the link and keep the queue within a few targets.
#[test]
fn swift_and_mswift_share_a_link_by_less_than_a_packet_each() {
    let shared = Loop { initial_window: FRAME.into(), ..sharing(431, 20_000 * MICROSECOND) };
    for outcome in [shared.run::<Swift>(&swift_rules()), shared.run::<MSwift>(&mswift_rules())] {
        assert!(outcome.least_window < FRAME.into() && outcome.utilisation > 0.99, "{outcome:?}");
        assert!(outcome.mean_wait < 2.0 * swift_fixed_point(431) && outcome.most_to_least() < 1.5, "{outcome:?}");
    }
}

#[test]
fn nscc_settles_at_the_target_in_equal_shares() {
    for flows in [2, 8, 64] {
        let shared = sharing(flows, 20_000 * MICROSECOND);
        for outcome in [shared.run::<Nscc>(&nscc_rules(0)), shared.run::<Nscc>(&nscc_rules(4))] {
            let share = outcome.mean_wait / BASE_RTT as f64;
            assert!((0.95..1.2).contains(&share) && outcome.utilisation > 0.99, "{flows}: {share} {outcome:?}");
            assert!(outcome.least_wait > 0 && outcome.least_window > FRAME.into(), "{flows}: {outcome:?}");
            assert!(outcome.most_to_least() < 1.6, "{flows}: {outcome:?}");
        }
    }
}

/// More flows than packets on the path and the target's queue: NSCC has a packet of each there, not less.
#[test]
fn nscc_keeps_a_packet_of_each_flow() {
    let shared = Loop { initial_window: FRAME.into(), ..sharing(431, 20_000 * MICROSECOND) };
    let outcome = shared.run::<Nscc>(&nscc_rules(0));
    let wait = 431 * FRAME_TIME - BASE_RTT;
    assert!((outcome.mean_wait / wait as f64 - 1.0).abs() < 0.01 && outcome.most_to_least() < 1.01, "{wait} {outcome:?}");
}

/// One packet in ten takes 20 us more: Swift hears little else, the median of MSwift never hears it.
#[test]
fn a_slow_path_slows_swift_and_not_mswift() {
    let sprayed = Loop { detour_every: 10, detour: 20 * MICROSECOND, ..sharing(1, 2_000 * MICROSECOND) };
    let (swift, mswift) = (sprayed.run::<Swift>(&swift_rules()), sprayed.run::<MSwift>(&mswift_rules()));
    assert!(swift.utilisation < 0.2 && mswift.utilisation > 0.999, "{swift:?} {mswift:?}");
}
