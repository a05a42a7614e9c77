"""dcSim's port: four queues in strict order of priority, of which that of the Sims has a token bucket (section 2.3).

A fifth, below all others, is for data of small flows that are sent without Sims (section 4.2), in the Datas' buffer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from twin.events import START
from twin.holding import HoldingPort
from twin.streams import CLOCK, Stream
from twin.workload import DATA, DATA_ACK, SIM, SIM_ACK, Packet

if TYPE_CHECKING:
    from twin.simulation import Run
    from twin.tree import Link

LANES = ("sim", "sim_ack", "data_ack", "data", "direct")
LANE_OF = {SIM: "sim", SIM_ACK: "sim_ack", DATA_ACK: "data_ack", DATA: "data"}


def rounded(value: float) -> int:
    return math.floor(value + 0.5)


def clock_rate(config: dict[str, Any], host: int) -> float:
    """How fast a host's clock runs."""
    transport, stream = config["transport"], Stream(config["seed"], CLOCK, host)
    if transport["clock_drift"] == "uniform":
        share = stream.below(2**32 + 1) / 2**32 * 2.0 - 1.0
    else:
        share = stream.below(2) * 2.0 - 1.0
    return 1.0 + share * float(transport["clock_drift_ppm"]) * 1e-6


class TokenBucket:
    """Full at the start. While one is missing a token comes every interval."""

    def __init__(self, most: int, interval: int) -> None:
        self.most = self.tokens = most
        self.interval, self.next_at = interval, 0

    def holds_one(self, now: int) -> bool:
        while self.tokens < self.most and self.next_at <= now:
            self.tokens += 1
            self.next_at += self.interval
        return self.tokens > 0

    def spend(self, now: int) -> None:
        if self.tokens == self.most:
            self.next_at = now + self.interval
        self.tokens -= 1


class Arbiter(HoldingPort):
    lane_names = LANES

    def __init__(self, run: Run, link: Link) -> None:
        super().__init__(run, link)
        discipline, frame = run.config["port"]["discipline"], run.config["frame"]
        self.most: int = discipline["queue_packets"]
        self.data_buffer: float = math.inf
        if discipline["data_buffer_bytes"] is not None:
            self.data_buffer = discipline["data_buffer_bytes"]
        rate = clock_rate(run.config, link.source.number) if link.source.tier == 0 else 1.0
        data, small = link.time_ps(run.full_frame) + self.gap, link.time_ps(frame["ack_bytes"]) + self.gap
        self.bucket = TokenBucket(
            discipline["bucket_packets"], rounded((data + discipline["token_factor"] * small) / rate)
        )
        self.before_start: Callable[[], None] = lambda: None
        self.when_started: Callable[[Packet], None] = lambda _: None

    def has_room(self, packet: Packet) -> bool:
        lane = self.lane_of(packet)
        if lane in ("data", "direct"):
            return self.data_bytes() + packet.size <= self.data_buffer
        return len(self.lanes[lane]) < self.most

    def data_bytes(self) -> int:
        return sum(other.size for other in [*self.lanes["data"], *self.lanes["direct"]])

    def has_direct_room(self, size: int) -> bool:
        """Whether a host may add data that goes without Sims."""
        return len(self.lanes["direct"]) < self.most and self.data_bytes() + size <= self.data_buffer

    @staticmethod
    def lane_of(packet: Packet) -> str:
        return "direct" if packet.is_direct else LANE_OF[packet.kind]

    def put(self, packet: Packet) -> list[Packet]:
        """What is dropped, this packet or direct data that gives way to it."""
        lane, dropped = self.lane_of(packet), []
        if not self.link.works:
            self.tally[f"lost_{packet.name}_count"] += 1
            return [packet]
        while lane == "data" and self.lanes["direct"] and not self.has_room(packet):
            victim = self.lanes["direct"].pop()
            self.queued_bytes -= victim.size
            self.count_stay(victim, self.run.now)
            dropped.append(victim)
        if self.has_room(packet):
            self.add(packet, lane)
            self.count_waiting("data" if lane == "direct" else lane)
        else:
            dropped.append(packet)
        for victim in dropped:
            for name in {victim.name, LANE_OF[victim.kind]}:
                self.tally[f"dropped_{name}_count"] += 1
        self.tally["max_queue_bytes"] = max(self.tally["max_queue_bytes"], self.queued_bytes)
        return dropped

    def count_waiting(self, lane: str) -> None:
        waiting = len(self.lanes[lane]) + (len(self.lanes["direct"]) if lane == "data" else 0)
        name = f"max_waiting_{lane}_packets"
        self.tally[name] = max(self.tally[name], waiting)

    def look(self) -> None:
        """If the transmitter is free, the best that may start does."""
        if self.run.now < self.busy_until:
            return
        if self.best():
            self.before_start()
            self.start()
        elif self.lanes["sim"]:
            self.run.at(self.bucket.next_at, START, (), self.look)

    def best(self) -> str | None:
        may_simulate = self.bucket.holds_one(self.run.now)
        return next((lane for lane in LANES if self.lanes[lane] and (lane != "sim" or may_simulate)), None)

    def has_started(self, packet: Packet, lane: str) -> None:
        if lane == "sim":
            self.bucket.spend(self.run.now)
        if packet.kind != DATA:
            self.tally[f"{LANE_OF[packet.kind]}_frames_count"] += 1
        self.when_started(packet)
