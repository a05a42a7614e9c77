"""The core's columns as tables a person can read: one row a message, a directed link, an interval, a reception."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabricsim.scenario.transports import Paced

if TYPE_CHECKING:
    import polars as pl

    from fabricsim._core import CoreFlows, CorePorts, CoreSeries, CoreTrace, CoreWindows
    from fabricsim.bounds import Bounds
    from fabricsim.scenario import Scenario
    from fabricsim.workloads import Messages

# What the core writes for a moment that never came; a table says null.
NEVER_PS = 2**64 - 1

# A node's name by the core's tier number (bindings/README.md). A two-tier tree has no tier 2.
TIER_NAMES = {"fat-tree": ("host", "edge", "agg", "core"), "leaf-spine": ("host", "leaf", "", "spine")}

# Stages in the order a packet meets them.
STAGES = {
    "fat-tree": ("host-edge", "edge-agg", "agg-core", "core-agg", "agg-edge", "edge-host"),
    "leaf-spine": ("host-leaf", "leaf-spine", "spine-leaf", "leaf-host"),
}

# Queues of their own that small packets have under port.discipline = dcsim.
LANES = ("sim", "sim_ack", "data_ack")

# What series tell of windows.
WINDOW_COLUMNS = ("window_bytes", "in_flight_bytes")

# Kinds of packets by the core's numbers (bindings/README.md).
PACKET_KINDS = (
    "data", "ack", "sim", "sim-ack", "data-ack", "rts", "token", "request", "grant", "accept", "probe",
    "trimmed", "nack",
)  # fmt: skip


def flows_table(scenario: Scenario, messages: Messages, core: CoreFlows, limits: Bounds) -> pl.DataFrame:
    """One row a message, in input order; moments as exact `*_ps` (Int64, null = never) and as `*_us` floats.

    `fct_*` runs from the flow's start to its last data packet's arrival; `slowdown` is `fct` over the ideal one of an
    idle fabric. `delay_mean_us` is the mean over its packets of the time from first transmission to first reception;
    `queueing_delay_mean_us` is that less a packet's mean time over the idle path (dcSim section 4.1). Paced hosts look
    neither at delays nor at the order of packets: null.
    """
    import polars as pl

    moments = {
        "start_ps": core["started_at_ps"],
        "first_delivered_ps": core["first_delivered_at_ps"],
        "last_delivered_ps": core["last_delivered_at_ps"],
        "last_acked_ps": core["last_acked_at_ps"],
    }
    frame = pl.DataFrame(
        {
            "message": pl.Series(range(len(messages.src)), dtype=pl.UInt32),
            "collective": messages.collective,
            "src": messages.src,
            "dst": messages.dst,
            "message_bytes": messages.bytes,
            "packets_count": core["packets_count"],
            "delivered_packets_count": core["delivered_packets_count"],
            "acked_packets_count": core["acked_packets_count"],
            "retransmitted_packets_count": core["retransmitted_packets_count"],
            "reordered_packets_count": core["reordered_packets_count"],
            **moments,
            "delay_ps": core["delay_ps"],
            "ideal_fct_ps": limits.ideal_fct_ps,
            "earliest_start_ps": messages.start_ps,
            "unloaded_ps": limits.unloaded_ps,
        }
    )
    if isinstance(scenario.transport, Paced):
        frame = frame.with_columns(pl.lit(None, pl.UInt32).alias("reordered_packets_count"))
    known = (*moments, "delay_ps")
    exact = [pl.when(pl.col(name) != NEVER_PS).then(pl.col(name)).cast(pl.Int64).alias(name) for name in known]
    frame = frame.with_columns(*exact, pl.col("ideal_fct_ps", "earliest_start_ps").cast(pl.Int64))
    frame = frame.with_columns(fct_ps=pl.col("last_delivered_ps") - pl.col("start_ps"))
    in_us = [(pl.col(name) / 1e6).alias(name.removesuffix("_ps") + "_us") for name in (*moments, "fct_ps")]
    delay_ps = pl.col("delay_ps") / pl.col("packets_count")
    frame = frame.with_columns(
        *in_us,
        slowdown=pl.col("fct_ps") / pl.col("ideal_fct_ps"),
        delay_mean_us=delay_ps / 1e6,
        queueing_delay_mean_us=(delay_ps - pl.col("unloaded_ps")) / 1e6,
    ).drop("unloaded_ps")
    counts = ["message", "collective", "src", "dst", "message_bytes", "packets_count"]
    times = ["start_us", "first_delivered_us", "last_delivered_us", "last_acked_us", "fct_us", "slowdown"]
    return frame.select(*counts, *times, pl.exclude(*counts, *times))


def ports_table(scenario: Scenario, core: CorePorts, duration_ps: int) -> pl.DataFrame:
    """One row a directed link and the egress port that feeds it, in the core's order (`trace.link` is its row).

    `utilisation_fraction` is the time the link was taken by frames and the gaps after them, over `duration_ps` (first
    data packet's start to the last completion); `mean_queue_*` are averages over the same time. Queues in packets are
    queues in bytes over a data frame's bytes. With `measure.queues` off the queue columns are null. Where the core
    counts the lanes of dcSim's ports, the columns of each follow.
    """
    import polars as pl

    names = TIER_NAMES[scenario.fabric.kind]
    data_frame = int(scenario.frame.payload) + int(scenario.frame.header)
    gap = int(scenario.frame.gap)
    # A run in which nothing moved has no duration; its averages are 0, not a division by zero.
    duration = max(duration_ps, 1)

    def node(end: str) -> pl.Expr:
        tier = pl.col(f"{end}_tier").replace_strict(dict(enumerate(names)), return_dtype=pl.String)
        return pl.concat_str([tier, pl.col(f"{end}_index").cast(pl.String)], separator="-").alias(end)

    def stage() -> pl.Expr:
        tiers = [
            pl.col(f"{end}_tier").replace_strict(dict(enumerate(names)), return_dtype=pl.String)
            for end in ("from", "to")
        ]
        return pl.concat_str(tiers, separator="-").alias("stage")

    def queue(column: pl.Expr, name: str) -> pl.Expr:
        return (column if scenario.measure.queues else pl.lit(None, dtype=pl.Float64)).alias(name)

    carried = pl.col("data_bytes") + pl.col("control_bytes")
    frames = pl.col("data_frames_count") + pl.col("control_frames_count")
    busy_ps = (carried + frames * gap).cast(pl.Float64) * 8e12 / pl.col("rate_bps")
    return pl.DataFrame(dict(core)).select(
        node("from"),
        node("to"),
        stage(),
        pl.when(pl.col("to_tier") > pl.col("from_tier"))
        .then(pl.lit("up"))
        .otherwise(pl.lit("down"))
        .alias("direction"),
        (pl.col("rate_bps") / 1e9).alias("rate_gbps"),
        (pl.col("latency_ps") / 1e3).alias("latency_ns"),
        "data_bytes",
        "control_bytes",
        carried.alias("carried_bytes"),
        (busy_ps / duration).alias("utilisation_fraction"),
        queue(pl.col("max_queue_bytes"), "max_queue_bytes"),
        queue(pl.col("max_queue_bytes") // data_frame, "max_queue_packets"),
        queue(pl.col("queue_byte_ps") / duration, "mean_queue_bytes"),
        queue(pl.col("queue_byte_ps") / duration / data_frame, "mean_queue_packets"),
        (pl.col("dropped_data_count") + pl.col("dropped_control_count")).alias("drops"),
        pl.col("marked_count").alias("marks"),
        "data_frames_count",
        "control_frames_count",
        "dropped_data_count",
        "dropped_control_count",
        "lost_data_count",
        "lost_control_count",
        "trimmed_count",
        (pl.col("paused_ps") / 1e6).alias("paused_us"),
        busy_ps.alias("busy_ps"),
        *(name for name in _lane_columns() if name in core),
    )


def _lane_columns() -> list[str]:
    counts = [name for lane in LANES for name in (f"{lane}_frames_count", f"dropped_{lane}_count")]
    return [*counts, *(f"max_waiting_{lane}_packets" for lane in (*LANES, "data"))]


def series_table(scenario: Scenario, core: CoreSeries) -> pl.DataFrame:
    """One row an interval of `measure.interval`: what happened in the whole fabric until `end_ps`, and at a port.

    `utilisation_fraction` is the data delivered in the interval, each packet once, over what all hosts' links could
    carry; the last interval may be shorter than the others. The `port_*` columns are of `measure.watched_port`: frames
    that it sent, and packets that wait in it at the interval's end. `queued_bytes`, `max_queue_bytes`, `window_bytes`
    and `in_flight_bytes` are of the moment `end_ps`; the last two are null where hosts have no windows.
    """
    import polars as pl

    from fabricsim.metrics import interval_utilisation

    table = pl.DataFrame(dict(core)).with_columns(pl.col("end_ps").cast(pl.Int64))
    if isinstance(scenario.transport, Paced):
        table = table.with_columns(pl.lit(None, pl.UInt64).alias("reordered_packets_count"))
    if not scenario.transport.has_window:
        table = table.with_columns(pl.lit(None, pl.UInt64).alias(name) for name in WINDOW_COLUMNS)
    capacity_bps = scenario.fabric.hosts_count * int(scenario.fabric.tier_links()["host_link"].rate)
    return table.select(
        (pl.col("end_ps") / 1e6).alias("end_us"),
        interval_utilisation(table, capacity_bps).alias("utilisation_fraction"),
        pl.all(),
    )


def windows_table(scenario: Scenario, core: CoreWindows, flows: pl.DataFrame) -> pl.DataFrame:
    """One row a message of `measure.watched_messages` and interval, while the message is not complete.

    `window_bytes` and `in_flight_bytes` are of the moment `end_ps`, `acked_packets_count` until then. `rate_gbps` is
    what was acknowledged since the row before, or since the message's start, in whole data frames, over the time
    between. `flows`: of `flows_table`.
    """
    import polars as pl

    rows = pl.DataFrame(dict(core)).with_columns(pl.col("end_ps", "acked_packets_count").cast(pl.Int64))
    rows = rows.with_columns(pl.col("message").cast(pl.UInt32)).join(
        flows.select("message", "start_ps"), on="message", how="left"
    )
    rows = rows.sort("message", "end_ps")
    since = pl.col("end_ps").shift(1).over("message").fill_null(pl.col("start_ps"))
    packets = pl.col("acked_packets_count") - pl.col("acked_packets_count").shift(1).over("message").fill_null(0)
    rate_gbps = packets * (scenario.frame.data_bytes * 8e3) / (pl.col("end_ps") - since)
    return rows.select(
        "message",
        (pl.col("end_ps") / 1e6).alias("end_us"),
        "window_bytes",
        "in_flight_bytes",
        "acked_packets_count",
        pl.when(packets > 0).then(rate_gbps).otherwise(0.0).alias("rate_gbps"),
        "end_ps",
    )


def trace_table(core: CoreTrace) -> pl.DataFrame:
    """One row a received packet: `at_ps`, `link` (row of ports), `flow` (row of flows), `psn`, `kind` (as `data`)."""
    import polars as pl

    kinds: dict[Any, str] = dict(enumerate(PACKET_KINDS))
    return pl.DataFrame(dict(core)).with_columns(pl.col("kind").replace_strict(kinds, return_dtype=pl.String))
