"""Load balancers: who chooses the path of a packet. The schemes themselves are in the core, one file each."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from fabricsim.errors import ScenarioError, Unknown
from fabricsim.scenario.part import Part, nearest
from fabricsim.scenario.ranges import Whole


class BalancerPart(Part):
    """Base of the balancers. The class variables are what `fabricsim explain` prints, declared here once.

    `where`: switch or host. `growth_up`, `growth_down`: proven growth of the average queue with the message size m, on
    uplinks and downlinks (Ofan Table 1). `state_per_switch`: what a switch (or host) remembers. `differs`: deviations
    from the source.
    """

    summary: ClassVar[str]
    where: ClassVar[Literal["switch", "host"]]
    source: ClassVar[str]
    state_per_switch: ClassVar[str]
    growth_up: ClassVar[str] = "not proved"
    growth_down: ClassVar[str] = "not proved"
    differs: ClassVar[str] = "none"


class Ecmp(BalancerPart):
    """Equal-cost multipath: every packet of a flow takes the port that a hash of its addresses and flow names."""

    summary: ClassVar[str] = "Hashes each flow to one path (per-flow ECMP)."
    where: ClassVar[Literal["switch", "host"]] = "switch"
    source: ClassVar[str] = "RFC 2992; baseline, not in Ofan Table 1"
    state_per_switch: ClassVar[str] = "none; one hash salt"
    growth_up: ClassVar[str] = "Θ(m), not proved"
    growth_down: ClassVar[str] = "Θ(m), not proved"
    differs: ClassVar[str] = "each switch has its own random salt; ACKs hash their own, reversed, addresses"

    kind: Literal["ecmp"] = "ecmp"


class SimpleRr(BalancerPart):
    """Simple round robin: one pointer a switch over all its uplinks, whatever the destination."""

    summary: ClassVar[str] = "One round-robin pointer per switch, shared by all northbound packets."
    where: ClassVar[Literal["switch", "host"]] = "switch"
    source: ClassVar[str] = "Ofan section 3.1, Table 1, Appendix C"
    state_per_switch: ClassVar[str] = "1 pointer, shared by data and ACKs"
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(m)"

    kind: Literal["simple-rr"] = "simple-rr"


class Jsq(BalancerPart):
    """Join the shortest queue: the uplink with the fewest bytes queued, ties broken at random."""

    summary: ClassVar[str] = "Sends each packet to the uplink with the shortest queue in bytes, random ties."
    where: ClassVar[Literal["switch", "host"]] = "switch"
    source: ClassVar[str] = "Ofan section 3.1, Table 1, Appendix C"
    state_per_switch: ClassVar[str] = "none; reads its queues"
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(m)"

    kind: Literal["jsq"] = "jsq"


class Rsq(BalancerPart):
    """Random switch queue: a uniformly random uplink per packet, drawn by the switch."""

    summary: ClassVar[str] = "Each switch sends each packet to a uniformly random uplink."
    where: ClassVar[Literal["switch", "host"]] = "switch"
    source: ClassVar[str] = "Ofan section 3.1, Table 1, Appendix B"
    state_per_switch: ClassVar[str] = "none; one random stream"
    growth_up: ClassVar[str] = "Θ(√m)"
    growth_down: ClassVar[str] = "Θ(√m)"

    kind: Literal["rsq"] = "rsq"


class Rps(BalancerPart):
    """Random packet spraying: the host writes a random 16-bit entropy value into each packet, and switches hash it."""

    summary: ClassVar[str] = "The host writes a random entropy value into each packet; switches hash it to an uplink."
    where: ClassVar[Literal["switch", "host"]] = "host"
    source: ClassVar[str] = "Ofan section 3.1, Table 1; Dixit et al., INFOCOM 2013"
    state_per_switch: ClassVar[str] = "none; one hash salt (host: one random stream)"
    growth_up: ClassVar[str] = "Θ(√m)"
    growth_down: ClassVar[str] = "Θ(√m)"

    kind: Literal["rps"] = "rps"


class Drb(BalancerPart):
    """Digit-reversal bouncing: each host visits the top switches in turn, one pointer a destination host."""

    summary: ClassVar[str] = "Each host cycles through all paths to each destination host, in digit-reversed order."
    where: ClassVar[Literal["switch", "host"]] = "host"
    source: ClassVar[str] = "Ofan section 3.4, Table 1, Appendix D; Cao et al., CoNEXT 2013"
    state_per_switch: ClassVar[str] = "none (host: one pointer per destination host and size class)"
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(1)"
    differs: ClassVar[str] = "the waypoint rides in the simulated header and adds no bytes to the frame"

    kind: Literal["drb"] = "drb"


class Ofan(BalancerPart):
    """Ofan: one round-robin pointer per size class and destination edge switch (at aggregation: destination pod)."""

    summary: ClassVar[str] = "One round-robin pointer per destination edge switch or pod, with varied port orders."
    where: ClassVar[Literal["switch", "host"]] = "switch"
    source: ClassVar[str] = "Ofan section 4, Appendix F"
    state_per_switch: ClassVar[str] = "edge: 2 pointers per edge switch of the fabric; aggregation: 2 per other pod"
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(1)"
    differs: ClassVar[str] = (
        "aggregation pointers are keyed by pod, which is what one switch per pod and port amounts to"
    )

    kind: Literal["ofan"] = "ofan"


class Pofan(BalancerPart):
    """Ofan with independent pointers for each pipe of the switch: 4Ofan is `Pofan(ports_per_pipe=4)`."""

    summary: ClassVar[str] = "Ofan with pointers of its own in every pipe of the switch (4Ofan: pipes of 4 ports)."
    where: ClassVar[Literal["switch", "host"]] = "switch"
    source: ClassVar[str] = "Ofan section 5, Appendix H"
    state_per_switch: ClassVar[str] = "Ofan's pointers times the number of pipes"
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(1)"
    differs: ClassVar[str] = "where the pipe's width does not divide the down ports, the last pipe is short"

    kind: Literal["pofan"] = "pofan"
    ports_per_pipe: Annotated[int, Whole(1, 128)] = Field(
        default=4,
        description="Down-facing ports that share a pipe and so a pointer; radix/2 or more is Ofan. Ofan section 5.",
    )


AnyBalancer = Ecmp | SimpleRr | Jsq | Rsq | Rps | Drb | Ofan | Pofan
Balancer = Annotated[AnyBalancer, Field(discriminator="kind")]
"""Any balancer, told apart by `kind`."""

BALANCERS: dict[str, type[BalancerPart]] = {
    model.model_fields["kind"].default: model for model in get_args(AnyBalancer)
}
"""Model of each kind, in the order of the documentation."""


def balancer_from_text(text: str, where: str = "") -> AnyBalancer:
    """Return the balancer that a short text names: a kind such as `ofan`, or `pofan:4` for pipes of 4 ports.

    Raises `ScenarioError` for an unknown kind or a wrong pipe width; `where` says where the text came from.
    """
    kind, colon, width = text.strip().partition(":")
    model = BALANCERS.get(kind.lower())
    if model is None:
        raise ScenarioError("balancer", Unknown(kind, nearest(kind.lower(), BALANCERS)), ", ".join(BALANCERS), where)
    if not colon:
        return model()  # type: ignore[return-value]
    if model is not Pofan or not (width.isascii() and width.isdigit() and len(width) <= 4):
        raise ScenarioError("balancer", text, 'a kind alone, or "pofan:N" for pipes of N ports', where)
    try:
        return Pofan(ports_per_pipe=int(width))
    except ScenarioError as error:
        raise ScenarioError(f"balancer.{error.field}", error.value, error.allowed, where) from None
