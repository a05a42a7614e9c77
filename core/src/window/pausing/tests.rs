use crate::{Config, Messages, Output, Status, run};

/// What differs from one run to the next, as JSON.
#[derive(Clone, Copy)]
struct Case {
    host_gbps: u32,
    port: &'static str,
    transport: &'static str,
    events: &'static str,
    balancer: &'static str,
    threads: u32,
    interval: &'static str,
    lost_ppm: u32,
}

const WINDOW: &str = r#"{"kind": "constant-window", "max_window": {"bdp": 1.0}, "initial_window": {"bdp": 1.0}, "base_rtt_ps": null,
    "rto_ps": 1000000000, "ack_every_bytes": 1, "start_jitter": "uniform"}"#;
const PACED: &str = r#"{"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "uniform"}"#;
const PFC: &str = r#""shared_buffer": null, "pfc": {"xoff_bytes": 30000, "xon_bytes": 20000, "headroom_bytes": 20880}"#;
const SHARED: &str = r#""shared_buffer": {"bytes": 400000, "alpha": 0.5}, "pfc": null"#;

/// Six leaves of four hosts under three spines at 100 Gb/s, links of 500 ns, hosts as fast or slower. Each host sends to the host eight further on and to host 0, so that host 0 is crowded.
fn outcome(case: Case) -> Output {
    let Case { host_gbps, port, transport, events, balancer, threads, interval, lost_ppm } = case;
    let link = |gbps: u32| format!(r#"{{"rate_bps": {gbps}000000000, "latency_ps": 500000}}"#);
    let (host_link, link) = (link(host_gbps), link(100));
    let text = format!(
        r#"{{"seed": 3, "threads": {threads}, "time_limit_ps": 100000000000,
            "fabric": {{"kind": "leaf-spine", "leaves": 6, "hosts_per_leaf": 4, "spines": 3, "host_link": {host_link},
                "leaf_spine_link": {link}, "links_down": [], "links_degraded": [], "link_events": [{events}],
                "reconvergence_delay_ps": 0, "losses": [{{"packet": "data", "ppm": {lost_ppm}}}]}},
            "frame": {{"payload_bytes": 4096, "header_bytes": 62, "ack_bytes": 64, "gap_bytes": 20, "last_frame": "short"}},
            "port": {{"buffer_bytes": null, "ecn_threshold_bytes": 20000, "ecn_full_bytes": 60000, "ecn_at": "dequeue", {port}}},
            "balancer": {balancer}, "deployments": [], "transport": {transport},
            "measure": {{"queues": true, "trace": true, "interval_ps": {interval}, "most_rows": null, "watched_port": null,
                "watched_messages": null}}}}"#
    );
    let config = Config::from_json(&text).unwrap();
    let hosts = || 0..24;
    let messages = Messages {
        src: hosts().chain(1..24).collect(),
        dst: hosts().map(|host| (host + 8) % 24).chain((1..24).map(|_| 0)).collect(),
        bytes: vec![if host_gbps == 1 { 20_000 } else { 100_000 }; 47],
        start: vec![0; 47],
        rank: vec![0; 47],
        collective: vec![0; 47],
        ..Messages::default()
    };
    run(&config, &messages, &mut |_| true).unwrap()
}

/// All that must not depend on threads and windows.
fn result(output: &Output) -> String {
    format!("{:?} {:?} {:?} {:?}", output.status, output.flows, output.tallies, output.trace)
}

