"""What the tests of the dcSim paper's results share: its preset, flows by hand, what a trace says of Sims and Datas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from fabricsim import Results, Scenario, scenario_from_mapping, simulate

RATE_BPS = 800 * 10**9
DATA_BYTES, SMALL_BYTES, B = 9000, 64, 12
DATA_PS, SMALL_PS = 90_000, 640
HOP_PS, LINKS = 650_000, 6
RTT_MAX_PS = 22_041_216
"""RTT_p + 2 H (B delta + L/C + l/C) with six links, by hand: 7.8 us + 12 (12 * 91.344 + 90 + 0.64) ns."""


def scenario(workload: dict[str, Any], **parts: dict[str, Any]) -> Scenario:
    return scenario_from_mapping({"preset": "dcsim-paper", "workload": workload, **parts})


def run(workload: dict[str, Any], **parts: dict[str, Any]) -> Results:
    return simulate(scenario(workload, **parts))


def flow(src: int, dst: int, packets: int, **others: int | str) -> dict[str, Any]:
    return {"src": src, "dst": dst, "bytes": DATA_BYTES * packets, **others}


def messages(*flows: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "messages", "messages": flows}


def data_buffer(packets: int) -> str:
    """A port's buffer with room for so many Datas, beside three queues of B small packets."""
    return f"{packets * DATA_BYTES + 3 * B * SMALL_BYTES}B"


@dataclass(frozen=True)
class Sim:
    """A Sim that a host sent, `acked_ps` None if its Sim-Ack never came back; links by rows of the ports."""

    sent_ps: int
    acked_ps: int | None
    links: tuple[int, ...]


@dataclass(frozen=True)
class Data:
    """The first transmission of a Data."""

    psn: int
    sent_ps: int
    links: tuple[int, ...]


def sims_of(results: Results, message: int) -> list[Sim]:
    """The Sims of a message in the order in which its host sent them, out of the trace."""
    kinds = _of(results, message)
    back = results.ports.with_row_index().filter(pl.col("to") == f"host-{results.flows['src'][message]}")["index"][0]
    acks = kinds["sim-ack"].filter(pl.col("link") == back) if "sim-ack" in kinds else None
    found = []
    for (number,), rows in kinds["sim"].group_by("psn", maintain_order=True):
        acked = None if acks is None else acks.filter(pl.col("psn") == number)["at_ps"]
        acked_ps = int(acked[0]) if acked is not None and len(acked) else None
        found.append(Sim(_sent(rows, SMALL_PS), acked_ps, tuple(rows["link"])))
    return found


def datas_of(results: Results, message: int) -> list[Data]:
    """The Datas of a message in the order in which its host sent them, out of the trace. Each was sent once."""
    by_psn = _of(results, message)["data"].group_by("psn", maintain_order=True)
    return [Data(int(psn), _sent(rows, DATA_PS), tuple(rows["link"])) for (psn,), rows in by_psn]


def matched(sims: list[Sim]) -> list[Sim]:
    """The Sims that came back, in the order of their Sim-Acks: so the first Data waiting each time is 0, 1, 2, ..."""
    return sorted((sim for sim in sims if sim.acked_ps is not None), key=lambda sim: sim.acked_ps or 0)


def _of(results: Results, message: int) -> dict[str, pl.DataFrame]:
    assert results.trace is not None
    rows = results.trace.filter(pl.col("flow") == message).sort("at_ps", maintain_order=True)
    return {str(kind): part for (kind,), part in rows.group_by("kind", maintain_order=True)}


def _sent(rows: pl.DataFrame, transmission_ps: int) -> int:
    """When the first bit left the host: its whole was one latency and transmission later at the first switch."""
    return int(rows["at_ps"][0]) - HOP_PS - transmission_ps
