"""MSwift: Swift with the median of a window of delays, for flows whose packets take many paths."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StrictBool

from fabricsim.scenario.ranges import Whole
from fabricsim.scenario.transports.swift import TargetDelayPart


class Mswift(TargetDelayPart):
    """MSwift: Swift that holds the median of recent delays against its target, not the latest.

    The latest delay is that of one path of many; the median is that of most.
    """

    summary: ClassVar[str] = "Swift with the median of recent delays instead of the latest."
    source: ClassVar[str] = "arXiv:2509.07907; Ofan section 6.5; Swift as in public htsim code"
    differs: ClassVar[str] = (
        "how many delays the median is of is not published: as many as the window has packets; the rest as Swift here"
    )

    kind: Literal["mswift"] = "mswift"
    median_samples: Annotated[int, Whole(1, 2**16)] = Field(
        default=256,
        description="Most delays that the median is of: the latest, as many as the window has packets, up to this. 1 "
        "is Swift.",
    )
    flushes_on_decrease: StrictBool = Field(
        default=False, description="Forget all delays when the window shrinks, so that it shrinks by new ones only."
    )
