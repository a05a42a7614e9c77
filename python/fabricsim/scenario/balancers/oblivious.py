"""Switch-side schemes that look at no queue: hashes, pauses, turns and chance."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.balancers.scheme import ACKS_AS_DATA, BalancerPart, Salts, Where
from fabricsim.scenario.ranges import Between
from fabricsim.scenario.units import Duration


class Ecmp(BalancerPart):
    """Equal-cost multipath: every packet of a flow takes the port that a hash of its addresses and flow names."""

    summary: ClassVar[str] = "Hashes each flow to one path (per-flow ECMP)."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "RFC 2992; baseline, not in Ofan Table 1"
    state_per_switch: ClassVar[str] = "none; one hash salt"
    growth_up: ClassVar[str] = "Θ(m), not proved"
    growth_down: ClassVar[str] = "Θ(m), not proved"
    differs: ClassVar[str] = "ACKs hash their own, reversed, addresses"

    kind: Literal["ecmp"] = "ecmp"
    salts: Salts = "per-switch"


class Flowlet(BalancerPart):
    """Flowlet switching: a flow keeps its uplink until it pauses, and goes on over a random one."""

    summary: ClassVar[str] = "A flow keeps its uplink until it pauses for a gap, and then draws a random one."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "Vanini et al., Let it flow (LetFlow), NSDI 2017; Ofan section 2.1"
    state_per_switch: ClassVar[str] = "uplink and last moment of every flow, for data and for ACKs"
    growth_up: ClassVar[str] = "Θ(m), not proved"
    growth_down: ClassVar[str] = "Θ(m), not proved"
    differs: ClassVar[str] = "the table has room for every flow, so that none shares another's entry"

    kind: Literal["flowlet"] = "flowlet"
    gap: Annotated[Duration, Between(Duration("0ps"), Duration("1s"))] = Field(
        default=Duration("500ns"),
        description="Pause of a flow, at this switch, after which its next packet may take another uplink. Above the "
        "42 ns between paced packets, so that a flow at full rate has none.",
    )


class SimpleRr(BalancerPart):
    """Simple round robin: one pointer a switch over all its uplinks, whatever the destination."""

    summary: ClassVar[str] = "One round-robin pointer per switch, shared by all northbound packets."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "Ofan section 3.1, Table 1, Theorem 2, Appendix C"
    state_per_switch: ClassVar[str] = "1 pointer, started at random, shared by data and ACKs"
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(m)"

    kind: Literal["simple-rr"] = "simple-rr"
    acks: Literal["as-data", "random"] = Field(default="as-data", description=ACKS_AS_DATA)
    pointers: Literal["per-switch", "per-ingress"] = Field(
        default="per-switch",
        description="One pointer a switch (Ofan section 3.1), or one for each port that packets come in through.",
    )


class Rsq(BalancerPart):
    """Randomized switch queueing: a uniformly random uplink per packet, drawn by the switch."""

    summary: ClassVar[str] = "Each switch sends each packet to a uniformly random uplink."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "Ofan section 3.1, Table 1, Theorem 1, Appendix B"
    state_per_switch: ClassVar[str] = "none; one random stream"
    growth_up: ClassVar[str] = "Θ(√m)"
    growth_down: ClassVar[str] = "Θ(√m)"

    kind: Literal["rsq"] = "rsq"
