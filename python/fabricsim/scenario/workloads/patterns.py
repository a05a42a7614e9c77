"""Workloads in which a host sends one message at most: permutations and incast."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.ranges import Whole
from fabricsim.scenario.units import Bytes
from fabricsim.scenario.workloads.workload_kind import LARGEST_HOST, MessageBytes, WorkloadKind


class Permutation(WorkloadKind):
    """Every host sends one message to a host other than itself, and receives one: a uniformly random derangement.

    Source: Ofan paper, section 6.
    """

    summary: ClassVar[str] = "Every host sends one message and receives one: a random derangement."
    source: ClassVar[str] = "Ofan section 6"

    kind: Literal["permutation"] = "permutation"
    message: MessageBytes = Bytes("1MiB")


class InterPodPermutation(WorkloadKind):
    """A uniformly random permutation in which every message leaves its pod (three-level fabrics only).

    Source: Ofan paper, section 3.2 and Fig. 3.
    """

    summary: ClassVar[str] = "A random permutation in which every message leaves its pod."
    source: ClassVar[str] = "Ofan section 3.2, Fig. 3"

    kind: Literal["inter-pod-permutation"] = "inter-pod-permutation"
    message: MessageBytes = Bytes("1MiB")


class Incast(WorkloadKind):
    """Several hosts, drawn at random, send one message each to one receiver at once."""

    summary: ClassVar[str] = "Several random hosts send to one host at once."
    source: ClassVar[str] = "Ofan section 6.6 (incast)"

    kind: Literal["incast"] = "incast"
    senders: Annotated[int, Whole(1, LARGEST_HOST)] = Field(
        default=8, description="How many hosts send; at most the fabric's hosts less the receiver."
    )
    receiver: Annotated[int, Whole(0, LARGEST_HOST)] = Field(default=0, description="Number of the receiving host.")
    message: MessageBytes = Bytes("1MiB")
