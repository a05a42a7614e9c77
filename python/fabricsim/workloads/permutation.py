"""Permutations: every host sends one message and receives one (Ofan paper, section 6)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads.draws import Draws


def derangement(hosts: int, draws: Draws) -> NDArray[np.int64]:
    """Return dst of each host: uniform over the permutations of `hosts` hosts that leave no host at its place.

    Permutations are drawn until one has no fixed point (one in e does). Sattolo's algorithm would be shorter, but it
    yields only the permutations that are one cycle. Raises `ScenarioError` below 2 hosts.
    """
    if hosts < 2:
        raise ScenarioError("workload.kind", "permutation", f"a fabric of 2 hosts or more (it has {hosts})")
    places = np.arange(hosts)
    while True:
        dst = draws.order(hosts)
        if not np.any(dst == places):
            return dst


def inter_pod(pods: int, hosts_per_pod: int, draws: Draws) -> NDArray[np.int64]:
    """Return dst of each host: uniform, in the limit, over the permutations that leave every host's pod.

    Rejection would accept one in e^(hosts_per_pod), so a Markov chain is run: from the map to the next pod,
    20 n ln n swaps of two random hosts' destinations, each made only if both stay inter-pod. They are made in rounds of
    disjoint pairs, each pair with a coin of its own; a round maps the permitted permutations one to one onto themselves
    and is as likely as its inverse, so the limit is uniform. Coins that say no are not counted.
    With 3 pods swaps alone do not lead everywhere; they are refused (k-ary trees have an even number of pods).
    """
    if pods < 2 or pods == 3:
        raise ScenarioError("workload.kind", "inter-pod-permutation", f"a fabric of 2, 4 or more pods (it has {pods})")
    hosts = pods * hosts_per_pod
    pod = np.arange(hosts) // hosts_per_pod
    dst = (np.arange(hosts) + hosts_per_pod) % hosts
    pairs = hosts // 2
    for _ in range(math.ceil(20 * hosts * math.log(hosts) / (pairs / 2))):
        words = draws.words(hosts)
        order = np.argsort(words, kind="stable")
        first, second = order[:pairs], order[pairs : 2 * pairs]
        # The order rests on the high bits, so the lowest bit is a fair coin of its own.
        heads = (words[first] & np.uint64(1)).astype(bool)
        stays = (pod[dst[second]] != pod[first]) & (pod[dst[first]] != pod[second])
        chosen = heads & stays
        first, second = first[chosen], second[chosen]
        dst[first], dst[second] = dst[second], dst[first]
    return dst
