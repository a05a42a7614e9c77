"""DCTCP: TCP's windows and recovery, and a decrease in proportion to the share of marked packets."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StrictBool

from fabricsim.scenario.ranges import Between, Real, Whole
from fabricsim.scenario.transports.scheme import LONGEST_WAIT
from fabricsim.scenario.transports.window import ControlledPart
from fabricsim.scenario.units import Duration


class Dctcp(ControlledPart):
    """DCTCP over TCP NewReno: cumulative ACKs, and fast recovery after duplicate ACKs.

    Packets that come out of order cause duplicate ACKs as lost ones do, so a flow that is sprayed waits for more of
    them (Ofan section 6.5).
    """

    summary: ClassVar[str] = "TCP, whose window shrinks by half the share of packets that came marked."
    source: ClassVar[str] = "Alizadeh et al. (DCTCP), SIGCOMM 2010; RFC 8257; public htsim code; Ofan section 6.5"
    differs: ClassVar[str] = (
        "flows start in congestion avoidance with the largest window and without a handshake, since messages last a "
        "few RTTs; the least RTO is 1 ms (htsim: 250 ms)"
    )
    reacts_to_marks: ClassVar[bool] = True

    kind: Literal["dctcp"] = "dctcp"
    gain: Annotated[float, Real(0, 1)] = Field(
        default=1 / 16,
        description="Weight of a new share of marked packets in their moving average alpha, g. RFC 8257 section 4.2.",
    )
    initial_alpha: Annotated[float, Real(0, 1)] = Field(
        default=0.0, description="alpha of a flow at its start. htsim: 0; RFC 8257 suggests 1."
    )
    duplicate_acks: Annotated[int, Whole(1, 2**20)] = Field(
        default=3, description="Duplicate ACKs after which a packet counts as lost. Ofan section 6.5, htsim, RFC 5681."
    )
    counts_paths: StrictBool = Field(
        default=True,
        description="Add the number of the flow's shortest paths to `duplicate_acks`: 39 between pods of radix 12. "
        "Ofan section 6.5, htsim.",
    )
    reduces_unmarked: StrictBool = Field(
        default=True,
        description="Shrink the window by alpha/2 once a window also if no packet of it was marked (htsim); RFC 8257 "
        "shrinks it only for marks.",
    )
    rto: Annotated[Duration, Between(Duration("1ps"), LONGEST_WAIT)] = Field(
        default=Duration("1ms"),
        description="Least RTO; else it is the smoothed RTT and 4 times its deviation, doubled by each timeout.",
    )
