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
        "port": {"buffer": "infinite", "ecn_threshold": "none"},
    },
}
"""`ofan-paper`: Ofan section 6, with paced hosts: so with buffers without limit (section 2.2) and without marks.

The paper's 800kB of buffer and 80kB of threshold belong to its cases with congestion control and with REPS (section 6,
footnote 6). Paced hosts do not react to marks, and marking exactly costs time on every packet.
"""
