"""Random small fabrics, with dead, slow and changing links."""

from __future__ import annotations

import random
from typing import Any

from door import AS_IT_STARTS

from twin.tree import Tree

PORTS = {"ecn_full_bytes": None, "ecn_at": "dequeue", "shared_buffer": None, "pfc": None}
"""What most ports do not have."""
RATES_GBPS = (100, 200, 300, 350, 400, 700, 800, 1600)
LATENCIES_PS = (13_007, 100_000, 500_000, 500_000, 2_000_000, 20_000_000)


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
    cables = [(a.source, a.target) for a in Tree(fabric).links if a.source.tier < a.target.tier]
    tiers = ("host", "leaf", "", "spine") if fabric["kind"] == "leaf-spine" else ("host", "edge", "agg", "core")
    named = [[f"{tiers[node.tier]}-{node.index}" for node in ends] for ends in cables]
    inner = [ends for ends in named if not ends[0].startswith("host")]
    if draw.random() < 0.4:
        fabric["links_down"] = draw.sample(inner, min(len(inner) // 4, draw.randint(0, 5)))
        slow = draw.sample(named, min(len(named), draw.randint(0, 3)))
        fabric["links_degraded"] = [{"link": ends, "rate_bps": draw.choice((50, 100, 300)) * 10**9} for ends in slow]
    if draw.random() < 0.35:
        fabric["link_events"] = draw_link_events(draw, inner, fabric["links_down"])
        fabric["reconvergence_delay_ps"] = draw.choice((0, 1, 300_000, 1_000_000, 5_000_000, 10**9))
    return fabric


def draw_link_events(draw: random.Random, cables: list[list[str]], down: list[list[str]]) -> list[dict[str, Any]]:
    """Some links go down and come up by turns; of some moments one may guess that frames leave just then."""
    events = []
    for cable in draw.sample(cables, min(len(cables), draw.randint(1, 4))):
        most = draw.choice((200_000, 3_000_000, 3_000_000, 30_000_000))
        moments = {
            draw.choice((0, 41_780 * draw.randint(0, 80), draw.randint(0, most))) for _ in range(draw.randint(1, 3))
        }
        is_up = cable not in down
        for at in sorted(moments):
            is_up = not is_up
            events.append({"at_ps": at, "link": cable, "state": "up" if is_up else "down"})
    draw.shuffle(events)
    return events
