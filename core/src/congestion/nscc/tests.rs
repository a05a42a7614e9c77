use super::*;

const FRAME: u64 = 4158;
/// Bytes in an idle RTT between the hosts that are farthest apart.
const BDP: u64 = 625_332;
const RTT: Ps = 6_253_320;
const MICROSECOND: Ps = 1_000_000;

/// Parameters of 800 Gb/s and 6.25332 us without trimming, each worked out by hand from 100 Gb/s and 12 us: 625,332 / 150,000 = 4.16888 times as much.
fn rules() -> Rules {
    Rules {
        network_rtt: RTT,
        target: RTT,
        proportional_bytes_per_us: 5691.91, // 4 * 4096 * 4.16888 / 12
        fair_bytes: 85_378.66,              // 5 * 4096 * 4.16888
        eta_bytes: 2561.36,                 // 0.15 * 4096 * 4.16888
        fast_scale: 1.04222,                // 0.25 * 4.16888
        fast_below: MICROSECOND,
        decrease_gain: 0.8,
        least_factor: 0.5,
        delay_gain: 0.0125,
        adjust: RTT,
        adjust_bytes: 8 * FRAME,
        quick_adapt_above: 4 * RTT,
        quick_adapt_shift: 3,
        min_window: FRAME,
        median_samples: 0,
    }
}

fn flow(initial_window: u64, max_window: u64) -> Nscc {
    let route = Route { base_rtt: RTT, hops: 6, max_window, initial_window, frame: FRAME as u32 };
    Nscc::new(&rules(), &route)
}

/// An ACK of one frame.
fn ack(now: Ps, delay: Ps, is_marked: bool) -> Feedback {
    Feedback { now, newly: FRAME, is_marked, rtt: Some(RTT + delay), in_flight: 40 * FRAME }
}

/// A flow whose first ACK, which may adjust at once, and whose first quick adapt period are behind it at 10 us.
fn begun(window: u64, max_window: u64) -> Nscc {
    let mut flow = flow(window, max_window);
    flow.adjusted_at = Some(10 * MICROSECOND);
    flow.quick_adapt_at = Some(1_000 * RTT);
    flow
}

/// A window of ACKs one after another within one adjustment period, each with the same delay.
fn window_of_acks(flow: &mut Nscc, delay: Ps) {
    for packet in 0..BDP / FRAME {
        flow.acked(&rules(), &ack(10 * MICROSECOND + packet, delay, false));
    }
}

/// d(window)/d(bytes) = increments / window, so that a BDP of ACKs at a window of a BDP gives sqrt(BDP^2 + 2 * increments * BDP).
fn after_a_window(increments: f64) -> f64 {
    let bdp = BDP as f64;
    (bdp * bdp + 2.0 * increments * bdp).sqrt()
}

#[test]
fn fair_increase_gives_21_packets_an_rtt() {
    let mut one = begun(BDP, 10 * BDP);
    one.acked(&rules(), &ack(10 * MICROSECOND, RTT, false));
    // 85,378.66 * 4158 = 355,004,468.28, divided by the window once it is given.
    assert_eq!((one.increments, one.window), (355_004_468, BDP));
    for _ in 0..8 {
        one.acked(&rules(), &ack(10 * MICROSECOND, RTT, false));
    }
    // The ninth frame is above 8: 9 * 355,004,468 / 625,332 = 5109.35.
    assert_eq!((one.increments, one.window), (0, BDP + 5109));

    let mut flow = begun(BDP, 10 * BDP);
    window_of_acks(&mut flow, RTT);
    let expected = after_a_window(85_378.66);
    assert!((flow.window as f64 - expected).abs() < 0.05 * 85_378.66, "{} is not {expected}", flow.window);
    assert!((85_378.66f64 / 4096.0 - 20.8).abs() < 0.05);
}

#[test]
fn proportional_increase_gives_9_packets_an_rtt_without_delay() {
    let mut one = begun(BDP, 10 * BDP);
    one.acked(&rules(), &ack(10 * MICROSECOND, 2 * MICROSECOND, false));
    // 5691.91 * 4158 * (6.25332 - 2) = 100,663,083.
    assert!(one.increments.abs_diff(100_663_083) < 200, "{}", one.increments);

    let mut flow = begun(BDP, 10 * BDP);
    window_of_acks(&mut flow, 0);
    let expected = after_a_window(35_593.3); // 5691.91 * 6.25332
    assert!((flow.window as f64 - expected).abs() < 0.05 * 35_593.3, "{} is not {expected}", flow.window);
    assert!((35_593.3f64 / 4096.0 - 8.7).abs() < 0.05);
    assert!(!flow.is_fast, "no more than the window has come back");
}

