"""A port that holds packets back and decides what starts when it starts: after all that arrives at that moment."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from twin.events import ARRIVE, LEAVE, START
from twin.ports import Port
from twin.streams import mix
from twin.workload import Packet

if TYPE_CHECKING:
    from twin.simulation import Run
    from twin.tree import Link


class HoldingPort(Port):
    lane_names: tuple[str, ...]
    """In strict order of priority."""

    def __init__(self, run: Run, link: Link) -> None:
        super().__init__(run, link)
        self.lanes: dict[str, deque[Packet]] = {lane: deque() for lane in self.lane_names}
        self.busy_until = 0
        self.added_at: dict[Packet, int] = {}
        self.served: tuple[Packet, int, bool] | None = None
        """What is on the wire, when its last bit leaves, and whether it is lost there."""

    @property
    def sent_bytes(self) -> int:
        counts_served = self.served is not None and not self.served[2]
        return super().sent_bytes - (self.served[0].size if self.served and counts_served else 0)

    def add(self, packet: Packet, lane: str) -> None:
        self.queued_bytes += packet.size
        self.added_at[packet] = self.run.now
        self.lanes[lane].append(packet)
        self.look_soon()

    def look_soon(self) -> None:
        self.run.at(self.run.now, START, (), self.look)

    def count_stay(self, packet: Packet, until: int) -> None:
        self.tally["queue_byte_ps"] += packet.size * (until - self.added_at[packet])

    def best(self) -> str | None:
        """The lane of which a packet may start."""
        raise NotImplementedError

    def look(self) -> None:
        """If the transmitter is free, the best that may start does."""
        if self.run.now >= self.busy_until and self.best():
            self.start()

    def start(self) -> None:
        now, lane = self.run.now, self.best()
        assert lane
        packet = self.lanes[lane].popleft()
        left_at = now + self.link.time_ps(packet.size)
        self.busy_until = left_at + self.gap
        self.count_stay(packet, left_at)
        is_lost = self.is_hit(packet)
        self.served = (packet, left_at, is_lost)
        if is_lost:
            self.tally[f"lost_{packet.name}_count"] += 1
        else:
            self.count_carried(packet, 1)
        self.next_event = self.run.at(left_at, LEAVE, (), lambda: self.gone(packet, is_lost))
        self.run.at(self.busy_until, START, (), self.look)
        self.has_started(packet, lane)

    def has_started(self, packet: Packet, lane: str) -> None:
        """A packet of this lane has started on the wire."""

    def count_carried(self, packet: Packet, times: int) -> None:
        self.tally[f"{packet.name}_frames_count"] += times
        self.tally[f"{packet.name}_bytes"] += times * packet.size

    def gone(self, packet: Packet, is_lost: bool) -> None:
        self.served = None
        self.queued_bytes -= packet.size
        self.run.has_left(packet)
        if not is_lost:
            arrival = self.run.now + self.link.latency_ps
            rank = mix(arrival ^ self.run.tie_salts[self.link.back]) >> 48
            self.run.at(arrival, ARRIVE, (rank, self.link.back.number), lambda: self.run.arrive(self.link, packet))

    def cut(self) -> None:
        """What has not left does not count: the run is over, or the link has gone down."""
        if self.served:
            packet, left_at, is_lost = self.served
            self.count_carried(packet, is_lost - 1)
            self.tally["queue_byte_ps"] -= packet.size * (left_at - self.run.now)

    def fail(self) -> None:
        self.cut()
        lost = [packet for lane in self.lanes.values() for packet in lane]
        for packet in lost:
            self.count_stay(packet, self.run.now)
            self.tally[f"lost_{packet.name}_count"] += 1
        if self.served:
            packet, _, is_lost = self.served
            self.tally[f"lost_{packet.name}_count"] += not is_lost
            lost.append(packet)
        for lane in self.lanes.values():
            lane.clear()
        self.run.forget(self.next_event)
        self.served, self.queued_bytes = None, 0
        self.busy_until = min(self.busy_until, self.run.now)
        for packet in lost:
            self.run.has_left(packet)
