"""All-to-all: every host sends to every other, in an order of its own."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads.draws import Draws


def pairs(
    hosts: int, order: Literal["random", "shift"], draws: Draws
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return src, dst and rank of the hosts * (hosts - 1) messages, by sender and then in its visiting order.

    `order` "random": each host visits the others in its own random order, so that they do not all start on the same
    one; "shift": host i visits i+1, i+2, ... Raises `ScenarioError` below 2 hosts.
    """
    if hosts < 2:
        raise ScenarioError("workload.kind", "all-to-all", f"a fabric of 2 hosts or more (it has {hosts})")
    others = hosts - 1
    places = np.arange(others, dtype=np.uint32)
    sender = np.arange(hosts, dtype=np.uint32)[:, None]
    # A host's j-th other host is host + 1 + j, modulo the hosts.
    steps = draws.orders(hosts, others).astype(np.uint32) if order == "random" else places[None, :]
    dst = (sender + np.uint32(1) + steps) % np.uint32(hosts)
    src = np.repeat(sender.ravel(), others)
    return src, dst.ravel(), np.tile(places, hosts)


def flow_bytes_of_host_bytes(host_bytes: int, hosts: int, payload_bytes: int) -> int:
    """Return each flow's size when a host sends `host_bytes` in all: a flow's share, rounded up to whole packets."""
    return -(-host_bytes // ((hosts - 1) * payload_bytes)) * payload_bytes
