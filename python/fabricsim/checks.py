"""The physics no run may break, and the word about a run that did not finish. Every run is held to these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim.errors import BoundViolationError, UnfinishedError
from fabricsim.scenario.derived import derived
from fabricsim.scenario.transports import Dcsim, Paced
from fabricsim.summary import bounded_cct_ps, unfinished_flows

if TYPE_CHECKING:
    import polars as pl

    from fabricsim.results import Results
    from fabricsim.scenario import Scenario

# How many flows or ports an error names.
NAMED = 5


def check(results: Results) -> None:
    """Raise unless the run finished within the bounds of physics.

    Raises:
        UnfinishedError: a flow did not deliver (or acknowledge) everything; names flows and the ports that dropped.
        BoundViolationError: packets were lost from the count, a flow beat its ideal time, the CCT beat its lower bound,
            a link carried more than its rate or a Sim came back later than dcSim's Theorem 2 admits: an error of the
            simulator, not of the scenario.

    """
    violations = [
        *_conservation(results),
        *_deliveries(results),
        *_sims(results),
        *_flows_too_fast(results),
        *_cct_too_short(results),
        *_links_too_full(results),
    ]
    if violations:
        raise BoundViolationError("the run breaks physical bounds:\n  " + "\n  ".join(violations), results=results)
    endless = results.scenario.workload.is_endless
    if results.summary["unfinished_count"] or (results.summary["status"] != "done" and not endless):
        raise UnfinishedError(_unfinished(results), results=results)


def _unfinished(results: Results) -> str:
    import polars as pl

    summary, transport = results.summary, results.scenario.transport
    stuck = unfinished_flows(results.scenario, results.flows, summary["status"])
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
        paced = ", and paced hosts do not send lost packets again" if isinstance(transport, Paced) else ""
        why += f"; frames were {words}{paced}"
    lines = [
        f"{stuck.height} of {summary['flows_count']} flows are unfinished after {summary['simulated_us']:.3f} us: {why}"
    ]
    for flow in stuck.head(NAMED).to_dicts():
        counts = f"{flow['delivered_packets_count']} of {flow['packets_count']} packets delivered"
        if flow["start_ps"] is None:
            counts = "never started"
        elif transport.acks_messages:
            counts += f", {flow['acked_packets_count']} acknowledged"
        lines.append(f"flow {flow['message']} (host-{flow['src']} to host-{flow['dst']}): {counts}")
    if stuck.height > NAMED:
        lines.append(f"and {stuck.height - NAMED} more")
    lines += [
        f"port {row['from']} to {row['to']} dropped {row['drops']} frames" for row in dropping.head(NAMED).to_dicts()
    ]
    reason = "was down or lost by chance" if results.scenario.fabric.losses else "was down"
    lines += [
        f"link {row['from']} to {row['to']} {reason}: {row['lost']} frames lost"
        for row in losing.head(NAMED).to_dicts()
    ]
    if unroutable:
        lines.append(f"{unroutable} frames were lost where no link was left towards their destination")
    return "\n  ".join(lines)


def _conservation(results: Results) -> list[str]:
    """Frames out of hosts = into hosts + dropped and lost at switches + under way at the end.

    What a switch trims was data before and is control from then on.
    """
    import polars as pl

    ports = results.ports
    out, into = (ports.filter(pl.col(end).str.starts_with("host-")) for end in ("from", "to"))
    switches = ports.filter(~pl.col("from").str.starts_with("host-"))
    trimmed = int(switches["trimmed_count"].sum())
    faults = []
    for kind, became in (("data", -trimmed), ("control", trimmed)):
        sent = int(out[f"{kind}_frames_count"].sum())
        arrived = int(into[f"{kind}_frames_count"].sum())
        dropped = int(switches[f"dropped_{kind}_count"].sum())
        lost = int(switches[f"lost_{kind}_count"].sum()) + int(results.totals[f"unroutable_{kind}_count"])
        ended = arrived + dropped + lost
        if sent + became < ended or (_is_all_over(results) and sent + became > ended):
            trims = f", {trimmed} trimmed" if trimmed else ""
            faults.append(
                f"{kind} frames: {sent} sent by hosts, {arrived} delivered, {dropped} dropped and {lost} lost{trims}"
            )
    return faults


def _is_all_over(results: Results) -> bool:
    """Whether nothing is under way any more: hosts that do not pace may still have copies and control packets."""
    scenario = results.scenario
    ended = results.summary["unfinished_count"] == 0 and not scenario.workload.is_endless
    return ended and isinstance(scenario.transport, Paced)


def _deliveries(results: Results) -> list[str]:
    """Each packet counts once, however often it came, and none comes that was not sent."""
    import polars as pl

    flows, ports = results.flows, results.ports
    over = flows.filter(pl.col("delivered_packets_count") > pl.col("packets_count"))
    faults = [
        f"flow {row['message']}: {row['delivered_packets_count']} packets delivered of {row['packets_count']}"
        for row in over.head(NAMED).to_dicts()
    ]
    ahead = flows.filter(pl.col("acked_packets_count") > pl.col("delivered_packets_count"))
    faults += [
        f"flow {row['message']}: {row['acked_packets_count']} packets acknowledged, {row['delivered_packets_count']} "
        "delivered"
        for row in ahead.head(NAMED).to_dicts()
    ]
    came = int(ports.filter(pl.col("to").str.starts_with("host-"))["data_frames_count"].sum())
    packets, delivered, again = (
        int(flows[f"{what}packets_count"].cast(pl.Int64).sum()) for what in ("", "delivered_", "retransmitted_")
    )
    duplicates = int(results.summary["transport_counts"].get("duplicates_count", 0))
    # Of what came, some may be on the last link still, but for paced hosts that are done.
    if came < delivered + duplicates or (_is_all_over(results) and came > delivered + duplicates):
        faults.append(f"data frames: {came} came to hosts, {delivered} packets and {duplicates} duplicates counted")
    sent = int(ports.filter(pl.col("from").str.starts_with("host-"))["data_frames_count"].sum())
    if sent > packets + again:
        faults.append(f"data frames: {sent} sent by hosts, of {packets} packets and {again} retransmissions")
    return faults


def _sims(results: Results) -> list[str]:
    """Under dcSim: each Sim is acknowledged or times out once, and none takes longer than Theorem 2 admits.

    A Sim-Ack that comes after RTT_max is counted as late, not timed: there is none where RTT_max is the theorem's.
    """
    counts, scenario = results.summary["transport_counts"], results.scenario
    if not isinstance(scenario.transport, Dcsim):
        return []
    sent, acked, late, timed_out = (
        counts[f"{name}_count"] for name in ("sims_sent", "sims_acked", "sim_acks_late", "sims_timed_out")
    )
    faults = []
    if acked + timed_out > sent or late > timed_out:
        faults.append(f"Sims: {sent} sent, {acked} acknowledged, {timed_out} timed out, {late} acknowledged after that")
    most, slowest = theorem_2_ps(scenario), counts["sim_rtt_max_ps"]
    if most is not None and slowest > most:
        faults.append(f"a Sim's RTT was {slowest} ps, more than the {most} ps of dcSim's Theorem 2")
    elif most is not None and late and most <= results.totals["rtt_max_ps"]:
        faults.append(f"{late} Sims' RTTs were above RTT_max, which is not below the {most} ps of dcSim's Theorem 2")
    return faults


def theorem_2_ps(scenario: Scenario) -> int | None:
    """Return the largest RTT of a Sim by Theorem 2 of dcSim; None where its assumptions do not hold.

    It takes dcSim's ports, links of one rate that stay as they are, clocks that agree, and buckets that hold no more
    tokens than queues hold Sims.
    """
    transport, fabric = scenario.transport, scenario.fabric
    if not isinstance(transport, Dcsim) or transport.clock_drift_ppm > 0:
        return None
    here = derived(scenario)
    discipline = transport.lowered_discipline(here)
    rates = {int(link.rate) for link in fabric.tier_links().values()}
    one_rate = len(rates) == 1 and not fabric.links_listed().links_degraded
    if not one_rate or discipline["bucket_packets"] > discipline["queue_packets"]:
        return None
    return here.rtt_max_ps(discipline["queue_packets"], discipline["token_factor"])


def _flows_too_fast(results: Results) -> list[str]:
    import polars as pl

    from fabricsim import bounds

    flows = results.flows.with_columns(least_ps=pl.col("ideal_fct_ps"))
    if bounds.splits_bytes(results.scenario):
        src, dst, size = (flows[name].to_numpy() for name in ("src", "dst", "message_bytes"))
        least = bounds.frameless_fct_ps(results.scenario, src, dst, size)
        flows = flows.with_columns(least_ps=pl.Series(least))
    src, dst, packets = (flows[name].to_numpy() for name in ("src", "dst", "packets_count"))
    wait = bounds.sim_wait_ps(results.scenario, src, dst, packets)
    flows = flows.with_columns(least_ps=pl.col("least_ps") + pl.Series(wait))
    fast = flows.filter(pl.col("fct_ps") < pl.col("least_ps"))
    return [
        f"flow {row['message']} (host-{row['src']} to host-{row['dst']}) took {row['fct_ps']} ps, less than the ideal "
        f"{row['least_ps']} ps"
        for row in fast.head(NAMED).to_dicts()
    ]


def _cct_too_short(results: Results) -> list[str]:
    cct = bounded_cct_ps(results.scenario, results.flows)
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
