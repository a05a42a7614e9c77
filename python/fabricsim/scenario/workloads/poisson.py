"""Open loop: messages that arrive at random whatever became of those before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fabricsim.scenario.part import refusal
from fabricsim.scenario.ranges import Between, Real, Whole
from fabricsim.scenario.units import Bytes, Duration
from fabricsim.scenario.workloads.workload_kind import WorkloadKind


class Poisson(WorkloadKind):
    """Messages of random sizes between random hosts, arriving as a Poisson process at each host.

    Sources and destinations are uniform over pairs of different hosts. A host's arrival rate is load * C / (8 S), with
    C the rate of its link and S the mean size on the wire: payload times (payload + header + gap) / payload of a frame.
    Source: as in the evaluations of DCTCP, pFabric, pHost and dcPIM; sizes of DCTCP and VL2.
    """

    summary: ClassVar[str] = "Messages of random sizes between random hosts, arriving at random (open loop)."
    source: ClassVar[str] = "as pFabric and dcPIM are evaluated; sizes of DCTCP and VL2"

    kind: Literal["poisson"] = "poisson"
    size_distribution: Literal["web-search", "data-mining", "file"] = Field(
        default="web-search", description='How large messages are: a built-in distribution, or that of `path` ("file").'
    )
    path: Path | None = Field(
        default=None,
        description='File of the distribution, with size_distribution = "file": a line for each knot, its size and '
        "the fraction of messages of at most that size (or size, anything, fraction); linear in between.",
    )
    size_unit: Annotated[Bytes, Between(Bytes("1B"), Bytes("1MiB"))] = Field(
        default=Bytes("1B"), description='What the sizes in `path` count, such as "1460B" where they are packets.'
    )
    load: Annotated[float, Real(1e-6, 1)] = Field(
        default=0.5,
        description="Share of each host's rate that arrives at it to be sent, header and gap of frames included.",
    )
    duration: Annotated[Duration, Between(Duration("1ns"), Duration("1000s"))] = Field(
        default=Duration("1ms"), description="How long messages arrive."
    )
    messages_count: Annotated[int, Whole(1, 10**8)] | None = Field(
        default=None,
        description="Most messages: the first ones that arrive. None: as many as arrive within `duration`.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.size_distribution == "file") != (self.path is not None):
            allowed = (
                'a file with size_distribution = "file"'
                if self.path is None
                else 'none, but with size_distribution = "file"'
            )
            raise refusal(None if self.path is None else str(self.path), allowed, field="path")
        if self.size_distribution != "file" and int(self.size_unit) != 1:
            raise refusal(
                str(self.size_unit), 'a unit of sizes with size_distribution = "file" only', field="size_unit"
            )
        return self
