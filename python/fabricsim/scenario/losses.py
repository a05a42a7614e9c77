"""Losses by chance: which share of the packets of a kind is lost on the links, for tests of what transports repair."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Real

PacketKind = Literal[
    "data", "ack", "sim", "sim-ack", "data-ack", "rts", "token", "request", "grant", "accept", "probe",
    "trimmed", "nack",
]  # fmt: skip

_MILLION = 1_000_000


class Loss(Part):
    """A kind of packet of which some are lost at every link, each with the same probability, independently."""

    packet: PacketKind = Field(
        description="Which packets. data: of any transport; ack: of all but dcsim; sim, sim-ack, data-ack: of dcsim; "
        "rts and token: of phost and dcpim; request, grant and accept: of dcpim; probe: of pfabric; trimmed and nack: "
        "where ports trim."
    )
    probability: Annotated[float, Real(0, 1)] = Field(
        description="Share of them that a link loses instead of carrying, in whole millionths."
    )

    @model_validator(mode="after")
    def _check(self) -> Loss:
        if abs(self.probability * _MILLION - self.ppm) > 1e-6:
            raise refusal(self.probability, f"whole millionths, such as {max(self.ppm, 1) / _MILLION:g}", "probability")
        return self

    @property
    def ppm(self) -> int:
        """The probability in millionths."""
        return round(self.probability * _MILLION)


def check_losses(losses: tuple[Loss, ...]) -> None:
    """Refuse a kind of packet that is named twice."""
    seen: set[str] = set()
    for row, loss in enumerate(losses):
        if loss.packet in seen:
            raise refusal(loss.packet, "each kind of packet once", f"losses.{row}.packet")
        seen.add(loss.packet)
