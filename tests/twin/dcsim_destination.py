"""Where Datas end: what is acknowledged when (dcSim section 2.4, step 4; docs/explanation/transports.md)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from twin.events import OVERDUE
from twin.workload import DATA_ACK, RECEIVED, Flow, Packet

if TYPE_CHECKING:
    from twin.arbiter import Arbiter
    from twin.simulation import Run
    from twin.tree import Node

BLOCK = 16


@dataclass
class Arrivals:
    """What the receiver of a flow knows."""

    first_at: dict[int, int] = field(default_factory=dict)
    """When each Data first came."""
    largest: int = -1
    unacknowledged: int = 0
    """Datas since the last Data-Ack."""
    since: int = 0
    """When the first of them came."""
    beyond: set[int] = field(default_factory=set)
    """Datas beyond a missing one that no Data-Ack has spoken of."""

    def below(self) -> int:
        """The first that is missing."""
        return next(psn for psn in count() if psn not in self.first_at)


class Destination:
    def __init__(self, run: Run, node: Node, port: Arbiter) -> None:
        self.run, self.node, self.port = run, node, port
        self.arrivals: dict[Flow, Arrivals] = defaultdict(Arrivals)

    def receive(self, packet: Packet) -> None:
        flow, arrivals, now = packet.flow, self.arrivals[packet.flow], self.run.now
        flow.reordered += packet.psn < arrivals.largest
        arrivals.largest = max(arrivals.largest, packet.psn)
        is_new = packet.psn not in arrivals.first_at
        if is_new:
            arrivals.first_at[packet.psn] = now
            flow.delivered += 1
            flow.first_delivered_at = min(flow.first_delivered_at, now)
        else:
            self.run.counts["duplicates_count"] += 1
        is_complete = is_new and flow.delivered == flow.packets
        self.note(packet, is_complete or packet.psn == flow.packets - 1)
        if is_complete:
            flow.last_delivered_at = now
            flow.delay = sum(arrivals.first_at.values()) - sum(flow.first_sent.values())
            self.run.happened(flow, RECEIVED, self.node)

    def note(self, packet: Packet, is_last: bool) -> None:
        """Every so many Datas, at the last one, and so long after one at the latest there is a Data-Ack."""
        flow, arrivals, transport = packet.flow, self.arrivals[packet.flow], self.run.config["transport"]
        arrivals.unacknowledged += 1
        if arrivals.unacknowledged == 1:
            since = arrivals.since = self.run.now
            self.run.at(since + transport["ack_interval_ps"], OVERDUE, (), lambda: self.overdue(flow, since))
        if packet.psn >= arrivals.below():
            arrivals.beyond.add(packet.psn)
        if is_last or arrivals.unacknowledged >= transport["ack_every"]:
            self.acknowledge(flow)

    def overdue(self, flow: Flow, since: int) -> None:
        if self.arrivals[flow].unacknowledged and self.arrivals[flow].since == since:
            self.acknowledge(flow)

    def acknowledge(self, flow: Flow) -> None:
        """All below a number, and Datas beyond a missing one, a packet for each block of 16."""
        arrivals = self.arrivals[flow]
        below, arrivals.unacknowledged = arrivals.below(), 0
        self.tell(flow, below, list(range(below)))
        for block in sorted({psn // BLOCK for psn in arrivals.beyond if psn >= below}):
            here = [psn for psn in range(block * BLOCK, (block + 1) * BLOCK) if psn in arrivals.first_at]
            self.tell(flow, block << 16 | sum(1 << psn % BLOCK for psn in here), here)
        arrivals.beyond.clear()

    def tell(self, flow: Flow, word: int, psns: list[int]) -> None:
        ack = Packet(flow, word, DATA_ACK, flow.src, self.run.config["frame"]["ack_bytes"], echo=psns)
        ack.path = self.run.scheme.path(self.node, ack)
        self.port.put(ack)
