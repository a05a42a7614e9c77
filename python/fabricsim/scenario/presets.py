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
        "port": {"buffer": "infinite", "ecn_threshold": "auto"},
    },
}
"""`ofan-paper`: Ofan section 6, with paced hosts: so with buffers without limit (section 2.2), and marks for REPS only.

The paper's 800kB of buffer belong to its cases with congestion control, its 80kB of threshold to these and to REPS
(section 6, footnote 6): `auto` is 80kB under REPS, and no marks under the balancers that do not react to them.
"""
