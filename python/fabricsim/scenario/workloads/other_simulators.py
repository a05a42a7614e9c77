"""Workloads in the formats of other simulators."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.workloads.workload_kind import WorkloadKind


class Htsim(WorkloadKind):
    """A traffic matrix of the htsim simulators (`.cm`), triggers and barriers included."""

    summary: ClassVar[str] = "A traffic matrix of the htsim simulators (.cm)."
    source: ClassVar[str] = "htsim"

    kind: Literal["htsim"] = "htsim"
    path: Path = Field(description="The .cm file. Its `Nodes` must be the fabric's number of hosts.")
    start_unit: Literal["us", "ps"] = Field(
        default="us",
        description="Unit of `start` in the file. htsim's tools disagree: uet-htsim and csg swift read microseconds, "
        "csg ndp, eqds and hpcc picoseconds.",
    )


class DcpimTrace(WorkloadKind):
    """A flow trace of the dcPIM simulator, in which dcPIM, pHost and pFabric were compared.

    A flow a line: `id start_s x x size_packets x x src dst`, x anything. Its time begins at 1.0 s, which is 0 here; a
    packet is one of `frame.payload` here. A host visits its flows in the order of their lines.
    """

    summary: ClassVar[str] = "A flow trace of the dcPIM simulator."
    source: ClassVar[str] = "dcPIM's simulator"

    kind: Literal["dcpim-trace"] = "dcpim-trace"
    path: Path = Field(description="The file of flows.")
