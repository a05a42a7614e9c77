"""Random small scenarios of hosts with windows: small buffers, losses, links that fail, and timeouts that are early."""

from __future__ import annotations

import random
from typing import Any

from twin.catalogue import SCHEMES
from twin.draws import SAMPLED, draw_balancer, draw_deployments
from twin.draws_collectives import draw_collectives
from twin.draws_fabric import PORTS, draw_fabric
from twin.tree import Tree

MOST_PACKETS = 150
KINDS = ("constant-window", "dctcp", "nscc", "swift", "mswift")


def draw_config(draw: random.Random, kinds: tuple[str, ...] = KINDS) -> dict[str, Any]:
    one_of = draw.choice
    fabric = draw_fabric(draw)
    for name in ("host_link", "edge_agg_link", "agg_core_link", "leaf_spine_link"):
        if name in fabric:
            fabric[name]["latency_ps"] = min(fabric[name]["latency_ps"], 2_000_000)
    if draw.random() < 0.5:
        lost = draw.sample(("data", "ack", "data-ack", "trimmed", "nack"), draw.randint(1, 4))
        fabric["losses"] = [{"packet": kind, "ppm": one_of((1000, 10_000, 50_000))} for kind in lost]
    payload, header = one_of((4096, 4096, 1000, 9000)), one_of((62, 62, 0))
    frame: dict[str, Any] = {"payload_bytes": payload, "header_bytes": header, "ack_bytes": one_of((64, 64, 64, 999))}
    frame |= {"gap_bytes": one_of((20, 20, 0)), "last_frame": one_of(("full", "short"))}
    full = payload + header
    balancer = draw_balancer(draw, one_of(list(SCHEMES)), full)
    deployments = draw_deployments(draw, fabric, balancer["kind"], full) if draw.random() < 0.2 else []
    transport = draw_transport(draw, fabric, frame, one_of(kinds))
    time_limit = 10**7 + transport["rto_ps"] * one_of((100, 100, 30, 5))
    if any(one["kind"] in SAMPLED for one in (balancer, *(deployment["balancer"] for deployment in deployments))):
        # All switches' samples take the twin long.
        time_limit = min(time_limit, 6 * 10**7)
    interval = one_of((None, None, max(time_limit // 1000, 777_777)))
    return {
        "seed": draw.randrange(2**64),
        "threads": one_of((1, 1, 2, 3)),
        "time_limit_ps": time_limit,
        "fabric": fabric,
        "frame": frame,
        "port": draw_port(draw, full),
        "balancer": balancer,
        "deployments": deployments,
        "transport": transport,
        "measure": {
            "queues": draw.random() < 0.8,
            "trace": True,
            "interval_ps": interval,
            "most_rows": None,
            "watched_port": None,
            "watched_messages": [0] if interval else [],
        },
    }


def draw_port(draw: random.Random, full: int) -> dict[str, Any]:
    one_of = draw.choice
    threshold = one_of((None, 0, full, 2 * full + 1, 4 * full))
    full_threshold = None if threshold is None else one_of((None, None, threshold, threshold + 3 * full))
    port: dict[str, Any] = {**PORTS, "buffer_bytes": one_of((None, None, full, 2 * full, 5 * full + 17, 12 * full))}
    port |= {"ecn_threshold_bytes": threshold, "ecn_full_bytes": full_threshold}
    port |= {"ecn_at": one_of(("dequeue", "dequeue", "enqueue")), "discipline": {"kind": "fifo"}}
    extra = one_of(("none", "none", "control-first", "control-first", "shared", "pfc", "pfc, control-first"))
    if "control-first" in extra:
        trimming = "off" if "pfc" in extra else one_of(("off", "arriving", "random", "random"))
        port["discipline"] = {"kind": "control-first", "trimming": trimming}
    if extra == "shared":
        size = one_of((3, 10, 40)) * full + 17
        port |= {"buffer_bytes": None, "shared_buffer": {"bytes": size, "alpha": one_of((0.5, 1.0, 1.0, 8.0))}}
    if "pfc" in extra:
        xoff = one_of((2, 4, 10)) * full
        headroom = one_of((1, 50)) * full
        port["pfc"] = {"xoff_bytes": xoff, "xon_bytes": one_of((xoff, xoff - full, 0)), "headroom_bytes": headroom}
        port["buffer_bytes"] = None
    return port


def draw_transport(draw: random.Random, fabric: dict[str, Any], frame: dict[str, Any], kind: str) -> dict[str, Any]:
    """Timeouts from about what an idle fabric takes up to what a full one does."""
    one_of = draw.choice
    full = frame["payload_bytes"] + frame["header_bytes"]
    tree = Tree(fabric)
    rtt = max(
        sum(link.time_ps(full) + 2 * link.latency_ps for link in path)
        for dst in tree.hosts[1:]
        for path in tree.shortest_paths(tree.hosts[0], dst)
    )

    def window() -> dict[str, Any]:
        return one_of(({"bdp": 1.5}, {"bdp": one_of((0.1, 0.7, 1.0))}, {"bytes": one_of((1, 3, 10, 40)) * full}))

    transport = {
        "kind": kind,
        "max_window": window(),
        "initial_window": window(),
        "base_rtt_ps": one_of((None, None, rtt, rtt // 3)),
        "rto_ps": rtt * one_of((12, 15, 20, 30, 60, 60, 100)) // 10,
        "ack_every_bytes": one_of((1, 1, full + 1, 4 * full, 16_384)),
        "start_jitter": one_of(("uniform", "none")),
    }
    if kind == "dctcp":
        transport |= {
            "gain": one_of((1 / 16, 1 / 16, 0.5)),
            "initial_alpha": one_of((0.0, 0.0, 1.0)),
            "duplicate_acks": one_of((3, 3, 1)),
            "counts_paths": one_of((True, False)),
            "reduces_unmarked": one_of((True, False)),
        }
    if kind == "nscc":
        transport |= draw_nscc(draw, rtt, full)
    if kind in ("swift", "mswift"):
        transport |= draw_swift(draw, rtt)
    if kind == "mswift":
        transport |= {"median_samples": one_of((1, 5, 256)), "flushes_on_decrease": one_of((True, False))}
    return transport


def draw_nscc(draw: random.Random, rtt: int, full: int) -> dict[str, Any]:
    """About what follows from the path, and a few that make each rule act soon."""
    one_of = draw.choice
    scale = rtt / 1_500_000
    return {
        "network_rtt_ps": rtt,
        "target_ps": one_of((rtt, rtt * 3 // 4, rtt // 10)),
        "proportional_bytes_per_us": one_of((1365.3, 30_000.0)) * scale,
        "fair_bytes": one_of((20_480.0, 1234.5)) * scale,
        "eta_bytes": 614.4 * scale,
        "fast_scale": one_of((0.25, 1.04, 0.0)),
        "fast_below_ps": one_of((1_000_000, rtt // 20)),
        "decrease_gain": one_of((0.8, 0.8, 1.0)),
        "least_factor": one_of((0.5, 0.1)),
        "delay_gain": one_of((0.0125, 0.0125, 0.5)),
        "adjust_ps": one_of((rtt, rtt // 4)),
        "adjust_bytes": one_of((8, 8, 2)) * full,
        "quick_adapt_above_ps": one_of((4 * rtt, rtt // 3)),
        "quick_adapt_shift": one_of((3, 0)),
        "min_window_bytes": one_of((full, full, 1)),
        "median_samples": one_of((0, 0, 1, 5, 256)),
    }


def draw_swift(draw: random.Random, rtt: int) -> dict[str, Any]:
    one_of = draw.choice
    return {
        "increase_packets": one_of((1.0, 1.0, 0.3)),
        "decrease_gain": one_of((0.8, 0.8, 1.0)),
        "most_decrease": one_of((0.5, 0.9)),
        "base_target_ps": one_of((rtt // 4, rtt // 20, 0)),
        "hop_target_ps": one_of((0, 0, rtt // 50)),
        "flow_scaling_ps": one_of((rtt, rtt // 10, 0)),
        "flow_scaling_from_packets": one_of((0.1, 1.0)),
        "flow_scaling_to_packets": one_of((100.0, 10.0)),
        "min_window_packets": one_of((0.01, 0.2, 1.0)),
        "reset_after_timeouts": one_of((5, 2, 1)),
    }


def draw_messages(draw: random.Random, config: dict[str, Any]) -> dict[str, list[int]]:
    """Messages, those of a collective at about the same time."""
    return draw_collectives(draw, config, MOST_PACKETS, scatters=True)
