"""Egress ports of switches: how much they hold, and what they mark. In which order they send, the transport says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabricsim.scenario.part import Part
from fabricsim.scenario.ranges import Between
from fabricsim.scenario.units import Bytes

_SIZE = (Bytes("1B"), Bytes("1000TB"))


class Port(Part):
    """Buffer and ECN marking of every switch port. Default: no limit, and marks only where something reacts to them.

    Ports are first in, first out under paced hosts. The other transports bring an order of their own, for hosts' ports
    too, which then have the same buffer, and no marks.

    So it is in the Ofan paper where hosts pace: it has buffers and thresholds in the cases with congestion control and
    with REPS only (section 6, footnote 6). Paced hosts do not react to marks, and marking exactly costs time on every
    packet: who wants them counted asks for them.
    """

    buffer: Annotated[Bytes | Literal["infinite"], Between(*_SIZE, word="infinite")] = Field(
        default="infinite",
        description="Frames that would make the queue exceed this are dropped; the frame being sent counts. Under "
        "dcsim four queues share it and the frame being sent does not count; under pfabric, phost and dcpim a frame of "
        "the least priority is dropped. Ofan section 2.2 assumes no limit; its section 6 has 800kB where there is "
        "congestion control, dcSim section 4 500kB.",
    )
    ecn_threshold: Annotated[Bytes | Literal["auto", "none"], Between(*_SIZE, word=("auto", "none"))] = Field(
        default="auto",
        description="A data frame that leaves more than this queued, itself included, is marked (and counted). "
        "auto: 80kB, or 10 data frames where those are more, if the balancer reacts to marks (reps), else none. "
        "Ofan section 6 has 80kB, and 10 packets where they are of 64 KB.",
    )
