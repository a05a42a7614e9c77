"""Frames: sizes on the wire."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Between
from fabricsim.scenario.units import Bytes

LARGEST_FRAME = Bytes(2**18 - 1)
"""Largest frame that the core's 16-byte packets can describe."""


class Frame(Part):
    """Sizes of data and ACK frames and of the gap between frames. Defaults: Ofan section 6 (RoCEv2)."""

    payload: Annotated[Bytes, Between(Bytes("1B"), LARGEST_FRAME)] = Field(
        default=Bytes("4096B"), description="Payload of a full data frame. Ofan section 6."
    )
    header: Annotated[Bytes, Between(Bytes("0B"), Bytes("64KiB"))] = Field(
        default=Bytes("62B"),
        description="Rest of a data frame: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4. Ofan section 6. 0B "
        "where the payload stands for the whole frame (dcSim section 4).",
    )
    ack: Annotated[Bytes, Between(Bytes("1B"), Bytes("64KiB"))] = Field(
        default=Bytes("64B"),
        description="An ACK, or another control frame (Sims, tokens, ...), whole. Ofan section 6, dcSim section 2.3.",
    )
    gap: Annotated[Bytes, Between(Bytes("0B"), Bytes("64KiB"))] = Field(
        default=Bytes("20B"),
        description="Inter-frame gap (12) and preamble (8): occupies the link, never a queue. Ofan section 6.",
    )
    last_frame: Literal["full", "short"] = Field(
        default="full",
        description="The last frame of a message carries a whole payload (the papers count packets) or the rest.",
    )

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if self.payload + self.header > LARGEST_FRAME:
            room = Bytes(LARGEST_FRAME - self.header)
            raise refusal(str(self.payload), f"at most {room} beside a header of {self.header}", "payload")
        return self

    @property
    def data_bytes(self) -> int:
        """A full data frame, header and payload, without the gap."""
        return self.payload + self.header

    @property
    def empty_bytes(self) -> int:
        """The frame that a message of 0 bytes travels as: a header alone, or a control frame where there is none."""
        return int(self.header) or int(self.ack)
