"""Load balancers: who chooses the path of a packet. The schemes themselves are in the core, one file each."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from fabricsim.scenario.balancers.adaptive import Ar, Choice, Conga, Dlb, Drill, Jsq, Sglb
from fabricsim.scenario.balancers.host import Drb, Ethereal, Reps, Rps
from fabricsim.scenario.balancers.oblivious import Ecmp, Flowlet, Rsq, SimpleRr
from fabricsim.scenario.balancers.ofan import Ofan, Pofan
from fabricsim.scenario.balancers.scheme import BalancerPart

AnySwitchBalancer = (
    Ecmp | Flowlet | SimpleRr | Jsq | Choice | Drill | Ar | Conga | Dlb | Sglb | Rsq | Ofan | Pofan
)  # fmt: skip
AnyBalancer = (
    Ecmp | Flowlet | SimpleRr | Jsq | Choice | Drill | Ar | Conga | Dlb | Sglb | Rsq
    | Rps | Reps | Drb | Ethereal | Ofan | Pofan
)  # fmt: skip
Balancer = Annotated[AnyBalancer, Field(discriminator="kind")]
"""Any balancer, told apart by `kind`."""
SwitchBalancer = Annotated[AnySwitchBalancer, Field(discriminator="kind")]
"""Any balancer that switches run by themselves, told apart by `kind`."""

BALANCERS: dict[str, type[BalancerPart]] = {
    model.model_fields["kind"].default: model for model in get_args(AnyBalancer)
}
"""Model of each kind, in the order of the documentation."""

__all__ = [
    "BALANCERS",
    "AnyBalancer",
    "Ar",
    "Balancer",
    "BalancerPart",
    "Choice",
    "Conga",
    "Dlb",
    "Drb",
    "Drill",
    "Ecmp",
    "Ethereal",
    "Flowlet",
    "Jsq",
    "Ofan",
    "Pofan",
    "Reps",
    "Rps",
    "Rsq",
    "Sglb",
    "SimpleRr",
    "SwitchBalancer",
]
