//! The fixed small run whose instructions `benchmarks/instructions.py` counts: `gate SCHEME PACKETS` sends PACKETS full
//! packets from each of 128 hosts to the host 37 further on, and prints the packet-hops that it took. SCHEME is a balancer, under
//! paced hosts, or a transport.

use fabricsim_core::{Config, Messages, Status, run};
use std::process::ExitCode;

const HOSTS: u32 = 128;
const STRIDE: u32 = 37;
const PAYLOAD_BYTES: u64 = 4096;

/// A kind with its usual parameters.
fn scheme(kind: &str) -> String {
    let parameters = match kind {
        "ecmp" => r#", "salts": "per-switch""#,
        "simple-rr" => r#", "acks": "as-data", "pointers": "per-switch""#,
        "jsq" => r#", "acks": "as-data""#,
        "choice" => r#", "ports_sampled": 2"#,
        "drill" => r#", "ports_sampled": 2, "ports_remembered": 1"#,
        "ar" => {
            r#", "nominal_buffer_bytes": 800000, "level_fractions": [0.05, 0.1, 0.2], "refresh_ps": 100000, "acks": "random""#
        }
        "conga" => r#", "dre_interval_ps": 1000000, "dre_gain": 0.2, "aging_ps": 50000000"#,
        "dlb" => r#", "nominal_buffer_bytes": 800000, "sample_interval_ps": 250000, "load_gain": 0.25"#,
        "sglb" => {
            r#", "nominal_buffer_bytes": 800000, "sample_interval_ps": 250000, "load_gain": 0.25,
               "advertise_interval_ps": 1000000"#
        }
        "flowlet" => r#", "gap_ps": 500000"#,
        "rps" => r#", "entropies": 65536, "salts": "per-switch""#,
        "reps" => {
            r#", "entropies": 65536, "slots": 8, "explore_packets": 16, "freezing": "on-timeout", "rto_ps": 100000000,
               "freeze_ps": 10000000000"#
        }
        "ethereal" => r#", "split": "bytes", "rto_ps": 100000000"#,
        "ofan" => r#", "port_order": "xor", "idle_reset_ps": null"#,
        "pofan" => r#", "port_order": "xor", "idle_reset_ps": null, "ports_per_pipe": 4"#,
        _ => "",
    };
    format!(r#"{{"kind": "{kind}"{parameters}}}"#)
}

/// What the transports with windows have in common.
macro_rules! window {
    () => {
        r#""max_window": {"bdp": 1.5}, "initial_window": {"bdp": 1.5}, "base_rtt_ps": null, "rto_ps": 63000000, "ack_every_bytes": 1"#
    };
}

const WINDOW: &str = window!();
const FIFO: &str = r#""fifo""#;

/// A transport with its usual parameters, the port discipline that it needs, and a balancer that goes with it; nothing for other names.
fn transport(kind: &str) -> Option<[String; 3]> {
    let (parameters, discipline, balancer) = match kind {
        "dcsim" => (
            r#""rtt_max_ps": 22040000, "wait_ps": 22040000, "data_timeout_ps": 220400000, "ack_every": 16, "ack_interval_ps": 23400000,
               "direct_below_packets": 0, "clock_drift_ppm": 0.0, "clock_drift": "uniform""#,
            r#""dcsim", "queue_packets": 12, "bucket_packets": 12, "token_factor": 2.1, "data_buffer_bytes": 497696"#,
            "rps",
        ),
        "pfabric" => (
            r#""initial_window_packets": 40, "max_window_packets": 43, "slow_start_threshold_packets": 100000, "rto_ps": 23400000,
               "probe_after_timeouts": 0, "nic_backpressure": false"#,
            r#""pfabric""#,
            "rsq",
        ),
        "phost" => (
            r#""free_tokens": 87, "window_packets": 87, "window_timeout_ps": 23490000, "resend_timeout_ps": 8010000,
               "token_lifetime_ps": 135000, "retry_ps": 78000000"#,
            r#""strict-priority""#,
            "rsq",
        ),
        "dcpim" => (
            r#""rounds": 4, "channels": 4, "round_ps": 10146000, "short_packets": 87, "window_packets": 87, "resend_timeout_ps": 7830000,
               "retry_ps": 78000000"#,
            r#""strict-priority""#,
            "rsq",
        ),
        "constant-window" => (WINDOW, FIFO, "ofan"),
        "dctcp" => (
            concat!(
                window!(),
                r#", "gain": 0.0625, "initial_alpha": 0.0, "duplicate_acks": 3, "counts_paths": true, "reduces_unmarked": true"#
            ),
            FIFO,
            "ofan",
        ),
        "nscc" => (
            concat!(
                window!(),
                r#", "network_rtt_ps": 6253320, "target_ps": 6253320, "proportional_bytes_per_us": 5691.9, "fair_bytes": 85379.0,
                   "eta_bytes": 2561.0, "fast_scale": 1.0422, "fast_below_ps": 1000000, "decrease_gain": 0.8, "least_factor": 0.5,
                   "delay_gain": 0.0125, "adjust_ps": 6253320, "adjust_bytes": 33264, "quick_adapt_above_ps": 25013280,
                   "quick_adapt_shift": 3, "min_window_bytes": 4158, "median_samples": 0"#
            ),
            FIFO,
            "ofan",
        ),
        "mswift" => (
            concat!(
                window!(),
                r#", "increase_packets": 1.0, "decrease_gain": 0.8, "most_decrease": 0.5, "base_target_ps": 500000,
                   "hop_target_ps": 0, "flow_scaling_ps": 2500000, "flow_scaling_from_packets": 0.1,
                   "flow_scaling_to_packets": 100.0, "min_window_packets": 0.01, "reset_after_timeouts": 5,
                   "median_samples": 256, "flushes_on_decrease": false"#
            ),
            FIFO,
            "ofan",
        ),
        _ => return None,
    };
    Some([
        format!(r#"{{"kind": "{kind}", {parameters}, "start_jitter": "uniform"}}"#),
        format!(r#"{{"kind": {discipline}}}"#),
        balancer.to_owned(),
    ])
}

fn config(name: &str) -> String {
    let paced = r#"{"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "uniform"}"#;
    let buffer = if transport(name).is_some() { "500000" } else { "null" };
    let [transport, discipline, balancer] =
        transport(name).unwrap_or_else(|| [paced.to_owned(), r#"{"kind": "fifo"}"#.to_owned(), name.to_owned()]);
    let link = r#"{"rate_bps": 800000000000, "latency_ps": 500000}"#;
    format!(
        r#"{{"seed": 1, "threads": 1, "time_limit_ps": 1000000000000,
            "fabric": {{"kind": "fat-tree", "pods": 8, "edges_per_pod": 4, "hosts_per_edge": 4, "aggs_per_pod": 4,
                "cores_per_agg": 4, "host_link": {link}, "edge_agg_link": {link}, "agg_core_link": {link},
                "links_down": [], "links_degraded": [],
                "link_events": [], "reconvergence_delay_ps": 0, "losses": []}},
            "frame": {{"payload_bytes": {PAYLOAD_BYTES}, "header_bytes": 62, "ack_bytes": 64, "gap_bytes": 20,
                "last_frame": "full"}},
            "port": {{"buffer_bytes": {buffer}, "ecn_threshold_bytes": null, "ecn_full_bytes": null, "ecn_at": "dequeue", "shared_buffer": null, "pfc": null,
                "discipline": {discipline}}},
            "balancer": {}, "deployments": [], "transport": {transport},
            "measure": {{"queues": true, "trace": false, "interval_ps": null, "watched_port": null}}}}"#,
        scheme(&balancer)
    )
}

fn messages(packets: u64) -> Messages {
    let each = HOSTS as usize;
    Messages {
        src: (0..HOSTS).collect(),
        dst: (0..HOSTS).map(|host| (host + STRIDE) % HOSTS).collect(),
        bytes: vec![packets * PAYLOAD_BYTES; each],
        start: vec![0; each],
        rank: vec![0; each],
        collective: vec![0; each],
        ..Messages::default()
    }
}

fn packet_hops(name: &str, packets: u64) -> Result<u64, String> {
    let config = Config::from_json(&config(name)).map_err(|error| error.to_string())?;
    let output = run(&config, &messages(packets), &mut |_| true).map_err(|error| error.to_string())?;
    if output.status != Status::Done {
        return Err(format!("the run ended {}", output.status.name()));
    }
    Ok(output.packet_hops_count)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, packets] = arguments.as_slice() else {
        eprintln!("usage: gate SCHEME PACKETS");
        return ExitCode::from(2);
    };
    match packets.parse().map_err(|error| format!("{packets}: {error}")).and_then(|count| packet_hops(name, count)) {
        Ok(hops) => {
            println!("{hops}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("gate: {error}");
            ExitCode::from(2)
        }
    }
}
