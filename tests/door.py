"""Configurations and messages for tests that knock straight at the door, `fabricsim._core.run`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricsim.scenario import balancer_from_text

NEVER = 2**64 - 1
DATA_FRAME_BYTES = 4158
EDGE_LISTS = {
    "dep_message": np.uint32,
    "dep_on": np.uint32,
    "dep_event": np.uint8,
    "trigger_count": np.uint32,
    "fire_trigger": np.uint32,
    "fire_message": np.uint32,
    "fire_event": np.uint8,
    "target_trigger": np.uint32,
    "target_message": np.uint32,
}
AS_IT_STARTS = {
    "links_down": [], "links_degraded": [], "link_events": [], "reconvergence_delay_ps": 0, "losses": [],
}  # fmt: skip
Config = dict[str, Any]
Columns = dict[str, NDArray[Any]]


def link(rate_gbps: int = 800, latency_ps: int = 500_000) -> dict[str, int]:
    return {"rate_bps": rate_gbps * 10**9, "latency_ps": latency_ps}


def fat_tree(radix: int, cable: dict[str, int] | None = None, **changes: Any) -> Config:
    w = radix // 2
    tree = {"kind": "fat-tree", "pods": radix, "edges_per_pod": w, "hosts_per_edge": w}
    tree |= {"aggs_per_pod": w, "cores_per_agg": w}
    cables = dict.fromkeys(("host_link", "edge_agg_link", "agg_core_link"), cable or link())
    return {**tree, **cables, **AS_IT_STARTS, **changes}


def leaf_spine(leaves: int, hosts_per_leaf: int, spines: int, cable: dict[str, int] | None = None) -> Config:
    cables = dict.fromkeys(("host_link", "leaf_spine_link"), cable or link())
    shape = {"kind": "leaf-spine", "leaves": leaves, "hosts_per_leaf": hosts_per_leaf, "spines": spines}
    return {**shape, **cables, **AS_IT_STARTS}


def configure(
    fabric: Config, balancer: str = "ofan", seed: int = 1, threads: int = 1, limit_ps: int = 10**13, **parts: Any
) -> Config:
    """The Ofan paper's setting on this fabric. `parts`: fields of `frame`, `port`, `transport`, `measure` to change."""
    config: Config = {
        "seed": seed,
        "threads": threads,
        "time_limit_ps": limit_ps,
        "fabric": fabric,
        "frame": {"payload_bytes": 4096, "header_bytes": 62, "ack_bytes": 64, "gap_bytes": 20, "last_frame": "full"},
        "port": {
            "buffer_bytes": None,
            "ecn_threshold_bytes": None,
            "ecn_full_bytes": None,
            "ecn_at": "dequeue",
            "shared_buffer": None,
            "pfc": None,
            "discipline": {"kind": "fifo"},
        },
        "balancer": balancer_from_text(balancer).lowered(),
        "deployments": [],
        "transport": {"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "uniform"},
        "measure": {
            "queues": True,
            "trace": False,
            "interval_ps": None,
            "most_rows": None,
            "watched_port": None,
            "watched_messages": [],
        },
    }
    for part, changes in parts.items():
        config[part] |= changes
    return config


def messages(
    src: Iterable[int], dst: Iterable[int], size: int | Iterable[int], start_ps: int | Iterable[int] = 0, **edges: Any
) -> Columns:
    """`edges`: dependencies and triggers, named as at the door; `rank` is the row."""
    source = np.array(list(src), dtype=np.uint32)
    rows = len(source)

    def column(values: int | Iterable[int]) -> NDArray[np.uint64]:
        return np.array([values] * rows if isinstance(values, int) else list(values), dtype=np.uint64)

    columns: Columns = {
        "src": source,
        "dst": np.array(list(dst), dtype=np.uint32),
        "bytes": column(size),
        "start_ps": column(start_ps),
        "rank": np.arange(rows, dtype=np.uint32),
        "collective": np.zeros(rows, dtype=np.uint32),
    }
    return columns | {name: np.array(edges.get(name, []), dtype=dtype) for name, dtype in EDGE_LISTS.items()}


def permutation(
    hosts: int, seed: int, packets: int, is_allowed: Callable[[int, int], bool] = lambda a, b: a != b
) -> Columns:
    """One message from every host to another, drawn until each pair is allowed, then by swaps."""
    draw = random.Random(seed)
    to = list(range(hosts))
    while not all(is_allowed(host, to[host]) for host in range(hosts)):
        a = draw.choice([host for host in range(hosts) if not is_allowed(host, to[host])])
        b = draw.randrange(hosts)
        to[a], to[b] = to[b], to[a]
    return messages(range(hosts), to, packets * 4096)


def run(config: Config, columns: Columns, progress: Callable[[int, int, int], None] | None = None) -> Any:
    from fabricsim import _core

    return _core.run(json.dumps(config), columns, progress)


def ports_between(output: Any, lower_tier: int, upper_tier: int) -> NDArray[np.bool_]:
    """Which rows of `ports` lead from the one tier to the other (0 host, 1 edge, 2 aggregation, 3 core)."""
    chosen: NDArray[np.bool_] = (output["ports"]["from_tier"] == lower_tier) & (
        output["ports"]["to_tier"] == upper_tier
    )
    return chosen


def cct_acked_ps(output: Any) -> int:
    assert output["status"] == "done"
    return int(output["flows"]["last_acked_at_ps"].max()) - int(output["flows"]["started_at_ps"].min())


def assert_same(one: Any, other: Any, but: tuple[str, ...] = ()) -> None:
    """Every array of both outputs is equal; `but` names totals that may differ."""
    assert one["status"] == other["status"]
    assert one["transport"] == other["transport"]
    for table in ("flows", "ports", "series", "trace"):
        for name, column in one[table].items():
            np.testing.assert_array_equal(column, other[table][name], err_msg=f"{table}.{name}")
    assert {k: v for k, v in one["totals"].items() if k not in but} == {
        k: v for k, v in other["totals"].items() if k not in but
    }
