"""Transports: what hosts send when, and what they acknowledge."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.part import Part
from fabricsim.scenario.ranges import Real


class Paced(Part):
    """Hosts send at a fixed share of the line rate, round robin over their messages: no window, no loss recovery.

    Source: Ofan section 2.2, which isolates the load balancer so. The next frame may start one frame-plus-gap time over
    `load` after the previous one; no credit is banked. Data and ACKs alternate at the host's port when both wait.
    """

    summary: ClassVar[str] = "Hosts send at a fixed share of the line rate; no window, no retransmission."
    source: ClassVar[str] = "Ofan section 2.2, Appendix A"
    differs: ClassVar[str] = "none"

    kind: Literal["paced"] = "paced"
    load: Annotated[float, Real(low=1e-6, high=1)] = Field(
        default=1.0,
        description="Share of the line rate at which a host may start data frames. Ofan section 2.2 (1, fault-free).",
    )
    acks: Literal["per-packet", "off"] = Field(
        default="per-packet", description="One ACK for every data packet, or none. Ofan Appendix A."
    )
    start_jitter: Literal["uniform", "none"] = Field(
        default="uniform",
        description="Each host starts at a random moment within its first frame interval, or all start on the dot. "
        "Ofan Appendix C assumes uniform.",
    )


Transport = Paced
"""Any transport, told apart by `kind`."""
