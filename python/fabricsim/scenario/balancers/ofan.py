"""Ofan and POfan: rotation per destination, at the switch."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.balancers.scheme import BalancerPart, Where
from fabricsim.scenario.ranges import Between, Whole
from fabricsim.scenario.units import Duration


class _Rotation(BalancerPart):
    """What Ofan and POfan share: how a pointer starts, and in which order it visits the uplinks."""

    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(1)"
    where: ClassVar[Where] = "switch"

    port_order: Literal["xor", "identity"] = Field(
        default="xor",
        description="Each pointer visits the uplinks in an order of its own, by XOR and addition (Ofan Appendix F.2), "
        "or all in the order of their numbers.",
    )
    first_pointer: Literal["random", "least-queued"] = Field(
        default="random",
        description="Pointers start at random, or at the uplink with the shortest queue, and then visit the uplinks in "
        "the order of their numbers whatever `port_order` says (Ofan Appendix F.5, described for fabrics without "
        "failures; with links down, the uplinks that lead to the destination count).",
    )
    idle_reset: Annotated[Duration, Between(Duration("1ns"), Duration("1s"))] = Field(
        default=Duration("12.5us"),
        description='With `first_pointer = "least-queued"`: after so long without a packet a pointer starts anew, as '
        "at a collective's beginning. Twice the 6.25 us RTT of Ofan section 6.",
    )

    def lowered(self) -> dict[str, Any]:
        """Return the scheme as the core reads it; no `idle_reset_ps` stands for a random start."""
        fields = super().lowered()
        if fields.pop("first_pointer") == "random":
            fields["idle_reset_ps"] = None
        return fields


class Ofan(_Rotation):
    """Ofan: one round-robin pointer per size class and destination edge switch (at aggregation: destination pod)."""

    summary: ClassVar[str] = "One round-robin pointer per destination edge switch or pod, with varied port orders."
    source: ClassVar[str] = "Ofan section 4, Table 1, Theorem 5, Appendix F"
    state_per_switch: ClassVar[str] = "edge: 2 pointers per edge switch of the fabric; aggregation: 2 per other pod"
    differs: ClassVar[str] = (
        "aggregation pointers are keyed by pod, which is what one switch per pod and port amounts to; with 2 or 3 "
        "uplinks no permutation gives every pointer a cyclic order of its own, so any is used"
    )

    kind: Literal["ofan"] = "ofan"


class Pofan(_Rotation):
    """Ofan with independent pointers for each pipe of the switch: 4Ofan is `Pofan(ports_per_pipe=4)`."""

    summary: ClassVar[str] = "Ofan with pointers of its own in every pipe of the switch (4Ofan: pipes of 4 ports)."
    source: ClassVar[str] = "Ofan section 5.1, Table 1, Theorem 7, Appendix H"
    state_per_switch: ClassVar[str] = "Ofan's pointers times the number of pipes"
    differs: ClassVar[str] = "where the pipe's width does not divide the down ports, the last pipe is short"
    short: ClassVar[tuple[str, ...]] = ("ports_per_pipe",)
    short_is_whole: ClassVar[bool] = True

    kind: Literal["pofan"] = "pofan"
    ports_per_pipe: Annotated[int, Whole(1, 128)] = Field(
        default=4,
        description="Down-facing ports that share a pipe and so a pointer; radix/2 or more is Ofan. Ofan section 5.",
    )
