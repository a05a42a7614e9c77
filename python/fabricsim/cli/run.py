"""`fabricsim run`: one scenario, one result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from fabricsim.cli.options import File, Preset, Seed, Set, Threads

if TYPE_CHECKING:
    from fabricsim.results import Results


def run(
    file: File = None,
    /,
    *,
    preset: Preset = None,
    set_: Set = None,
    seed: Seed = None,
    threads: Threads = None,
    out: Annotated[
        Path | None, Parameter(help="Folder for the results: Parquet tables, scenario.json, summary.json.")
    ] = None,
    as_json: Annotated[
        bool, Parameter(name="--json", negative=(), show_default=False, help="Print one JSON object and nothing else.")
    ] = False,
) -> int:
    """Run one scenario and print what came out.

    Exit status: 0 done; 1 a flow did not finish, or a physical bound is violated; 2 bad input.

    For example:

        fabricsim run scenario.toml
        fabricsim run --preset ofan-paper --set balancer.kind=rsq --seed 7
        fabricsim run matrix.cm --set fabric.radix=8 --json
        fabricsim run scenario.toml --out results
    """
    from fabricsim.checks import check
    from fabricsim.cli.scenario_input import read_scenario
    from fabricsim.cli.terminal import say
    from fabricsim.results import check_folder
    from fabricsim.run import simulate

    scenario = read_scenario(file, preset, set_ or (), seed, threads)
    if out:
        check_folder(out)
    results = simulate(scenario, progress=True, check=False)
    # A run that failed is still written and shown; then its error sets the exit status.
    if out:
        results.write(out)
    if as_json:
        print(json.dumps(results.summary, allow_nan=False))
    else:
        _show(results)
    if out:
        say(f"results are in {out}")
    check(results)
    return 0


def _show(results: Results) -> None:
    from fabricsim.cli.terminal import show_table

    summary = results.summary
    fabric = f"a {results.scenario.fabric.kind} of {summary['hosts']:,} hosts"
    workload = f"{summary['workload']} ({_count(summary['flows_count'], 'flow')})"
    mixed = f", with {summary['deployment']}" if summary["deployment"] else ""
    scheme = f"{summary['transport']} over {summary['balancer']}" if summary["load"] is None else summary["balancer"]
    title = f"{scheme} on {fabric}{mixed}, {workload}, seed {summary['seed']}"
    show_table(title, ("measure", "value"), _rows(summary))
    stages = ((stage, *_stage(measures)) for stage, measures in summary["queues"].items())
    show_table("Queues", ("stage", "largest (frames)", "mean (frames)", "overload (%)"), stages)


def _rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    lost = {"on links": summary["lost_count"]["dead_link"], "without a route": summary["lost_count"]["unroutable"]}
    paced, down, collectives = summary["load"] is not None, summary["links_down_count"], summary["collectives_count"]
    return [
        *([("links down", f"{down:,}")] if down else []),
        *([("load", f"{summary['load']:.4f}")] if down and paced else []),
        ("CCT, last ACK", _number(summary["cct_acked_us"], "µs")),
        ("CCT, last delivery", _number(summary["cct_delivered_us"], "µs")),
        *([("CCT, mean of collectives", _number(summary["collective_cct_mean_us"], "µs"))] if collectives > 1 else []),
        ("lower bound", _number(summary["bound_us"], "µs")),
        ("over bound", _number(summary["cct_increase_fraction"], "%", 100)),
        ("utilisation", _number(summary["utilisation_fraction"], "%", 100)),
        ("largest queue of a switch", _number(summary["max_queue_packets"], "frame")),
        ("unfinished flows", f"{summary['unfinished_count']:,}"),
        *([] if paced else _of_recovery(summary)),
        ("drops", _drops(summary["drops_count"])),
        ("lost otherwise", ", ".join(f"{count:,} {where}" for where, count in lost.items() if count) or "0"),
        ("ECN marks", f"{summary['marks_count']:,}"),
        *([("trimmed", f"{summary['trimmed_count']:,}")] if summary["trimmed_count"] else []),
        *([("paused, sum over ports", _number(summary["paused_us"], "µs"))] if summary["paused_us"] else []),
        ("packet-hops", f"{summary['packet_hops_count']:,}"),
        ("time taken", f"{summary['wall_s']:.2f} s"),
        ("result hash", summary["result_hash"]),
    ]


def _drops(drops: dict[str, int]) -> str:
    """Return what buffers dropped, with the kinds that are control in brackets after it, as they are part of it."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in drops.items() if count and kind not in ("data", "control"))
    data = f"{drops['data']:,} data" if drops["data"] else ""
    control = f"{drops['control']:,} control" + (f" ({kinds})" if kinds else "") if drops["control"] else ""
    return ", ".join(filter(None, (data, control))) or "0"


def _of_recovery(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is counted only where lost packets are sent again."""
    return [
        ("delay of a packet", _number(summary["delay_mean_us"], "µs")),
        ("of that in queues", _number(summary["queueing_delay_mean_us"], "µs")),
        ("reordered packets", f"{summary['reordered_packets_count']:,}"),
        ("sent again", f"{summary['retransmitted_packets_count']:,}"),
        *(_of_sims(summary) if "sims_sent_count" in summary["transport_counts"] else []),
        *(_of_windows(summary) if "max_window_bytes" in summary["transport_parameters"] else []),
    ]


def _of_windows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what windows follow from, on the longest path: the other parameters are in the summary."""
    of = summary["transport_parameters"]
    return [
        ("timeouts", f"{summary['transport_counts']['data_timeouts_count']:,}"),
        ("base RTT and BDP", f"{of['base_rtt_ps'] / 1e6:.5f} µs, {of['bdp_bytes']:,} bytes"),
        ("first and largest window", f"{of['initial_window_bytes']:,}, {of['max_window_bytes']:,} bytes"),
    ]


def _of_sims(summary: dict[str, Any]) -> list[tuple[str, str]]:
    counts = summary["transport_counts"]
    return [
        ("Sims sent, timed out", f"{counts['sims_sent_count']:,}, {counts['sims_timed_out_count']:,}"),
        ("largest RTT of a Sim", _number(summary["sim_rtt_max_us"], "µs")),
        ("RTT_max", _number(summary["rtt_max_us"], "µs")),
    ]


def _stage(measures: dict[str, float | None]) -> tuple[str, str, str]:
    largest, mean, overload = measures["max_packets"], measures["mean_packets"], measures["overload_fraction"]
    return _number(largest, ""), _number(mean, ""), _number(overload, "", 100)


def _number(value: float | None, unit: str, scale: float = 1) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return _count(value, unit) if unit else f"{value:,}"
    return f"{value * scale:,.3f}" + (f" {unit}" if unit else "")


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
