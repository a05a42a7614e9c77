"""One run is one straight line: scenario, messages, the core, tables, checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from fabricsim.errors import ScenarioError
    from fabricsim.results import Results
    from fabricsim.scenario import Scenario
    from fabricsim.workloads import Messages

    Progress = Callable[[int, int, int], None]


def simulate(
    scenario: Scenario, messages: Messages | None = None, progress: Progress | bool | None = None, check: bool = True
) -> Results:
    """Run `scenario` and return its results. Releases the interpreter lock, so runs can share a thread pool.

    Args:
        scenario: what to run; every default is the Ofan paper's (section 6).
        messages: own messages instead of the scenario's workload (`fabricsim.workloads.Messages.from_arrays`).
        progress: True shows a bar on standard error when that is a terminal; a function is called about ten times a
            second with (simulated ps, finished messages, all messages), and stops the run by raising.
        check: hold the run to physical bounds and to finishing. Off, an unfinished run's results are returned too.

    Raises:
        TypeError: `scenario` is no Scenario, or `messages` are no Messages.
        ScenarioError: the scenario cannot be run; names the field.
        UnfinishedError: a flow did not finish by `run.time_limit` or at all. `.results` holds what there is.
        BoundViolationError: the run breaks physical bounds. `.results` holds it.

    """
    _check_type(scenario)
    _check_messages(messages)
    if progress is True:
        from fabricsim.progress import run_bar

        with run_bar() as bar:
            return simulate(scenario, messages, bar, check)

    from fabricsim import workloads
    from fabricsim.checks import check as hold_to_physics

    if messages is None:
        messages = workloads.build(scenario)
    else:
        messages.check_fits(scenario)
    results = _run(scenario, messages, progress or None)
    if check:
        hold_to_physics(results)
    return results


def simulate_many(
    scenarios: Sequence[Scenario], workers: int | None = None, progress: bool | None = None, check: bool = True
) -> list[Results]:
    """Run several scenarios side by side in threads; results in the order of the scenarios.

    `workers`: runs at a time; None shares the machine's cores among the runs' own threads. `progress`: True shows a bar
    on standard error when that is a terminal. `check` and errors: as in `simulate`; the first error stops the rest.
    """
    from contextlib import nullcontext

    from fabricsim.pool import in_pool
    from fabricsim.progress import many_bar

    for one in scenarios:
        _check_type(one)

    def job(scenario: Scenario, tick: Progress) -> Results:
        return simulate(scenario, progress=tick, check=check)

    with many_bar(len(scenarios)) if progress else nullcontext() as bar:
        return in_pool(job, scenarios, workers_for(scenarios, workers), bar)


def workers_for(scenarios: Sequence[Scenario], workers: int | None = None) -> int:
    """How many runs at a time: as asked, or so many that their threads fill the machine's cores.

    Raises `ScenarioError` for less than one.
    """
    import os

    _check_workers(workers)
    if workers is not None:
        return workers
    from fabricsim.scenario.core_config import threads_of

    threads = max(map(threads_of, scenarios), default=1)
    return max(1, (os.cpu_count() or 1) // threads)


def _check_workers(workers: object) -> None:
    from fabricsim.errors import ScenarioError

    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise ScenarioError("workers", workers, "an integer of at least 1, or None")


def _check_messages(messages: object) -> None:
    from fabricsim.workloads import Messages

    if messages is not None and not isinstance(messages, Messages):
        makers = "fabricsim.workloads.Messages.from_arrays(src, dst, bytes)"
        raise TypeError(f"messages: got a {type(messages).__name__}; allowed: Messages, made by {makers}")


def _check_type(scenario: object) -> None:
    from fabricsim.scenario import Scenario

    if not isinstance(scenario, Scenario):
        makers = "Scenario(...), scenario_from_toml(path) or scenario_from_mapping(tables)"
        raise TypeError(f"scenario: got a {type(scenario).__name__}; allowed: a Scenario, made by {makers}")


def _run(scenario: Scenario, messages: Messages, progress: Progress | None) -> Results:
    import json
    import time

    from fabricsim import _core, bounds, tables
    from fabricsim.offered_load import with_load
    from fabricsim.results import Results
    from fabricsim.scenario import core_config
    from fabricsim.summary import summarise

    loaded = with_load(scenario, messages)
    config = core_config(loaded)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        output = _core.run(json.dumps(config), messages.to_door(), progress)
    except ValueError as error:
        raise _refusal(str(error)) from None
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu

    first_start = int(output["flows"]["started_at_ps"].min(initial=tables.NEVER_PS))
    limits = bounds.all_bounds(loaded, messages, 0 if first_start == tables.NEVER_PS else first_start)
    totals: dict[str, Any] = {
        "status": output["status"],
        **output["totals"],
        "bound_ps": limits.bound_ps,
        "least_cct_ps": limits.least_cct_ps,
        "rtt_max_ps": config["transport"].get("rtt_max_ps"),
    }
    flows = tables.flows_table(scenario, messages, output["flows"], limits)
    duration = _duration_ps(scenario, flows, int(totals["end_at_ps"]))
    ports = tables.ports_table(scenario, output["ports"], duration)
    provenance = _provenance(scenario)
    summary = {
        **summarise(loaded, flows, ports, totals, output["transport"]),
        "wall_s": wall,
        # Of the whole process: runs side by side share it.
        "cpu_s": cpu,
        "peak_rss_mb": _peak_rss_mb(),
        "version": provenance["version"],
    }
    trace = tables.trace_table(output["trace"]) if scenario.measure.trace else None
    series = tables.series_table(scenario, output["series"]) if scenario.measure.interval else None
    windows = tables.windows_table(scenario, output["windows"], flows) if scenario.measure.watched_messages else None
    return Results(scenario, flows, ports, totals, summary, duration, provenance, trace, series, windows)


def _duration_ps(scenario: Scenario, flows: pl.DataFrame, end_at_ps: int) -> int:
    """Return the time that averages over a run are of: to its last completion, or to its end where there is none.

    Hosts that do not pace may have control packets and copies under way after the last delivery: then to its end too.
    """
    from fabricsim import metrics
    from fabricsim.scenario import Paced
    from fabricsim.summary import bounded_cct_ps

    cct = bounded_cct_ps(scenario, flows) if isinstance(scenario.transport, Paced) else None
    return cct if cct is not None else max(0, end_at_ps - metrics.first_start_ps(flows))


def _refusal(message: str) -> ScenarioError:
    """Return what the core refused, in its own words: it checks what depends on the built fabric.

    Two hosts without a path are the doing of `links_down`: random failures are drawn so that all have one.
    """
    import re

    from fabricsim.errors import ScenarioError

    what, _, allowed = message.partition("; allowed: ")
    if cut := re.fullmatch(r"message \d+: (no path from \S+ to \S+): (.*)", what):
        return ScenarioError("fabric.links_down", cut[1], f"a path for every message; {cut[2]}")
    field, _, got = what.partition(": got ")
    error = ScenarioError(field, got, allowed)
    error.args = (message,)
    return error


def _provenance(scenario: Scenario) -> dict[str, Any]:
    import platform

    from fabricsim import __version__

    return {
        "version": __version__,
        "seed": scenario.run.seed,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def _peak_rss_mb() -> float | None:
    """Return the process's largest resident memory so far, in 10^6 bytes; None where the system does not tell."""
    import sys

    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6
