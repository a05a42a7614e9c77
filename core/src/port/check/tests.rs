use super::*;

/// A scenario with these ports and this transport.
fn config(port: &str, transport: &str) -> Config {
    let link = r#"{"rate_bps": 100000000000, "latency_ps": 500000}"#;
    Config::from_json(&format!(
        r#"{{"seed": 1, "threads": 1, "time_limit_ps": 1, "fabric": {{"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 1,
                "spines": 1, "host_link": {link}, "leaf_spine_link": {link}, "links_down": [], "links_degraded": [],
                "link_events": [], "reconvergence_delay_ps": 0, "losses": []}},
            "frame": {{"payload_bytes": 938, "header_bytes": 62, "ack_bytes": 64, "gap_bytes": 20, "last_frame": "full"}},
            "port": {port}, "balancer": {{"kind": "rsq"}}, "deployments": [], "transport": {transport},
            "measure": {{"queues": true, "trace": false, "interval_ps": null, "most_rows": null, "watched_port": null,
                "watched_messages": null}}}}"#
    ))
    .unwrap()
}

const PACED: &str = r#"{"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "uniform"}"#;
const WINDOW: &str = r#"{"kind": "constant-window", "max_window": {"bdp": 1.0}, "initial_window": {"bdp": 1.0}, "base_rtt_ps": null,
    "rto_ps": 1000000000, "ack_every_bytes": 1, "start_jitter": "uniform"}"#;

/// Fields of `port` and what is written into them.
type Changes<'a> = &'a [(&'a str, &'a str)];

/// The field that is refused, if one is.
fn refused(transport: &str, changes: Changes<'_>) -> Option<String> {
    let mut port = serde_json::json!({"buffer_bytes": null, "ecn_threshold_bytes": null, "ecn_full_bytes": null,
        "ecn_at": "dequeue", "shared_buffer": null, "pfc": null, "discipline": {"kind": "fifo"}});
    for (field, value) in changes {
        port[field] = serde_json::from_str(value).unwrap();
    }
    match check(&config(&port.to_string(), transport)) {
        Ok(()) => None,
        Err(Error::Value { field, .. }) => Some(field),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn what_does_not_go_together_is_refused_by_name() {
    let pfc = ("pfc", r#"{"xoff_bytes": 3000, "xon_bytes": 3000, "headroom_bytes": 0}"#);
    let shared = ("shared_buffer", r#"{"bytes": 10000, "alpha": 0.1}"#);
    let (control_first, trims) =
        (r#"{"kind": "control-first", "trimming": "off"}"#, r#"{"kind": "control-first", "trimming": "random"}"#);
    let allowed: [(&str, Changes<'_>); 6] = [
        (PACED, &[]),
        (PACED, &[shared]),
        (PACED, &[("ecn_threshold_bytes", "0"), ("ecn_full_bytes", "0"), ("ecn_at", r#""enqueue""#)]),
        (WINDOW, &[pfc]),
        (WINDOW, &[pfc, ("discipline", control_first), ("ecn_threshold_bytes", "5")]),
        (WINDOW, &[("discipline", trims), ("buffer_bytes", "5000")]),
    ];
    for (transport, changes) in allowed {
        assert_eq!(refused(transport, changes), None, "{changes:?}");
    }
    let wrong: [(&str, Changes<'_>, &str); 12] = [
        (PACED, &[pfc], "port.pfc"),
        (WINDOW, &[pfc, ("buffer_bytes", "5000")], "port.buffer_bytes"),
        (WINDOW, &[pfc, ("discipline", trims)], "port.discipline.trimming"),
        (WINDOW, &[("pfc", r#"{"xoff_bytes": 3000, "xon_bytes": 3001, "headroom_bytes": 0}"#)], "port.pfc.xon_bytes"),
        (WINDOW, &[("pfc", r#"{"xoff_bytes": 400, "xon_bytes": 0, "headroom_bytes": 599}"#)], "port.pfc.headroom_bytes"),
        (WINDOW, &[pfc, shared], "port.pfc"),
        (WINDOW, &[shared, ("discipline", control_first)], "port.shared_buffer"),
        (WINDOW, &[shared, ("buffer_bytes", "5000")], "port.buffer_bytes"),
        (PACED, &[("shared_buffer", r#"{"bytes": 999, "alpha": 8.0}"#)], "port.shared_buffer.bytes"),
        (PACED, &[("shared_buffer", r#"{"bytes": 9999, "alpha": 0.1}"#)], "port.shared_buffer.alpha"),
        (PACED, &[("ecn_threshold_bytes", "5"), ("ecn_full_bytes", "4")], "port.ecn_full_bytes"),
        (PACED, &[("ecn_full_bytes", "4")], "port.ecn_full_bytes"),
    ];
    for (transport, changes, field) in wrong {
        assert_eq!(refused(transport, changes).as_deref(), Some(field), "{changes:?}");
    }
    let strict = ("discipline", r#"{"kind": "strict-priority"}"#);
    assert_eq!(refused(PACED, &[strict, ("ecn_threshold_bytes", "5")]).as_deref(), Some("port.ecn_threshold_bytes"));
}
