"""The physics no run may break, and the word about a run that did not finish. Every run is held to these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim import metrics
from fabricsim.errors import BoundViolationError, UnfinishedError

if TYPE_CHECKING:
    import polars as pl

    from fabricsim.results import Results

# How many flows or ports an error names.
NAMED = 5


def check(results: Results) -> None:
    """Raise unless the run finished within the bounds of physics.

    Raises:
        UnfinishedError: a flow did not deliver (or acknowledge) everything; names flows and the ports that dropped.
        BoundViolationError: packets were lost from the count, a flow beat its ideal time, the CCT beat its lower bound
            or a link carried more than its rate: an error of the simulator, not of the scenario.

    """
    violations = [
        *_conservation(results),
        *_flows_too_fast(results),
        *_cct_too_short(results),
        *_links_too_full(results),
    ]
    if violations:
        raise BoundViolationError("the run breaks physical bounds:\n  " + "\n  ".join(violations), results=results)
    if results.summary["unfinished_count"]:
        raise UnfinishedError(_unfinished(results), results=results)


def _unfinished(results: Results) -> str:
    import polars as pl

    summary = results.summary
    acks = results.scenario.transport.acks == "per-packet"
    stuck = metrics.unacknowledged(results.flows) if acks else metrics.unfinished(results.flows)
    why = {
        "stuck": "nothing is left to happen",
        "time-limit": f"the time limit of {results.scenario.run.time_limit} is reached (run.time_limit)",
    }.get(summary["status"], summary["status"])
    ports = results.ports.with_columns(lost=pl.col("lost_data_count") + pl.col("lost_control_count"))
    dropping = ports.filter(pl.col("drops") > 0).sort("drops", descending=True)
    losing = ports.filter(pl.col("lost") > 0).sort("lost", descending=True)
    unroutable = summary["lost_count"]["unroutable"]
    if summary["status"] == "stuck" and (dropping.height or losing.height or unroutable):
        words = "dropped" if dropping.height else "lost"
        why += f"; frames were {words}, and paced hosts do not send lost packets again"
    lines = [
        f"{stuck.height} of {summary['flows_count']} flows are unfinished after {summary['simulated_us']:.3f} us: {why}"
    ]
    for flow in stuck.head(NAMED).to_dicts():
        counts = f"{flow['delivered_packets_count']} of {flow['packets_count']} packets delivered"
        if flow["start_ps"] is None:
            counts = "never started"
        elif acks:
            counts += f", {flow['acked_packets_count']} acknowledged"
        lines.append(f"flow {flow['message']} (host-{flow['src']} to host-{flow['dst']}): {counts}")
    if stuck.height > NAMED:
        lines.append(f"and {stuck.height - NAMED} more")
    lines += [
        f"port {row['from']} to {row['to']} dropped {row['drops']} frames" for row in dropping.head(NAMED).to_dicts()
    ]
    lines += [
        f"link {row['from']} to {row['to']} was down: {row['lost']} frames lost"
        for row in losing.head(NAMED).to_dicts()
    ]
    if unroutable:
        lines.append(f"{unroutable} frames were lost where no link was left towards their destination")
    return "\n  ".join(lines)


def _conservation(results: Results) -> list[str]:
    """Frames out of hosts = into hosts + dropped and lost at switches; while unfinished, the rest is in flight."""
    import polars as pl

    ports = results.ports
    out, into = (ports.filter(pl.col(end).str.starts_with("host-")) for end in ("from", "to"))
    switches = ports.filter(~pl.col("from").str.starts_with("host-"))
    done = results.summary["unfinished_count"] == 0
    faults = []
    for kind in ("data", "control"):
        sent = int(out[f"{kind}_frames_count"].sum())
        arrived = int(into[f"{kind}_frames_count"].sum())
        dropped = int(switches[f"dropped_{kind}_count"].sum())
        lost = int(switches[f"lost_{kind}_count"].sum()) + int(results.totals[f"unroutable_{kind}_count"])
        ended = arrived + dropped + lost
        if sent < ended or (done and sent > ended):
            faults.append(
                f"{kind} frames: {sent} sent by hosts, {arrived} delivered, {dropped} dropped and {lost} lost"
            )
    over = results.flows.filter(pl.col("delivered_packets_count") > pl.col("packets_count"))
    faults += [
        f"flow {row['message']}: {row['delivered_packets_count']} packets delivered of {row['packets_count']}"
        for row in over.head(NAMED).to_dicts()
    ]
    return faults


def _flows_too_fast(results: Results) -> list[str]:
    import polars as pl

    from fabricsim import bounds

    flows = results.flows.with_columns(least_ps=pl.col("ideal_fct_ps"))
    if bounds.splits_bytes(results.scenario):
        src, dst, size = (flows[name].to_numpy() for name in ("src", "dst", "message_bytes"))
        least = bounds.frameless_fct_ps(results.scenario, src, dst, size)
        flows = flows.with_columns(least_ps=pl.Series(least))
    fast = flows.filter(pl.col("fct_ps") < pl.col("least_ps"))
    return [
        f"flow {row['message']} (host-{row['src']} to host-{row['dst']}) took {row['fct_ps']} ps, less than the ideal "
        f"{row['least_ps']} ps"
        for row in fast.head(NAMED).to_dicts()
    ]


def _cct_too_short(results: Results) -> list[str]:
    acks = results.scenario.transport.acks == "per-packet"
    cct = metrics.cct_acked_ps(results.flows) if acks else metrics.cct_delivered_ps(results.flows)
    least = results.totals["least_cct_ps"]
    return (
        []
        if cct is None or cct >= least
        else [f"the CCT of {cct} ps is less than the {least} ps that the model admits"]
    )


def _links_too_full(results: Results) -> list[str]:
    """Busy time <= the run's time, but for one frame that may still be on the wire at its end.

    A frame's time is rounded to a picosecond, so a frame may weigh up to 1 ps more than its bytes.
    """
    full = results.ports.filter(_excess_ps(results) > 0)
    return [
        f"link {row['from']} to {row['to']} was taken {row['utilisation_fraction']:.6f} of the time"
        for row in full.head(NAMED).to_dicts()
    ]


def _excess_ps(results: Results) -> pl.Expr:
    import polars as pl

    frame = results.scenario.frame
    frame_bytes = int(frame.payload) + int(frame.header) + int(frame.gap)
    frame_ps = frame_bytes * 8e3 / pl.col("rate_gbps")
    rounding_ps = pl.col("data_frames_count") + pl.col("control_frames_count")
    return pl.col("busy_ps") - results.duration_ps - frame_ps - rounding_ps
