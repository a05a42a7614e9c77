"""Concurrent collectives: who is in each, what they send, and that numbers of collectives get through."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from fabricsim.errors import ScenarioError
from fabricsim.scenario import Collectives, FatTree, Frame, Run, Scenario
from fabricsim.workloads import Messages, build, collectives
from fabricsim.workloads.draws import Draws, Purpose

SIGNIFICANCE = 1e-3


def built(seed: int = 1, radix: int = 8, **fields: object) -> Messages:
    workload = Collectives(**fields)
    return build(
        Scenario(fabric=FatTree(radix=radix), frame=Frame(payload="9000B"), workload=workload, run=Run(seed=seed))
    )


def members(hosts: int, count: int, sizes: tuple[int, ...], seed: int = 1) -> list[list[int]]:
    draws = Draws(seed, Purpose.COLLECTIVE_SIZES), Draws(seed, Purpose.COLLECTIVE_HOSTS)
    return [chosen.tolist() for chosen in collectives.members(hosts, count, sizes, *draws)]


def test_sizes_and_hosts_are_equally_likely() -> None:
    drawn = members(16, 4000, (2, 3, 7))
    sizes = Counter(map(len, drawn))
    assert set(sizes) == {2, 3, 7}
    assert chisquare([sizes[size] for size in (2, 3, 7)]).pvalue > SIGNIFICANCE
    assert all(chosen == sorted(set(chosen)) for chosen in drawn)
    pairs = Counter(tuple(chosen) for chosen in drawn if len(chosen) == 2)
    # 120 pairs of hosts, about 11 of each.
    assert chisquare([pairs[a, b] for a in range(16) for b in range(a + 1, 16)]).pvalue > SIGNIFICANCE


def test_collectives_are_independent() -> None:
    """Two collectives of 4 out of 16 hosts share a hypergeometric number: mean 1, variance 3/4 * 12/15."""
    drawn = members(16, 4000, (4,))
    shared = [len(set(one) & set(other)) for one, other in zip(drawn[::2], drawn[1::2], strict=True)]
    assert np.mean(shared) == pytest.approx(1, abs=4 * (0.6 / 2000) ** 0.5)


def test_more_collectives_leave_the_first_ones_as_they_were() -> None:
    assert members(16, 9, (2, 3, 7))[:5] == members(16, 5, (2, 3, 7))
    few, many = built(count=2), built(count=5)
    first = many.collective < 2
    pairs = [sorted(zip(m.collective, m.src, m.dst, m.bytes, strict=True)) for m in (few,)]
    assert pairs[0] == sorted(
        zip(many.collective[first], many.src[first], many.dst[first], many.bytes[first], strict=True)
    )


def test_the_papers_baseline_set() -> None:
    messages = built()
    assert set(messages.collective.tolist()) == set(range(5))
    for collective in range(5):
        mine = messages.collective == collective
        hosts = sorted(set(messages.src[mine].tolist()))
        assert len(hosts) in (8, 16, 32, 64)
        assert set(messages.dst[mine].tolist()) <= set(hosts)
        # Two BDP of 87 packets a pair on average, equally much from every host.
        sent = np.bincount(messages.src[mine], messages.bytes[mine], 128)
        assert set(sent[hosts].tolist()) == {(len(hosts) - 1) * 174 * 9000}


@pytest.mark.parametrize("order", ["random", "index", "shift"])
def test_all_to_all_within_each(order: str) -> None:
    messages = built(pattern="all-to-all", message="9000B", sizes=[8], order=order)
    for collective in range(5):
        mine = messages.collective == collective
        hosts = sorted(set(messages.src[mine].tolist()))
        pairs = Counter(zip(messages.src[mine].tolist(), messages.dst[mine].tolist(), strict=True))
        assert pairs == Counter((a, b) for a in hosts for b in hosts if a != b)
        lowest = hosts[0]
        own = mine & (messages.src == lowest)
        visited = messages.dst[own][np.argsort(messages.rank[own])].tolist()
        assert (visited == hosts[1:]) == (order != "random")
    assert set(messages.bytes.tolist()) == {9000}


def test_permutations_within_each() -> None:
    messages = built(pattern="permutation", sizes=[8, 16])
    for collective in range(5):
        mine = messages.collective == collective
        assert sorted(messages.src[mine].tolist()) == sorted(messages.dst[mine].tolist())
        assert len(set(messages.src[mine].tolist())) == int(mine.sum())
    assert set(messages.bytes.tolist()) == {1_566_000}


def test_a_host_takes_turns_over_its_collectives() -> None:
    messages = built(radix=4, pattern="all-to-all", sizes=[16], count=3)
    own = messages.src == 5
    turns = messages.collective[own][np.argsort(messages.rank[own])].tolist()
    assert turns == [0, 1, 2] * 15


def test_the_same_seed_gives_the_same_messages() -> None:
    assert built(seed=2) == built(seed=2)
    assert built(seed=2) != built(seed=3)


def test_what_does_not_fit() -> None:
    with pytest.raises(ScenarioError, match=r"workload\.sizes\.1: got 64; allowed: at most 16, the fabric's hosts"):
        built(radix=4, sizes=[8, 64])
    with pytest.raises(ScenarioError, match=r"sizes: got \[\]; allowed: a list of 1 or more numbers of hosts"):
        Collectives(sizes=[])
    with pytest.raises(ScenarioError, match=r"sizes\.0: got 1; allowed: an integer from 2 to"):
        Collectives(sizes=[1])
