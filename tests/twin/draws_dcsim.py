"""Random small scenarios of dcSim, from a lone flow to collectives that meet, with all parameters out of comfort."""

from __future__ import annotations

import random
from typing import Any

from twin.draws_collectives import draw_collectives
from twin.draws_fabric import PORTS, draw_fabric
from twin.tree import Tree

MOST_PACKETS = 60


def draw_config(draw: random.Random) -> dict[str, Any]:
    one_of = draw.choice
    fabric = draw_fabric(draw)
    for name in ("host_link", "edge_agg_link", "agg_core_link", "leaf_spine_link"):
        if name in fabric:
            fabric[name]["latency_ps"] = min(fabric[name]["latency_ps"], 2_000_000)
    fabric["losses"] = draw_losses(draw)
    payload, header = one_of((9000, 4096, 1000, 100)), one_of((0, 0, 62))
    frame: dict[str, Any] = {"payload_bytes": payload, "header_bytes": header, "ack_bytes": one_of((64, 64, 64, 999))}
    frame |= {"gap_bytes": one_of((0, 0, 20)), "last_frame": one_of(("full", "short"))}
    queue_packets = one_of((1, 2, 3, 5, 12, 12))
    buffers = one_of((None, None, 1, 2, 5, 24))
    discipline = {
        "kind": "dcsim",
        "queue_packets": queue_packets,
        "bucket_packets": one_of((queue_packets, queue_packets, 1, 2)),
        "token_factor": one_of((2.1, 2.1, 1.0, 0.0, 7.77)),
        "data_buffer_bytes": None if buffers is None else buffers * (payload + header) + one_of((0, 0, 17)),
    }
    transport = draw_transport(draw, fabric, frame, queue_packets)
    return {
        "seed": draw.randrange(2**64),
        "threads": one_of((1, 1, 2, 3)),
        "time_limit_ps": 10**7 + transport["rtt_max_ps"] * one_of((30, 30, 30, 5)),
        "fabric": fabric,
        "frame": frame,
        "port": {"buffer_bytes": None, "ecn_threshold_bytes": None, **PORTS, "discipline": discipline},
        "balancer": one_of(
            (
                {"kind": "drb"},
                {"kind": "rps", "entropies": one_of((65_536, 65_536, 300, 5, 1)), "salts": "per-switch"},
                {"kind": "rps", "entropies": 65_536, "salts": "shared"},
            )
        ),
        "deployments": [],
        "transport": transport,
        "measure": {"queues": draw.random() < 0.8, "trace": True, "interval_ps": None, "watched_port": None},
    }


def draw_losses(draw: random.Random) -> list[dict[str, Any]]:
    if draw.random() < 0.5:
        return []
    kinds = draw.sample(("data", "sim", "sim-ack", "data-ack"), draw.randint(1, 4))
    return [{"packet": kind, "ppm": draw.choice((1000, 10_000, 50_000))} for kind in kinds]


def draw_transport(
    draw: random.Random, fabric: dict[str, Any], frame: dict[str, Any], queue_packets: int
) -> dict[str, Any]:
    """RTT_max from about what an idle fabric takes up to Theorem 2 and beyond."""
    one_of = draw.choice
    links = Tree(fabric).links
    data, small = (max(link.time_ps(size) for link in links) for size in (frame["payload_bytes"], frame["ack_bytes"]))
    hops = 12 if fabric["kind"] == "fat-tree" else 8
    rtt = hops * (max(link.latency_ps for link in links) + small)
    theorem_2 = rtt + hops * (queue_packets + 1) * data
    rtt_max = one_of((rtt, rtt + hops * data, rtt + hops * data, theorem_2, rtt * 9 // 10))
    return {
        "kind": "dcsim",
        "rtt_max_ps": rtt_max,
        "wait_ps": one_of((rtt_max, rtt_max, rtt_max, 0, rtt_max * 85 // 100, rtt_max // 2)),
        "data_timeout_ps": rtt_max * one_of((10, 10, 3, 1)) * one_of((3, 3, 1)) // 3,
        "ack_every": one_of((16, 16, 4, 1)),
        "ack_interval_ps": one_of((3 * rtt, 3 * rtt, rtt, 100_000)),
        "direct_below_packets": one_of((0, 0, 0, 3, 20)),
        "clock_drift_ppm": one_of((0.0, 0.0, 40.0, 1e5)),
        "clock_drift": one_of(("uniform", "extreme")),
        "start_jitter": one_of(("uniform", "none")),
    }


def draw_messages(draw: random.Random, config: dict[str, Any]) -> dict[str, list[int]]:
    """Messages, all of a collective at once."""
    return draw_collectives(draw, config, MOST_PACKETS, scatters=False)
