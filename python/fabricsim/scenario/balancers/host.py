"""Host-side schemes: the sending host chooses the path, and switches hash or obey."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.balancers.scheme import BalancerPart, Salts, Where
from fabricsim.scenario.ranges import Between, Whole
from fabricsim.scenario.units import Duration

_ENTROPIES = "Entropy values to draw from; each is a path, by the hash of every switch. 65,536 is a whole 16-bit port."

Entropies = Annotated[int, Whole(1, 2**16)]
Timeout = Annotated[Duration, Between(Duration("1ns"), Duration("1s"))]


class Rps(BalancerPart):
    """Random packet spraying: the host writes a random entropy value into each packet, and switches hash it."""

    summary: ClassVar[str] = "The host writes a random entropy value into each packet; switches hash it to an uplink."
    where: ClassVar[Where] = "host"
    source: ClassVar[str] = "Dixit et al., INFOCOM 2013; Ofan section 3.1, Table 1, Theorem 1"
    state_per_switch: ClassVar[str] = "none; one hash salt (host: one random stream)"
    growth_up: ClassVar[str] = "Θ(√m)"
    growth_down: ClassVar[str] = "Θ(√m)"
    differs: ClassVar[str] = "the hash mixes well for any number of ports, also where it is no power of two"

    kind: Literal["rps"] = "rps"
    entropies: Entropies = Field(default=2**16, description=_ENTROPIES)
    salts: Salts = "per-switch"


class Reps(BalancerPart):
    """REPS: recycled entropies. An entropy that came back unmarked is used again, else a fresh one is drawn."""

    summary: ClassVar[str] = "The host uses entropies again whose ACKs came back without a mark, and draws others."
    where: ClassVar[Where] = "host"
    source: ClassVar[str] = "Bonato et al. (REPS), EuroSys 2026; public htsim code; Ofan Table 1 (ECN threshold 10%)"
    state_per_switch: ClassVar[str] = "none; one hash salt (host: per flow a ring of 8 entropies and 4 counters)"
    differs: ClassVar[str] = (
        "the timeout only detects a loss, nothing is sent again; freezing follows timeouts, as there is no trimming"
    )
    reacts_to_marks: ClassVar[bool] = True

    kind: Literal["reps"] = "reps"
    entropies: Entropies = Field(default=2**16, description=_ENTROPIES)
    slots: Annotated[int, Whole(1, 1024)] = Field(
        default=8, description="Entropies that a flow keeps in its ring. The REPS paper and its code have 8."
    )
    explore_packets: Annotated[int, Whole(0, 2**20)] = Field(
        default=16, description="Packets of a flow that take random entropies after a freeze."
    )
    freezing: Literal["on-timeout", "off"] = Field(
        default="on-timeout",
        description="After a timeout a flow uses only the entropies of its ring for `freeze`, or goes on as before.",
    )
    rto: Timeout = Field(
        default=Duration("100us"), description="Age of an unacknowledged packet that counts as a timeout."
    )
    freeze: Timeout = Field(default=Duration("10ms"), description="How long a flow stays frozen.")


class Drb(BalancerPart):
    """Digit-reversal bouncing: each host visits the top switches in turn, one pointer a destination host."""

    summary: ClassVar[str] = "Each host cycles through all paths to each destination host, in digit-reversed order."
    where: ClassVar[Where] = "host"
    source: ClassVar[str] = "Cao et al., CoNEXT 2013; Ofan section 3.4, Table 1, Theorem 3, Appendix D"
    state_per_switch: ClassVar[str] = (
        "none (host: one pointer per destination host and class, data or ACK, started at random)"
    )
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(1)"
    differs: ClassVar[str] = "the waypoint rides in the simulated header and adds no bytes to the frame"

    kind: Literal["drb"] = "drb"


class Ethereal(BalancerPart):
    """Ethereal: a message is split into one subflow a path, and the host's port takes the subflows in turn."""

    summary: ClassVar[str] = "The host splits each message into one subflow per path, each pinned to its path."
    where: ClassVar[Where] = "host"
    source: ClassVar[str] = "Addanki et al., arXiv:2407.00550; Ofan section 3.4, Table 1, Theorem 4, Appendix E"
    state_per_switch: ClassVar[str] = "none (host: one queue pair per flow and path)"
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(1)"
    differs: ClassVar[str] = (
        "the path rides in the simulated header instead of a chosen source port; several equal flows of a host to one "
        "edge switch go whole as far as they fill all paths"
    )

    kind: Literal["ethereal"] = "ethereal"
    split: Literal["bytes", "packets"] = Field(
        default="bytes",
        description="Subflows of equal bytes, each with a short last packet of its own (Ofan section 3.2), or of whole "
        "packets (the model of Ofan Appendix E).",
    )
    rto: Timeout = Field(
        default=Duration("100us"),
        description="Age of an unacknowledged packet after which its subflow moves to a random other path.",
    )
