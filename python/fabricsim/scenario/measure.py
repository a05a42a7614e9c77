"""What a run records beside its flows."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StrictBool, model_validator

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Between
from fabricsim.scenario.units import Duration


class Measure(Part):
    """Optional measures; they never change what is simulated."""

    queues: StrictBool = Field(default=True, description="Record each port's largest and time-average queue.")
    trace: StrictBool = Field(default=False, description="Record every reception of every packet: for small runs.")
    interval: Annotated[Duration, Between(Duration("1ns"), Duration("1000s"))] | None = Field(
        default=None,
        description="Length of the intervals of a series of what is sent, delivered and dropped; none: no series. "
        "At most 1,000,000 of them until `run.time_limit`.",
    )
    watched_port: str | None = Field(
        default=None,
        description='With `interval`: a port whose frames and queue are in the series, as the directed link "from/to", '
        'such as "edge-3/host-12".',
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.watched_port is not None and self.interval is None:
            raise refusal(self.watched_port, "no port without an `interval`", "watched_port")
        return self
