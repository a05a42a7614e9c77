"""What a run records beside its flows."""

from __future__ import annotations

from pydantic import Field, StrictBool

from fabricsim.scenario.part import Part


class Measure(Part):
    """Optional measures; they never change what is simulated."""

    queues: StrictBool = Field(default=True, description="Record each port's largest and time-average queue.")
    trace: StrictBool = Field(default=False, description="Record every reception of every packet: for small runs.")
