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
        "port": {"buffer": "infinite", "ecn_threshold": "80kB"},
    },
}
"""`ofan-paper`: Ofan section 6, without congestion control, so with buffers without limit (its section 2.2)."""