#[test]
fn eta_once_a_period() {
    let mut flow = begun(BDP, 10 * BDP);
    flow.adjusted_at = Some(10 * MICROSECOND);
    let at = |time| ack(10 * MICROSECOND + time, MICROSECOND, true);
    flow.acked(&rules(), &at(RTT));
    assert_eq!(flow.window, BDP, "a period is not yet over");
    flow.acked(&rules(), &at(RTT + 1));
    assert_eq!(flow.window, BDP + 2561, "0.63 packets");
    flow.acked(&rules(), &at(RTT + 2));
    assert_eq!(flow.window, BDP + 2561);
}

#[test]
fn a_mark_with_a_short_delay_changes_nothing() {
    let mut flow = begun(BDP, 10 * BDP);
    for _ in 0..100 {
        flow.acked(&rules(), &ack(10 * MICROSECOND, RTT - 1, true));
    }
    assert_eq!((flow.window, flow.increments), (BDP, 0));
}

#[test]
fn decreases_follow_the_average_once_an_rtt() {
    let mut flow = begun(BDP, 10 * BDP);
    flow.acked(&rules(), &ack(10 * MICROSECOND, 3 * RTT, true));
    assert_eq!(flow.window, BDP, "one long delay is not a long average");
    assert_eq!(flow.average_delay, 234_499, "0.0125 * 3 * 6,253,320 = 234,499.5");
    flow.average_delay = 3 * RTT / 2;
    let delay = 3 * RTT / 2;
    // 1 - 0.8 * (1.5 - 1) / 1.5 = 0.73333 of 625,332 is 458,576.8; increments are not lost.
    flow.acked(&rules(), &ack(12 * MICROSECOND, delay, true));
    assert!(flow.window.abs_diff(458_577) <= 1, "{}", flow.window);
    let window = flow.window;
    flow.acked(&rules(), &ack(12 * MICROSECOND + RTT, delay, true));
    assert_eq!(flow.window, window + 2561, "eta, but no second decrease within an RTT");
    flow.acked(&rules(), &ack(12 * MICROSECOND + RTT + 1, delay, true));
    assert!(flow.window.abs_diff((window + 2561) * 11 / 15) <= 1, "{}", flow.window);
}

#[test]
fn a_decrease_takes_half_at_most() {
    let mut flow = begun(BDP, 10 * BDP);
    // 1 - 0.8 * (4 - 1) / 4 = 0.4 is less than a half.
    flow.average_delay = 4 * RTT;
    flow.acked(&rules(), &ack(10 * MICROSECOND, 4 * RTT, true));
    assert_eq!(flow.window, BDP / 2);
}

#[test]
fn averages_count_a_long_delay_without_mark_as_a_quarter_of_the_rtt() {
    let mut flow = begun(BDP, 10 * BDP);
    flow.acked(&rules(), &ack(10 * MICROSECOND, 2 * RTT, false));
    assert_eq!(flow.average_delay, 19_541, "0.0125 * 0.25 * 6,253,320 = 19,541.6");
    flow.acked(&rules(), &ack(10 * MICROSECOND, MICROSECOND, false));
    assert_eq!(flow.average_delay, 31_796, "0.0125 * 1,000,000 + 0.9875 * 19,541 = 31,796.7");
    let unknown = Feedback { rtt: None, ..ack(10 * MICROSECOND, 0, false) };
    flow.acked(&rules(), &unknown);
    assert_eq!(flow.average_delay, 31_796, "no sample, no change");
}

/// After a window without delay each byte brings 1.042 more: a bit more than a doubling an RTT, until a delay shows.
#[test]
fn fast_increase_doubles_the_window_an_rtt() {
    let mut flow = begun(100 * FRAME, 1000 * FRAME);
    flow.idle_bytes = 100 * FRAME;
    let before = flow.window;
    for _ in 0..100 {
        flow.acked(&rules(), &ack(10 * MICROSECOND, 0, false));
    }
    assert_eq!(flow.window, before + 100 * 4333, "1.04222 * 4158 = 4333.55");
    flow.acked(&rules(), &ack(10 * MICROSECOND, MICROSECOND, false));
    assert_eq!((flow.is_fast, flow.idle_bytes), (false, 0));
    assert!(flow.increments > 0, "proportional again");

    flow.is_fast = true;
    flow.acked(&rules(), &ack(10 * MICROSECOND, RTT, true));
    assert!(!flow.is_fast, "nor after a mark with a delay");
}

#[test]
fn quick_adapt_leaves_what_has_got_through() {
    let mut flow = flow(BDP, BDP * 3 / 2);
    let severe = 4 * RTT + 1;
    flow.acked(&rules(), &ack(40 * MICROSECOND, severe, true));
    let window = flow.window;
    assert!(window >= BDP, "the first ACK only begins a period");
    // It lasts base RTT + target = 12.50664 us; three frames come back in it.
    flow.acked(&rules(), &ack(45 * MICROSECOND, severe, true));
    flow.acked(&rules(), &ack(52 * MICROSECOND, severe, true));
    flow.acked(&rules(), &ack(53 * MICROSECOND, severe, true));
    assert_eq!((flow.window, flow.stale), (3 * FRAME, 40 * FRAME));
    // Marks of packets sent before are not heard: 39 of them, with a delay that would otherwise decrease.
    flow.average_delay = 4 * RTT;
    for packet in 1..40 {
        flow.acked(&rules(), &ack(54 * MICROSECOND + packet, severe, true));
        assert_eq!(flow.window, 3 * FRAME);
    }
    flow.acked(&rules(), &ack(55 * MICROSECOND, severe, true));
    assert!(flow.window < 3 * FRAME, "news from now on");
}

