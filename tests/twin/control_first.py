# ruff: noqa: ARG002 - a port may leave unused what it is told
"""Control before data in buffers of their own, with trimming; and the one queue of a port that can be paused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twin.holding import HoldingPort
from twin.streams import TRIM, Stream
from twin.workload import DATA, TRIMMED, Packet

if TYPE_CHECKING:
    from twin.simulation import Run
    from twin.tree import Link

MOST_CONTROL_IN_A_ROW = 10


class ControlFirst(HoldingPort):
    """The composite queue of htsim, after NDP (SIGCOMM 2017); under discipline `fifo` all wait with the data."""

    lane_names = ("control", "data")

    def __init__(self, run: Run, link: Link) -> None:
        super().__init__(run, link)
        discipline = run.config["port"]["discipline"]
        self.is_fifo = discipline["kind"] == "fifo"
        self.trimming = discipline.get("trimming", "off")
        data_bytes: float = math.inf if self.buffer is None else self.buffer
        self.room = {"data": data_bytes, "control": 2 * data_bytes}
        self.control_in_a_row = 0
        self.trim_stream = Stream(run.seed, TRIM, link.number)

    def lane_of(self, packet: Packet) -> str:
        return "data" if self.is_fifo else packet.name

    def lane_bytes(self, lane: str) -> int:
        """What waits or is being sent."""
        served = [self.served[0]] if self.served else []
        return sum(packet.size for packet in [*self.lanes[lane], *served] if self.lane_of(packet) == lane)

    def excess(self, packet: Packet) -> float:
        """How many bytes it is too large by."""
        lane = self.lane_of(packet)
        return self.lane_bytes(lane) + packet.size - self.room[lane]

    def put(self, packet: Packet) -> list[Packet]:
        if not self.link.works:
            self.tally[f"lost_{packet.name}_count"] += 1
            return [packet]
        victim = self.choose_victim(packet) if self.excess(packet) > 0 else None
        dropped = victim is not None and not self.trim(victim)
        if dropped and victim:
            self.tally[f"dropped_{victim.name}_count"] += 1
        if victim is not packet:
            self.mark(packet, "enqueue", self.lane_bytes("data") + packet.size)
            self.add(packet, self.lane_of(packet))
        self.tally["max_queue_bytes"] = max(self.tally["max_queue_bytes"], self.queued_bytes)
        return [victim] if dropped and victim else []

    def choose_victim(self, packet: Packet) -> Packet:
        """The packet that arrives or, evenly if that is large enough, the last that waits; of control the former."""
        if packet.kind == DATA and self.trimming == "random" and self.trim_stream.below(2) == 0:
            waiting = self.lanes["data"]
            if waiting and waiting[-1].size >= self.excess(packet):
                last = waiting.pop()
                self.queued_bytes -= last.size
                self.count_stay(last, self.run.now)
                return last
        return packet

    def trim(self, packet: Packet) -> bool:
        """Whether it goes on as a header alone."""
        size = self.run.config["frame"]["ack_bytes"]
        header = Packet(packet.flow, packet.psn, TRIMMED, packet.to, size, path=packet.path)
        goes_on = packet.kind == DATA and self.trimming != "off" and self.excess(header) <= 0
        if goes_on:
            self.tally["trimmed_count"] += 1
            self.add(header, "control")
        return goes_on

    def best(self) -> str | None:
        """Where data may be trimmed, headers alone could fill a link: after ten frames of control comes one of data."""
        may_send_data = bool(self.lanes["data"]) and not self.is_paused
        is_datas_turn = self.trimming != "off" and self.control_in_a_row >= MOST_CONTROL_IN_A_ROW and may_send_data
        if self.lanes["control"] and not is_datas_turn:
            return "control"
        return "data" if may_send_data else None

    def has_started(self, packet: Packet, lane: str) -> None:
        self.control_in_a_row = self.control_in_a_row + 1 if lane == "control" else 0

    def gone(self, packet: Packet, is_lost: bool) -> None:
        if not is_lost:
            self.mark(packet, "dequeue", sum(other.size for other in self.lanes["data"]) + packet.size)
        super().gone(packet, is_lost)
