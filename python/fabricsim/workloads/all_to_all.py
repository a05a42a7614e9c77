"""All-to-all: every host sends to every other, in an order of its own; sizes alike, or drawn packet by packet."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads.draws import Draws
from fabricsim.workloads.messages import MOST_PACKETS

Pairs = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]
"""src, dst and rank of messages, by sender and then in its visiting order."""

_PACKETS_AT_ONCE = 2**20


def pairs(hosts: int, order: Literal["random", "index", "shift"], draws: Draws) -> Pairs:
    """Return the hosts * (hosts - 1) messages.

    `order` "random": each host visits the others in its own random order, so that they do not all start on the same
    one; "index": every host visits 0, 1, 2, ..., itself left out; "shift": host i visits i+1, i+2, ...
    Raises `ScenarioError` below 2 hosts.
    """
    if hosts < 2:
        raise ScenarioError("workload.kind", "all-to-all", f"a fabric of 2 hosts or more (it has {hosts})")
    others = hosts - 1
    places = np.arange(others, dtype=np.uint32)
    sender = np.arange(hosts, dtype=np.uint32)[:, None]
    if order == "index":
        dst = places + (places >= sender)
    else:
        # A host's j-th other host is host + 1 + j, modulo the hosts.
        steps = draws.orders(hosts, others).astype(np.uint32) if order == "random" else places[None, :]
        dst = (sender + np.uint32(1) + steps) % np.uint32(hosts)
    src = np.repeat(sender.ravel(), others)
    return src, dst.astype(np.uint32).ravel(), np.tile(places, hosts)


def flow_bytes_of_host_bytes(host_bytes: int, hosts: int, payload_bytes: int) -> int:
    """Return each flow's size when a host sends `host_bytes` in all: a flow's share, rounded up to whole packets."""
    return -(-host_bytes // ((hosts - 1) * payload_bytes)) * payload_bytes


def drawn_packets(hosts: int, mean_bytes: int, payload_bytes: int, draws: Draws) -> NDArray[np.int64]:
    """Return how many packets each host sends to each other when every packet draws its receiver: all-to-all-v.

    Shape (hosts, hosts), by sender and receiver. A host sends (hosts - 1) * `mean_bytes`, rounded up to whole packets
    of `payload_bytes`; each goes to one of the others, uniformly and independently. Packets are drawn one by one, which
    takes less time than simulating them. Raises `ScenarioError` if a host sends more than 2^32 - 1 packets.
    """
    others = hosts - 1
    total = -(-others * mean_bytes // payload_bytes)
    if total > MOST_PACKETS:
        allowed = f"at most {MOST_PACKETS * payload_bytes // others} bytes, so that a host sends 2^32 - 1 packets"
        raise ScenarioError("workload.message", mean_bytes, allowed)
    counts = np.zeros((hosts, hosts), np.int64)
    for sender in range(hosts):
        drawn = np.zeros(others, np.int64)
        for first in range(0, total, _PACKETS_AT_ONCE):
            drawn += np.bincount(draws.below(others, min(_PACKETS_AT_ONCE, total - first)), minlength=others)
        counts[sender, np.arange(others) + (np.arange(others) >= sender)] = drawn
    return counts
