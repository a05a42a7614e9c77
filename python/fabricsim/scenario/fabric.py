"""Fabrics: non-blocking k-ary trees of three and two levels, optionally oversubscribed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fabricsim.scenario.failures import FAILURES, FatTreeFailures, LeafSpineFailures
from fabricsim.scenario.links import LEAST_RATE, DegradedLink, Link, check_link_events
from fabricsim.scenario.part import refusal
from fabricsim.scenario.ranges import Real, Whole
from fabricsim.scenario.tree import OVERSUBSCRIPTION, TIER_LINK, Tree
from fabricsim.scenario.units import Rate


class FatTree(Tree):
    """Three-level k-ary fat tree: k pods of k/2 edge and k/2 aggregation switches, k^2/4 cores, k^3/4 hosts.

    Numbering: `edge-(pod*k/2 + e)`, `agg-(pod*aggs_per_pod + j)`, `core-(j*cores_per_agg + c)`, wired to aggregation
    switch j of every pod; host h hangs under `edge-(h // (k/2))`. Source: Ofan section 6 (k = 12, 432 hosts).
    """

    summary: ClassVar[str] = "Three-level k-ary fat tree with k^3/4 hosts (edge, aggregation, core)."
    source: ClassVar[str] = "Ofan section 6"

    kind: Literal["fat-tree"] = "fat-tree"
    edge_agg_link: Link | None = Field(default=None, description=TIER_LINK)
    agg_core_link: Link | None = Field(default=None, description=TIER_LINK)
    edge_oversubscription: Annotated[int, Whole(1, 64)] = Field(
        default=1, description=OVERSUBSCRIPTION.format(switch="edge switch", uplinks="aggregation switches per pod")
    )
    agg_oversubscription: Annotated[int, Whole(1, 64)] = Field(
        default=1,
        description=OVERSUBSCRIPTION.format(switch="aggregation switch", uplinks="cores per aggregation switch"),
    )
    even_cores_rate_fraction: Annotated[float, Real(0, 1)] = Field(
        default=1.0,
        description="Share of their rate that the links of even-numbered cores have, both ways, which routing does not "
        "know; 0 takes these cores out, which it does. What the two lists of links say of one of them stands. 0.01: "
        "the oversubscribed fabric of dcSim section 4, Fig. 8.",
    )
    failures: FatTreeFailures | None = Field(default=None, description=FAILURES)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_oversubscription("edge_oversubscription")
        self._check_oversubscription("agg_oversubscription")
        self._name_links()
        self._check_even_cores()
        return self

    def _check_even_cores(self) -> None:
        if self.even_cores_rate_fraction == 1:
            return
        rate, least = self.kind_of_link(self.agg_core_link).rate, LEAST_RATE
        if self.even_cores_rate_fraction != 0 and round(self.even_cores_rate_fraction * rate) < least:
            allowed = f"0, or at least {least / rate:g}: links of at least {least}"
            raise refusal(self.even_cores_rate_fraction, allowed, "even_cores_rate_fraction")
        check_link_events(self, self.links_listed().links_down, self.link_events)

    def links_listed(self) -> Self:
        """Return the fabric with what `even_cores_rate_fraction` does to links in `links_down` and `links_degraded`.

        Links that fail at random are not yet among them: `fabricsim.failures.with_failures`.
        """
        if self.even_cores_rate_fraction == 1:
            return self
        listed = {*self.links_down, *(slower.link for slower in self.links_degraded)}
        even = [
            ((lower, upper), link)
            for lower, upper, link in self.cables()
            if upper.startswith("core-") and int(upper[5:]) % 2 == 0 and (lower, upper) not in listed
        ]
        fields = {**dict(self), "even_cores_rate_fraction": 1.0}
        if self.even_cores_rate_fraction == 0:
            return type(self)(**{**fields, "links_down": (*self.links_down, *(ends for ends, _ in even))})
        slower = (
            DegradedLink(link=ends, rate=Rate(round(self.even_cores_rate_fraction * link.rate))) for ends, link in even
        )
        return type(self)(**{**fields, "links_degraded": (*self.links_degraded, *slower)})

    @property
    def pods_count(self) -> int:
        """Number of pods, k."""
        return self.radix

    @property
    def edges_per_pod(self) -> int:
        """Edge switches of a pod, k/2."""
        return self.radix // 2

    @property
    def aggs_per_pod(self) -> int:
        """Aggregation switches of a pod = uplinks of an edge switch."""
        return self.radix // 2 // self.edge_oversubscription

    @property
    def cores_per_agg(self) -> int:
        """Cores of an aggregation switch = its uplinks."""
        return self.radix // 2 // self.agg_oversubscription

    @property
    def edges_count(self) -> int:
        """Number of edge switches."""
        return self.nodes_count["edge"]

    @property
    def hosts_per_pod(self) -> int:
        """Hosts of a pod, k^2/4."""
        return self.edges_per_pod * self.hosts_per_edge

    @property
    def nodes_count(self) -> dict[str, int]:
        """Nodes of each tier, lowest tier first."""
        return {
            "host": self.pods_count * self.hosts_per_pod,
            "edge": self.pods_count * self.edges_per_pod,
            "agg": self.pods_count * self.aggs_per_pod,
            "core": self.aggs_per_pod * self.cores_per_agg,
        }

    def tier_links(self) -> dict[str, Link]:
        """Each tier's kind of link by field name, from the hosts upwards."""
        return {
            "host_link": self.kind_of_link(self.host_link),
            "edge_agg_link": self.kind_of_link(self.edge_agg_link),
            "agg_core_link": self.kind_of_link(self.agg_core_link),
        }

    def link_between(self, lower: tuple[str, int], upper: tuple[str, int]) -> Link | None:
        """Return the kind of the link between two nodes, or None when they are no neighbours."""
        (low, a), (high, b) = lower, upper
        links = self.tier_links()
        if (low, high) == ("host", "edge") and a // self.hosts_per_edge == b:
            return links["host_link"]
        if (low, high) == ("edge", "agg") and a // self.edges_per_pod == b // self.aggs_per_pod:
            return links["edge_agg_link"]
        if (low, high) == ("agg", "core") and a % self.aggs_per_pod == b // self.cores_per_agg:
            return links["agg_core_link"]
        return None

    def cables(self) -> Iterator[tuple[str, str, Link]]:
        """Every link once, as (lower node, upper node, kind), links that are down included."""
        host_link, edge_agg_link, agg_core_link = self.tier_links().values()
        for host in range(self.hosts_count):
            yield f"host-{host}", f"edge-{host // self.hosts_per_edge}", host_link
        for pod in range(self.pods_count):
            aggs = range(pod * self.aggs_per_pod, (pod + 1) * self.aggs_per_pod)
            for edge in range(pod * self.edges_per_pod, (pod + 1) * self.edges_per_pod):
                yield from ((f"edge-{edge}", f"agg-{agg}", edge_agg_link) for agg in aggs)
            for j, agg in enumerate(aggs):
                cores = range(j * self.cores_per_agg, (j + 1) * self.cores_per_agg)
                yield from ((f"agg-{agg}", f"core-{core}", agg_core_link) for core in cores)

    def hops(self, src: Any, dst: Any) -> Any:
        """Links from one host to another: 2 under one edge switch, 4 in one pod, else 6; numbers or integer arrays."""
        other_edge = src // self.hosts_per_edge != dst // self.hosts_per_edge
        other_pod = src // self.hosts_per_pod != dst // self.hosts_per_pod
        return 2 + 2 * other_edge + 2 * other_pod


