"""A port: the FIFO and the transmitter that feed one link."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from twin.events import ARRIVE, LEAVE
from twin.streams import LOSS, MARK, Stream, mix
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
        self.buffer: int | None = run.config["port"]["buffer_bytes"] if is_switch else None
        self.threshold: int | None = run.config["port"]["ecn_threshold_bytes"] if is_switch else None
        full = run.config["port"]["ecn_full_bytes"]
        self.full_threshold: int | None = self.threshold if full is None else full
        self.mark_stream = Stream(run.seed, MARK, link.number)
        self.shared = run.config["port"]["shared_buffer"] if is_switch else None
        self.is_paused = False
        self.paused_at = 0
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
        with_it: int = self.queued_bytes + packet.size
        if self.shared:
            free = self.shared["bytes"] - sum(port.queued_bytes for port in self.run.ports_of(self.link.source))
            return packet.size <= free and bool(with_it <= self.shared["alpha"] * free)
        return self.buffer is None or with_it <= self.buffer

    def is_hit(self, packet: Packet) -> bool:
        """Whether chance has it lost on the link."""
        ppm: int = self.loss_ppm.get(packet.kind, 0)
        return ppm > 0 and self.loss_stream.below(10**6) < ppm

    def mark(self, packet: Packet, moment: str, queue_bytes: int) -> None:
        """ECN at this moment: none up to one threshold, all from the other on, and more and more between them."""
        if packet.kind != DATA or self.threshold is None or self.run.config["port"]["ecn_at"] != moment:
            return
        assert self.full_threshold is not None
        above, ramp = queue_bytes - self.threshold, self.full_threshold - self.threshold
        if above > 0 and (above >= ramp or self.mark_stream.below(ramp) < above):
            packet.is_marked = True
            self.tally["marked_count"] += 1

    def pause(self, is_paused: bool) -> None:
        """The switch at the other end says that no frame may start, or that they may."""
        self.count_pause()
        self.is_paused = is_paused
        self.look_soon()

    def count_pause(self) -> None:
        if self.is_paused:
            self.tally["paused_ps"] += self.run.now - self.paused_at
        self.paused_at = self.run.now

    def look_soon(self) -> None:
        self.when_free()

    def put(self, packet: Packet) -> list[Packet]:
        """What is lost at once."""
        if not self.link.works or self.is_hit(packet):
            # What will be lost on its link, a switch does not put there at all.
            self.tally[f"lost_{packet.name}_count"] += 1
            if self.link.source.tier == 0:
                self.send_in_vain(packet)
        elif not self.has_room(packet):
            self.tally[f"dropped_{packet.name}_count"] += 1
        else:
            self.mark(packet, "enqueue", self.queued_bytes + packet.size)
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
        self.mark(packet, "dequeue", self.queued_bytes)
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
