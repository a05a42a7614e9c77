"""What every workload's model has: facts for people, and whether it ever ends."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.part import Part
from fabricsim.scenario.ranges import Whole
from fabricsim.scenario.units import Bytes

LARGEST_HOST = 2**32 - 1

Host = Annotated[int, Whole(0, LARGEST_HOST)]

MessageBytes = Annotated[
    Bytes, Field(description='Payload of each message, such as "1MiB"; the default is the Ofan paper\'s (section 6).')
]

Order = Annotated[
    Literal["random", "index", "shift"],
    Field(
        description='Each host\'s visiting order: its own random one ("random", which avoids synchronised incast), '
        'hosts 0, 1, 2, ... at every host ("index"), or host i visits i+1, i+2, ... ("shift").'
    ),
]


class WorkloadKind(Part):
    """Base of the workloads. `summary` and `source` are what `fabricsim explain` and the documentation say of a kind.

    `is_endless`: its messages are never finished, and a run of it ends after its `duration`.
    """

    summary: ClassVar[str]
    source: ClassVar[str]
    is_endless: ClassVar[bool] = False
