"""Paced hosts: no window, no loss recovery, so that the load balancer alone decides."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from fabricsim.scenario.ranges import Real
from fabricsim.scenario.transports.scheme import Discipline, StartJitter, TransportPart

LEAST_LOAD = 1e-6
"""Of the line rate."""

RhoMax = Literal["rho-max:path", "rho-max:hop", "rho-max:lp"]
RHO_MAX: tuple[RhoMax, ...] = get_args(RhoMax)
"""Loads that are computed from the fabric and the messages, by the three readings of rho_max in Ofan section 2.2."""


class Paced(TransportPart):
    """Hosts send at a fixed share of the line rate, round robin over their messages: no window, no loss recovery.

    Source: Ofan section 2.2, which isolates the load balancer so. The next frame may start one frame-plus-gap time over
    `load` after the previous one; no credit is banked. Data and ACKs alternate at the host's port when both wait.
    """

    summary: ClassVar[str] = "Hosts send at a fixed share of the line rate; no window, no retransmission."
    source: ClassVar[str] = "Ofan section 2.2, Appendix A"
    discipline: ClassVar[Discipline] = "fifo"
    has_load: ClassVar[bool] = True

    kind: Literal["paced"] = "paced"
    load: Annotated[float | RhoMax, Real(low=LEAST_LOAD, high=1, word=RHO_MAX)] = Field(
        default=1.0,
        description="Share of the line rate at which a host may start data frames. Ofan section 2.2: 1 without "
        "failures, and with failures rho_max, the largest at which no link is overloaded when every flow spreads "
        "equally over its paths (rho-max:path), every switch over its valid uplinks (rho-max:hop), or all as well as "
        "can be (rho-max:lp).",
    )
    acks: Literal["per-packet", "off"] = Field(
        default="per-packet", description="One ACK for every data packet, or none. Ofan Appendix A."
    )
    start_jitter: StartJitter = "uniform"

    @property
    def acks_every_packet(self) -> bool:
        """Whether every data packet that arrives is acknowledged by a packet of its own."""
        return self.acks == "per-packet"

    @property
    def acks_messages(self) -> bool:
        """Whether senders learn that a message has arrived, so that others can wait for that."""
        return self.acks == "per-packet"
