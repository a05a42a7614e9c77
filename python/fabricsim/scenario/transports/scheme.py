"""What every transport's model has: facts for people, and its form at the door to the core."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.derived import MOST_PACKETS, Derived
from fabricsim.scenario.lowering import lowered
from fabricsim.scenario.part import Part
from fabricsim.scenario.ranges import Between, Whole
from fabricsim.scenario.units import Duration

Discipline = Literal["fifo", "dcsim", "strict-priority", "pfabric"]
"""What ports do with what waits in them."""

LONGEST_WAIT = Duration("1000s")

MOST_TOKENS = 4095
"""Most tokens of a flow that may be out: half of what the number in a simulated packet tells apart."""

Packets = Annotated[int | Literal["auto"], Whole(1, MOST_PACKETS, word="auto")]
Tokens = Annotated[int | Literal["auto"], Whole(1, MOST_TOKENS, word="auto")]
Threshold = Annotated[int | Literal["auto"], Whole(0, MOST_PACKETS, word="auto")]
Wait = Annotated[Duration | Literal["auto"], Between(Duration("1ps"), LONGEST_WAIT, word="auto")]

StartJitter = Annotated[
    Literal["uniform", "none"],
    Field(
        description="Each host starts at a random moment within its first frame interval, or all start on the dot. "
        "Ofan Appendix C assumes uniform; the papers of the other transports say nothing."
    ),
]

RETRY = (
    "How long a control packet goes unanswered before it is sent again. The paper does not say; auto is 10 RTT_p, "
    "where RTT_p is the latency of the longest path there and back."
)
"""What the field `retry` of a scheme does."""


class TransportPart(Part):
    """Base of the transports. The class variables are what `fabricsim explain` and the documentation say of a scheme.

    `differs`: deviations from the source, and choices where it is silent. `discipline`: what all ports do under it.
    `has_load`: whether hosts can be told to send at a share of the line rate, by a field `load`. `has_window`: whether
    it is of the family with congestion windows (`window.py`). `reacts_to_marks`: whether it needs ECN marks.
    """

    summary: ClassVar[str]
    source: ClassVar[str]
    differs: ClassVar[str] = "none"
    discipline: ClassVar[Discipline]
    has_load: ClassVar[bool] = False
    has_window: ClassVar[bool] = False
    reacts_to_marks: ClassVar[bool] = False

    kind: str

    @property
    def acks_every_packet(self) -> bool:
        """Whether every data packet that arrives is acknowledged by a packet of its own."""
        return False

    @property
    def acks_messages(self) -> bool:
        """Whether senders learn that a message has arrived, so that others can wait for that."""
        return True

    def decided(self, here: Derived) -> dict[str, Any]:
        """Return the fields that are at "auto", with the values that they have in such a fabric."""
        return {name: value for name, value in self._auto(here).items() if getattr(self, name) == "auto"}

    def remarks(self, here: Derived) -> dict[str, Any]:
        """Return by field what `fabricsim init` and `explain` say beside its value: what "auto" comes to."""
        return self.decided(here)

    def _auto(self, here: Derived) -> dict[str, Any]:  # noqa: ARG002 (for those that derive something)
        """Return what each field comes to at "auto"."""
        return {}

    def lowered(self, here: Derived) -> dict[str, Any]:
        """Return the scheme as the core reads it, with every "auto" decided."""
        return lowered({**self.model_dump(), **self.decided(here)})

    def reported(self, here: Derived) -> dict[str, Any]:
        """Return what a run was made with, for its results: every field as a number or word, named with its unit."""
        return {name: value for name, value in self.lowered(here).items() if name != "kind"}

    def lowered_discipline(self, here: Derived) -> dict[str, Any]:  # noqa: ARG002 (for dcsim)
        """Return what ports do under it, as the core reads it."""
        return {"kind": self.discipline}
