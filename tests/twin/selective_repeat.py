"""Selective repeat: each packet is acknowledged by itself, and what is missing is sent again, before anything new.

As uet-htsim has it (Ofan section 6.7): the packet that has been in flight for longest times out after a fixed time,
which is as if each had a timer of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from twin.controllers import Controller, Feedback
from twin.nscc import Nscc
from twin.swift import MSwift, Swift
from twin.window_sender import Sender
from twin.workload import Flow, Packet

if TYPE_CHECKING:
    from twin.simulation import Run

CONTROLLERS: dict[str, type[Controller]] = {"constant-window": Controller, "nscc": Nscc}
CONTROLLERS |= {"swift": Swift, "mswift": MSwift}
REACH = 16_384
"""How far beyond the first missing packet a receiver's bitmap goes."""


class SelectiveRepeat(Sender):
    def __init__(self, run: Run, flow: Flow, may_send: Callable[[], None]) -> None:
        super().__init__(run, flow, may_send)
        self.controller = CONTROLLERS[run.config["transport"]["kind"]](self)
        self.in_flight: set[int] = set()
        self.lost: list[int] = []
        self.last_sent_at = 0

    @property
    def window_bytes(self) -> int:
        return int(self.controller.window)

    @property
    def bytes_in_flight(self) -> int:
        return sum(self.flow.sizes[psn] for psn in self.in_flight)

    def next(self) -> int | None:
        if self.lost:
            psn = self.lost[0]
        elif self.first_new < min(self.flow.packets, self.first_missing + REACH):
            psn = self.first_new
        else:
            return None
        fits = self.bytes_in_flight + self.flow.sizes[psn] <= self.window_bytes
        may_go_alone = not self.in_flight and self.run.now >= self.opens_at
        return psn if fits or may_go_alone else None

    @property
    def opens_at(self) -> int:
        """When a packet may be sent though the window is too small for it."""
        return self.last_sent_at + self.controller.pace

    def wait_for_pace(self) -> None:
        if not self.in_flight:
            self.at(max(self.opens_at, self.run.now), self.may_send)

    def send(self, psn: int, path: Any) -> None:
        super().send(psn, path)
        if psn in self.lost:
            self.lost.remove(psn)
        self.in_flight.add(psn)
        self.last_sent_at = self.run.now
        self.at(self.run.now + self.rto, partial(self.look_at, psn, self.run.now))

    def look_at(self, psn: int, sent_at: int) -> None:
        """Its timer has gone off."""
        if psn in self.in_flight and self.sent_at[psn][-1] == sent_at:
            self.lose(psn)
            self.controller.timed_out(self.flow.sizes[psn])
            self.give_up(psn)
            self.may_send()
            self.wait_for_pace()

    def lose(self, psn: int) -> None:
        self.in_flight.remove(psn)
        self.lost.append(psn)

    def receive_ack(self, ack: Packet) -> None:
        rtt = self.round_trip(ack)
        news = self.learn(ack)
        self.in_flight -= set(news)
        self.lost = [psn for psn in self.lost if psn not in self.known]
        newly = sum(self.flow.sizes[psn] for psn in news)
        self.controller.acked(Feedback(newly, ack.is_marked, rtt))
        self.wait_for_pace()

    def receive_nack(self, psn: int) -> None:
        if psn in self.in_flight:
            self.lose(psn)
            self.controller.nacked(self.flow.sizes[psn])
            self.wait_for_pace()
