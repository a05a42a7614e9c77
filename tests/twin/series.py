"""What queues and windows are at the end of each interval."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from twin.events import MEASURE
from twin.window_host import WindowHost

if TYPE_CHECKING:
    from twin.simulation import Run


class Series:
    """`rows` and `windows`: columns as at the door."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.rows: dict[str, list[int]] = defaultdict(list)
        self.windows: dict[str, list[int]] = defaultdict(list)
        self.interval: float = run.config["measure"]["interval_ps"] or math.inf
        self.watched: list[int] = run.config["measure"].get("watched_messages") or []
        if self.interval < math.inf:
            self.run.at(int(self.interval), MEASURE, (), self.measure_and_go_on)

    def measure_and_go_on(self) -> None:
        self.measure()
        self.run.at(self.run.now + int(self.interval), MEASURE, (), self.measure_and_go_on)

    def end(self) -> None:
        """The last interval may be shorter than the others."""
        if self.interval < math.inf and self.rows["end_ps"][-1:] != [self.run.now]:
            self.measure()

    def measure(self) -> None:
        now = self.run.now
        queues = [port.queued_bytes for link, port in self.run.ports.items() if link.source.tier]
        senders = [
            host.senders[flow]
            for host in self.run.hosts.values()
            if isinstance(host, WindowHost)
            for flow in host.begun
            if not host.senders[flow].is_complete
        ]
        self.rows["end_ps"].append(now)
        self.rows["queued_bytes"].append(sum(queues))
        self.rows["max_queue_bytes"].append(max(queues))
        self.rows["window_bytes"].append(sum(sender.window_bytes for sender in senders))
        self.rows["in_flight_bytes"].append(sum(sender.bytes_in_flight for sender in senders))
        for sender in sorted(senders, key=lambda sender: sender.flow.row):
            if sender.flow.row in self.watched:
                self.windows["end_ps"].append(now)
                self.windows["message"].append(sender.flow.row)
                self.windows["window_bytes"].append(sender.window_bytes)
                self.windows["in_flight_bytes"].append(sender.bytes_in_flight)
                self.windows["acked_packets_count"].append(len(sender.known))
