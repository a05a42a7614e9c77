"""Workloads in which every host sends to every other: sizes alike, sizes drawn, and without end."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.ranges import Between
from fabricsim.scenario.units import Bytes, Duration
from fabricsim.scenario.workloads.workload_kind import Order, WorkloadKind

MeanBytes = Annotated[
    Bytes,
    Field(
        description="Mean payload of a pair of hosts; what a host sends in all, that times the other hosts, is rounded "
        "up to whole packets."
    ),
]


class AllToAll(WorkloadKind):
    """Every host sends one message to every other host, all at once; its NIC takes them in turns.

    Source: Ofan paper, Fig. 5b (`per = "flow"`) and 5c (`per = "host"`); dcSim section 4. The sizes and the order are
    this project's.
    """

    summary: ClassVar[str] = "Every host sends to every other host, all at once."
    source: ClassVar[str] = "Ofan section 6, Fig. 5b and 5c; dcSim section 4"

    kind: Literal["all-to-all"] = "all-to-all"
    per: Literal["flow", "host"] = Field(
        default="flow",
        description='Whether `message` is the size of each flow ("flow") or what a host sends in all ("host": it is '
        "split over the other hosts and rounded up to whole packets).",
    )
    message: Annotated[Bytes, Field(description='Payload of each flow, or of each host, such as "16KiB".')] = Bytes(
        "16KiB"
    )
    order: Order = "random"


class AllToAllV(WorkloadKind):
    """All-to-all of unequal sizes: each packet of each host goes to another host drawn uniformly at random.

    So sizes are one multinomial draw a host, and every host sends equally much. Pairs that draw no packet send nothing.
    Source: dcSim section 4, where it stands for mixtures of experts; `message` is read as the mean of its flow sizes.
    """

    summary: ClassVar[str] = "All-to-all of unequal sizes: each packet goes to another host drawn at random."
    source: ClassVar[str] = "dcSim section 4 and Fig. 6"

    kind: Literal["all-to-all-v"] = "all-to-all-v"
    message: MeanBytes = Bytes("783000B")  # 1 BDP of the dcSim paper: 87 packets of 9,000 bytes
    order: Order = "random"


class InfiniteAllToAll(WorkloadKind):
    """All-to-all of messages that never end (2^32 - 1 packets each), to see what a transport sustains.

    Source: dcSim section 4 and Fig. 4; the time is this project's.
    """

    summary: ClassVar[str] = "All-to-all of messages that never end, run for some time."
    source: ClassVar[str] = "dcSim section 4 and Fig. 4"
    is_endless: ClassVar[bool] = True

    kind: Literal["infinite-all-to-all"] = "infinite-all-to-all"
    duration: Annotated[Duration, Between(Duration("1ns"), Duration("1000s"))] = Field(
        default=Duration("1ms"), description="Simulated time after which the run ends."
    )
    order: Order = "random"
