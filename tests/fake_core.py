"""A stand-in for the compiled core: one packet from host 0 to host 1 over a leaf-spine of radix 2, computed by hand.

800 Gbps and 500 ns a link, so a byte takes 10 ps. Data frame 4158 B, ACK 64 B, gap 20 B, four links each way:
delivered after 4 * (41,580 + 500,000) = 2,166,320 ps, acknowledged 4 * (640 + 500,000) = 2,002,560 ps later.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

START_PS = 1_000
DELIVERED_PS = START_PS + 2_166_320
ACKED_PS = DELIVERED_PS + 2_002_560
NEVER = 2**64 - 1

# The options that give the command line the stand-in's fabric.
PAIR = ("--set", "fabric.kind=leaf-spine", "--set", "fabric.radix=2")

# host-0 up, host-1 up, leaf-0 up, leaf-1 up, spine to leaf-0, spine to leaf-1, leaf-0 down, leaf-1 down
FROM_TIER = (0, 0, 1, 1, 3, 3, 1, 1)
FROM_INDEX = (0, 1, 0, 1, 0, 0, 0, 1)
TO_TIER = (1, 1, 3, 3, 1, 1, 0, 0)
TO_INDEX = (0, 1, 0, 0, 0, 1, 0, 1)
DATA = np.array((1, 0, 1, 0, 0, 1, 0, 1), dtype=np.uint64)
ACKS = np.array((0, 1, 0, 1, 1, 0, 1, 0), dtype=np.uint64)

SERIES = (
    "end_ps", "delivered_data_bytes", "delivered_packets_count", "reordered_packets_count", "sent_data_packets_count",
    "dropped_data_count", "dropped_control_count", "port_data_frames_count", "port_control_frames_count",
    "port_sim_frames_count", "port_data_waiting_packets", "port_sim_waiting_packets", "queued_bytes", "max_queue_bytes",
    "window_bytes", "in_flight_bytes", "marked_count",
)  # fmt: skip
WINDOWS = ("end_ps", "message", "window_bytes", "in_flight_bytes", "acked_packets_count")


def output() -> dict[str, Any]:
    """The core's output for the one packet; every array is new, so a test may write into it."""
    none = np.zeros(8, dtype=np.uint64)
    return {
        "status": "done",
        "flows": {
            "packets_count": np.array([1], dtype=np.uint32),
            "started_at_ps": np.array([START_PS], dtype=np.uint64),
            "first_delivered_at_ps": np.array([DELIVERED_PS], dtype=np.uint64),
            "last_delivered_at_ps": np.array([DELIVERED_PS], dtype=np.uint64),
            "last_acked_at_ps": np.array([ACKED_PS], dtype=np.uint64),
            "delivered_packets_count": np.array([1], dtype=np.uint32),
            "acked_packets_count": np.array([1], dtype=np.uint32),
            "retransmitted_packets_count": np.array([0], dtype=np.uint32),
            "reordered_packets_count": np.array([0], dtype=np.uint32),
            "delay_ps": np.array([NEVER], dtype=np.uint64),
        },
        "ports": {
            "from_tier": np.array(FROM_TIER, dtype=np.uint8),
            "from_index": np.array(FROM_INDEX, dtype=np.uint32),
            "to_tier": np.array(TO_TIER, dtype=np.uint8),
            "to_index": np.array(TO_INDEX, dtype=np.uint32),
            "rate_bps": np.full(8, 800_000_000_000, dtype=np.uint64),
            "latency_ps": np.full(8, 500_000, dtype=np.uint64),
            "data_bytes": DATA * 4158,
            "control_bytes": ACKS * 64,
            "data_frames_count": DATA.copy(),
            "control_frames_count": ACKS.copy(),
            "max_queue_bytes": DATA * 4158 + ACKS * 64,
            "queue_byte_ps": DATA * 4158.0 * 41_580 + ACKS * 64.0 * 640,
            "dropped_data_count": none.copy(),
            "dropped_control_count": none.copy(),
            "marked_count": none.copy(),
            "lost_data_count": none.copy(),
            "lost_control_count": none.copy(),
            "trimmed_count": none.copy(),
            "paused_ps": none.copy(),
        },
        "series": {name: np.array([], dtype=np.uint64) for name in SERIES},
        "windows": {name: np.array([], dtype=np.uint64) for name in WINDOWS},
        "transport": {},
        "totals": {
            "end_at_ps": 4_500_000,
            "window_ps": 500_000,
            "windows_count": 9,
            "packet_hops_count": 8,
            "unroutable_data_count": 0,
            "unroutable_control_count": 0,
            "peak_rings_bytes": 64,
            "threads": 1,
        },
        "trace": {
            "at_ps": np.array([], dtype=np.uint64),
            "link": np.array([], dtype=np.uint32),
            "flow": np.array([], dtype=np.uint32),
            "psn": np.array([], dtype=np.uint32),
            "kind": np.array([], dtype=np.uint8),
        },
    }


class Core:
    """Gives `answer`, which a test may change, to every run; keeps the configurations; does `before` ahead of each."""

    def __init__(self) -> None:
        self.answer = output()
        self.configs: list[dict[str, Any]] = []
        self.before: Callable[[], None] = lambda: None

    def run(self, config: str, _messages: object, _progress: object) -> dict[str, Any]:
        self.before()
        self.configs.append(json.loads(config))
        return self.answer

    def lose_the_ack(self) -> None:
        """Let the ACK vanish at the last switch: delivered, but unfinished."""
        self.answer["status"] = "stuck"
        self.answer["flows"]["acked_packets_count"][:] = 0
        self.answer["flows"]["last_acked_at_ps"][:] = NEVER
        self.answer["ports"]["control_frames_count"][-2] = 0


def interrupt() -> None:
    """Do what Ctrl-C does."""
    raise KeyboardInterrupt
