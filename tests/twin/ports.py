"""A port: the FIFO and the transmitter that feed one link."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from twin.events import ARRIVE, LEAVE
from twin.streams import LOSS, Stream, mix
from twin.workload import ACK, DATA, DATA_ACK, NACK, SIM, SIM_ACK, TRIMMED, Packet

if TYPE_CHECKING:
    from twin.simulation import Run
    from twin.tree import Link


LOSS_NAMES = {"data": DATA, "ack": ACK, "sim": SIM, "sim-ack": SIM_ACK, "data-ack": DATA_ACK}
LOSS_NAMES |= {"trimmed": TRIMMED, "nack": NACK}


class Port:
    def __init__(self, run: Run, link: Link) -> None:
        self.run, self.link = run, link
        is_switch = link.source.tier > 0
        self.buffer = run.config["port"]["buffer_bytes"] if is_switch else None
        self.threshold = run.config["port"]["ecn_threshold_bytes"] if is_switch else None
        self.gap = link.time_ps(run.config["frame"]["gap_bytes"])
        self.in_service: list[Packet] = []
        self.waiting: deque[Packet] = deque()
        self.is_free = True
        self.when_free: Callable[[], None] = lambda: None
        self.next_event: Any = None
        self.queued_bytes = self.changed_at = 0
        self.tally: dict[str, int] = defaultdict(int)
        loses = is_switch or run.config["transport"]["kind"] != "paced"
        losses = run.config["fabric"]["losses"] if loses else []
        self.loss_ppm = {LOSS_NAMES[loss["packet"]]: loss["ppm"] for loss in losses if loss["packet"] in LOSS_NAMES}
        self.loss_stream = Stream(run.seed, LOSS, link.number)

    @property
    def sent_bytes(self) -> int:
        return self.tally["data_bytes"] + self.tally["control_bytes"]

    def change(self, size: int) -> None:
        elapsed, self.changed_at = self.run.now - self.changed_at, self.run.now
        self.tally["queue_byte_ps"] += self.queued_bytes * elapsed
        self.queued_bytes += size
        self.tally["max_queue_bytes"] = max(self.tally["max_queue_bytes"], self.queued_bytes)

    def has_room(self, packet: Packet) -> bool:
        return self.buffer is None or self.queued_bytes + packet.size <= self.buffer

    def is_lost(self, packet: Packet) -> bool:
        """What will be lost on the link, a switch does not put there."""
        ppm = self.loss_ppm.get(packet.kind, 0)
        return not self.link.works or ppm > 0 and self.loss_stream.below(10**6) < ppm

    def put(self, packet: Packet) -> list[Packet]:
        """What is lost at once."""
        if self.is_lost(packet):
            self.tally[f"lost_{packet.name}_count"] += 1
            if self.link.source.tier == 0:
                self.send_in_vain(packet)
        elif not self.has_room(packet):
            self.tally[f"dropped_{packet.name}_count"] += 1
        else:
            self.change(packet.size)
            self.waiting.append(packet)
            if self.is_free:
                self.serve()
            return []
        return [packet]

    def serve(self) -> None:
        packet = self.waiting.popleft()
        self.in_service = [packet]
        self.is_free = False
        left_at = self.run.now + self.link.time_ps(packet.size)
        self.next_event = self.run.at(left_at, LEAVE, (), lambda: self.leave(packet))

    def send_in_vain(self, packet: Packet) -> None:
        """A host sends what will be lost all the same."""
        self.is_free = False
        gap_over_at = self.run.now + self.link.time_ps(packet.size) + self.gap
        self.next_event = self.run.at(gap_over_at, LEAVE, (), self.gap_over)

    def leave(self, packet: Packet) -> None:
        if self.threshold is not None and self.queued_bytes > self.threshold and packet.kind == DATA:
            packet.is_marked = True
            self.tally["marked_count"] += 1
        self.in_service = []
        self.change(-packet.size)
        self.tally[f"{packet.name}_frames_count"] += 1
        self.tally[f"{packet.name}_bytes"] += packet.size
        arrival = self.run.now + self.link.latency_ps
        rank = mix(arrival ^ self.run.tie_salts[self.link.back]) >> 48
        self.run.at(arrival, ARRIVE, (rank, self.link.back.number), lambda: self.run.arrive(self.link, packet))
        self.next_event = self.run.at(self.run.now + self.gap, LEAVE, (), self.gap_over)

    def gap_over(self) -> None:
        self.is_free = True
        if self.waiting:
            self.serve()
        else:
            self.when_free()

    def cut(self) -> None:
        """The run is over. What has not left has been in the queue until now, and is counted nowhere else."""
        self.change(0)

    def fail(self) -> None:
        """The link has gone down: what has not left is lost."""
        for packet in [*self.in_service, *self.waiting]:
            self.change(-packet.size)
            self.tally[f"lost_{packet.name}_count"] += 1
        self.in_service = []
        self.waiting.clear()
        self.run.forget(self.next_event)
        self.is_free = True
