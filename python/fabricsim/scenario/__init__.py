"""Scenarios: frozen, validated descriptions of a run, and the ways to read and write them."""

from fabricsim.scenario.balancers import (
    BALANCERS,
    Ar,
    Balancer,
    Choice,
    Conga,
    Dlb,
    Drb,
    Drill,
    Ecmp,
    Ethereal,
    Flowlet,
    Jsq,
    Ofan,
    Pofan,
    Reps,
    Rps,
    Rsq,
    Sglb,
    SimpleRr,
)
from fabricsim.scenario.balancers.short_text import balancer_from_text, balancer_text
from fabricsim.scenario.core_config import core_config
from fabricsim.scenario.deployment import Deployment
from fabricsim.scenario.dump import scenario_to_toml
from fabricsim.scenario.fabric import Fabric, FatTree, LeafSpine
from fabricsim.scenario.failures import FatTreeFailures, LeafSpineFailures
from fabricsim.scenario.frame import Frame
from fabricsim.scenario.links import DegradedLink, Link, LinkEvent
from fabricsim.scenario.load import scenario_from_mapping, scenario_from_toml
from fabricsim.scenario.losses import Loss
from fabricsim.scenario.measure import Measure
from fabricsim.scenario.pfc import Pfc
from fabricsim.scenario.port import Port, SharedBuffer
from fabricsim.scenario.presets import PRESETS
from fabricsim.scenario.run import Run
from fabricsim.scenario.scenario import KINDS, Scenario
from fabricsim.scenario.schema import scenario_schema
from fabricsim.scenario.transports import (
    TRANSPORTS,
    ConstantWindow,
    Dcpim,
    Dcsim,
    Dctcp,
    Mswift,
    Nscc,
    Paced,
    Pfabric,
    Phost,
    Swift,
    Transport,
)
from fabricsim.scenario.units import Bytes, Duration, PacketCount, Rate
from fabricsim.scenario.workloads import (
    After,
    AllToAll,
    AllToAllV,
    Collectives,
    DcpimTrace,
    Htsim,
    Incast,
    InfiniteAllToAll,
    InterPodPermutation,
    Message,
    MessageList,
    Permutation,
    Poisson,
    Workload,
)

__all__ = [
    "BALANCERS",
    "KINDS",
    "PRESETS",
    "TRANSPORTS",
    "After",
    "AllToAll",
    "AllToAllV",
    "Ar",
    "Balancer",
    "Bytes",
    "Choice",
    "Collectives",
    "Conga",
    "ConstantWindow",
    "Dcpim",
    "DcpimTrace",
    "Dcsim",
    "Dctcp",
    "DegradedLink",
    "Deployment",
    "Dlb",
    "Drb",
    "Drill",
    "Duration",
    "Ecmp",
    "Ethereal",
    "Fabric",
    "FatTree",
    "FatTreeFailures",
    "Flowlet",
    "Frame",
    "Htsim",
    "Incast",
    "InfiniteAllToAll",
    "InterPodPermutation",
    "Jsq",
    "LeafSpine",
    "LeafSpineFailures",
    "Link",
    "LinkEvent",
    "Loss",
    "Measure",
    "Message",
    "MessageList",
    "Mswift",
    "Nscc",
    "Ofan",
    "Paced",
    "PacketCount",
    "Permutation",
    "Pfabric",
    "Pfc",
    "Phost",
    "Pofan",
    "Poisson",
    "Port",
    "Rate",
    "Reps",
    "Rps",
    "Rsq",
    "Run",
    "Scenario",
    "Sglb",
    "SharedBuffer",
    "SimpleRr",
    "Swift",
    "Transport",
    "Workload",
    "balancer_from_text",
    "balancer_text",
    "core_config",
    "scenario_from_mapping",
    "scenario_from_toml",
    "scenario_schema",
    "scenario_to_toml",
]