#[test]
fn quick_adapt_needs_a_severe_delay_and_little_through() {
    // 1.5 BDP >> 3 = 117,249.
    for (delay, achieved, is_cut) in [(4 * RTT + 1, 113_000, true), (4 * RTT, 113_000, false), (4 * RTT + 1, 113_091, false)] {
        let mut flow = begun(BDP, BDP * 3 / 2);
        flow.quick_adapt_at = Some(10 * MICROSECOND);
        flow.achieved = achieved;
        flow.acked(&rules(), &ack(10 * MICROSECOND + 1, delay, true));
        assert_eq!(flow.window == achieved + FRAME, is_cut, "{delay} {achieved}");
        assert_eq!(flow.achieved, 0, "a new period in any case");
        assert_eq!(flow.quick_adapt_at, Some(10 * MICROSECOND + 1 + 2 * RTT));
    }
}

#[test]
fn a_nack_takes_its_bytes_or_adapts_quickly() {
    let mut flow = begun(BDP, BDP * 3 / 2);
    flow.nacked(&rules(), FRAME, 0, 11 * MICROSECOND);
    assert_eq!(flow.window, BDP - FRAME);
    assert_eq!(flow.average_delay, 78_166, "0.0125 * 6,253,320 = 78,166.5");
    flow.achieved = 5 * FRAME;
    flow.nacked(&rules(), FRAME, 7 * FRAME, 1_000 * RTT + 1);
    assert_eq!((flow.window, flow.stale), (5 * FRAME, 7 * FRAME));
    flow.nacked(&rules(), FRAME, 6 * FRAME, 1_000 * RTT + 2);
    assert_eq!((flow.window, flow.heard), (5 * FRAME, FRAME), "NACKs of the same burst are not heard");
    // What was trimmed is enough for the end of the next period, without a delay.
    flow.heard = flow.stale;
    flow.has_trimmed = true;
    flow.acked(&rules(), &ack(1_003 * RTT, 0, false));
    assert_eq!(flow.window, FRAME);
}

#[test]
fn a_timeout_takes_a_packet_down_to_one() {
    let mut flow = begun(2 * FRAME + 1, BDP);
    let windows = [0; 3].map(|_| {
        flow.timed_out(&rules(), FRAME, 0, 0);
        flow.window()
    });
    assert_eq!(windows, [FRAME + 1, FRAME, FRAME]);
}

#[test]
fn a_shorter_base_rtt_brings_the_largest_window_down() {
    let mut flow = begun(BDP * 3 / 2, BDP * 3 / 2);
    flow.acked(&rules(), &Feedback { rtt: Some(RTT * 2 / 3), ..ack(10 * MICROSECOND, 0, true) });
    assert_eq!((flow.base_rtt, flow.max_window, flow.window), (RTT * 2 / 3, BDP, BDP));
    flow.acked(&rules(), &ack(10 * MICROSECOND, 0, true));
    assert_eq!(flow.base_rtt, RTT * 2 / 3, "and never up");
}

/// One slow path out of five: NSCC takes its marks for congestion once they have filled the average, its median never.
#[test]
fn the_median_does_not_hear_one_slow_path() {
    let median = Rules { median_samples: 9, ..rules() };
    let window_after = |rules: &Rules| {
        let mut flow = begun(BDP, BDP);
        for packet in 0..500u64 {
            let is_slow = packet % 5 == 4;
            flow.acked(rules, &ack(10 * MICROSECOND + packet * 40_000, if is_slow { 40 * RTT } else { 0 }, is_slow));
            flow.quick_adapt_at = Some(1_000 * RTT);
        }
        flow.window
    };
    assert_eq!(window_after(&median), BDP);
    assert!(window_after(&rules()) < BDP * 3 / 4);
}

#[test]
fn the_median_hears_most_of_its_samples() {
    let median = Rules { median_samples: 3, ..rules() };
    let mut flow = begun(BDP, BDP);
    let windows = [0, 2 * RTT, 2 * RTT].map(|delay| {
        flow.acked(&median, &ack(10 * MICROSECOND, delay, true));
        flow.window
    });
    // 1 - 0.8 * (2 - 1) / 2 = 0.6; no average that would first have to rise.
    assert_eq!(windows, [BDP, BDP, 375_199]);
}
