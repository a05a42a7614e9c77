"""What the tests of the Ofan paper's results share: its setting, statistics over seeds, and numbers put on show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fabricsim import (
    Bytes,
    FatTree,
    InterPodPermutation,
    Paced,
    Permutation,
    Results,
    Run,
    Scenario,
    balancer_from_text,
    simulate,
)

PAYLOAD_BYTES = 4096
DATA_FRAME_BYTES = 4158
FRAME_AND_GAP_PS = (4158 + 20) * 10
STAGES = ("edge-agg", "agg-core", "core-agg", "agg-edge", "edge-host")

Floats = NDArray[np.float64]
Record = Callable[[str, object], None]


def message(packets: int) -> Bytes:
    return Bytes(PAYLOAD_BYTES * packets)


def show(record: Record, what: str, measured: object, wanted: str) -> None:
    """Put a measured number beside the wanted one: `pytest -s` prints it, `--junit-xml` keeps it."""
    record(what, f"{measured} (wanted: {wanted})")
    print(f"{what}: {measured} (wanted: {wanted})")


@dataclass(frozen=True)
class Mean:
    """A mean over independent runs and its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float] | Floats) -> Mean:
        array = np.asarray(values, np.float64)
        return cls(float(array.mean()), float(array.std(ddof=1) / np.sqrt(array.size)))

    def agrees_with(self, other: Mean) -> bool:
        """Whether the two lie within 4 standard errors of their difference."""
        return abs(self.value - other.value) <= 4 * float(np.hypot(self.error, other.error))

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"


@dataclass(frozen=True)
class Outcome:
    """What one run of a permutation came to; queues in data frames' worth of bytes unless named otherwise.

    `mean_queue` (by stage) and `all_queues_mean` (over every queue of a switch) are averages over the m frame-and-gap
    times in which hosts send, and never too large: from the integral over the whole run is taken what a queue can weigh
    after sending, when it gets nothing more and loses a frame a frame time: at most Q (Q + 1) / 2 of its maximum Q.
    """

    increase_percent: float
    largest_queue: int
    largest_bytes: dict[str, int]
    run_mean_queue: dict[str, float]
    mean_queue: dict[str, float]
    all_queues_mean: float


def _outcome(results: Results, packets: int) -> Outcome:
    switches = results.ports.filter(~pl.col("stage").str.starts_with("host-"))
    most = pl.col("max_queue_packets")
    whole = pl.col("mean_queue_packets") * (results.duration_ps / FRAME_AND_GAP_PS)
    switches = switches.with_columns(sending=(whole - most * (most + 1) / 2) / packets)
    stages = {str(name): part for (name,), part in switches.group_by("stage")}
    return Outcome(
        increase_percent=100 * results.summary["cct_increase_fraction"],
        largest_queue=results.summary["max_queue_packets"],
        largest_bytes={name: int(part["max_queue_bytes"].to_numpy().max()) for name, part in stages.items()},
        run_mean_queue={name: float(part["mean_queue_packets"].to_numpy().mean()) for name, part in stages.items()},
        mean_queue={name: float(part["sending"].to_numpy().mean()) for name, part in stages.items()},
        all_queues_mean=float(switches["sending"].to_numpy().mean()),
    )


@cache
def default_run(balancer: str, seed: int) -> Outcome:
    """The paper's default (section 6): 432 hosts, 256 packets each to a random other host, one ACK a packet."""
    scenario = Scenario(
        fabric=FatTree(radix=12),
        workload=Permutation(message=message(256)),
        balancer=balancer_from_text(balancer),
        run=Run(seed=seed, threads=1),
    )
    return _outcome(simulate(scenario), 256)


@cache
def data_only_run(balancer: str, packets: int, seed: int, *, northbound: bool = False, radix: int = 8) -> Outcome:
    """The setting of the theorems (section 3.3): no ACKs. `northbound`: every destination lies in another pod."""
    workload = InterPodPermutation if northbound else Permutation
    scenario = Scenario(
        fabric=FatTree(radix=radix),
        workload=workload(message=message(packets)),
        balancer=balancer_from_text(balancer),
        transport=Paced(acks="off"),
        run=Run(seed=seed, threads=1),
    )
    return _outcome(simulate(scenario), packets)
