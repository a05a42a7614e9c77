"""What a run records beside its flows."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StrictBool, model_validator

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Between, Whole
from fabricsim.scenario.units import Duration

MOST_WATCHED = 100
"""Most messages whose windows are recorded."""


class Measure(Part):
    """Optional measures; they never change what is simulated."""

    queues: StrictBool = Field(default=True, description="Record each port's largest and time-average queue.")
    trace: StrictBool = Field(default=False, description="Record every reception of every packet: for small runs.")
    interval: Annotated[Duration, Between(Duration("1ns"), Duration("1000s"))] | None = Field(
        default=None,
        description="Length of the intervals of a series of what is sent, delivered, queued and dropped; none: no "
        "series. At most 1,000,000 of them until `run.time_limit`, unless `most_rows` is set.",
    )
    most_rows: Annotated[int, Whole(2, 10_000_000)] | None = Field(
        default=None,
        description="With `interval`: most rows of the series. When there are so many, each two become one, and "
        "intervals are twice as long from there on: sums add up, moments are the later ones. none: as many as there "
        "are intervals.",
    )
    watched_port: str | None = Field(
        default=None,
        description='With `interval`: a port whose frames and queue are in the series, as the directed link "from/to", '
        'such as "edge-3/host-12".',
    )

    watched_messages: tuple[Annotated[int, Whole(0, 2**32 - 1)], ...] = Field(
        default=(),
        description="With `interval`, under transports with windows: messages (rows of the workload's list, from 0) "
        "whose windows are recorded in each interval. At most 100.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.watched_port is not None and self.interval is None:
            raise refusal(self.watched_port, "no port without an `interval`", "watched_port")
        if self.most_rows is not None and self.interval is None:
            raise refusal(self.most_rows, "none without an `interval`", "most_rows")
        if self.watched_messages and self.interval is None:
            raise refusal(list(self.watched_messages), "none without an `interval`", "watched_messages")
        if len(self.watched_messages) > MOST_WATCHED:
            words = f"at most {MOST_WATCHED} messages"
            raise refusal(f"{len(self.watched_messages)} messages", words, "watched_messages")
        if len({*self.watched_messages}) < len(self.watched_messages):
            raise refusal(list(self.watched_messages), "each message once", "watched_messages")
        return self
