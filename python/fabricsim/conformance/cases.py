"""The small scenarios of the conformance suite, and the scheme that is put into them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim.run import simulate
from fabricsim.scenario import Bytes, Duration, FatTree, LeafSpine, Measure, Paced, Permutation, Port, Run, Scenario
from fabricsim.workloads import Messages

if TYPE_CHECKING:
    from fabricsim.results import Results
    from fabricsim.scenario.balancers import AnyBalancer
    from fabricsim.scenario.transports import AnyTransport

PAYLOAD_BYTES = 4096
TRACED = Measure(trace=True)
TIME_LIMIT = Duration("1s")
"""Long enough for TCP, whose timeouts double each time."""

# In reach of one packet each: no payload, one byte, about one payload; and one of several packets.
AWKWARD_SIZES = (0, 1, PAYLOAD_BYTES - 1, PAYLOAD_BYTES, PAYLOAD_BYTES + 1, 9 * PAYLOAD_BYTES + 7)


@dataclass(frozen=True)
class Lab:
    """One balancer under paced hosts, or one transport over its usual balancer, and what to run it in."""

    balancer: AnyBalancer
    transport: AnyTransport = field(default_factory=Paced)

    @property
    def in_step(self) -> AnyTransport:
        """The transport with all hosts starting at once, so that what differs between seeds is the scheme's doing."""
        return self.transport.replace(start_jitter="none")

    @property
    def tight(self) -> Port:
        """Buffers that overflow, and marks where ports mark."""
        marks: dict[str, Any] = {"ecn_threshold": Bytes("10kB")} if self.transport.discipline == "fifo" else {}
        return Port(buffer=Bytes("60kB"), **marks)

    def scenario(self, fabric: FatTree | LeafSpine, packets: int = 20, seed: int = 1, **parts: Any) -> Scenario:
        """Return a permutation of messages of so many packets, traced; `parts` replace parts of it."""
        chosen: dict[str, Any] = {
            "workload": Permutation(message=Bytes(packets * PAYLOAD_BYTES)),
            "measure": TRACED,
            "run": Run(seed=seed, threads=1, time_limit=TIME_LIMIT),
        }
        return Scenario(fabric=fabric, balancer=self.balancer, **{"transport": self.transport, **chosen, **parts})

    def run(self, fabric: FatTree | LeafSpine, messages: Messages | None = None, **parts: Any) -> Results:
        """Run `scenario` with its permutation, or with messages of one's own."""
        return simulate(self.scenario(fabric, **parts), messages, check=False)


def to_everywhere(fabric: FatTree | LeafSpine, sizes: tuple[int, ...] = AWKWARD_SIZES) -> Messages:
    """Messages of each size to a host under the same switch (where there is one) and to others ever farther away."""
    hosts = fabric.hosts_count
    steps = np.unique([step for step in (1, fabric.hosts_per_edge, hosts // 2, hosts - 1) if 0 < step < hosts])
    src = np.arange(len(sizes) * steps.size) * 5 % hosts
    return Messages.from_arrays(src, (src + np.repeat(steps, len(sizes))) % hosts, np.tile(sizes, steps.size))


def few(fabric: FatTree | LeafSpine, senders: int, packets: int) -> Messages:
    """Messages from the first hosts to the last ones."""
    src = np.arange(senders)
    return Messages.from_arrays(src, fabric.hosts_count - 1 - src, packets * PAYLOAD_BYTES)


class DoesNotApply(Exception):  # noqa: N818 - no error
    """A question that this scheme cannot be asked, and why."""
