"""What a run came to: pure functions of its flows and ports tables.

CCT (collective completion time) has two definitions and both are kept: `cct_acked` ends with the last ACK received by a
sender (Ofan paper, section 6), `cct_delivered` with the last data packet's arrival (dcSim paper, section 4). Both start
with the first data packet. A run with an unfinished flow has neither.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl


def unfinished(flows: pl.DataFrame) -> pl.DataFrame:
    """Return the flows that have not delivered every packet."""
    import polars as pl

    return flows.filter(
        pl.col("last_delivered_ps").is_null() | (pl.col("delivered_packets_count") < pl.col("packets_count"))
    )


def unacknowledged(flows: pl.DataFrame) -> pl.DataFrame:
    """Return the flows whose sender has not got its last ACK (all of them when ACKs are off)."""
    import polars as pl

    return flows.filter(pl.col("last_acked_ps").is_null() | (pl.col("acked_packets_count") < pl.col("packets_count")))


def first_start_ps(flows: pl.DataFrame) -> int:
    """When the first data packet started; 0 if none ever did."""
    return cast("int | None", flows["start_ps"].min()) or 0


def cct_delivered_ps(flows: pl.DataFrame) -> int | None:
    """First data packet's start to the last data packet's arrival; None while a flow is unfinished."""
    if flows.is_empty() or not unfinished(flows).is_empty():
        return None
    return cast("int", flows["last_delivered_ps"].max()) - first_start_ps(flows)


def cct_acked_ps(flows: pl.DataFrame) -> int | None:
    """First data packet's start to the last ACK's arrival; None while an ACK is missing, or with ACKs off."""
    if flows.is_empty() or not unacknowledged(flows).is_empty():
        return None
    return cast("int", flows["last_acked_ps"].max()) - first_start_ps(flows)


def cct_increase_fraction(cct_ps: int | None, bound_ps: int) -> float | None:
    """CCT over its lower bound, minus 1."""
    return None if cct_ps is None or bound_ps == 0 else cct_ps / bound_ps - 1


def utilisation_fraction(flows: pl.DataFrame, ports: pl.DataFrame, cct_ps: int | None) -> float | None:
    """Return delivered data frames (payload and header, no gap) in bits over (sending hosts' link rates * CCT).

    See "Utilisation" in docs/explanation/measures.md.
    """
    import polars as pl

    if not cct_ps:
        return None
    senders = "host-" + flows["src"].unique().cast(pl.String)
    rate_gbps = cast("float", ports.filter(pl.col("from").is_in(senders.implode()))["rate_gbps"].sum())
    into_hosts = pl.col("stage").str.ends_with("-host")
    delivered_bytes = cast("int", ports.filter(into_hosts)["data_bytes"].sum())
    return delivered_bytes * 8 / (rate_gbps * 1e9 * cct_ps * 1e-12)


def queues_by_stage(ports: pl.DataFrame, stages: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """For each stage `max_packets`, `mean_packets` (over time and links) and `overload_fraction`.

    `overload_fraction` is the largest carried data of a link of the stage over the links' mean, minus 1; 0 if the stage
    carried nothing.
    """
    import polars as pl

    carried = pl.col("data_bytes")
    rows = ports.group_by("stage").agg(
        max_packets=pl.col("max_queue_packets").max(),
        mean_packets=pl.col("mean_queue_packets").mean(),
        overload_fraction=pl.when(carried.sum() > 0).then(carried.max() / carried.mean() - 1).otherwise(0.0),
    )
    by_stage = {row.pop("stage"): row for row in rows.to_dicts()}
    return {stage: by_stage[stage] for stage in stages if stage in by_stage}


def switch_max(ports: pl.DataFrame, column: str) -> int | None:
    """Return the largest value of `column` over the ports of switches: a host's own NIC queue does not count."""
    import polars as pl

    return cast("int | None", ports.filter(~pl.col("stage").str.starts_with("host-"))[column].max())


def drops_count(ports: pl.DataFrame) -> dict[str, int]:
    """Frames that found a buffer full, by kind: `data` and `control`."""
    return {kind: int(ports[f"dropped_{kind}_count"].sum()) for kind in ("data", "control")}


def lost_count(ports: pl.DataFrame, totals: Mapping[str, int]) -> dict[str, int]:
    """Frames, data and ACKs, that were lost to failures: in or into a dead link, or for want of a valid uplink."""
    kinds = ("data", "control")
    return {
        "dead_link": sum(int(ports[f"lost_{kind}_count"].sum()) for kind in kinds),
        "unroutable": sum(totals[f"unroutable_{kind}_count"] for kind in kinds),
    }


def result_hash(flows: pl.DataFrame, drops: dict[str, int], marks: int) -> str:
    """32 hex digits that are equal exactly when two runs came out the same.

    SHA-256 over the flows' rows (src, dst, bytes, packets, moments, counts) in sorted order, without the row number,
    and the drops and marks. So neither the order of the input, nor the threads, nor what was measured, can change it.
    """
    import numpy as np
    import polars as pl

    columns = ["src", "dst", "message_bytes", "packets_count", "delivered_packets_count", "acked_packets_count"]
    moments = ["start_ps", "first_delivered_ps", "last_delivered_ps", "last_acked_ps"]
    rows = flows.select(*columns, *moments).cast(pl.Int64).fill_null(-1).sort(columns + moments)
    digest = sha256()
    for name in rows.columns:
        digest.update(np.ascontiguousarray(rows[name].to_numpy(), dtype="<i8").tobytes())
    digest.update(repr((sorted(drops.items()), marks)).encode())
    return digest.hexdigest()[:32]
