"""Several collectives at once: which hosts are in each, and what these send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.scenario.workloads import AllToAllV, Collectives
from fabricsim.workloads import all_to_all
from fabricsim.workloads.draws import Draws, Purpose
from fabricsim.workloads.messages import Messages
from fabricsim.workloads.permutation import derangement


def members(
    hosts: int, count: int, sizes: Sequence[int], size_draws: Draws, host_draws: Draws
) -> list[NDArray[np.int64]]:
    """Return the hosts of each of `count` collectives, ascending; the first ones are the same for a larger `count`.

    A collective's size is one of `sizes`, all equally likely; its hosts are distinct, drawn uniformly, and independent
    of other collectives'. Raises `ScenarioError` if a size exceeds the fabric's hosts.
    """
    for place, size in enumerate(sizes):
        if size > hosts:
            raise ScenarioError(f"workload.sizes.{place}", size, f"at most {hosts}, the fabric's hosts")
    chosen = [sizes[place] for place in size_draws.below(len(sizes), count).tolist()]
    return [np.sort(host_draws.order(hosts)[:size]) for size in chosen]


def messages(
    chosen: Sequence[NDArray[np.int64]],
    pattern: Literal["all-to-all-v", "all-to-all", "permutation"],
    workload: AllToAllV | Collectives,
    payload_bytes: int,
    seed: int,
) -> Messages:
    """Return the messages of collectives on the hosts `chosen` for each, in the `workload`'s sizes and order.

    A stream goes on from collective to collective, so these draw independently, and the first ones the same however
    many follow. Where a host is in several, its visiting order takes turns over them.
    """
    draws = {
        purpose: Draws(seed, purpose)
        for purpose in (Purpose.PERMUTATION, Purpose.ALL_TO_ALL_ORDER, Purpose.ALL_TO_ALL_V)
    }
    columns = []
    for collective, hosts in enumerate(chosen):
        if pattern == "permutation":
            src, dst = np.arange(hosts.size), derangement(hosts.size, draws[Purpose.PERMUTATION])
            rank = np.zeros(hosts.size, np.int64)
        else:
            pairs = all_to_all.pairs(hosts.size, workload.order, draws[Purpose.ALL_TO_ALL_ORDER])
            src, dst, rank = (column.astype(np.int64) for column in pairs)
        size = np.full(src.size, int(workload.message))
        if pattern == "all-to-all-v":
            packets = all_to_all.drawn_packets(
                hosts.size, int(workload.message), payload_bytes, draws[Purpose.ALL_TO_ALL_V]
            )
            size = packets[src, dst] * payload_bytes
        turn = rank * len(chosen) + collective
        columns.append(np.stack([hosts[src], hosts[dst], size, turn, np.full(src.size, collective)])[:, size > 0])
    src, dst, size, turn, number = np.concatenate(columns, axis=1)
    return Messages.from_arrays(src, dst, size, rank=turn, collective=number)
