"""Incast: many senders, one receiver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads.draws import Draws


def senders(hosts: int, count: int, receiver: int, draws: Draws) -> NDArray[np.int64]:
    """Return `count` distinct hosts other than `receiver`, drawn at random, in ascending order.

    Raises `ScenarioError` if `receiver` is no host, or there are too few others.
    """
    if receiver >= hosts:
        raise ScenarioError("workload.receiver", receiver, f"a host from 0 to {hosts - 1}")
    if count > hosts - 1:
        raise ScenarioError("workload.senders", count, f"from 1 to {hosts - 1}, the fabric's hosts less the receiver")
    chosen = np.sort(draws.order(hosts - 1)[:count])
    return chosen + (chosen >= receiver)
