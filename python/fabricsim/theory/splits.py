"""The shortest living paths of a tree between pairs of edge switches, and what equal splitting puts on each.

A directed link between switches has a number: up from the edge switches, up from the aggregation switches, then the
same cables downwards. In two levels leaves are the edge switches, and no packet goes above a spine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fabricsim.scenario import FatTree, LeafSpine

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Pairs:
    """Traffic by pair of different edge switches, `src` to `dst`, in bit/s; `flow` has the hosts of one flow each."""

    src: Ints
    dst: Ints
    bps: Floats
    flow: Ints

    def part(self, first: int, last: int) -> Pairs:
        """Return the pairs from `first` up to, but not including, `last`."""
        rows = slice(first, last)
        return Pairs(self.src[rows], self.dst[rows], self.bps[rows], self.flow[rows])


class Trunks:
    """The links between switches of a fabric as arrays."""

    def __init__(self, fabric: FatTree | LeafSpine) -> None:
        self.edges = fabric.edges_count
        if isinstance(fabric, FatTree):
            self.pods, self.aggs, self.cores = fabric.pods_count, fabric.aggs_per_pod, fabric.cores_per_agg
            self.tiers = ("edge", "agg", "core")
            kinds = list(fabric.tier_links().values())[1:]
            core_bps = np.full((self.pods, self.aggs, self.cores), float(kinds[1].rate))
        else:
            self.pods, self.aggs, self.cores = 1, fabric.spines_count, 1
            self.tiers = ("leaf", "spine", "")
            kinds = list(fabric.tier_links().values())[1:]
            core_bps = np.zeros((0, self.aggs, self.cores))
        self.edges_per_pod = self.edges // self.pods
        edge_bps = np.full((self.edges, self.aggs), float(kinds[0].rate))
        self.edge_cables = edge_bps.size
        self.bps = np.concatenate([edge_bps.ravel(), core_bps.ravel()])
        """Rate of each cable in each direction; 0 where it is down."""
        for ends in fabric.links_down:
            self.bps[self.cable(ends)] = 0
        for degraded in fabric.links_degraded:
            if not degraded.link[0].startswith("host-"):
                self.bps[self.cable(degraded.link)] = int(degraded.rate)

    @property
    def cables(self) -> int:
        """Number of cables between switches; those that are down included."""
        return self.bps.size

    def cable(self, ends: tuple[str, str]) -> int:
        """Return the number of the cable between two switches, given by name, lower tier first."""
        lower, upper = (int(end.rpartition("-")[2]) for end in ends)
        if ends[0].startswith(self.tiers[0]):
            return lower * self.aggs + upper % self.aggs
        return self.edge_cables + lower * self.cores + upper % self.cores

    def ends(self, cable: int) -> tuple[str, str]:
        """Return the names of a cable's ends, lower tier first; the inverse of `cable`."""
        edge, agg, core = self.tiers
        if cable < self.edge_cables:
            lower, index = divmod(cable, self.aggs)
            return f"{edge}-{lower}", f"{agg}-{lower // self.edges_per_pod * self.aggs + index}"
        lower, index = divmod(cable - self.edge_cables, self.cores)
        return f"{agg}-{lower}", f"{core}-{lower % self.aggs * self.cores + index}"

    def edge_cable(self, edge: Ints, agg: Ints) -> Ints:
        """Return the number of the cable from edge switches to their aggregation switches of index `agg`."""
        return edge * self.aggs + agg

    def core_cable(self, pod: Ints, agg: Ints, core: Ints) -> Ints:
        """Return the number of the cable from aggregation switches (pod and index) to their cores of index `core`."""
        return self.edge_cables + (pod * self.aggs + agg) * self.cores + core

    def pod(self, edge: Ints) -> Ints:
        """Return the pods of edge switches."""
        return edge // self.edges_per_pod

    def living_cores(self, src: Ints, dst: Ints) -> Bools:
        """Return which ways from pod to pod live above the edge switches: [pair, aggregation index, core index]."""
        north = (self.bps[self.edge_cables :] > 0).reshape(-1, self.aggs, self.cores)
        return np.asarray(north[src] & north[dst])

    def living(self, pairs: Pairs) -> Bools:
        """Return which paths live: [pair, aggregation index, core index], only core index 0 where none is passed."""
        up = (self.bps[: self.edge_cables] > 0).reshape(self.edges, self.aggs)
        both = (up[pairs.src] & up[pairs.dst])[:, :, None]
        found = both & (np.arange(self.cores) == 0)
        src, dst = self.pod(pairs.src), self.pod(pairs.dst)
        far = src != dst
        found[far] = both[far] & self.living_cores(src[far], dst[far])
        return np.asarray(found)

    def links(self, pairs: Pairs, paths: Bools) -> Ints:
        """Return the four directed links of each path, `paths` as `living`; 2 * `cables` for a core link not passed."""
        pair, agg, core = np.nonzero(paths)
        src, dst = pairs.src[pair], pairs.dst[pair]
        near = self.pod(src) == self.pod(dst)
        north = np.where(near, 2 * self.cables, self.core_cable(self.pod(src), agg, core))
        south = np.where(near, 2 * self.cables, self.core_cable(self.pod(dst), agg, core) + self.cables)
        return np.stack([self.edge_cable(src, agg), north, south, self.edge_cable(dst, agg) + self.cables], axis=1)

    def loads(self, pairs: Pairs, shares: Floats) -> Floats:
        """Return bit/s of each directed link when each pair's traffic goes over its paths by `shares` (as `living`)."""
        paths = shares > 0
        bps = np.repeat((shares * pairs.bps[:, None, None])[paths], 4)
        every = np.bincount(self.links(pairs, paths).ravel(), weights=bps, minlength=2 * self.cables + 1)
        return every.astype(np.float64)[:-1]


def equal_shares(living: Bools, reading: Literal["path", "hop"]) -> Floats:
    """Return each path's share of its pair's traffic; pairs without a path get zeros.

    `path`: every living path the same. `hop`: the edge switch splits equally over the uplinks that lead to the
    destination, and so does each aggregation switch.
    """
    if reading == "path":
        return np.asarray(living / np.maximum(living.sum(axis=(1, 2), keepdims=True), 1))
    cores = living.sum(axis=2, keepdims=True)
    aggs = (cores > 0).sum(axis=1, keepdims=True)
    return np.asarray(living / np.maximum(cores, 1) / np.maximum(aggs, 1))
