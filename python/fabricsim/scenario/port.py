"""Egress ports of switches: one FIFO of data and ACKs each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabricsim.scenario.part import Part
from fabricsim.scenario.ranges import Between
from fabricsim.scenario.units import Bytes

_SIZE = (Bytes("1B"), Bytes("1000TB"))


class Port(Part):
    """Buffer and ECN marking of every switch port. Default: no limit, as Ofan has it without congestion control."""

    buffer: Annotated[Bytes | Literal["infinite"], Between(*_SIZE, word="infinite")] = Field(
        default="infinite",
        description="Frames that would make the queue exceed this are dropped; the frame being sent counts. "
        "Ofan section 2.2 assumes no limit; its section 6 has 800kB where there is congestion control.",
    )
    ecn_threshold: Annotated[Bytes | Literal["none"], Between(*_SIZE, word="none")] = Field(
        default=Bytes("80kB"),
        description="A data frame that leaves more than this queued, itself included, is marked (and counted). "
        "Ofan section 6: 80kB, 10 packets where they are of 64 KB.",
    )
