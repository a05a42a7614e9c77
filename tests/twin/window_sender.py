"""The sending side of a flow under a window: what it has sent and what it has been told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from twin.events import TIMEOUT
from twin.workload import Flow, Packet

if TYPE_CHECKING:
    from twin.simulation import Run


class Sender:
    def __init__(self, run: Run, flow: Flow, may_send: Callable[[], None]) -> None:
        self.run, self.flow, self.may_send = run, flow, may_send
        self.rto: int = run.config["transport"]["rto_ps"]
        self.full_frame: int = run.full_frame
        self.base_rtt: int = run.config["transport"]["base_rtt_ps"] or idle_rtt(run, flow)
        self.max_window = self.bytes_of(run.config["transport"]["max_window"])
        self.first_window = min(self.bytes_of(run.config["transport"]["initial_window"]), self.max_window)
        self.known: set[int] = set()
        """Packets that are known to have arrived."""
        self.sent_at: dict[int, list[int]] = defaultdict(list)
        """When each packet was sent."""
        self.path: dict[int, Any] = {}
        """The path that each packet took last."""

    def bytes_of(self, window: dict[str, float]) -> int:
        """At least one frame."""
        if "bytes" in window:
            size = int(window["bytes"])
        else:
            rate = self.flow.src.up[0].rate_bps
            size = int(window["bdp"] * rate / 8e12 * self.base_rtt + 0.5)
        return max(size, self.full_frame)

    @property
    def first_missing(self) -> int:
        return next(psn for psn in count() if psn not in self.known)

    @property
    def first_new(self) -> int:
        """The first packet that has never been sent."""
        return len(self.sent_at)

    @property
    def window_bytes(self) -> int:
        raise NotImplementedError

    @property
    def bytes_in_flight(self) -> int:
        """Sent, and neither acknowledged nor given up."""
        raise NotImplementedError

    @property
    def is_complete(self) -> bool:
        return len(self.known) == self.flow.packets

    def next(self) -> int | None:
        """The packet that may be sent now."""
        raise NotImplementedError

    def send(self, psn: int, path: Any) -> None:
        self.sent_at[psn].append(self.run.now)
        self.path[psn] = path

    def receive_ack(self, ack: Packet) -> None:
        raise NotImplementedError

    def receive_nack(self, psn: int) -> None:
        raise NotImplementedError

    def learn(self, ack: Packet) -> list[int]:
        """Takes in what an ACK says: what had not been known to have arrived."""
        assert ack.said
        news = [psn for psn in ack.said.arrived if psn not in self.known]
        self.known |= set(news)
        return news

    def round_trip(self, ack: Packet) -> int | None:
        """Of the packet that an ACK answers, if that is the first to tell of it and it is clear which copy arrived."""
        assert ack.said
        psn = ack.said.answered
        if psn is None or psn in self.known:
            return None
        copies = self.sent_at[psn]
        is_clear = len(copies) == (1 if ack.said.was_first else 2)
        return self.run.now - copies[-1] if is_clear else None

    def at(self, when: int, do: Callable[[], None]) -> None:
        self.run.at(when, TIMEOUT, (self.flow.number,), do)

    def give_up(self, psn: int) -> None:
        """A packet has timed out."""
        self.run.counts["data_timeouts_count"] += 1
        self.run.scheme.timed_out(self.flow, psn, self.path[psn])


def idle_rtt(run: Run, flow: Flow) -> int:
    """Of a full data frame and its ACK, over the best of the shortest paths."""
    sizes = (run.full_frame, run.config["frame"]["ack_bytes"])
    return min(
        sum(link.time_ps(size) + link.latency_ps for size in sizes for link in path)
        for path in run.tree.shortest_paths(flow.src, flow.dst)
    )
