"""A host of dcSim (sections 2.2 to 2.5): Sims go first; a Data follows where one got through, RTT_max after it.

What is chosen where the paper is silent stands in docs/explanation/transports.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from twin.arbiter import Arbiter, clock_rate, rounded
from twin.dcsim_destination import Destination
from twin.events import DATA_LOST, DUE, SEND, SIM_LOST
from twin.spraying import Rps
from twin.streams import JITTER, Stream
from twin.turns import Turns
from twin.workload import ACKED, DATA, DATA_ACK, NEVER, SIM, SIM_ACK, Flow, Packet

if TYPE_CHECKING:
    from twin.simulation import Run
    from twin.tree import Node

COUNTS = (
    *("sims_sent_count", "sims_acked_count", "sims_timed_out_count", "sim_acks_late_count"),
    *("sim_rtt_max_ps", "sim_rtt_sum_ps", "duplicates_count", "data_timeouts_count"),
)
TRIES = 64


@dataclass(eq=False)
class Sim:
    flow: Flow
    path: Any
    sent_at: int = NEVER
    is_due: bool = False
    data: tuple[int, bool] | None = None
    """The Data that it was matched with, and whether that has not been sent before."""


@dataclass
class Source:
    """What the sender of a flow knows."""

    new: list[int]
    """Datas that have not been sent and wait."""
    is_direct: bool
    has_begun: bool = False
    returned: list[int] = field(default_factory=list)
    """Datas that wait again: they were not acknowledged for a long time."""
    sims: int = 0
    acked: set[int] = field(default_factory=set)

    def wants_sim(self) -> bool:
        """No more Sims under way than Datas that wait for one (Equation 3)."""
        waiting = len(self.returned) + (0 if self.is_direct else len(self.new))
        return self.has_begun and self.sims < waiting

    def next(self) -> tuple[int, bool] | None:
        """The first Data that waits for a Sim-Ack."""
        if self.returned:
            return self.returned.pop(0), False
        return (self.new.pop(0), True) if self.new and not self.is_direct else None


class DcsimHost:
    port: Arbiter

    def __init__(self, run: Run, node: Node, flows: list[Flow]) -> None:
        port = run.ports[node.up[0]]
        assert isinstance(port, Arbiter)
        self.run, self.node, self.port = run, node, port
        self.port.before_start, self.port.when_started = self.fill, self.started
        self.transport, self.small = run.config["transport"], run.config["frame"]["ack_bytes"]
        rate = clock_rate(run.config, node.number)
        self.wait = rounded(self.transport["wait_ps"] / rate)
        self.rtt_max = rounded(self.transport["rtt_max_ps"] / rate)
        self.turns = Turns(flows)
        self.sims: dict[int, Sim] = {}
        """Sims that have neither been acknowledged nor counted as lost, by number."""
        self.numbers = count()
        self.paths: set[Any] = set()
        """Paths of Sims whose Data has not left."""
        self.direct: list[Flow] = []
        self.destination = Destination(run, node, self.port)
        frame_ps = port.link.time_ps(run.full_frame) + port.gap
        jitter = Stream(run.seed, JITTER, node.number).below(frame_ps)
        self.sources: dict[Flow, Source] = {}
        for flow in flows:
            is_direct = flow.packets < self.transport["direct_below_packets"]
            self.sources[flow] = Source(list(range(flow.packets)), is_direct)
            flow.ready_at += jitter if self.transport["start_jitter"] == "uniform" else 0
            if flow.waits == 0:
                run.when_ready(flow)

    def at(self, when: int, step: int, do: Callable[[], None]) -> None:
        """Does it then, and afterwards sends what may be sent."""

        def act() -> None:
            do()
            self.run.at(self.run.now, SEND, (), self.fill)

        self.run.at(when, step, (), act)

    def is_ready(self, flow: Flow) -> None:
        self.sources[flow].has_begun = True
        if self.sources[flow].is_direct:
            self.direct.append(flow)
        self.run.at(self.run.now, SEND, (), self.fill)

    def fill(self) -> None:
        """Sims, and data of small flows, go to the port while it has room."""
        while len(self.port.lanes["sim"]) < self.port.most:
            flow = self.turns.turn(lambda flow: self.sources[flow].wants_sim())
            if flow is None:
                break
            self.simulate(flow)
        while self.direct and self.port.has_direct_room(self.run.full_frame):
            self.send_directly(self.direct.pop(0))

    def simulate(self, flow: Flow) -> None:
        self.sources[flow].sims += 1
        packet = Packet(flow, next(self.numbers), SIM, flow.dst, self.small)
        packet.path = self.run.scheme.path(self.node, packet)
        for _ in range(TRIES - 1):
            # Another draw gives another path only where paths are drawn.
            if packet.path in self.paths and isinstance(self.run.scheme, Rps):
                packet.path = self.run.scheme.path(self.node, packet)
        self.paths.add(packet.path)
        self.sims[packet.psn] = Sim(flow, packet.path)
        self.port.put(packet)

    def send_directly(self, flow: Flow) -> None:
        if not self.sources[flow].new:
            return
        packet = Packet(flow, self.sources[flow].new.pop(0), DATA, flow.dst, 0, is_direct=True)
        if self.sources[flow].new:
            self.direct.append(flow)
        packet.path = self.run.scheme.path(self.node, packet)
        self.hand_over(packet)

    def send_data(self, sim: Sim, psn: int, is_first: bool) -> None:
        self.hand_over(Packet(sim.flow, psn, DATA, sim.flow.dst, 0, path=sim.path, is_first=is_first))

    def hand_over(self, packet: Packet) -> None:
        """What the port drops counts as sent: it will be missed in time."""
        packet.size = packet.flow.sizes[packet.psn]
        for dropped in self.port.put(packet):
            self.sent(dropped)

    def started(self, packet: Packet) -> None:
        """A packet has started on the wire."""
        now = self.run.now
        if packet.kind == SIM:
            sim = self.sims[packet.psn]
            sim.sent_at = now
            sim.flow.started_at = min(sim.flow.started_at, now)
            self.run.counts["sims_sent_count"] += 1
            self.at(now + self.wait, DUE, lambda: self.is_due(sim))
            self.at(now + self.rtt_max, SIM_LOST, lambda: self.give_up_sim(packet.psn))
        elif packet.kind == DATA:
            self.sent(packet)
        self.fill()

    def sent(self, packet: Packet) -> None:
        flow, now = packet.flow, self.run.now
        flow.started_at = min(flow.started_at, now)
        if packet.is_first:
            flow.first_sent[packet.psn] = now
        else:
            flow.retransmitted += 1
        if not packet.is_direct:
            self.paths.discard(packet.path)
        self.at(now + self.transport["data_timeout_ps"], DATA_LOST, lambda: self.give_up_data(flow, packet.psn))

    def is_due(self, sim: Sim) -> None:
        sim.is_due = True
        if sim.data:
            self.send_data(sim, *sim.data)

    def give_up_sim(self, number: int) -> None:
        sim = self.sims.pop(number, None)
        if sim:
            self.sources[sim.flow].sims -= 1
            self.paths.discard(sim.path)
            self.run.counts["sims_timed_out_count"] += 1

    def give_up_data(self, flow: Flow, psn: int) -> None:
        source = self.sources[flow]
        if psn not in source.acked:
            source.returned = sorted([*source.returned, psn])
            self.run.counts["data_timeouts_count"] += 1

    def receive(self, packet: Packet) -> None:
        if packet.kind == SIM:
            answer = Packet(packet.flow, packet.psn, SIM_ACK, packet.flow.src, self.small, path=packet.path)
            self.port.put(answer)
        elif packet.kind == SIM_ACK:
            self.receive_sim_ack(packet)
        elif packet.kind == DATA_ACK:
            self.receive_data_ack(packet)
        else:
            self.destination.receive(packet)

    def receive_sim_ack(self, packet: Packet) -> None:
        """The first Data that waits takes the Sim's place, not the one that was there when the Sim was made."""
        sim = self.sims.pop(packet.psn, None)
        if sim is None:
            self.run.counts["sim_acks_late_count"] += 1
            return
        rtt, counts = self.run.now - sim.sent_at, self.run.counts
        counts["sims_acked_count"] += 1
        counts["sim_rtt_sum_ps"] += rtt
        counts["sim_rtt_max_ps"] = max(counts["sim_rtt_max_ps"], rtt)
        self.sources[sim.flow].sims -= 1
        sim.data = self.sources[sim.flow].next()
        if sim.data is None:
            self.paths.discard(sim.path)
        elif sim.is_due:
            self.send_data(sim, *sim.data)

    def receive_data_ack(self, packet: Packet) -> None:
        flow, source = packet.flow, self.sources[packet.flow]
        source.acked |= set(packet.echo)
        source.returned = [psn for psn in source.returned if psn not in source.acked]
        was_complete, flow.acked = flow.acked == flow.packets, len(source.acked)
        if flow.acked == flow.packets and not was_complete:
            flow.last_acked_at = self.run.now
            self.run.happened(flow, ACKED, self.node)
