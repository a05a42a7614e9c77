"""The one JSON object a run comes down to: the fields of the command line's `--json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabricsim import metrics
from fabricsim.bounds import bounds_cct_acked
from fabricsim.deployment import deployment_text
from fabricsim.failures import drawn_failures
from fabricsim.scenario.derived import derived
from fabricsim.scenario.transports import Paced
from fabricsim.tables import STAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from fabricsim.scenario import Scenario


def summarise(
    scenario: Scenario,
    flows: pl.DataFrame,
    ports: pl.DataFrame,
    totals: Mapping[str, Any],
    transport_counts: Mapping[str, int],
) -> dict[str, Any]:
    """Sum up a run from its tables; the host's costs (`wall_s` ...) are the caller's to add.

    `scenario`: with its load as a number. `transport_counts`: what its kind of transport counts (bindings/README.md).
    Times in microseconds, sizes in bytes, fractions from 0 to 1. `cct_increase_fraction` compares `bound_us` with the
    CCT that it bounds (`bounds_cct_acked`). The maxima are over the switches' ports. A value that does not exist (a CCT
    with unfinished flows, queues not measured) is None.
    """
    cct = bounded_cct_ps(scenario, flows)
    drops = metrics.drops_count(ports)
    marks = int(ports["marks"].sum())
    failures = drawn_failures(scenario.fabric, scenario.run.seed)
    span = int(totals["end_at_ps"]) - metrics.first_start_ps(flows) if scenario.workload.is_endless else cct
    duplicates_bytes = transport_counts.get("duplicates_count", 0) * scenario.frame.data_bytes
    return {
        "status": totals["status"],
        "transport": scenario.transport.kind,
        "balancer": scenario.balancer.kind,
        "deployment": deployment_text(scenario.deployment),
        "workload": scenario.workload.kind,
        "seed": scenario.run.seed,
        "hosts": scenario.fabric.hosts_count,
        "load": scenario.transport.load if isinstance(scenario.transport, Paced) else None,
        "links_down_count": len({*scenario.fabric.links_listed().links_down, *failures.links}),
        "failure_redraws_count": failures.redraws_count,
        "flows_count": flows.height,
        "collectives_count": int(flows["collective"].n_unique()),
        "unfinished_count": unfinished_flows(scenario, flows, totals["status"]).height,
        "cct_acked_us": in_us(metrics.cct_acked_ps(flows)),
        "cct_delivered_us": in_us(metrics.cct_delivered_ps(flows)),
        "collective_cct_mean_us": in_us(metrics.collective_cct_mean_ps(flows)),
        "bound_us": None if scenario.workload.is_endless else in_us(int(totals["bound_ps"])),
        "cct_increase_fraction": metrics.cct_increase_fraction(cct, int(totals["bound_ps"])),
        "max_queue_packets": metrics.switch_max(ports, "max_queue_packets"),
        "max_queue_bytes": metrics.switch_max(ports, "max_queue_bytes"),
        "queues": metrics.queues_by_stage(ports, STAGES[scenario.fabric.kind]),
        "delay_mean_us": metrics.packet_mean(flows, "delay_mean_us"),
        "queueing_delay_mean_us": metrics.packet_mean(flows, "queueing_delay_mean_us"),
        "reordered_packets_count": None
        if isinstance(scenario.transport, Paced)
        else _sum(flows, "reordered_packets_count"),
        "retransmitted_packets_count": _sum(flows, "retransmitted_packets_count"),
        "drops_count": drops,
        "loss_fraction": metrics.loss_fraction(ports),
        "lost_count": metrics.lost_count(ports, totals),
        "marks_count": marks,
        "trimmed_count": int(ports["trimmed_count"].sum()),
        "paused_us": float(ports["paused_us"].sum()),
        "utilisation_fraction": metrics.utilisation_fraction(flows, ports, span, duplicates_bytes),
        "sim_rtt_max_us": in_us(transport_counts.get("sim_rtt_max_ps")),
        "rtt_max_us": in_us(totals["rtt_max_ps"]),
        "transport_counts": dict(transport_counts),
        "transport_parameters": scenario.transport.reported(derived(scenario)),
        "packets_count": None if scenario.workload.is_endless else _sum(flows, "packets_count"),
        "packet_hops_count": int(totals["packet_hops_count"]),
        "simulated_us": in_us(int(totals["end_at_ps"])),
        "threads": int(totals["threads"]),
        "result_hash": metrics.result_hash(flows, drops, marks),
    }


def bounded_cct_ps(scenario: Scenario, flows: pl.DataFrame) -> int | None:
    """Return the CCT that the lower bound is of; None while a flow is unfinished."""
    return metrics.cct_acked_ps(flows) if bounds_cct_acked(scenario) else metrics.cct_delivered_ps(flows)


def unfinished_flows(scenario: Scenario, flows: pl.DataFrame, status: str) -> pl.DataFrame:
    """Return the flows that should have finished and have not: not wholly delivered, or their sender does not know it.

    Paced hosts without ACKs never know. Where hosts do not pace, the core's word that all is done is enough: what ends
    their CCT is the last delivery. Flows without end are not expected to finish.
    """
    if scenario.workload.is_endless:
        return flows.clear()
    transport = scenario.transport
    senders_know = transport.acks_messages and (isinstance(transport, Paced) or status != "done")
    return metrics.unacknowledged(flows) if senders_know else metrics.unfinished(flows)


def _sum(flows: pl.DataFrame, column: str) -> int:
    import polars as pl

    return int(flows[column].cast(pl.Int64).sum())  # of 32-bit columns polars takes 32-bit sums


def in_us(ps: float | None) -> float | None:
    """Picoseconds as microseconds."""
    return None if ps is None else ps / 1e6
