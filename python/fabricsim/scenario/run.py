"""How a scenario is run: seed, threads, and when to give up."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabricsim.scenario.part import Part
from fabricsim.scenario.ranges import Between, Whole
from fabricsim.scenario.units import Duration


class Run(Part):
    """Seed, threads and time limit. The result depends on the seed alone, never on the number of threads."""

    seed: Annotated[int, Whole(0, 2**64 - 1)] = Field(
        default=1, description="Every random stream of the run derives from it."
    )
    threads: Annotated[int | Literal["auto"], Whole(1, 1024, word="auto")] = Field(
        default="auto", description="Threads of the core; auto is 1 below 2,000 hosts, else all cores."
    )
    time_limit: Annotated[Duration, Between(Duration("1ps"), Duration("9000000s"))] = Field(
        default=Duration("1s"), description="Simulated time at which an unfinished run is given up."
    )
