"""Ties are fair: hosts that send in step to one port lose, are marked and deliver alike, to within 1 %.

Without start jitter the frames of a group come at the same picosecond, and a hash of that moment and the input decides
their order (docs/explanation/model.md, "Ties"). Sums over many groups have to come out equal; who is first in a group
has to be chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from door import configure, leaf_spine, messages, run
from numpy.typing import NDArray
from scipy.stats import chi2, chisquare  # type: ignore[import-untyped]

SENDERS, FRAME_BYTES = 7, 4158


def in_step(groups: int, seed: int, **parts: Any) -> Any:
    """Hosts 1 to 7 send to host 0 under the same switch, at a seventh of the line rate: the link is just full."""
    still = {"acks": "off", "start_jitter": "none", "load": 1 / SENDERS}
    config = configure(leaf_spine(2, SENDERS + 1, 1), seed=seed, transport=still, **parts)
    return run(config, messages(range(1, SENDERS + 1), [0] * SENDERS, groups * 4096))


@pytest.mark.parametrize(("frames_of_buffer", "groups"), [(1, 1_200_000), (3, 300_000), (6, 1_200_000)])
def test_all_lose_and_deliver_alike(frames_of_buffer: int, groups: int) -> None:
    """Of each group so many find room as the buffer has; the rest is dropped.

    Counts of 171,000 in a 1.2 million scatter by 0.22 %, so that 1 % is four deviations and more.
    """
    output = in_step(groups, 1, port={"buffer_bytes": frames_of_buffer * FRAME_BYTES}, measure={"queues": False})
    delivered = output["flows"]["delivered_packets_count"].astype(np.int64)
    assert delivered.sum() == groups * frames_of_buffer
    for counts in (delivered, groups - delivered):
        assert np.abs(counts / counts.mean() - 1).max() < 0.01
        # Of n groups each host is in a share p, with a variance of n p (1 - p): the chi-square statistic over 1 - p.
        share = counts.mean() / groups
        spread = float(((counts - counts.mean()) ** 2).sum() / (groups * share * (1 - share)) * (SENDERS - 1) / SENDERS)
        assert 0.001 < float(chi2.sf(spread, SENDERS - 1)) < 0.999


def places(output: Any, groups: int) -> NDArray[np.int64]:
    """How often each host was first, second, ... of its group: one row a host."""
    trace, ports = output["trace"], output["ports"]
    into = (ports["to_tier"] == 0) & (ports["to_index"] == 0)
    rows = np.flatnonzero(into[trace["link"]])
    rows = rows[np.argsort(trace["at_ps"][rows])]
    assert (trace["psn"][rows].reshape(groups, SENDERS) == np.arange(groups)[:, None]).all(), "group after group"
    order = trace["flow"][rows].reshape(groups, SENDERS)
    return np.array([np.bincount(order[:, place], minlength=SENDERS) for place in range(SENDERS)]).T


def test_all_are_marked_alike() -> None:
    """A group queues seven frames. The nth to leave, counted from 0, leaves 7 - n: marked where those are over four."""
    groups, marked = 120_000, 3
    output = in_step(groups, 2, port={"ecn_threshold_bytes": 4 * FRAME_BYTES}, measure={"trace": True})
    assert output["ports"]["marked_count"].sum() == groups * marked
    marks = places(output, groups)[:, :marked].sum(axis=1)
    assert np.abs(marks / marks.mean() - 1).max() < 0.01


def test_each_is_in_each_place_as_often_as_by_chance() -> None:
    for seed in (1, 2, 3):
        table = places(in_step(20_000, seed, measure={"trace": True}), 20_000)
        chances = [float(chisquare(counts).pvalue) for counts in (*table, *table.T)]
        assert min(chances) > 0.001 / len(chances)


def test_who_is_first_says_nothing_of_the_next_group() -> None:
    """Every pair of hosts follow each other in the first place equally often."""
    groups = 40_000
    output = in_step(groups, 4, port={"buffer_bytes": FRAME_BYTES}, measure={"trace": True})
    trace, ports = output["trace"], output["ports"]
    into = (ports["to_tier"] == 0) & (ports["to_index"] == 0)
    rows = np.flatnonzero(into[trace["link"]])
    first = trace["flow"][rows[np.argsort(trace["at_ps"][rows])]].astype(np.int64)
    assert first.size == groups
    pairs = np.bincount(first[:-1] * SENDERS + first[1:], minlength=SENDERS**2)
    assert float(chisquare(pairs).pvalue) > 0.001
