"""CONGA on three levels (Alizadeh et al., SIGCOMM 2014; docs/explanation/balancers.md)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from twin.ports import Port
from twin.schemes import Decision, Scheme
from twin.tree import Link, Node
from twin.workload import Packet


@dataclass
class Header:
    """Largest metric so far, largest above the aggregation switches, and a note (uplink, metric) for the far end."""

    metric: int = 0
    above: int = 0
    for_agg: bool = False
    note: tuple[int, int] | None = None


class Estimator:
    """Discounting rate estimator of one port: integers, with 8 fractional bits for bytes and 32 for the share kept."""

    def __init__(self, config: dict[str, Any], link: Link) -> None:
        self.interval: int = config["dre_interval_ps"]
        self.keep = math.floor((1.0 - config["dre_gain"]) * 2**32 + 0.5)
        # It settles at rate * interval / gain; eight steps make a full link.
        bytes_a_step = link.rate_bps / 8e12 * self.interval / config["dre_gain"] / 8.0
        self.steps = math.floor(2**48 / (bytes_a_step * 256.0) + 0.5)
        self.load: int = 0
        self.decays: int = 0

    def metric(self, now: int) -> int:
        while self.load and self.decays < now // self.interval:
            self.load = self.load * self.keep // 2**32
            self.decays += 1
        self.decays = now // self.interval
        metric: int = min(7, self.load * self.steps // 2**48)
        return metric


@dataclass
class Row:
    """What a switch knows of the paths to and from one edge switch or pod, by uplink."""

    uplinks: int
    there: dict[int, tuple[int, int]] = field(default_factory=dict)
    back: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    changed: set[int] = field(default_factory=set)
    next: int = 0

    def note(self) -> tuple[int, int]:
        """The next metric to feed back: round robin over what has changed, over everything when nothing has."""
        uplink = min(self.changed or {self.next}, key=lambda uplink: (uplink - self.next) % self.uplinks)
        self.changed.discard(uplink)
        self.next = (uplink + 1) % self.uplinks
        return (uplink, self.back[uplink])

    def observe(self, uplink: int, metric: int) -> None:
        if metric != self.back[uplink]:
            self.changed.add(uplink)
        self.back[uplink] = metric


class Conga(Scheme):
    needs_cores = True

    def start(self) -> None:
        self.estimators = {link: Estimator(self.config, link) for link in self.tree.links}
        self.rows: dict[tuple[Node, Any], Row] = {}
        self.last_port: dict[tuple[Node, int, bool], int] = {}
        self.next_is_for_agg: dict[Node, bool] = defaultdict(bool)

    def row(self, switch: Node, host: Node) -> Row:
        far_end = self.tree.edge_of(host) if switch in self.tree.edges else self.tree.pod_of(host)
        return self.rows.setdefault((switch, far_end), Row(len(switch.up)))

    def pick(self, decision: Decision) -> int:
        switch, packet, now = decision.switch, decision.packet, decision.now
        row = self.row(switch, packet.to)
        costs = {}
        for port in decision.valid:
            metric, heard_at = row.there.get(port, (0, 0))
            remote = metric if now - heard_at < self.config["aging_ps"] else 0
            costs[port] = max(self.estimators[switch.up[port]].metric(now), remote)
        best = self.cheapest(switch, costs)
        flow = (switch, packet.flow.row, packet.travels_back)
        last = self.last_port.get(flow, best)
        self.last_port[flow] = last if costs.get(last) == costs[best] else best
        return self.last_port[flow]

    def forwards(self, switch: Node, packet: Packet, came: Link, to: Port) -> None:
        is_edge, climbs = switch in self.tree.edges, to.link in switch.up
        if climbs and is_edge:
            packet.path = self.first_header(switch, packet)
        elif not isinstance(packet.path, Header):
            packet.path = Header()
        header: Header = packet.path
        if climbs and not is_edge and header.for_agg:
            header.note = self.row(switch, packet.to).note()
        if came.back in switch.up:
            row = self.row(switch, packet.sender)
            row.observe(switch.up.index(came.back), header.metric if is_edge else header.above)
            if header.note and header.for_agg != is_edge:
                uplink, metric = header.note
                row.there[uplink] = (metric, self.run.now)
        if to.link.target.tier:
            estimator = self.estimators[to.link]
            estimator.metric(self.run.now)
            # Bytes handed to the port, also those that it drops.
            estimator.load += packet.size * 2**8
            metric = estimator.metric(self.run.now)
            header.metric = max(header.metric, metric)
            if switch in self.tree.cores or (climbs and not is_edge):
                header.above = max(header.above, metric)

    def first_header(self, edge: Node, packet: Packet) -> Header:
        """Notes are for the far edge switch and for the far aggregation switch in turn, where there is one."""
        leaves_pod = bool(self.tree.aggs) and self.tree.pod_of(packet.to) != self.tree.pod_of_edge(edge)
        for_agg = leaves_pod and self.next_is_for_agg[edge]
        self.next_is_for_agg[edge] = not self.next_is_for_agg[edge]
        return Header(for_agg=True) if for_agg else Header(note=self.row(edge, packet.to).note())
