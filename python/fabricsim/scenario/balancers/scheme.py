"""What every load balancer's model has: facts for people, and its form at the door to the core."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.lowering import lowered
from fabricsim.scenario.part import Part

Where = Literal["switch", "host"]

Salts = Annotated[
    Literal["per-switch", "shared"],
    Field(
        description="Every switch mixes a random salt of its own into its hash, or all the same one: then hashes "
        "polarise, and part of the cores see no packets."
    ),
]

ACKS_AS_DATA = (
    "ACKs share rule and state with data (Ofan section 3.1: all northbound packets), or take a random uplink each: a "
    "choice to tell what of the result is their doing."
)
"""What the field `acks` of a scheme does that the paper describes for all packets alike."""


class BalancerPart(Part):
    """Base of the balancers. The class variables are what `fabricsim explain` and the documentation say of a scheme.

    `where`: switch or host. `growth_up`, `growth_down`: proven growth of the average queue with the message size m, on
    uplinks and downlinks (Ofan Table 1). `state_per_switch`: what a switch (or host) remembers. `differs`: deviations
    from the source. `reacts_to_marks`: whether the scheme needs ECN marks. `short`: the fields whose values may follow
    the kind in the short text, in order (`pofan:4`); `short_is_whole`: whether they stand there also at their defaults.
    """

    summary: ClassVar[str]
    where: ClassVar[Where]
    source: ClassVar[str]
    state_per_switch: ClassVar[str]
    growth_up: ClassVar[str] = "not proved"
    growth_down: ClassVar[str] = "not proved"
    differs: ClassVar[str] = "none"
    reacts_to_marks: ClassVar[bool] = False
    short: ClassVar[tuple[str, ...]] = ()
    short_is_whole: ClassVar[bool] = False

    def lowered(self) -> dict[str, Any]:
        """Return the scheme as the core reads it: names of quantities end in their unit, sequences are lists."""
        return lowered(self.model_dump())
