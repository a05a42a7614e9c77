"""What the fat tree and the leaf-spine tree share: fields, derived quantities, link lists, export to networkx."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field

from fabricsim.scenario.links import (
    DegradedLink,
    Link,
    LinkEnds,
    LinkEvent,
    LinkLatency,
    LinkRate,
    check_link_events,
    check_link_lists,
)
from fabricsim.scenario.losses import Loss, check_losses
from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Between, Whole
from fabricsim.scenario.units import Duration, Rate

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped]

TIER_LINK = "Links of this tier, where they differ from the fabric's rate and latency."
OVERSUBSCRIPTION = (
    "Rate towards hosts over rate towards the top, at each {switch}: a divisor of radix/2. "
    "Down ports stay radix/2; {uplinks} are radix/2 over this."
)


class Tree(Part, ABC):
    """Base of the tree fabrics; `summary` and `source` are what `fabricsim explain` prints."""

    summary: ClassVar[str]
    source: ClassVar[str]

    radix: Annotated[int, Whole(2, 128, step=2)] = Field(default=12, description="Ports of a switch, k.")
    rate: LinkRate = Field(
        default=Rate("800Gbps"), description="Rate of every link, in bit/s and direction. Ofan section 6."
    )
    latency: LinkLatency = Field(
        default=Duration("500ns"),
        description="Latency of every link: propagation plus the fixed processing time of the switch it enters. "
        "Ofan section 6.",
    )
    host_link: Link | None = Field(default=None, description=TIER_LINK)
    links_down: tuple[LinkEnds, ...] = Field(
        default=(),
        description='Links between switches that are down from the start: pairs such as ["edge-0", "agg-3"].',
    )
    links_degraded: tuple[DegradedLink, ...] = Field(
        default=(), description='Links that are slower from the start: {link = ["agg-3", "core-18"], rate = "400Gbps"}.'
    )

    link_events: tuple[LinkEvent, ...] = Field(
        default=(),
        description="Links that go down or come up in mid-run: "
        '{at = "5us", link = ["edge-0", "agg-1"], state = "down"}.',
    )
    reconvergence_delay: Annotated[Duration, Between(Duration("0ps"), Duration("1000s"))] = Field(
        default=Duration("0us"),
        description="Time from a link event to the moment from which all switches route by it. Until then packets go "
        "into a dead link, and are lost.",
    )
    losses: tuple[Loss, ...] = Field(
        default=(),
        description='Packets that are lost on the links by chance, by kind: {packet = "sim", probability = 0.001}.',
    )

    @property
    @abstractmethod
    def nodes_count(self) -> Mapping[str, int]:
        """Nodes of each tier, lowest tier first."""

    @abstractmethod
    def tier_links(self) -> Mapping[str, Link]:
        """Each tier's kind of link by field name (`host_link`, ...), from the hosts upwards."""

    @abstractmethod
    def link_between(self, lower: tuple[str, int], upper: tuple[str, int]) -> Link | None:
        """Return the kind of the link between two nodes, or None when they are no neighbours."""

    @abstractmethod
    def cables(self) -> Iterator[tuple[str, str, Link]]:
        """Every link once, as (lower node, upper node, kind), links that are down included."""

    @abstractmethod
    def hops(self, src: Any, dst: Any) -> Any:
        """Links from one host to another: 2 under one switch, up to 4 or 6; hosts are numbers or integer arrays."""

    @property
    def hosts_count(self) -> int:
        """Number of hosts."""
        return self.nodes_count["host"]

    @property
    def hosts_per_edge(self) -> int:
        """Hosts of an edge (leaf) switch, radix/2."""
        return self.radix // 2

    @property
    def diameter_links(self) -> int:
        """Links between the farthest hosts: 6 in three levels, 4 in two (fewer in fabrics of one pod or leaf)."""
        return int(self.hops(0, self.hosts_count - 1))

    def propagation_ps(self, src: Any, dst: Any) -> Any:
        """One-way latency from a host to another in ps, without transmission times; numbers or integer arrays."""
        below = [2 * int(link.latency) for link in self.tier_links().values()]
        levels = self.hops(src, dst) // 2
        return sum(latency * (levels > level) for level, latency in enumerate(below))

    def to_networkx(self) -> networkx.Graph:
        """Return the fabric as an undirected graph, without the links that are down from the start.

        Links that fail at random are still there: `fabricsim.failures.with_failures` gives the fabric without them.
        Node attribute: `tier` (host, edge, agg, core; host, leaf, spine). Edge attributes: `rate_bps`, `latency_ps`.
        """
        import networkx

        listed = self.links_listed()
        slower = {degraded.link: int(degraded.rate) for degraded in listed.links_degraded}
        down = set(listed.links_down)
        graph: networkx.Graph = networkx.Graph()
        for tier, count in self.nodes_count.items():
            graph.add_nodes_from((f"{tier}-{number}" for number in range(count)), tier=tier)
        for lower, upper, link in self.cables():
            if (lower, upper) not in down:
                rate = slower.get((lower, upper), int(link.rate))
                graph.add_edge(lower, upper, rate_bps=rate, latency_ps=int(link.latency))
        return graph

    def links_listed(self) -> Self:
        """Return the fabric with all links that are down or slower from the start in `links_down`, `links_degraded`.

        Links that fail at random are not yet among them: `fabricsim.failures.with_failures`.
        """
        return self

    def kind_of_link(self, own: Link | None) -> Link:
        """Return the tier's own kind of link, or the one of the whole fabric."""
        return own or Link(rate=self.rate, latency=self.latency)

    def _check_oversubscription(self, field: str) -> None:
        ratio = getattr(self, field)
        if self.radix // 2 % ratio:
            divisors = [str(d) for d in range(1, self.radix // 2 + 1) if self.radix // 2 % d == 0]
            raise refusal(ratio, f"a divisor of radix/2 = {self.radix // 2}: {', '.join(divisors)}", field)

    def _name_links(self) -> None:
        down, degraded = check_link_lists(self, self.links_down, self.links_degraded)
        events = check_link_events(self, down, self.link_events)
        check_losses(self.losses)
        # The model is frozen for its users; this runs inside validation, before anyone has seen it.
        self.__dict__.update(links_down=down, links_degraded=degraded, link_events=events)
