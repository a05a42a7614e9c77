"""The one JSON object a run comes down to: the fields of the command line's `--json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabricsim import metrics
from fabricsim.deployment import deployment_text
from fabricsim.failures import drawn_failures
from fabricsim.tables import STAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from fabricsim.scenario import Scenario


def summarise(
    scenario: Scenario, flows: pl.DataFrame, ports: pl.DataFrame, totals: Mapping[str, Any]
) -> dict[str, Any]:
    """Sum up a run from its tables; the host's costs (`wall_s` ...) are the caller's to add.

    `scenario`: with its load as a number.
    Times in microseconds, sizes in bytes, fractions from 0 to 1. `cct_increase_fraction` compares `bound_us` with
    `cct_acked_us`, or with `cct_delivered_us` when ACKs are off (then `cct_acked_us` is null). The maxima are over the
    switches' ports. A value that does not exist (a CCT with unfinished flows, queues not measured) is None.
    """
    acked = metrics.cct_acked_ps(flows)
    delivered = metrics.cct_delivered_ps(flows)
    cct = acked if scenario.transport.acks == "per-packet" else delivered
    drops = metrics.drops_count(ports)
    marks = int(ports["marks"].sum())
    failures = drawn_failures(scenario.fabric, scenario.run.seed)
    return {
        "status": totals["status"],
        "balancer": scenario.balancer.kind,
        "deployment": deployment_text(scenario.deployment),
        "workload": scenario.workload.kind,
        "seed": scenario.run.seed,
        "hosts": scenario.fabric.hosts_count,
        "load": scenario.transport.load,
        "links_down_count": len({*scenario.fabric.links_down, *failures.links}),
        "failure_redraws_count": failures.redraws_count,
        "flows_count": flows.height,
        "unfinished_count": unfinished_count(scenario, flows),
        "cct_acked_us": in_us(acked),
        "cct_delivered_us": in_us(delivered),
        "bound_us": in_us(int(totals["bound_ps"])),
        "cct_increase_fraction": metrics.cct_increase_fraction(cct, int(totals["bound_ps"])),
        "max_queue_packets": metrics.switch_max(ports, "max_queue_packets"),
        "max_queue_bytes": metrics.switch_max(ports, "max_queue_bytes"),
        "queues": metrics.queues_by_stage(ports, STAGES[scenario.fabric.kind]),
        "drops_count": drops,
        "lost_count": metrics.lost_count(ports, totals),
        "marks_count": marks,
        "utilisation_fraction": metrics.utilisation_fraction(flows, ports, cct),
        "packets_count": int(flows["packets_count"].sum()),
        "packet_hops_count": int(totals["packet_hops_count"]),
        "simulated_us": in_us(int(totals["end_at_ps"])),
        "threads": int(totals["threads"]),
        "result_hash": metrics.result_hash(flows, drops, marks),
    }


def unfinished_count(scenario: Scenario, flows: pl.DataFrame) -> int:
    """Flows that are not done: not wholly delivered or, with ACKs, not wholly acknowledged."""
    acks = scenario.transport.acks == "per-packet"
    return (metrics.unacknowledged(flows) if acks else metrics.unfinished(flows)).height


def in_us(ps: int | None) -> float | None:
    """Picoseconds as microseconds."""
    return None if ps is None else ps / 1e6
