"""What a run came to: pure functions of its flows, ports and series tables.

CCT (collective completion time) has two definitions and both are kept: `cct_acked` ends with the last ACK received by a
sender (Ofan paper, section 6), `cct_delivered` with the last data packet's arrival (dcSim paper, section 4). Both start
with the first flow. A run with an unfinished flow has neither.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import ArrayLike, NDArray


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
    """When the first frame of any flow started; 0 if none ever did."""
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


def collective_cct(flows: pl.DataFrame) -> pl.DataFrame:
    """One row a `collective`: `flows_count`, and `cct_delivered_ps` from its first flow's start to its last delivery.

    Null for a collective with an unfinished flow.
    """
    import polars as pl

    missing = pl.col("last_delivered_ps").is_null() | (pl.col("delivered_packets_count") < pl.col("packets_count"))
    span = pl.col("last_delivered_ps").max() - pl.col("start_ps").min()
    return (
        flows.group_by("collective")
        .agg(pl.len().alias("flows_count"), pl.when(~missing.any()).then(span).alias("cct_delivered_ps"))
        .sort("collective")
    )


def collective_cct_mean_ps(flows: pl.DataFrame) -> float | None:
    """Mean of `collective_cct` over the collectives (dcSim section 4); None while a flow is unfinished."""
    if flows.is_empty() or not unfinished(flows).is_empty():
        return None
    return cast("float", collective_cct(flows)["cct_delivered_ps"].mean())


def packet_mean(flows: pl.DataFrame, column: str) -> float | None:
    """Return a flow's per-packet mean, such as `delay_mean_us`, averaged over all packets of the flows that have it."""
    import numpy as np
    import polars as pl

    known = flows.filter(pl.col(column).is_not_null())
    weights = known["packets_count"].to_numpy()
    return float(np.average(known[column].to_numpy(), weights=weights)) if known.height else None


def cct_increase_fraction(cct_ps: int | None, bound_ps: int) -> float | None:
    """CCT over its lower bound, minus 1."""
    return None if cct_ps is None or bound_ps == 0 else cct_ps / bound_ps - 1


def utilisation_fraction(
    flows: pl.DataFrame, ports: pl.DataFrame, span_ps: int | None, duplicates_bytes: int = 0
) -> float | None:
    """Return delivered data frames (payload and header, no gap) in bits over (sending hosts' link rates * span).

    The span is a run's CCT, or its whole duration where flows never end. `duplicates_bytes`: of data frames that
    hosts had already, which do not count. See "Utilisation" in docs/explanation/measures.md.
    """
    import polars as pl

    if not span_ps:
        return None
    senders = "host-" + flows["src"].unique().cast(pl.String)
    rate_gbps = cast("float", ports.filter(pl.col("from").is_in(senders.implode()))["rate_gbps"].sum())
    into_hosts = pl.col("stage").str.ends_with("-host")
    delivered_bytes = cast("int", ports.filter(into_hosts)["data_bytes"].sum()) - duplicates_bytes
    return delivered_bytes * 8 / (rate_gbps * 1e9 * span_ps * 1e-12)


def interval_utilisation(series: pl.DataFrame, capacity_bps: int) -> pl.Series:
    """Return for each interval of a series the data delivered in it over what `capacity_bps` carries.

    Each packet counts once. The first interval begins at 0.
    """
    length_ps = series["end_ps"] - series["end_ps"].shift(1, fill_value=0)
    return series["delivered_data_bytes"] * 8e12 / (length_ps * float(capacity_bps))


def cross_correlation(first: ArrayLike, second: ArrayLike, max_lag: int) -> NDArray[np.float64]:
    """Return Pearson's correlation of `first` with `second` that many intervals later, for lags 0 to `max_lag`.

    Such as the frames a port sends in each interval, Sims first and Datas second (dcSim Fig. 10). Each lag compares the
    intervals that both have; NaN where one of them does not vary. Raises `ScenarioError` unless both are of one length,
    which leaves two intervals or more at the largest lag.
    """
    import numpy as np

    from fabricsim.errors import ScenarioError

    ahead, behind = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if ahead.ndim != 1 or ahead.shape != behind.shape:
        raise ScenarioError("second", f"shape {behind.shape}", f"one dimension, as long as first: {ahead.shape}")
    if not 0 <= max_lag <= ahead.size - 2:
        raise ScenarioError("max_lag", max_lag, f"from 0 to {ahead.size - 2}, two intervals less than there are")
    found = np.full(max_lag + 1, np.nan)
    for lag in range(max_lag + 1):
        one, other = (part - part.mean() for part in (ahead[: ahead.size - lag], behind[lag:]))
        scale = np.sqrt((one**2).sum() * (other**2).sum())
        if scale > 0:
            found[lag] = (one * other).sum() / scale
    return found


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


def packet_kinds(ports: pl.DataFrame) -> list[str]:
    """Return the kinds of packets that ports tell apart: `data` and `control`, and the small ones of dcSim's lanes."""
    from fabricsim.tables import LANES

    return ["data", "control", *(lane for lane in LANES if f"{lane}_frames_count" in ports.columns)]


def drops_count(ports: pl.DataFrame) -> dict[str, int]:
    """Frames that found a buffer full, by kind: `data`, `control`, and each small kind of dcSim's, which is control."""
    return {kind: int(ports[f"dropped_{kind}_count"].sum()) for kind in packet_kinds(ports)}


def loss_fraction(ports: pl.DataFrame) -> dict[str, float | None]:
    """By kind, frames dropped by buffers anywhere over frames that hosts sent, those dropped at hosts included.

    None for a kind that nobody sent. Frames lost to failures are not in it.
    """
    import polars as pl

    hosts = ports.filter(pl.col("stage").str.starts_with("host-"))
    drops = drops_count(ports)
    sent = {
        kind: int(hosts[f"{kind}_frames_count"].sum()) + int(hosts[f"dropped_{kind}_count"].sum()) for kind in drops
    }
    return {kind: dropped / sent[kind] if sent[kind] else None for kind, dropped in drops.items()}


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
