"""The engine against its slow twin: the same events, to the picosecond, on random small scenarios.

Every scenario is drawn as a whole (fabric, speeds, failures, frames, buffers, balancer, pacing, messages, waits), so
that whatever combination a user may ask for has a chance to be compared. Equal are the trace of all receptions, the
flows' columns and the ports' columns, the latter's queue integrals included.
"""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
import twin
from door import AS_IT_STARTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twin.tree import Tree

from fabricsim.scenario import balancer_from_text

BALANCERS = ("ecmp", "simple-rr", "jsq", "rsq", "rps", "drb", "ofan", "pofan")
RATES_GBPS = (100, 200, 300, 350, 400, 700, 800, 1600)
LATENCIES_PS = (13_007, 100_000, 500_000, 500_000, 2_000_000, 20_000_000)
COLUMNS = {
    **dict.fromkeys(("src", "dst", "rank", "dep_message", "dep_on", "trigger_count"), np.uint32),
    **dict.fromkeys(("fire_trigger", "fire_message", "target_trigger", "target_message"), np.uint32),
    **dict.fromkeys(("bytes", "start_ps"), np.uint64),
    **dict.fromkeys(("dep_event", "fire_event"), np.uint8),
}


def draw_fabric(draw: random.Random) -> dict[str, Any]:
    mixed = draw.random() < 0.5

    def link() -> dict[str, int]:
        if not mixed:
            return {"rate_bps": 800_000_000_000, "latency_ps": 500_000}
        return {"rate_bps": draw.choice(RATES_GBPS) * 10**9, "latency_ps": draw.choice(LATENCIES_PS)}

    def up_to(most: int) -> int:
        return draw.randint(1, most)

    fabric: dict[str, Any] = {"host_link": link(), **AS_IT_STARTS}
    if draw.random() < 0.3:
        fabric |= {"kind": "leaf-spine", "leaves": up_to(5), "hosts_per_leaf": up_to(4), "spines": up_to(7)}
        fabric["leaf_spine_link"] = link()
        fabric["leaves"] += fabric["leaves"] * fabric["hosts_per_leaf"] < 2
    else:
        w = draw.choice((1, 2, 2, 3, 3))
        shape = (2 * w, w, w, w, w) if draw.random() < 0.6 else (up_to(4) + 1, up_to(3), up_to(3), up_to(6), up_to(3))
        names = ("pods", "edges_per_pod", "hosts_per_edge", "aggs_per_pod", "cores_per_agg")
        fabric |= {"kind": "fat-tree", **dict(zip(names, shape, strict=True))}
        fabric |= {"edge_agg_link": link(), "agg_core_link": link()}
    if draw.random() < 0.4:
        cables = [(a.source, a.target) for a in Tree(fabric).links if a.source.tier < a.target.tier]
        tiers = ("host", "leaf", "", "spine") if fabric["kind"] == "leaf-spine" else ("host", "edge", "agg", "core")
        named = [[f"{tiers[node.tier]}-{node.index}" for node in ends] for ends in cables]
        inner = [ends for ends in named if not ends[0].startswith("host")]
        fabric["links_down"] = draw.sample(inner, min(len(inner) // 4, draw.randint(0, 5)))
        slow = draw.sample(named, min(len(named), draw.randint(0, 3)))
        fabric["links_degraded"] = [{"link": ends, "rate_bps": draw.choice((50, 100, 300)) * 10**9} for ends in slow]
    return fabric


def draw_config(draw: random.Random) -> dict[str, Any]:
    payload = draw.choice((4096, 4096, 1000, 64, 182_348))
    header = draw.choice((62, 64, 1))
    full = payload + header
    frame = {
        "payload_bytes": payload,
        "header_bytes": header,
        "ack_bytes": draw.choice((64, 64, 999)),
        "gap_bytes": draw.choice((20, 20, 0)),
        "last_frame": draw.choice(("full", "short")),
    }
    kind = draw.choice(BALANCERS)
    balancer = balancer_from_text(f"pofan:{draw.randint(1, 4)}" if kind == "pofan" else kind).lowered()
    return {
        "seed": draw.randrange(2**64),
        "threads": draw.choice((1, 1, 2, 3)),
        "time_limit_ps": 10**15,
        "fabric": draw_fabric(draw),
        "frame": frame,
        "port": {
            "buffer_bytes": draw.choice((None, None, None, full, 3 * full, 5 * full + 17)),
            "ecn_threshold_bytes": draw.choice((None, 0, full, 2 * full + 1)),
        },
        "balancer": balancer,
        "deployments": [],
        "transport": {
            "kind": "paced",
            "load": draw.choice((1.0, 1.0, 0.9, 0.37)),
            "acks": draw.choice(("per-packet", "per-packet", "off")),
            "start_jitter": draw.choice(("uniform", "none")),
        },
        "measure": {"queues": draw.random() < 0.8, "trace": True},
    }


def draw_messages(draw: random.Random, config: dict[str, Any]) -> dict[str, list[int]]:
    hosts = len(Tree(config["fabric"]).hosts)
    payload = config["frame"]["payload_bytes"]
    messages: dict[str, list[int]] = {name: [] for name in COLUMNS}
    pattern = draw.choice(("any", "any", "crowd", "shift"))
    rows = hosts if pattern == "shift" else draw.randint(1, 3 * min(hosts, 14))
    packets, shift = draw.randint(1, 25), draw.randint(1, hosts - 1)
    for number in range(rows):
        src = number if pattern == "shift" else draw.randrange(hosts)
        messages["src"].append(src)
        if pattern == "shift":
            messages["dst"].append((src + shift) % hosts)
            messages["bytes"].append(packets * payload)
            messages["start_ps"].append(0)
        else:
            crowded = pattern == "crowd" and src
            messages["dst"].append(0 if crowded else draw.choice([host for host in range(hosts) if host != src]))
            messages["bytes"].append(draw.choice((0, 1, payload, payload * 3, draw.randint(0, 12 * payload))))
            messages["start_ps"].append(draw.choice((0, 0, 7, draw.randint(0, 10**6), draw.randint(0, 10**9))))
        messages["rank"].append(draw.randint(0, 2))
    last_event = 0 if config["transport"]["acks"] == "off" else 1

    def row() -> int:
        return draw.randrange(rows)

    if draw.random() < 0.4:
        fans_out = draw.random() < 0.5
        for _ in range(draw.randint(1, rows)):
            on, dependent = sorted((0 if fans_out else row(), row()))
            if on != dependent:
                messages["dep_message"].append(dependent)
                messages["dep_on"].append(on)
                messages["dep_event"].append(draw.randint(0, last_event))
    for trigger in range(draw.choice((0, 0, 0, 1, 2, 3))):
        messages["trigger_count"].append(draw.choice((0, 1, 2, 3)))
        for _ in range(draw.randint(1, 5)):
            messages["fire_trigger"].append(trigger)
            messages["fire_message"].append(row() // 3)
            messages["fire_event"].append(draw.randint(0, last_event))
        for target in draw.sample(range(rows), min(rows, draw.randint(1, 4))):
            messages["target_trigger"].append(trigger)
            messages["target_message"].append(target)
    if messages["dep_message"] or messages["trigger_count"]:
        tell_apart(messages)
    return messages


def tell_apart(messages: dict[str, list[int]]) -> None:
    """Give equal messages different ranks.

    The engine numbers equal messages by what waits for them (core/src/workload/canonical.rs), which the twin, whose
    rows stand as they are drawn, does not know; tests/test_engine_orders.py is for that.
    """
    known: set[tuple[int, ...]] = set()
    for row in range(len(messages["src"])):
        while (what := tuple(messages[name][row] for name in ("src", "start_ps", "rank", "dst", "bytes"))) in known:
            messages["rank"][row] += 1
        known.add(what)


def compare_drawn(draw: random.Random) -> None:
    config = draw_config(draw)
    compare(config, draw_messages(draw, config))


def compare(config: dict[str, Any], drawn: dict[str, list[int]]) -> twin.Outcome | None:
    """Run both on one scenario; None when hosts are cut off and the engine has rightly refused."""
    from fabricsim import _core

    messages = {name: np.array(values, dtype=COLUMNS[name]) for name, values in drawn.items()}
    hosts = Tree(config["fabric"]).hosts
    pairs = [(hosts[src], hosts[dst]) for src, dst in zip(drawn["src"], drawn["dst"], strict=True)]
    if not all(src.can_reach(dst) and dst.can_reach(src) for src, dst in pairs):
        with pytest.raises(ValueError, match="down: "):
            _core.run(json.dumps(config), messages, None)
        return None
    wanted = twin.run(config, drawn)
    got: Any = _core.run(json.dumps(config), messages, None)
    assert got["status"] == wanted.status
    trace = list(zip(*(got["trace"][name].tolist() for name in ("at_ps", "link", "flow", "psn", "kind")), strict=True))
    first_apart = next((pair for pair in zip(trace, wanted.trace, strict=False) if pair[0] != pair[1]), None)
    assert first_apart is None, "first reception apart (engine, twin): (at, link, row, psn, kind)"
    assert len(trace) == len(wanted.trace) == got["totals"]["packet_hops_count"]
    for name, column in wanted.flows.items():
        assert got["flows"][name].tolist() == column, f"flows.{name}"
    for name, column in wanted.ports.items():
        is_measured = config["measure"]["queues"] or "queue" not in name
        assert got["ports"][name].tolist() == (column if is_measured else [0] * len(column)), f"ports.{name}"
    return wanted


def test_large_frames_at_an_odd_rate_take_their_time_to_the_nearest_picosecond() -> None:
    """182,410 B at 350 Gb/s: 4,169,371.43 ps; a byte's time with 16 bits after the point would make it 4,169,372."""
    config = draw_config(random.Random(0))
    link = {"rate_bps": 350 * 10**9, "latency_ps": 500_000}
    config["fabric"] = {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 1, "spines": 1, "host_link": link}
    config["fabric"] |= {"leaf_spine_link": link, **AS_IT_STARTS}
    config["frame"] |= {"payload_bytes": 182_348, "header_bytes": 62, "ack_bytes": 64, "last_frame": "full"}
    config["port"] = {"buffer_bytes": None, "ecn_threshold_bytes": None}
    config["transport"] = {"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "none"}
    wanted = compare(
        config, {**{name: [] for name in COLUMNS}, "src": [0], "dst": [1], "bytes": [1], "start_ps": [0], "rank": [0]}
    )
    assert wanted is not None
    assert wanted.flows["last_delivered_at_ps"] == [4 * (4_169_371 + 500_000)]


@pytest.mark.parametrize("seed", range(100))
def test_the_twin_gives_the_same_events(seed: int) -> None:
    compare_drawn(random.Random(seed))


def test_the_scenarios_above_cover_what_they_should() -> None:
    """Drawn anew, by the twin only: nothing that the comparison is for stays untried."""
    counts = ("dropped_data_count", "dropped_control_count", "marked_count")
    seen: set[str] = set()
    for seed in range(100):
        draw = random.Random(seed)
        config = draw_config(draw)
        messages = draw_messages(draw, config)
        seen |= {config["balancer"]["kind"], config["fabric"]["kind"], config["transport"]["acks"]}
        seen |= {name for name in ("links_down", "links_degraded") if config["fabric"][name]}
        seen |= {name for name in ("dep_message", "trigger_count") if messages[name]}
        if not config["fabric"]["links_down"]:
            outcome = twin.run(config, messages)
            seen |= {outcome.status, *(name for name in counts if any(outcome.ports[name]))}
    wanted = {*BALANCERS, "fat-tree", "leaf-spine", "per-packet", "off", "links_down", "links_degraded", "dep_message"}
    wanted |= {"trigger_count", "done", "stuck", *counts}
    assert seen == wanted


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
@given(st.randoms(use_true_random=False))
def test_the_twin_gives_the_same_events_on_whatever_hypothesis_finds(draw: random.Random) -> None:
    compare_drawn(draw)
