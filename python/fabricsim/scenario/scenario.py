"""The scenario: everything that one run depends on, frozen and checked."""

from __future__ import annotations

from typing import Annotated, Any, Self, get_args, get_origin

from pydantic import Field, model_validator

from fabricsim.scenario import combinations
from fabricsim.scenario.balancers import Balancer, Ofan
from fabricsim.scenario.deployment import Deployment
from fabricsim.scenario.fabric import Fabric, FatTree
from fabricsim.scenario.frame import Frame
from fabricsim.scenario.measure import Measure
from fabricsim.scenario.part import Part
from fabricsim.scenario.port import Port
from fabricsim.scenario.run import Run
from fabricsim.scenario.transports import Paced, Transport
from fabricsim.scenario.units import Bytes
from fabricsim.scenario.workloads import Permutation, Workload


class Scenario(Part):
    """Everything that one run depends on: `Scenario(fabric=FatTree(radix=8), balancer=Rsq())`.

    Every default is the Ofan paper's (section 6): 432 hosts, 800 Gbps, a permutation of 1 MiB messages, paced at line
    rate, buffers without limit. Raises `ScenarioError`, which names the field, the value and what is allowed.
    """

    fabric: Fabric = Field(default=FatTree(), description="Switches, links and hosts.")
    workload: Workload = Field(default=Permutation(), description="Who sends what to whom, and when.")
    balancer: Balancer = Field(default=Ofan(), description="Who chooses the path of a packet.")
    deployment: Deployment | None = Field(default=None, description="Switches that run another balancer, if any do.")
    transport: Transport = Field(default=Paced(), description="What hosts send when.")
    frame: Frame = Field(default=Frame(), description="Sizes on the wire.")
    port: Port = Field(default=Port(), description="Buffers and marking of switch ports.")
    measure: Measure = Field(default=Measure(), description="What is recorded beside the flows.")
    run: Run = Field(default=Run(), description="Seed, threads, time limit.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.deployment is not None:
            self.deployment.check_fits(self.fabric, "deployment")
        combinations.check(self)
        return self

    @property
    def time_limit_ps(self) -> int:
        """When the run is given up, in ps: at `run.time_limit`, or at the end of a workload that never ends itself."""
        limit = int(self.run.time_limit)
        return min(limit, int(self.workload.duration)) if self.workload.kind == "infinite-all-to-all" else limit

    @property
    def buffer_bytes(self) -> int | None:
        """Most bytes of a port's queue, with `port.buffer = "auto"` decided; None: no limit."""
        port = self.port
        if port.buffer == "auto" and self.transport.has_window and port.shared_buffer is None and port.pfc is None:
            return 10 * self._marking_bytes
        return int(port.buffer) if isinstance(port.buffer, Bytes) else None

    @property
    def ecn_threshold_bytes(self) -> int | None:
        """Queue above which ports mark, in bytes, with `port.ecn_threshold = "auto"` decided; None: no marks."""
        threshold = self.port.ecn_threshold
        if isinstance(threshold, Bytes):
            return int(threshold)
        reacts = self.balancer.reacts_to_marks or self.transport.reacts_to_marks
        if threshold != "auto" or self.transport.discipline != "fifo" or not reacts:
            return None
        # A queue that its buffer keeps below the threshold would never be marked.
        most = self.buffer_bytes
        return self._marking_bytes if most is None else min(self._marking_bytes, max(most // 2, self.frame.data_bytes))

    @property
    def _marking_bytes(self) -> int:
        """The Ofan paper's ECN threshold, a tenth of its buffers (section 6, footnote 6)."""
        return max(80_000, 10 * self.frame.data_bytes)


def _kinds(union: Any) -> dict[str, type[Part]]:
    models = get_args(union)[0] if get_origin(union) is Annotated else union
    return {model.model_fields["kind"].default: model for model in get_args(models) or (models,)}


KINDS: dict[str, dict[str, type[Part]]] = {
    "fabric": _kinds(Fabric),
    "workload": _kinds(Workload),
    "balancer": _kinds(Balancer),
    "transport": _kinds(Transport),
}
"""Models of the parts that come in several kinds, by part and kind."""
