"""Transports: what hosts send when, and what ports do with it. The schemes themselves are in the core."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from fabricsim.scenario.transports.constant_window import ConstantWindow
from fabricsim.scenario.transports.dcpim import Dcpim
from fabricsim.scenario.transports.dcsim import Dcsim
from fabricsim.scenario.transports.dctcp import Dctcp
from fabricsim.scenario.transports.mswift import Mswift
from fabricsim.scenario.transports.nscc import Nscc
from fabricsim.scenario.transports.paced import LEAST_LOAD, RHO_MAX, Paced, RhoMax
from fabricsim.scenario.transports.pfabric import Pfabric
from fabricsim.scenario.transports.phost import Phost
from fabricsim.scenario.transports.scheme import Discipline, TransportPart
from fabricsim.scenario.transports.swift import Swift

AnyTransport = Paced | Dcsim | Pfabric | Phost | Dcpim | ConstantWindow | Dctcp | Nscc | Swift | Mswift
Transport = Annotated[AnyTransport, Field(discriminator="kind")]
"""Any transport, told apart by `kind`."""

TRANSPORTS: dict[str, type[TransportPart]] = {
    model.model_fields["kind"].default: model for model in get_args(AnyTransport)
}
"""Model of each kind, in the order of the documentation."""

__all__ = [
    "LEAST_LOAD",
    "RHO_MAX",
    "TRANSPORTS",
    "AnyTransport",
    "ConstantWindow",
    "Dcpim",
    "Dcsim",
    "Dctcp",
    "Discipline",
    "Mswift",
    "Nscc",
    "Paced",
    "Pfabric",
    "Phost",
    "RhoMax",
    "Swift",
    "Transport",
    "TransportPart",
]
