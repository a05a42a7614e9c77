"""Workloads: who sends to whom. Uniformity against enumeration, counts against the definitions."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    KINDS,
    PRESETS,
    AllToAll,
    FatTree,
    Frame,
    Incast,
    InterPodPermutation,
    LeafSpine,
    MessageList,
    Permutation,
    Run,
    Scenario,
    scenario_from_mapping,
)
from fabricsim.workloads import all_to_all, build, incast, permutation
from fabricsim.workloads.draws import Draws, Purpose

SIGNIFICANCE = 1e-3


def test_derangements_of_four_hosts_are_equally_likely() -> None:
    draws = Draws(1, Purpose.PERMUTATION)
    seen = Counter(tuple(permutation.derangement(4, draws).tolist()) for _ in range(9 * 200))
    expected = [p for p in itertools.permutations(range(4)) if all(p[i] != i for i in range(4))]
    assert len(expected) == 9
    assert set(seen) == set(expected)
    assert chisquare([seen[p] for p in expected]).pvalue > SIGNIFICANCE


@pytest.mark.parametrize(("pods", "hosts_per_pod", "count"), [(2, 2, 4), (4, 1, 9), (5, 1, 44)])
def test_inter_pod_permutations_are_equally_likely(pods: int, hosts_per_pod: int, count: int) -> None:
    hosts = pods * hosts_per_pod
    expected = [
        p
        for p in itertools.permutations(range(hosts))
        if all(p[h] // hosts_per_pod != h // hosts_per_pod for h in range(hosts))
    ]
    assert len(expected) == count
    draws = Draws(2, Purpose.INTER_POD_PERMUTATION)
    seen = Counter(tuple(permutation.inter_pod(pods, hosts_per_pod, draws).tolist()) for _ in range(20 * count))
    assert set(seen) <= set(expected)
    assert chisquare([seen[p] for p in expected]).pvalue > SIGNIFICANCE


@pytest.mark.parametrize("radix", [2, 4, 8])
def test_inter_pod_permutation_leaves_every_pod(radix: int) -> None:
    fabric = FatTree(radix=radix)
    messages = build(Scenario(fabric=fabric, workload=InterPodPermutation()))
    assert sorted(messages.dst.tolist()) == list(range(fabric.hosts_count))
    assert np.all(fabric.hops(messages.src, messages.dst) == 6)


def test_permutation_depends_on_the_seed_alone() -> None:
    one, same, other = (build(Scenario(run=Run(seed=seed))) for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert np.all(one.src != one.dst)
    assert sorted(one.dst.tolist()) == list(range(432))
    assert set(one.bytes.tolist()) == {2**20}
    # Frozen: what a seed means must never change (raw PCG64 words, NEP 19).
    assert one.dst[:6].tolist() == [270, 77, 343, 256, 148, 356]


@pytest.mark.parametrize("order", ["random", "shift"])
def test_all_to_all_visits_every_other_host_once(order: str) -> None:
    scenario = Scenario(fabric=FatTree(radix=4), workload=AllToAll(order=order, message="16KiB"))
    messages = build(scenario)
    pairs = set(zip(messages.src.tolist(), messages.dst.tolist(), strict=True))
    assert len(messages) == len(pairs) == 16 * 15
    assert all(src != dst for src, dst in pairs)
    for host in range(16):
        assert sorted(messages.rank[messages.src == host].tolist()) == list(range(15))
    first = messages.dst[messages.rank == 0]
    if order == "shift":
        assert first.tolist() == [(host + 1) % 16 for host in range(16)]
    else:
        assert len(set(first.tolist())) > 4


def test_all_to_all_orders_are_equally_likely() -> None:
    draws = Draws(3, Purpose.ALL_TO_ALL_ORDER)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(600):
        _, dst, _ = all_to_all.pairs(4, "random", draws)
        seen[tuple(dst[:3].tolist())] += 1
    expected = list(itertools.permutations([1, 2, 3]))
    assert chisquare([seen[p] for p in expected]).pvalue > SIGNIFICANCE


def test_all_to_all_per_host_rounds_up_to_whole_packets() -> None:
    # 15 others, 1000 B payload: 100 kB / 15 = 6666.7 B = 7 packets a flow.
    workload = AllToAll(per="host", message="100kB")
    messages = build(Scenario(fabric=FatTree(radix=4), workload=workload, frame=Frame(payload="1000B")))
    assert set(messages.bytes.tolist()) == {7000}


def test_all_to_all_of_1024_hosts() -> None:
    messages = build(Scenario(fabric=FatTree(radix=16), workload=AllToAll()))
    assert len(messages) == 1_047_552
    assert np.all(messages.src != messages.dst)
    assert np.all(np.bincount(messages.dst) == 1023)


def test_incast_has_distinct_senders() -> None:
    workload = Incast(senders=15, receiver=3, message="4096B")
    messages = build(Scenario(fabric=FatTree(radix=4), workload=workload))
    assert messages.src.tolist() == [host for host in range(16) if host != 3]
    assert set(messages.dst.tolist()) == {3}


def test_incast_senders_are_equally_likely() -> None:
    draws = Draws(4, Purpose.INCAST_SENDERS)
    seen = Counter(host for _ in range(500) for host in incast.senders(5, 2, 2, draws).tolist())
    assert chisquare([seen[host] for host in (0, 1, 3, 4)]).pvalue > SIGNIFICANCE
    assert set(seen) == {0, 1, 3, 4}


@pytest.mark.parametrize(
    ("fabric", "workload", "message"),
    [
        (FatTree(radix=4), Incast(senders=16), "workload.senders: got 16; allowed: from 1 to 15"),
        (FatTree(radix=4), Incast(receiver=16), "workload.receiver: got 16; allowed: a host from 0 to 15"),
        (LeafSpine(radix=4), InterPodPermutation(), 'workload.kind: got "inter-pod-permutation"; allowed: this kind'),
    ],
)
def test_workload_that_does_not_fit_the_fabric(fabric: object, workload: object, message: str) -> None:
    scenario = Scenario(fabric=fabric, workload=workload)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError) as caught:
        build(scenario)
    assert message in str(caught.value)


def test_defaults_are_the_papers() -> None:
    assert int(Permutation().message) == int(InterPodPermutation().message) == 256 * 4096
    assert int(AllToAll().message) == 4 * 4096


def test_message_list_needs_one_source() -> None:
    with pytest.raises(ScenarioError, match="either `messages` or `path`"):
        MessageList()
    with pytest.raises(ScenarioError, match="not both"):
        MessageList(messages=[], path="messages.json")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS["workload"] if kind not in ("messages", "htsim", "dcpim-trace")]
)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_kind_takes_the_place_of_a_presets(kind: str, preset: str) -> None:
    """What both kinds have is kept, so that no name of a field may mean two things."""
    scenario = scenario_from_mapping({"preset": preset, "workload": {"kind": kind}})
    assert scenario.workload.kind == kind
    assert len(build(scenario)) > 0