/// A pause reaches its port in time, whoever is handled first: the same run with one, two and three threads, and with windows cut into pieces by series. Nothing is
/// dropped: the headroom is 2 * 500 ns and 5.12 ns of pause frame at 12.5 bytes a ns, 12,564 bytes, and two frames, 20,880 in all. Where links die and come back too.
#[test]
fn pauses_do_not_depend_on_threads_nor_on_windows() {
    let down = r#"{"at_ps": 30000000, "link": ["leaf-0", "spine-1"], "state": "down"},
        {"at_ps": 45000123, "link": ["leaf-0", "spine-1"], "state": "up"}"#;
    let fifo = r#""discipline": {"kind": "fifo"}"#;
    let control_first = r#""discipline": {"kind": "control-first", "trimming": "off"}"#;
    for discipline in [fifo, control_first] {
        let port: &'static str = format!("{PFC}, {discipline}").leak();
        for (balancer, events) in [(r#"{"kind": "rsq"}"#, ""), (r#"{"kind": "jsq", "acks": "as-data"}"#, down)] {
            let case =
                Case { host_gbps: 100, port, transport: WINDOW, events, balancer, threads: 1, interval: "null", lost_ppm: 0 };
            let output = outcome(case);
            assert_eq!(output.status, Status::Done);
            let paused = output.tallies.iter().filter(|tally| tally.paused > 0).count();
            let drops: u64 = output.tallies.iter().map(|tally| tally.drops[0] + tally.drops[1]).sum();
            assert!(paused > 10 && drops == 0, "{paused} ports were paused, {drops} frames dropped");
            let wanted = result(&output);
            for (threads, interval) in [(2, "null"), (3, "null"), (1, "333333"), (3, "77777")] {
                assert!(result(&outcome(Case { threads, interval, ..case })) == wanted, "{threads} threads, {interval}");
            }
        }
    }
}

/// Hosts at 1 Gb/s: a frame takes 33 us and most windows are idle, so that time jumps. It must not jump over the end of a pause, nor over a frame that leaves and so ends one,
/// be it one that is lost on the way and wakes nobody.
#[test]
fn time_does_not_jump_over_the_end_of_a_pause() {
    let port = r#", "discipline": {"kind": "fifo"}"#;
    for (lost_ppm, discipline) in [(0, "fifo"), (50_000, "fifo"), (0, r#"control-first", "trimming": "off"#)] {
        let port: &'static str = format!("{PFC}{}", port.replace("fifo", discipline)).leak();
        let balancer = r#"{"kind": "rsq"}"#;
        let (transport, events, interval) = (WINDOW, "", "null");
        let case = Case { host_gbps: 1, port, transport, events, balancer, threads: 1, interval, lost_ppm };
        let output = outcome(case);
        assert_eq!(output.status, Status::Done);
        assert!(output.windows_count * 4 < output.end_at / output.window, "{} windows", output.windows_count);
        assert!(output.tallies.iter().any(|tally| tally.paused > 0));
        assert!(output.tallies.iter().all(|tally| tally.drops == [0, 0]));
        let wanted = result(&output);
        for (threads, interval) in [(2, "null"), (3, "7777777")] {
            assert!(result(&outcome(Case { threads, interval, ..case })) == wanted, "{threads} threads, {interval}");
        }
    }
}

/// A shared buffer is what its ports have had so far, in whatever order nodes are handled. A queue alone gets alpha / (1 + alpha) of it and of a frame, here a third.
#[test]
fn shared_buffers_do_not_depend_on_threads_nor_on_windows() {
    let down = r#"{"at_ps": 30000000, "link": ["leaf-0", "spine-1"], "state": "down"},
        {"at_ps": 45000123, "link": ["leaf-0", "spine-1"], "state": "up"}"#;
    let port: &'static str = format!(r#"{SHARED}, "discipline": {{"kind": "fifo"}}"#).leak();
    for (transport, events) in [(PACED, ""), (WINDOW, down)] {
        let balancer = r#"{"kind": "ofan", "port_order": "xor", "idle_reset_ps": null}"#;
        let case = Case { host_gbps: 100, port, transport, events, balancer, threads: 1, interval: "null", lost_ppm: 0 };
        let output = outcome(case);
        let largest = output.tallies.iter().map(|tally| tally.max_queue_bytes).max().unwrap();
        assert!(largest > 100_000 && largest <= 404_158 / 3, "{largest}");
        assert!(output.tallies.iter().map(|tally| tally.drops[0]).sum::<u64>() > 0);
        let wanted = result(&output);
        for (threads, interval) in [(2, "null"), (3, "null"), (3, "77777")] {
            assert!(result(&outcome(Case { threads, interval, ..case })) == wanted, "{threads} threads, {interval}");
        }
    }
}
