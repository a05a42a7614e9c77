"""What is sent: the workload models, one a `kind`. `fabricsim.workloads.build` turns them into messages."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fabricsim.scenario.workloads.all_to_all import AllToAll, AllToAllV, InfiniteAllToAll
from fabricsim.scenario.workloads.collectives import Collectives
from fabricsim.scenario.workloads.message_list import After, Message, MessageList
from fabricsim.scenario.workloads.other_simulators import DcpimTrace, Htsim
from fabricsim.scenario.workloads.patterns import Incast, InterPodPermutation, Permutation
from fabricsim.scenario.workloads.poisson import Poisson
from fabricsim.scenario.workloads.workload_kind import Order

AnyWorkload = (
    Permutation | InterPodPermutation | AllToAll | AllToAllV | InfiniteAllToAll | Collectives | Incast | Poisson
    | MessageList | Htsim | DcpimTrace
)  # fmt: skip
Workload = Annotated[AnyWorkload, Field(discriminator="kind")]
"""Any workload model; `kind` says which."""

__all__ = [
    "After",
    "AllToAll",
    "AllToAllV",
    "Collectives",
    "DcpimTrace",
    "Htsim",
    "Incast",
    "InfiniteAllToAll",
    "InterPodPermutation",
    "Message",
    "MessageList",
    "Order",
    "Permutation",
    "Poisson",
    "Workload",
]
