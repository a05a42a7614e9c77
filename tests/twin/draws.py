"""Random small scenarios, drawn as a whole, so that whatever combination a user may ask for has a chance."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from twin.catalogue import SCHEMES
from twin.draws_fabric import PORTS, draw_fabric
from twin.tree import Tree

COLUMNS = {
    **dict.fromkeys(("src", "dst", "rank", "collective", "dep_message", "dep_on", "trigger_count"), np.uint32),
    **dict.fromkeys(("fire_trigger", "fire_message", "target_trigger", "target_message"), np.uint32),
    **dict.fromkeys(("bytes", "start_ps"), np.uint64),
    **dict.fromkeys(("dep_event", "fire_event"), np.uint8),
}


HOST_SIDE = ("rps", "reps", "drb", "ethereal")
SAMPLED = ("conga", "dlb", "sglb")


def draw_balancer(draw: random.Random, kind: str, frame: int) -> dict[str, Any]:
    one_of = draw.choice
    buffer = {"nominal_buffer_bytes": one_of((800_000, 30 * frame, 8 * frame))}
    quality: dict[str, Any] = {**buffer, "sample_interval_ps": one_of((250_000, 250_000, 77_777, 1_000_000, 2_000_000))}
    quality["load_gain"] = one_of((0.25, 0.25, 1.0, 0.1))
    advertise = quality["sample_interval_ps"] * one_of((1, 2, 4, 4, 7))
    timeout = {"rto_ps": one_of((10**8, 10**7, 7_000_000, 3_000_000, 1_000_000))}
    rotation = {
        "port_order": one_of(("xor", "xor", "identity")),
        "idle_reset_ps": one_of((None, None, 500_000, 10**7, 0)),
    }
    acks = {"acks": one_of(("as-data", "as-data", "random"))}
    parameters: dict[str, dict[str, Any]] = {
        "ecmp": {"salts": one_of(("per-switch", "shared"))},
        "flowlet": {"gap_ps": one_of((500_000, 45_000, 0, 10**7))},
        "simple-rr": acks,
        "jsq": acks,
        "choice": {"ports_sampled": draw.randint(1, 4)},
        "drill": {"ports_sampled": draw.randint(1, 3), "ports_remembered": draw.randint(0, 4)},
        "ar": {
            **buffer,
            "level_fractions": one_of(([0.05, 0.1, 0.2], [0.001, 0.5, 1.0])),
            "refresh_ps": one_of((100_000, 0, 3_000_000)),
            **acks,
        },
        "conga": {
            "dre_interval_ps": one_of((1_000_000, 1_000_000, 77_777, 300_000)),
            "dre_gain": one_of((0.2, 0.2, 0.5, 0.03)),
            "aging_ps": one_of((50_000_000, 5_000_000, 1_000_000)),
        },
        "dlb": quality,
        "sglb": {**quality, "advertise_interval_ps": advertise},
        "rps": {"entropies": one_of((65_536, 65_536, 5, 1))},
        "reps": {
            "entropies": one_of((65_536, 65_536, 3)),
            "slots": one_of((8, 8, 1, 3)),
            "explore_packets": one_of((16, 2, 0)),
            "freezing": one_of(("on-timeout", "on-timeout", "off")),
            **timeout,
            "freeze_ps": one_of((10**10, 5_000_000, 0)),
        },
        "ethereal": {"split": one_of(("bytes", "bytes", "packets")), **timeout},
        "ofan": rotation,
        "pofan": {**rotation, "ports_per_pipe": draw.randint(1, 4)},
    }
    if kind == "simple-rr":
        parameters[kind] |= {"pointers": one_of(("per-switch", "per-ingress"))}
    if kind == "rps":
        parameters[kind] |= {"salts": one_of(("per-switch", "shared"))}
    return {"kind": kind, **parameters.get(kind, {})}


def draw_deployments(draw: random.Random, fabric: dict[str, Any], base: str, frame: int) -> list[dict[str, Any]]:
    """One or two other schemes on some switches, but for what cannot be together."""
    names = ("leaf", "") if fabric["kind"] == "leaf-spine" else ("edge", "agg")
    tree = Tree(fabric)
    switches = [f"{names[node.tier - 1]}-{node.index}" for node in tree.edges + tree.aggs]
    draw.shuffle(switches)
    deployments, kinds = [], [base]
    for _ in range(draw.randint(1, 2)):
        kind = draw.choice([kind for kind in SCHEMES if kind not in HOST_SIDE])
        taken = [switches.pop() for _ in range(draw.randint(0, len(switches)))]
        if taken and can_join(kinds, kind):
            kinds.append(kind)
            deployments.append({"switches": taken, "balancer": draw_balancer(draw, kind, frame)})
    return deployments


def can_join(kinds: list[str], kind: str) -> bool:
    """CONGA and SGLB are both for the cores too, once; and CONGA writes where hosts and hashes have entropy."""
    together = {*kinds, kind}
    if kind in ("conga", "sglb") and {"conga", "sglb"} & set(kinds):
        return False
    return "conga" not in together or not together & {"ecmp", "sglb", *HOST_SIDE}


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
    fabric = draw_fabric(draw)
    balancer = draw_balancer(draw, draw.choice(list(SCHEMES)), full)
    return {
        "seed": draw.randrange(2**64),
        "threads": draw.choice((1, 1, 2, 3)),
        "time_limit_ps": 10**15,
        "fabric": fabric,
        "frame": frame,
        "port": {
            "buffer_bytes": draw.choice((None, None, None, full, 3 * full, 5 * full + 17)),
            "ecn_threshold_bytes": draw.choice((None, 0, full, 2 * full + 1)),
            **PORTS,
            "discipline": {"kind": "fifo"},
        },
        "balancer": balancer,
        "deployments": draw_deployments(draw, fabric, balancer["kind"], full) if draw.random() < 0.25 else [],
        "transport": {
            "kind": "paced",
            "load": draw.choice((1.0, 1.0, 0.9, 0.37)),
            "acks": draw.choice(("per-packet", "per-packet", "off")),
            "start_jitter": draw.choice(("uniform", "none")),
        },
        "measure": {"queues": draw.random() < 0.8, "trace": True, "interval_ps": None, "watched_port": None},
    }


def draw_messages(draw: random.Random, config: dict[str, Any]) -> dict[str, list[int]]:
    hosts = len(Tree(config["fabric"]).hosts)
    payload = config["frame"]["payload_bytes"]
    samples = any(
        one["kind"] in SAMPLED for one in (config["balancer"], *(d["balancer"] for d in config["deployments"]))
    )
    latest = 2 * 10**7 if samples else 10**9
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
            messages["start_ps"].append(draw.choice((0, 0, 7, draw.randint(0, 10**6), draw.randint(0, latest))))
        messages["rank"].append(draw.randint(0, 2))
        messages["collective"].append(0)
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
