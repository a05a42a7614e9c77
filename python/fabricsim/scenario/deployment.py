"""Mixed deployments: some switches run another balancer than the rest."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabricsim.scenario.balancers import SwitchBalancer
from fabricsim.scenario.fabric import FatTree, LeafSpine
from fabricsim.scenario.links import checked_switch
from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Real, Whole


class Deployment(Part):
    """A balancer that some switches run, while the rest run the scenario's: an operator's new switches among the old.

    Source: Ofan section 6.4, where half of the edge and aggregation switches run 4Ofan and the other half AR.
    """

    balancer: SwitchBalancer = Field(description="What the chosen switches run; hosts' schemes cannot stand here.")
    placement: Literal["random-switches", "random-pods", "all-agg", "all-edge", "switches"] = Field(
        default="random-switches",
        description="Which switches: random ones of all edge and aggregation switches (leaves), all of these in random "
        "pods, all aggregation switches, all edge switches (leaves), or those listed in `switches`.",
    )
    fraction: Annotated[float, Real(0, 1)] = Field(
        default=0.5,
        description="Share of the switches, or of the pods, that random placements choose: the nearest whole number.",
    )
    switches: tuple[str, ...] = Field(
        default=(), description='With `placement = "switches"`: their names, such as ["edge-0", "agg-3"].'
    )
    seed: Annotated[int, Whole(0, 2**64 - 1)] | None = Field(
        default=None, description="Seed of random placements; none: `run.seed`."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.placement == "switches" and not self.switches:
            raise refusal(list(self.switches), "at least one switch", "switches")
        if self.placement != "switches" and self.switches:
            raise refusal(list(self.switches), f'no list where placement = "{self.placement}"', "switches")
        return self

    def check_fits(self, fabric: FatTree | LeafSpine, field: str) -> None:
        """Refuse placements that the fabric has no switches for, and unknown or repeated names, below `field`."""
        if isinstance(fabric, LeafSpine) and self.placement in ("random-pods", "all-agg"):
            allowed = "random-switches, all-edge or switches in a leaf-spine tree"
            raise refusal(self.placement, allowed, f"{field}.placement")
        self.listed(fabric, field)

    def listed(self, fabric: FatTree | LeafSpine, field: str = "deployment") -> tuple[str, ...]:
        """Return `switches` under their own names."""
        names: list[str] = []
        for row, name in enumerate(self.switches):
            own = checked_switch(fabric, name, f"{field}.switches.{row}")
            if own in names:
                raise refusal(name, "each switch once", f"{field}.switches.{row}")
            names.append(own)
        return tuple(names)
