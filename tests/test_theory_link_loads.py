"""Loads of links in random cases: against enumerated paths, another programme, published means, and the engine."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import pairwise

import networkx as nx
import numpy as np
import polars as pl
import pytest
from link_loads import READINGS, SRC, Fabric, Ints, Loads, loads_by_ends
from paper import Mean, message
from scipy.optimize import linprog

from fabricsim import FatTree, LeafSpine, Messages, Paced, Run, Scenario, balancer_from_text, simulate
from fabricsim.errors import ScenarioError
from fabricsim.theory import Reading, link_loads, rho_max


def derangement(hosts: int, generator: np.random.Generator) -> Ints:
    while True:
        order = generator.permutation(hosts)
        if not np.any(order == np.arange(hosts)):
            return order


def with_failures(fabric: Fabric, chance: float, generator: np.random.Generator, *, slower: bool = False) -> Fabric:
    """The fabric with each link between switches down with a chance; with `slower`, as many at half their rate."""
    cables = [(low, high, kind) for low, high, kind in fabric.cables() if not low.startswith("host")]
    draws = generator.random(len(cables))
    down = [cable[:2] for cable, draw in zip(cables, draws, strict=True) if draw < chance]
    slow = [
        {"link": (low, high), "rate": f"{int(kind.rate) // 2}bps"}
        for (low, high, kind), draw in zip(cables, draws, strict=True)
        if slower and chance <= draw < 2 * chance
    ]
    return type(fabric)(**{**fabric.model_dump(), "links_down": down, "links_degraded": slow})


@cache
def graph_of(fabric: Fabric) -> nx.Graph:
    return fabric.to_networkx()


@cache
def all_paths(fabric: Fabric, src: int, dst: int) -> list[list[str]]:
    """Every living path as long as the shortest one without failures, by graph search."""
    found = nx.all_simple_paths(graph_of(fabric), f"host-{src}", f"host-{dst}", cutoff=fabric.hops(src, dst))
    return [path[1:-1] for path in found if len(path) == fabric.hops(src, dst) + 1]


def by_enumeration(fabric: Fabric, src: Ints, dst: Ints, reading: Reading, weights: list[float]) -> Loads:
    loads: Loads = defaultdict(float)
    for s, d, weight in zip(src.tolist(), dst.tolist(), weights, strict=True):
        paths = all_paths(fabric, s, d)
        for path in paths:
            share = weight / len(paths)
            if reading == "hop":
                share = weight
                for place in range(1, len(path)):
                    share /= len({other[place] for other in paths if other[:place] == path[:place]})
            for link in pairwise(path):
                loads[link] += share
    rates = graph_of(fabric).edges
    line = int(fabric.rate)
    return {link: load * line / rates[link]["rate_bps"] for link, load in loads.items()}


def best_by_programme(fabric: Fabric, src: Ints, dst: Ints, weights: list[float]) -> float:
    """The largest rate by a programme with one unknown a path of each flow, written down densely."""
    flows = [all_paths(fabric, s, d) for s, d in zip(src.tolist(), dst.tolist(), strict=True)]
    paths = [(flow, path) for flow, choices in enumerate(flows) for path in choices]
    links = sorted({link for _, path in paths for link in pairwise(path)})
    rates = graph_of(fabric).edges
    most = np.zeros((len(links), len(paths) + 1))
    whole = np.zeros((len(flows), len(paths) + 1))
    for column, (flow, path) in enumerate(paths):
        whole[flow, column] = 1
        for link in pairwise(path):
            most[links.index(link), column] = int(fabric.rate) / rates[link]["rate_bps"]
    whole[:, -1] = -np.array(weights)
    gain = np.zeros(len(paths) + 1)
    gain[-1] = -1
    limits = [(0, None)] * len(paths) + [(0, 1)]
    found = linprog(gain, A_ub=most, b_ub=np.ones(len(links)), A_eq=whole, b_eq=np.zeros(len(flows)), bounds=limits)
    return -float(found.fun)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("fabric", [FatTree(radix=4), FatTree(radix=6), LeafSpine(radix=8)])
def test_without_failures_every_permutation_may_send_at_line_rate(fabric: Fabric, reading: Reading) -> None:
    generator = np.random.default_rng(3)
    for _ in range(5):
        dst = derangement(fabric.hosts_count, generator)
        assert rho_max(fabric, np.arange(fabric.hosts_count), dst, reading) == 1


CASES = [
    (FatTree(radix=4), 0.08),
    (FatTree(radix=6), 0.04),
    (FatTree(radix=4, agg_oversubscription=2), 0.04),
    (LeafSpine(radix=6), 0.1),
]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("fabric", "chance"), CASES, ids=lambda case: getattr(case, "kind", str(case)))
def test_loads_agree_with_enumerated_paths(fabric: Fabric, chance: float, seed: int) -> None:
    """Random failures and slower links, two flows a host with weights; and the best split against its own programme."""
    generator = np.random.default_rng(seed)
    fabric = with_failures(fabric, chance, generator, slower=True)
    hosts = fabric.hosts_count
    src = np.tile(np.arange(hosts), 2)
    dst = np.concatenate([derangement(hosts, generator), derangement(hosts, generator)])
    weights = generator.random(2 * hosts).tolist()
    routed = np.array([bool(all_paths(fabric, s, d)) for s, d in zip(src.tolist(), dst.tolist(), strict=True)])
    src, dst, weights = src[routed], dst[routed], np.array(weights)[routed].tolist()
    rates = {}
    for reading in READINGS:
        loads = loads_by_ends(fabric, src, dst, reading, weights)
        rates[reading] = rho_max(fabric, src, dst, reading, weights)
        assert rates[reading] == pytest.approx(min(1, 1 / max(loads.values())))
        if reading != "lp":
            expected = by_enumeration(fabric, src, dst, reading, weights)
            assert {link: load for link, load in loads.items() if load} == pytest.approx(expected)
    assert rates["lp"] >= max(rates["path"], rates["hop"]) - 1e-9
    assert rates["lp"] == pytest.approx(best_by_programme(fabric, src, dst, weights), rel=1e-6)


@pytest.mark.parametrize("reading", READINGS)
def test_each_stage_carries_all_that_passes_it(reading: Reading) -> None:
    generator = np.random.default_rng(11)
    fabric = with_failures(FatTree(radix=8), 0.02, generator)
    dst = derangement(128, generator)
    src = np.arange(128)
    stages = link_loads(fabric, src, dst, reading).group_by("stage").agg(pl.col("load_fraction").sum())
    sums = dict(stages.iter_rows())
    northbound, inter_pod = np.sum(src // 4 != dst // 4), np.sum(src // 16 != dst // 16)
    assert sums["edge-agg"] == pytest.approx(northbound)
    assert sums["agg-edge"] == pytest.approx(northbound)
    assert sums["agg-core"] == pytest.approx(inter_pod)
    assert sums["core-agg"] == pytest.approx(inter_pod)


@cache
def instances(radix: int, chance: float) -> dict[str, list[float]]:
    """rho_max of random permutations with random failures, 40 of each; disconnected ones are drawn again."""
    generator = np.random.default_rng([radix, round(1000 * chance)])
    fabric = FatTree(radix=radix)
    hosts = np.arange(fabric.hosts_count)
    found: dict[str, list[float]] = {"path": [], "hop": []}
    while len(found["path"]) < 40:
        failed, dst = with_failures(fabric, chance, generator), derangement(hosts.size, generator)
        try:
            rates = {reading: rho_max(failed, hosts, dst, reading) for reading in ("path", "hop")}
        except ScenarioError:
            continue
        for reading, rate in rates.items():
            found[reading].append(rate)
    return found


@pytest.mark.parametrize(
    ("radix", "chance", "reading", "published", "runs"),
    [
        (12, 0.001, "path", 0.961, 12),
        (12, 0.001, "hop", 0.949, 12),
        (12, 0.01, "path", 0.756, 12),
        (12, 0.01, "hop", 0.778, 12),
        (12, 0.05, "path", 0.546, 12),
        (12, 0.05, "hop", 0.581, 12),
        (12, 0.005, "path", 0.84, 10),
        (12, 0.005, "hop", 0.84, 10),
        (12, 0.02, "path", 0.72, 10),
        (12, 0.02, "hop", 0.74, 10),
        (8, 0.005, "path", 0.90, 10),
        (8, 0.01, "path", 0.78, 10),
        (8, 0.02, "path", 0.66, 10),
        (8, 0.05, "path", 0.54, 10),
    ],
)
def test_means_over_random_failures_agree_with_another_calculation(
    radix: int, chance: float, reading: str, published: float, runs: int
) -> None:
    """Means of an independent program over so many random derangements, each with failures of its own."""
    mean = Mean.of(instances(radix, chance)[reading])
    error = mean.error * np.sqrt(1 + 40 / runs)
    assert 4 * error < 0.18
    assert abs(mean.value - published) <= 4 * error + 0.005


@pytest.mark.parametrize(("balancer", "reading"), [("ofan", "hop"), ("rsq", "hop"), ("drb", "path")])
def test_the_engine_carries_these_loads(balancer: str, reading: Reading) -> None:
    """Frames on each link over frames of a flow: rotation within a frame a pointer, spraying within 5 deviations."""
    packets = 2048
    down = [("edge-0", "agg-1"), ("agg-2", "core-1"), ("agg-5", "core-2"), ("edge-7", "agg-7")]
    fabric = FatTree(radix=4, links_down=down)
    dst = derangement(16, np.random.default_rng(5))
    scenario = Scenario(
        fabric=fabric,
        balancer=balancer_from_text(balancer),
        transport=Paced(acks="off", load=rho_max(fabric, SRC, dst, reading)),
        run=Run(seed=1, threads=1),
    )
    messages = Messages.from_arrays(src=SRC, dst=dst, bytes=np.full(16, int(message(packets))))
    ports = simulate(scenario, messages).ports
    carried = {(a, b): count / packets for a, b, count in ports.select("from", "to", "data_frames_count").iter_rows()}
    within = 5 / np.sqrt(packets) if balancer == "rsq" else 16 / packets
    for link, load in loads_by_ends(fabric, SRC, dst, reading).items():
        assert carried[link] == pytest.approx(load, abs=within)
