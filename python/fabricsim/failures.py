"""Links that fail at random: drawn from the seed, drawn again where they cut hosts off, and laid over the fabric."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads.draws import Draws, Purpose

if TYPE_CHECKING:
    from fabricsim.scenario import FatTree, LeafSpine, LinkEvent

Ends = tuple[str, str]

MOST_DRAWS = 1000
"""How many disconnected draws in a row refuse the probabilities."""

HOPELESS = 1e-6
"""Chance of a connected draw below which none is made: in large fabrics 1,000 take minutes."""

_NAMED_LINKS = 20


@dataclass(frozen=True)
class Failures:
    """A draw: the links that fail, and how many draws before it had to be thrown away."""

    links: tuple[Ends, ...]
    redraws_count: int


def with_failures(fabric: FatTree | LeafSpine, seed: int) -> FatTree | LeafSpine:
    """Return `fabric` with its random failures drawn and put into `links_down`, beside all else that is down or slower.

    A link that has failed is no longer degraded, and an event that would put it into the state it is in falls away.
    `seed`: the run's, for failures without a seed of their own. Raises `ScenarioError` as `drawn_failures` does.
    """
    fabric = fabric.links_listed()
    if fabric.failures is None:
        return fabric
    failed = drawn_failures(fabric, seed).links
    down = dict.fromkeys((*fabric.links_down, *failed))
    fields = {
        **dict(fabric),
        "failures": None,
        "links_down": tuple(down),
        "links_degraded": tuple(slower for slower in fabric.links_degraded if slower.link not in down),
        "link_events": tuple(_changes(fabric.link_events, set(down))),
    }
    return type(fabric)(**fields)


@lru_cache(maxsize=64)
def drawn_failures(fabric: FatTree | LeafSpine, seed: int) -> Failures:
    """Return the links that fail in addition to those that are down anyway.

    Every link between switches fails independently, in both directions, with the probability of its tier. A draw that
    leaves two hosts without an up-down path is drawn again (Ofan section 6.2 paces at the rate that all flows can have,
    so all have a path) or refused, as `failures.disconnected` says.

    Raises:
        ScenarioError: hosts are cut off where that is to be refused, or by `links_down` alone, or in every one of 1,000
            draws; names two edge switches and the links that are down between them. Or the probabilities are so high
            that fewer than one draw in a million can leave all hosts a path: then none is made.

    """
    failures = fabric.failures
    if failures is None:
        return Failures((), 0)
    draws = Draws(seed if failures.seed is None else failures.seed, Purpose.LINK_FAILURES)
    tree = _Tree(fabric.links_listed())
    if cut := tree.cut():
        raise ScenarioError("fabric.links_down", cut.hosts, f"a path between every two hosts; {cut.links}")
    probability = np.array([failures.probabilities()[lower.partition("-")[0]] for lower, _ in tree.cables])
    if failures.disconnected == "redraw" and (chance := connected_at_most(fabric)) < HOPELESS:
        allowed = "probabilities that leave every two hosts a path in one draw of a million at least; "
        allowed += f"these do in less than one of 10^{math.floor(-math.log10(max(chance, 1e-300)))}, so none was tried"
        raise ScenarioError("fabric.failures", failures.model_dump(exclude_defaults=True), allowed)
    redraws = 0
    while cut := tree.cut(failing := draws.uniforms(len(tree.cables)) < probability):
        if failures.disconnected == "refuse":
            allowed = f'a path between every two hosts, or disconnected = "redraw"; {cut.links}'
            raise ScenarioError("fabric.failures", cut.hosts, allowed)
        redraws += 1
        if redraws == MOST_DRAWS:
            allowed = f"a path between every two hosts in one of {MOST_DRAWS:,} draws; {cut.links} in the last"
            raise ScenarioError("fabric.failures", cut.hosts, allowed)
    return Failures(tuple(tree.cables[row] for row in np.flatnonzero(failing)), redraws)


def connected_at_most(fabric: FatTree | LeafSpine) -> float:
    """Return a bound, from above, on the probability that a draw leaves every two hosts an up-down path.

    Pairs of switches that share no link with other pairs are connected or not independently: edge switches of one pod
    two by two (leaves of the tree), each over an aggregation switch; and one edge switch of each pod, pods two by two.
    """
    if fabric.failures is None:
        return 1.0
    alive = [1 - probability for probability in fabric.failures.probabilities().values()]
    if fabric.kind == "leaf-spine":
        return _one_of(alive[0] ** 2, fabric.spines_count) ** (fabric.leaves_count // 2)
    in_pod = _one_of(alive[0] ** 2, fabric.aggs_per_pod) ** (fabric.pods_count * (fabric.edges_per_pod // 2))
    over_core = _one_of(alive[1] ** 2, fabric.cores_per_agg)
    between = _one_of(alive[0] ** 2 * over_core, fabric.aggs_per_pod) ** (fabric.pods_count // 2)
    return min(in_pod, between)


def _one_of(chance: float, count: int) -> float:
    """Return the probability that one of so many ways is open."""
    return float(1 - (1 - chance) ** count)


def _changes(events: tuple[LinkEvent, ...], down: set[Ends]) -> Iterator[LinkEvent]:
    """Yield the events, in the order of time, that change the state of a link."""
    for event in sorted(events, key=lambda one: one.at):
        if (event.link in down) == (event.state == "down"):
            continue
        (down.add if event.state == "down" else down.remove)(event.link)
        yield event


@dataclass(frozen=True)
class _Cut:
    """Two switches whose hosts have no path to each other, in words, and the links that are down between them."""

    hosts: str
    links: str


class _Tree:
    """The links between switches in two arrays: `edge_up` (pod, edge, agg) and `agg_up` (pod, agg, core).

    A two-level tree is one pod of leaves and spines without cores. `cables` are the links' names in the arrays' order.
    """

    def __init__(self, fabric: FatTree | LeafSpine) -> None:
        counts = fabric.nodes_count
        named = ((lower, upper) for lower, upper, _ in fabric.cables())
        self.cables: list[Ends] = [ends for ends in named if not ends[0].startswith("host-")]
        if fabric.kind == "fat-tree":
            shapes = [(fabric.pods_count, fabric.edges_per_pod, fabric.aggs_per_pod)]
            shapes.append((fabric.pods_count, fabric.aggs_per_pod, fabric.cores_per_agg))
        else:
            shapes = [(1, counts["leaf"], counts["spine"]), (1, counts["spine"], 0)]
        # The cables come pod by pod, those of its edge switches before those of its aggregation switches.
        sizes = [rows * columns for _, rows, columns in shapes]
        place = np.arange(len(self.cables)).reshape(shapes[0][0], sum(sizes))
        self.places = [
            part.reshape(shape) for part, shape in zip(np.split(place, sizes[:1], axis=1), shapes, strict=True)
        ]
        down = set(fabric.links_down)
        self.alive = np.array([ends not in down for ends in self.cables])

    def cut(self, failing: NDArray[np.bool_] | None = None) -> _Cut | None:
        """Return a cut of the fabric without the links that are down or failing, or None where there is none."""
        alive = self.alive if failing is None else self.alive & ~failing
        edge_up, agg_up = (alive[places] for places in self.places)
        unreached = np.argwhere(~_reached(edge_up, agg_up))
        if not unreached.size:
            return None
        pod, edge, other_pod, other_edge = map(int, unreached[0])
        rows: list[int] = []
        for agg in range(edge_up.shape[2]):
            links = [self.places[0][pod, edge, agg], self.places[0][other_pod, other_edge, agg]]
            if all(alive[links]):
                links = [*self.places[1][pod, agg], *self.places[1][other_pod, agg]]
            rows += [int(row) for row in links if not alive[row]]
        # The first cable of an edge switch names it.
        ends = [self.cables[self.places[0][at][0]][0] for at in ((pod, edge), (other_pod, other_edge))]
        named = ", ".join(f"{lower} to {upper}" for lower, upper in (self.cables[row] for row in rows[:_NAMED_LINKS]))
        more = f" and {len(rows) - _NAMED_LINKS} more" if len(rows) > _NAMED_LINKS else ""
        return _Cut(f"no path from {ends[0]} to {ends[1]}", f"down between them: {named}{more}")


def _reached(edge_up: NDArray[np.bool_], agg_up: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether up-down paths lead from edge switch to edge switch, shape (pods, edges, pods, edges).

    Between pods a path turns at a core, within a pod at an aggregation switch: the shortest paths, as routing has them.
    """
    pods, edges, aggs = edge_up.shape
    reached = np.eye(pods * edges, dtype=bool).reshape(pods, edges, pods, edges)
    for agg in range(aggs):
        up = agg_up[:, agg].astype(np.float32)
        pods_joined = up @ up.T > 0
        np.fill_diagonal(pods_joined, True)
        here = edge_up[:, :, agg]
        reached |= here[:, :, None, None] & pods_joined[:, None, :, None] & here[None, None]
    return reached
