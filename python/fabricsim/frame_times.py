"""How long frames take in a scenario's fabric: what bounds are made of, in ps and rounded as the core does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.scenario.transports import Paced

if TYPE_CHECKING:
    from fabricsim.scenario import FatTree, LeafSpine, Scenario

Times = NDArray[np.int64]
Size = TypeVar("Size", int, Times)
"""One size in bytes, or many; times come in the same shape."""

_FRACTION_BITS = 22


@dataclass(frozen=True)
class Hop:
    """A link of a path, or the `parallel` ones among which a flow's packets may be spread there."""

    rate_bps: int
    latency_ps: int
    parallel: int
    gap_bytes: int

    def time_ps(self, size: Size) -> Size:
        """Return the time to send frames of `size` bytes, to the ps that core/src/units.rs has."""
        pace = ((8 * 10**12 << _FRACTION_BITS) + self.rate_bps // 2) // self.rate_bps
        return (size * pace + (1 << (_FRACTION_BITS - 1))) >> _FRACTION_BITS

    @property
    def gap_ps(self) -> int:
        """Time between two frames on the link."""
        return self.time_ps(self.gap_bytes)

    def occupancy_ps(self, size: Size) -> Size:
        """Return the time from the start of a frame to the earliest start of the next."""
        return self.time_ps(size) + self.gap_ps


class Path:
    """The links from one host to another, `levels` up and as many down; levels is 1 under one switch, up to 3."""

    def __init__(self, up: list[Hop], load: float) -> None:
        self.hops = [*up, *reversed(up)]
        self.load = load

    @property
    def propagation_ps(self) -> int:
        """Latency of all links."""
        return sum(hop.latency_ps for hop in self.hops)

    def time_ps(self, size: Size) -> Size:
        """Return the time from a frame's start to its arrival as a whole, store and forward."""
        return self.time_to_last_link_ps(size) + self.hops[-1].time_ps(size) + self.hops[-1].latency_ps

    def time_to_last_link_ps(self, size: Size) -> Size:
        """Return the time from a frame's start to its arrival at the switch before the receiver."""
        time = size * 0
        for hop in self.hops[:-1]:
            time = time + hop.time_ps(size) + hop.latency_ps
        return time

    def interval_ps(self, size: Size) -> Size:
        """Return the least time from a data frame's start to the next one's at the same host."""
        paced = self.hops[0].occupancy_ps(size) / self.load + 0.5
        return int(paced) if isinstance(size, int) else np.asarray(paced).astype(np.int64)


def paths(scenario: Scenario) -> list[Path]:
    """Return the path of each number of levels, level 1 first."""
    fabric = scenario.fabric
    gap = int(scenario.frame.gap)
    # Hosts that do not pace may send at line rate.
    load = scenario.transport.load if isinstance(scenario.transport, Paced) else 1.0
    if isinstance(load, str):
        raise ScenarioError("transport.load", load, "a number, once the messages are known")
    links = fabric.tier_links().values()
    up = [
        Hop(int(link.rate), int(link.latency), parallel, gap)
        for link, parallel in zip(links, _parallel(fabric), strict=True)
    ]
    return [Path(up[:levels], load) for levels in range(1, len(up) + 1)]


def _parallel(fabric: FatTree | LeafSpine) -> list[int]:
    """Return among how many links of each tier a flow may be spread, from the hosts upwards."""
    if fabric.kind == "fat-tree":
        return [1, fabric.aggs_per_pod, fabric.aggs_per_pod * fabric.cores_per_agg]
    return [1, fabric.spines_count]
