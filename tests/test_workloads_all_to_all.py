"""All-to-all in each order, with drawn sizes and without end: against its definition and the multinomial's moments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    AllToAll,
    AllToAllV,
    Collectives,
    FatTree,
    Frame,
    Incast,
    InfiniteAllToAll,
    InterPodPermutation,
    MessageList,
    Permutation,
    Poisson,
    Run,
    Scenario,
)
from fabricsim.workloads import Messages, all_to_all, build
from fabricsim.workloads.draws import Draws, Purpose

FRAME = Frame(payload="1000B")
KINDS = [AllToAll(), AllToAllV(), InfiniteAllToAll()]


def built(workload: object, seed: int = 1, radix: int = 4) -> Messages:
    scenario = Scenario(fabric=FatTree(radix=radix), workload=workload, frame=FRAME, run=Run(seed=seed))  # type: ignore[arg-type]
    return build(scenario)


def test_index_order_by_hand() -> None:
    src, dst, rank = all_to_all.pairs(4, "index", Draws(1, Purpose.ALL_TO_ALL_ORDER))
    assert src.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert dst.tolist() == [1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2]
    assert rank.tolist() == [0, 1, 2] * 4


@pytest.mark.parametrize("workload", KINDS, ids=lambda workload: workload.kind)
def test_the_three_orders(workload: AllToAll) -> None:
    first: dict[str, list[int]] = {}
    for order in ("random", "index", "shift"):
        messages = built(
            workload.replace(order=order, **({"message": "1MB"} if workload.kind == "all-to-all-v" else {}))
        )
        pairs = set(zip(messages.src.tolist(), messages.dst.tolist(), strict=True))
        assert len(messages) == len(pairs) == 16 * 15
        start = np.lexsort([messages.rank, messages.src])[:: 16 - 1]
        first[order] = messages.dst[start].tolist()
    assert first["index"] == [1] + [0] * 15
    assert first["shift"] == [*range(1, 16), 0]
    assert len(set(first["random"])) > 4


def test_drawn_sizes_have_the_multinomials_mean_and_variance() -> None:
    """A sender's N packets over m receivers: mean N/m, variance N/m (1 - 1/m), covariance -N/m^2."""
    hosts, mean = 9, 50
    others = hosts - 1
    draws = Draws(5, Purpose.ALL_TO_ALL_V)
    drawn = np.stack([all_to_all.drawn_packets(hosts, mean * 1000, 1000, draws) for _ in range(200)])
    assert np.all(drawn.sum(axis=2) == others * mean)
    assert np.all(np.diagonal(drawn, axis1=1, axis2=2) == 0)
    pairs = drawn[:, ~np.eye(hosts, dtype=bool)].reshape(-1, others).astype(np.float64)
    # 1800 senders: the mean of one receiver's packets has a standard error of sqrt(43.75/1800) = 0.16.
    assert np.abs(pairs.mean(axis=0) - mean).max() < 4 * 0.16
    # A row's statistic of Pearson is chi-square with 7 degrees of freedom: mean 7, variance 14, within 4 SE.
    statistic = ((pairs - mean) ** 2 / mean).sum(axis=1)
    assert statistic.mean() == pytest.approx(others - 1, abs=4 * (14 / 1800) ** 0.5)
    assert np.mean(statistic > chi2.ppf(0.95, others - 1)) == pytest.approx(0.05, abs=4 * (0.0475 / 1800) ** 0.5)
    covariance = np.cov(pairs[:, 0], pairs[:, 1])[0, 1]
    assert covariance == pytest.approx(-mean / others, abs=4 * mean / 1800**0.5)


def test_each_receiver_of_a_single_packet_is_equally_likely() -> None:
    """8 hosts, a mean of a seventh of a packet: one packet a sender."""
    drawn = all_to_all.drawn_packets(8, 142, 1000, Draws(6, Purpose.ALL_TO_ALL_V))
    assert drawn.sum(axis=1).tolist() == [1] * 8


def test_drawn_messages_by_definition() -> None:
    messages = built(AllToAllV(message="2500B"))
    assert np.all(messages.bytes % 1000 == 0)
    assert np.all(messages.bytes > 0)
    # 15 * 2.5 packets, rounded up.
    assert np.bincount(messages.src, messages.bytes).tolist() == [38_000] * 16
    assert not np.any(messages.src == messages.dst)
    assert set(messages.collective.tolist()) == {0}


def test_many_packets_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = all_to_all.drawn_packets(4, 50_000, 1000, Draws(7, Purpose.ALL_TO_ALL_V))
    monkeypatch.setattr(all_to_all, "_PACKETS_AT_ONCE", 11)
    np.testing.assert_array_equal(all_to_all.drawn_packets(4, 50_000, 1000, Draws(7, Purpose.ALL_TO_ALL_V)), at_once)


def test_too_many_packets_are_refused_before_they_are_drawn() -> None:
    with pytest.raises(
        ScenarioError, match=r"workload\.message: got 1000000000000; allowed: at most 286331153000 bytes"
    ):
        built(AllToAllV(message="1TB"))


@pytest.mark.parametrize("kind", ["all-to-all-v", "infinite-all-to-all"])
def test_the_same_seed_gives_the_same_messages(kind: str) -> None:
    workload = {one.kind: one for one in KINDS}[kind]  # type: ignore[attr-defined]
    assert built(workload, seed=3) == built(workload, seed=3)
    assert built(workload, seed=3) != built(workload, seed=4)


def test_without_end_every_message_is_as_long_as_can_be() -> None:
    messages = built(InfiniteAllToAll())
    assert set(messages.bytes.tolist()) == {(2**32 - 1) * 1000}
    assert len(messages) == 16 * 15


def test_only_infinite_all_to_all_is_endless() -> None:
    ends = [AllToAll, AllToAllV, Collectives, Incast, InterPodPermutation, MessageList, Permutation, Poisson]
    assert [kind for kind in [*ends, InfiniteAllToAll] if kind.is_endless] == [InfiniteAllToAll]
    with pytest.raises(ScenarioError, match=r'duration: got "0ps"; allowed: a duration from 1ns to'):
        InfiniteAllToAll(duration="0s")


def test_one_host_has_no_others() -> None:
    with pytest.raises(ScenarioError, match="a fabric of 2 hosts or more"):
        all_to_all.pairs(1, "index", Draws(1, Purpose.ALL_TO_ALL_ORDER))
