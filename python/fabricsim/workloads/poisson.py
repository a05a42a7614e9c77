"""Open-loop arrivals: at each host a Poisson process, so at all of them together one Poisson process."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads.draws import Draws

_MOST_MESSAGES = 10**8


class Arrivals(NamedTuple):
    """Moments in ps, in ascending order, and the hosts of each arriving message."""

    start_ps: NDArray[np.int64]
    src: NDArray[np.int64]
    dst: NDArray[np.int64]


def arrivals(
    hosts: int, mean_gap_ps: float, duration_ps: int, most: int | None, *, gap_draws: Draws, host_draws: Draws
) -> Arrivals:
    """Return what arrives up to `duration_ps` at all hosts together, `mean_gap_ps` apart on average; `most` at most.

    A longer duration adds messages and changes none. Raises `ScenarioError` below 2 hosts, and where more than 10^8
    messages are expected.
    """
    if hosts < 2:
        raise ScenarioError("workload.kind", "poisson", f"a fabric of 2 hosts or more (it has {hosts})")
    expected = duration_ps / mean_gap_ps
    if min(expected, most or expected) > _MOST_MESSAGES:
        allowed = f"a time in which {_MOST_MESSAGES} messages or fewer are expected (now {expected:.3g})"
        raise ScenarioError("workload.duration", f"{duration_ps}ps", allowed)
    start = np.zeros(0, np.int64)
    # Draws one by one come to the same, so the size of a batch is free.
    batch = int(min(expected + 5 * expected**0.5, most or np.inf)) + 1
    while not start.size or (start[-1] <= duration_ps and (most is None or start.size < most)):
        last = start[-1] if start.size else 0
        gaps = np.rint(gap_draws.exponentials(batch) * mean_gap_ps).astype(np.int64)
        start = np.concatenate([start, last + np.cumsum(gaps)])
    start = start[start <= duration_ps][:most]
    ends = host_draws.uniforms(2 * start.size).reshape(-1, 2)
    src = np.floor(ends[:, 0] * hosts).astype(np.int64)
    other = np.floor(ends[:, 1] * (hosts - 1)).astype(np.int64)
    return Arrivals(start, src, other + (other >= src))
