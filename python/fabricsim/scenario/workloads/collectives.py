"""Several collectives at once on hosts that they share."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fabricsim.scenario.part import refusal
from fabricsim.scenario.ranges import Whole
from fabricsim.scenario.units import Bytes
from fabricsim.scenario.workloads.workload_kind import LARGEST_HOST, Order, WorkloadKind


class Collectives(WorkloadKind):
    """Several collectives of random sizes that all start at once, each on hosts of its own draw.

    Within a collective hosts are distinct; between collectives they are independent, so a host may be in several.
    Source: dcSim section 4 (its baseline set: five all-to-all-v, sizes 8 to 64, 2 BDP).
    """

    summary: ClassVar[str] = "Several collectives of random sizes at once, on hosts that they may share."
    source: ClassVar[str] = "dcSim section 4, Figs. 7 to 9"

    kind: Literal["collectives"] = "collectives"
    count: Annotated[int, Whole(1, 65_536)] = Field(default=5, description="How many collectives.")
    sizes: tuple[Annotated[int, Whole(2, LARGEST_HOST)], ...] = Field(
        default=(8, 16, 32, 64),
        description="Numbers of hosts, from which each collective draws its own, all equally likely; "
        "at most the fabric's hosts.",
    )
    pattern: Literal["all-to-all-v", "all-to-all", "permutation"] = Field(
        default="all-to-all-v", description="What each collective does, as the workload of that kind."
    )
    message: Annotated[
        Bytes,
        Field(
            description="Payload of each flow; its mean under all-to-all-v. The default is 2 BDP of the dcSim paper, "
            "174 packets of 9,000 bytes."
        ),
    ] = Bytes("1566000B")
    order: Order = "random"

    @model_validator(mode="after")
    def _some_sizes(self) -> Self:
        if not self.sizes:
            raise refusal([], "a list of 1 or more numbers of hosts", field="sizes")
        return self
