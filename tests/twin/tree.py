"""Nodes, links, and by plain search who lies below whom and which paths work."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any

TIERS = ("host", "edge", "agg", "core")


class Node:
    def __init__(self, number: int, tier: int, index: int) -> None:
        self.number, self.tier, self.index = number, tier, index
        self.down: list[Link] = []
        self.up: list[Link] = []
        self.reached: dict[Node, bool] = {}

    @cached_property
    def hosts_below(self) -> frozenset[Node]:
        if self.tier == 0:
            return frozenset([self])
        return frozenset().union(*(link.target.hosts_below for link in self.down))

    def way_down(self, host: Node) -> Link | None:
        return next((link for link in self.down if host in link.target.hosts_below), None)

    def can_reach(self, host: Node) -> bool:
        """Down when the host lies below, where there is one way only; else up, any way that routing knows to work."""
        if host not in self.reached:
            down = self.way_down(host)
            links = [down] if down else self.up
            self.reached[host] = self is host or any(link.is_routed and link.target.can_reach(host) for link in links)
        return self.reached[host]


class Link:
    """One direction of a cable. `back` is the other. `works`: now; `is_routed`: as far as routing knows."""

    number: int
    back: Link

    def __init__(self, source: Node, target: Node, kind: dict[str, int]) -> None:
        self.source, self.target = source, target
        self.rate_bps, self.latency_ps = kind["rate_bps"], kind["latency_ps"]
        self.works = self.is_routed = True
        self.times_ps: dict[tuple[int, int], int] = {}

    def time_ps(self, size: int) -> int:
        """Time to send `size` bytes, to the nearest picosecond, from the rate as an exact fraction."""
        what = (size, self.rate_bps)
        if what not in self.times_ps:
            self.times_ps[what] = int(Fraction(8 * 10**12 * size, self.rate_bps) + Fraction(1, 2))
        return self.times_ps[what]


class Tree:
    """The fabric of a door configuration. Core (j, c) is wired to aggregation switch j of every pod."""

    def __init__(self, config: dict[str, Any]) -> None:
        three_levels = config["kind"] == "fat-tree"
        if three_levels:
            self.pods, self.edges_per_pod = config["pods"], config["edges_per_pod"]
            hosts_per_edge, aggs, cores = config["hosts_per_edge"], config["aggs_per_pod"], config["cores_per_agg"]
        else:
            self.pods, self.edges_per_pod, hosts_per_edge, aggs, cores = (
                config["leaves"],
                1,
                config["hosts_per_leaf"],
                0,
                0,
            )
        edges = self.pods * self.edges_per_pod
        counts = [edges * hosts_per_edge, edges, self.pods * aggs, aggs * cores if three_levels else config["spines"]]
        numbers = count()
        self.tiers = [[Node(next(numbers), tier, index) for index in range(size)] for tier, size in enumerate(counts)]
        self.hosts, self.edges, self.aggs, self.cores = self.tiers
        for host in self.hosts:
            self._join(host, self.edges[host.index // hosts_per_edge], config["host_link"])
        for edge in self.edges:
            for spine in [] if three_levels else self.cores:
                self._join(edge, spine, config["leaf_spine_link"])
            for j in range(aggs):
                self._join(edge, self.aggs[self.pod_of_edge(edge) * aggs + j], config["edge_agg_link"])
        for agg in self.aggs:
            for c in range(cores):
                self._join(agg, self.cores[agg.index % aggs * cores + c], config["agg_core_link"])
        self.nodes = [node for tier in self.tiers for node in tier]
        self.links = [link for node in self.nodes for link in node.down + node.up]
        for number, link in enumerate(self.links):
            link.number = number
        self._break(config)

    def edge_of(self, host: Node) -> Node:
        return host.up[0].target

    def pod_of_edge(self, edge: Node) -> int:
        return edge.index // int(self.edges_per_pod)

    def pod_of(self, host: Node) -> int:
        return self.pod_of_edge(self.edge_of(host))

    @staticmethod
    def _join(lower: Node, upper: Node, kind: dict[str, int]) -> None:
        up, down = Link(lower, upper, kind), Link(upper, lower, kind)
        up.back, down.back = down, up
        lower.up.append(up)
        upper.down.append(down)

    def _break(self, config: dict[str, Any]) -> None:
        for ends in config["links_down"]:
            for link in self.both_directions(ends):
                link.works = link.is_routed = False
        for degraded in config["links_degraded"]:
            for link in self.both_directions(degraded["link"]):
                link.rate_bps = degraded["rate_bps"]

    def shortest_paths(self, src: Node, dst: Node) -> list[list[Link]]:
        """All, whether their links work or not: up to where there is a way down, then down."""
        unfinished, finished = [[src.up[0]]], []
        while unfinished:
            path = unfinished.pop()
            node = path[-1].target
            down = node.way_down(dst)
            if node is dst:
                finished.append(path)
            else:
                unfinished += [[*path, link] for link in ([down] if down else node.up)]
        return finished

    def node(self, name: str) -> Node:
        tier, index = name.replace("leaf", "edge").replace("spine", "core").split("-")
        return self.tiers[TIERS.index(tier)][int(index)]

    def both_directions(self, ends: list[str]) -> list[Link]:
        both = {self.node(name) for name in ends}
        return [link for link in self.links if {link.source, link.target} == both]

    def converge(self, link: Link, is_up: bool) -> None:
        """All switches learn of a change at once."""
        link.is_routed = is_up
        for node in self.nodes:
            node.reached.clear()

    def valid_uplinks(self, switch: Node, host: Node) -> list[int]:
        """Uplinks of an edge switch that lead to the host. To an aggregation switch a destination is a pod."""
        valid = []
        for i, link in enumerate(switch.up):
            down = link.target.way_down(host)
            assert down or switch in self.edges
            leads_there = down.is_routed if down and switch in self.aggs else link.target.can_reach(host)
            if link.is_routed and leads_there:
                valid.append(i)
        return valid
