"""Links that are down from the start: who takes which uplink instead, packet by packet, and how fast hosts may send."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Literal

import numpy as np
import pytest
from door import configure, fat_tree, messages, permutation, run

from fabricsim import (
    Bytes,
    FatTree,
    FatTreeFailures,
    InterPodPermutation,
    Paced,
    Run,
    Scenario,
    balancer_from_text,
    simulate,
)
from fabricsim.failures import with_failures
from fabricsim.theory import link_loads, rho_max
from fabricsim.workloads import build

Ends = tuple[int, int, int, int]
DOWN = [["edge-0", "agg-1"], ["edge-4", "agg-5"], ["agg-2", "core-7"], ["agg-3", "core-1"], ["agg-9", "core-2"]]


def uplinks_taken(output: Any) -> dict[tuple[int, int, int], list[Ends]]:
    """The uplinks, first to last, that each packet (flow, psn, kind) took."""
    trace, ports = output["trace"], output["ports"]
    up = (ports["from_tier"] < ports["to_tier"]) & (ports["from_tier"] > 0)
    ends = list(
        zip(*(ports[f"{end}_{of}"].tolist() for end in ("from", "to") for of in ("tier", "index")), strict=True)
    )
    taken: dict[tuple[int, int, int], list[Ends]] = defaultdict(list)
    rows = np.flatnonzero(up[trace["link"]])
    for row in rows[np.argsort(trace["at_ps"][rows], kind="stable")].tolist():
        taken[int(trace["flow"][row]), int(trace["psn"][row]), int(trace["kind"][row])].append(
            ends[int(trace["link"][row])]
        )
    return taken


def living_paths(src: int, dst: int, w: int) -> set[tuple[int, int]]:
    """Pairs (aggregation switch of the pod, core) between hosts of two pods, all four links of which work."""
    dead = {(lower, upper) for lower, upper in DOWN}
    pods, edges = (src // w**2, dst // w**2), (src // w, dst // w)
    return {
        (j, c)
        for j in range(w)
        for c in range(w)
        if not dead
        & {
            link
            for pod, edge in zip(pods, edges, strict=True)
            for link in ((f"edge-{edge}", f"agg-{pod * w + j}"), (f"agg-{pod * w + j}", f"core-{j * w + c}"))
        }
    }


def test_drb_takes_turns_over_the_living_waypoints() -> None:
    """Each host visits every path that works equally often, and none that does not: its modulus is their number."""
    w, pod = 3, 9
    columns = permutation(54, 5, 91, lambda a, b: a // pod != b // pod)
    output = run(configure(fat_tree(6, links_down=DOWN), "drb", measure={"trace": True}), columns)
    visits: dict[tuple[int, int], dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    for (flow, _, kind), links in uplinks_taken(output).items():
        (*_, agg), (*_, core) = links
        visits[flow, kind][agg % w, core % w] += 1
    partial = 0
    for (flow, kind), paths in visits.items():
        src, dst = (int(columns[end][flow]) for end in (("dst", "src") if kind else ("src", "dst")))
        living = living_paths(src, dst, w)
        assert set(paths) == living
        assert sorted({91 // len(living), -(-91 // len(living))}) == sorted(set(paths.values()))
        partial += len(living) < w * w
    assert partial > 20


def test_ofan_gives_each_valid_port_one_packet_a_round() -> None:
    """A pointer that meets a dead port steps on: of any |V| packets in a row each valid port gets one."""
    w = 3
    # One flow an edge switch, so that every pointer there serves one flow, in the order of its packets.
    src = np.arange(18) * w
    dst = (src + 12 * w + 1) % 54
    config = configure(fat_tree(6, links_down=DOWN), "ofan", measure={"trace": True}, transport={"acks": "off"})
    output = run(config, messages(src, dst, 90 * 4096))
    at_edge: dict[int, list[Ends]] = defaultdict(list)
    for (flow, _, _), links in sorted(uplinks_taken(output).items()):
        at_edge[flow].append(links[0])
    rounds = set()
    for flow, links in at_edge.items():
        valid = {j for j, _ in living_paths(int(src[flow]), int(dst[flow]), w)}
        for first in range(len(links) - len(valid) + 1):
            assert {to % w for _, _, _, to in links[first : first + len(valid)]} == valid
        rounds.add(len(valid))
    assert rounds == {2, 3}


def test_ethereal_deflects_from_what_routing_knows_to_be_dead() -> None:
    """A host has no map: it splits over all nine paths, and switches send the dead ones' packets another way."""
    src, dst = 0, 40
    config = configure(fat_tree(6, links_down=DOWN), "ethereal:split=packets", measure={"trace": True})
    output = run(config, messages([src], [dst], 90 * 4096))
    assert output["status"] == "done"
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for (_, _, kind), links in uplinks_taken(output).items():
        if kind == 0:
            counts[links[0][3] % 3, links[1][3] % 3] += 1
    assert set(counts) == living_paths(src, dst, 3)
    assert sum(counts.values()) == 90
    assert sorted(counts.values()) != [15] * 6, "DRB would share equally; here some carry others' packets"
    assert all(count % 10 == 0 for count in counts.values()), "a subflow of 10 packets stays together"


def load_and_growth(load: float | Literal["rho-max:hop"], seed: int) -> tuple[float, float]:
    """The largest load of a link by theory, and how often larger queues get when messages get four times as long."""
    failures = FatTreeFailures(edge_agg_probability=0.02, agg_core_probability=0.02, seed=seed)
    fabric = FatTree(radix=8, failures=failures)
    largest = []
    for packets in (300, 1200):
        scenario = Scenario(
            fabric=fabric,
            workload=InterPodPermutation(message=Bytes(packets * 4096)),
            balancer=balancer_from_text("ofan"),
            transport=Paced(load=load, acks="off"),
            run=Run(seed=seed, threads=1),
        )
        largest.append(simulate(scenario).summary["max_queue_packets"])
    broken, sent = with_failures(fabric, seed), build(scenario)
    rate = rho_max(broken, sent.src, sent.dst, "hop") if isinstance(load, str) else load
    most = link_loads(broken, sent.src, sent.dst, "hop")["load_fraction"].to_numpy().max()
    return float(most) * rate, largest[1] / largest[0]


def test_at_the_hop_rate_no_link_is_overloaded_under_ofan() -> None:
    """rho_max by `hop`: loads are at most 1, and then queues keep their size; above it they grow with the messages."""
    for seed in (1, 2, 3):
        load, growth = load_and_growth("rho-max:hop", seed)
        assert load == pytest.approx(1)
        assert growth < 1.7
        load, growth = load_and_growth(1.0, seed)
        assert load > 1.1
        assert growth > 3