class LeafSpine(Tree):
    """Two-level tree: k leaves of k/2 hosts, every leaf wired to each of k/2 spines; k^2/2 hosts.

    Host h hangs under `leaf-(h // (k/2))`. Source: Ofan section 6.3 (k = 64, 2,048 hosts).
    """

    summary: ClassVar[str] = "Two-level tree with k^2/2 hosts: every leaf is wired to every spine."
    source: ClassVar[str] = "Ofan section 6.3"

    kind: Literal["leaf-spine"] = "leaf-spine"
    radix: Annotated[int, Whole(2, 128, step=2)] = Field(
        default=64, description="Ports of a switch, k. Ofan section 6.3."
    )
    leaf_spine_link: Link | None = Field(default=None, description=TIER_LINK)
    oversubscription: Annotated[int, Whole(1, 64)] = Field(
        default=1, description=OVERSUBSCRIPTION.format(switch="leaf", uplinks="spines")
    )
    failures: LeafSpineFailures | None = Field(default=None, description=FAILURES)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_oversubscription("oversubscription")
        self._name_links()
        return self

    @property
    def leaves_count(self) -> int:
        """Number of leaves, k."""
        return self.radix

    @property
    def spines_count(self) -> int:
        """Number of spines = uplinks of a leaf."""
        return self.radix // 2 // self.oversubscription

    @property
    def edges_count(self) -> int:
        """Number of leaves, the switches that hosts hang under."""
        return self.leaves_count

    @property
    def nodes_count(self) -> dict[str, int]:
        """Nodes of each tier, lowest tier first."""
        hosts = self.leaves_count * self.hosts_per_edge
        return {"host": hosts, "leaf": self.leaves_count, "spine": self.spines_count}

    def tier_links(self) -> dict[str, Link]:
        """Each tier's kind of link by field name, from the hosts upwards."""
        return {
            "host_link": self.kind_of_link(self.host_link),
            "leaf_spine_link": self.kind_of_link(self.leaf_spine_link),
        }

    def link_between(self, lower: tuple[str, int], upper: tuple[str, int]) -> Link | None:
        """Return the kind of the link between two nodes, or None when they are no neighbours."""
        (low, a), (high, b) = lower, upper
        if (low, high) == ("host", "leaf") and a // self.hosts_per_edge == b:
            return self.tier_links()["host_link"]
        return self.tier_links()["leaf_spine_link"] if (low, high) == ("leaf", "spine") else None

    def cables(self) -> Iterator[tuple[str, str, Link]]:
        """Every link once, as (lower node, upper node, kind), links that are down included."""
        host_link, leaf_spine_link = self.tier_links().values()
        for host in range(self.hosts_count):
            yield f"host-{host}", f"leaf-{host // self.hosts_per_edge}", host_link
        for leaf in range(self.leaves_count):
            yield from ((f"leaf-{leaf}", f"spine-{spine}", leaf_spine_link) for spine in range(self.spines_count))

    def hops(self, src: Any, dst: Any) -> Any:
        """Links from one host to another: 2 under one leaf, else 4; numbers or integer arrays."""
        return 2 + 2 * (src // self.hosts_per_edge != dst // self.hosts_per_edge)


Fabric = Annotated[FatTree | LeafSpine, Field(discriminator="kind")]
"""Any fabric, told apart by `kind`."""
