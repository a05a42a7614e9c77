"""Presets: the papers' settings under a name, as the values of a scenario file."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "ofan-paper": {
        "fabric": {"kind": "fat-tree", "radix": 12, "rate": "800Gbps", "latency": "500ns"},
        "workload": {"kind": "permutation", "message": "1MiB"},
        "balancer": {"kind": "ofan"},
        "transport": {"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "uniform"},
        "frame": {"payload": "4096B", "header": "62B", "ack": "64B", "gap": "20B", "last_frame": "full"},
        "port": {"buffer": "auto", "ecn_threshold": "auto"},
    },
    "dcsim-paper": {
        "fabric": {"kind": "fat-tree", "radix": 8, "rate": "800Gbps", "latency": "650ns"},
        "workload": {
            "kind": "collectives",
            "count": 5,
            "sizes": [8, 16, 32, 64],
            "pattern": "all-to-all-v",
            "message": "1566kB",
        },
        "balancer": {"kind": "rps"},
        "transport": {"kind": "dcsim", "queue_packets": 12, "token_factor": 2.1, "ack_every": 16},
        "frame": {"payload": "9000B", "header": "0B", "ack": "64B", "gap": "0B", "last_frame": "full"},
        "port": {"buffer": "500kB", "ecn_threshold": "auto"},
    },
}
"""`ofan-paper`: Ofan section 6, with paced hosts: so with buffers without limit (section 2.2), and marks for REPS only.

The paper's 800kB of buffer belong to its cases with congestion control, its 80kB of threshold to these and to REPS
(section 6, footnote 6): `auto` is 800kB under transports with windows, and 80kB under REPS, DCTCP and NSCC; else there
is no limit, and no marks. So `transport.kind = "nscc"` on top of it is the paper's section 6.5.

`dcsim-paper`: dcSim section 4, its baseline of five all-to-all-v collectives of 2 BDP (174 packets) a pair. A hop
is 200 ns of wire and 450 ns of switch, that into the host too, which gives the paper's RTT of 7.8 us; 9 kB and 64 B are
whole frames, without gaps. The other transports take its place with a balancer of theirs, such as `simple-rr` or `rsq`.
"""
