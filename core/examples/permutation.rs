//! A random permutation on a k-ary fat tree, from Rust alone: what one packet-hop costs, without Python around it.
//!
//! `cargo run --release --example permutation -- RADIX PACKETS BALANCER [THREADS] [SEED]`

use fabricsim_core::{Config, Messages, NEVER, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |place: usize, default: &str| arguments.get(place).map_or(default, String::as_str).to_owned();
    let radix: u32 = argument(0, "12").parse()?;
    let packets: u64 = argument(1, "256").parse()?;
    let balancer = argument(2, "rsq");
    let threads: u32 = argument(3, "1").parse()?;
    let seed: u64 = argument(4, "1").parse()?;
    let acks = argument(5, "per-packet");
    let queues = argument(6, "true");
    let w = radix / 2;
    let link = r#"{"rate_bps": 800000000000, "latency_ps": 500000}"#;
    // A kind without parameters, or a whole table: '{"kind": "ofan", "port_order": "xor", "idle_reset_ps": null}'.
    let balancer = if balancer.starts_with('{') { balancer } else { format!(r#"{{"kind": "{balancer}"}}"#) };
    let config = Config::from_json(&format!(
        r#"{{"seed": {seed}, "threads": {threads}, "time_limit_ps": 1000000000000,
            "fabric": {{"kind": "fat-tree", "pods": {radix}, "edges_per_pod": {w}, "hosts_per_edge": {w}, "aggs_per_pod": {w},
                        "cores_per_agg": {w}, "host_link": {link}, "edge_agg_link": {link}, "agg_core_link": {link},
                        "links_down": [], "links_degraded": [],
                "link_events": [], "reconvergence_delay_ps": 0, "losses": []}},
            "frame": {{"payload_bytes": 4096, "header_bytes": 62, "ack_bytes": 64, "gap_bytes": 20, "last_frame": "full"}},
            "port": {{"buffer_bytes": null, "ecn_threshold_bytes": null, "ecn_full_bytes": null, "ecn_at": "dequeue", "shared_buffer": null, "pfc": null,
                "discipline": {{"kind": "fifo"}}}},
            "balancer": {balancer}, "deployments": [],
            "transport": {{"kind": "paced", "load": 1.0, "acks": "{acks}", "start_jitter": "uniform"}},
            "measure": {{"queues": {queues}, "trace": false, "interval_ps": null, "watched_port": null}}}}"#
    ))?;
    let hosts = radix * w * w;
    let messages = derangement(hosts, seed, packets * 4096);
    let begin = std::time::Instant::now();
    let output = run(&config, &messages, &mut |_| true)?;
    let wall = begin.elapsed();
    let first = output.flows.started_at.iter().min().copied().unwrap_or(0);
    let last = if acks == "off" { output.flows.last_delivered_at.iter().max() } else { output.flows.last_acked_at.iter().max() };
    let cct = last.copied().unwrap_or(NEVER) - first;
    let longest = output.tallies.iter().map(|tally| tally.max_queue_bytes).max().unwrap_or(0);
    println!(
        "{} hosts, {packets} packets, {}: {:?}, CCT {:.5} us, max queue {:.2} frames, {} packet-hops, {:.1} ns each, rings {:.0} MB",
        hosts,
        argument(2, "rsq"),
        output.status,
        cct as f64 / 1e6,
        longest as f64 / 4158.0,
        output.packet_hops_count,
        wall.as_nanos() as f64 / output.packet_hops_count as f64,
        output.rings_bytes as f64 / 1e6,
    );
    Ok(())
}

/// Every host sends to another host, nobody to itself, everybody receives once: shuffles until no host is left in its place.
fn derangement(hosts: u32, seed: u64, bytes: u64) -> Messages {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut draw = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut dst: Vec<u32> = (0..hosts).collect();
    while dst.iter().enumerate().any(|(src, &dst)| src as u32 == dst) {
        for place in (1..dst.len()).rev() {
            dst.swap(place, draw(place + 1));
        }
    }
    let count = hosts as usize;
    Messages {
        src: (0..hosts).collect(),
        dst,
        bytes: vec![bytes; count],
        start: vec![0; count],
        rank: vec![0; count],
        ..Messages::default()
    }
}
