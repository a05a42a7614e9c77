"""The measured row of a run, kept by the hash of all that decides it, so that no finished run is run twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabricsim.results import Results
    from fabricsim.run import Progress
    from fabricsim.scenario import Scenario
    from fabricsim.workloads import Messages

    Hashed = tuple[Callable[[Results], dict[str, Any]], bytes]

DIGITS = 10
"""Significant digits that a row keeps of a real number: more than any figure shows, fewer than sums may differ in."""

# What a summary says of the host that ran it, or of who asked, and not of what was simulated.
_NOT_MEASURED = ("wall_s", "cpu_s", "peak_rss_mb", "threads", "version")


def summary_row(results: Results) -> dict[str, Any]:
    """Return a run's summary as one flat row, without what another run of the same scenario need not repeat."""
    from fabricsim.compare import flat

    return {name: value for name, value in flat(results.summary).items() if name not in _NOT_MEASURED}


def row_of(
    scenario: Scenario, messages: Messages | None, measure: Hashed | None, folder: Path, tick: Progress
) -> tuple[dict[str, Any], bool]:
    """Return the row in `folder`, or that of a run which is then kept there, and whether it was there.

    A row is what `measure`, given with the hash of its source, returns (default: `summary_row`), with `status` and, if
    the run did not finish or broke a bound, `problem` in a line; then a measure that fails leaves no more than these
    two.
    """
    from fabricsim import workloads
    from fabricsim.cache import content_hash
    from fabricsim.checks import check
    from fabricsim.errors import BoundViolationError, UnfinishedError
    from fabricsim.run import simulate

    if messages is None and getattr(scenario.workload, "path", None):
        messages = workloads.build(scenario)  # the file may have changed
    function, source_hash = measure or (summary_row, b"summary")
    key = content_hash(scenario, messages, source_hash)
    place = folder / key[:2] / f"{key}.json"
    if (kept := _read(place)) is not None:
        return kept, True
    results = simulate(scenario, messages, tick, check=False)
    problem = None
    try:
        check(results)
    except (UnfinishedError, BoundViolationError) as error:
        problem = str(error).splitlines()[0]
    try:
        measured = function(results)
    except Exception:
        if problem is None:
            raise
        measured = {}
    if not isinstance(measured, dict):
        raise TypeError(f"measure returns a dict, a value by name, not a {type(measured).__name__}")
    row = {"status": results.summary["status"], **{str(name): _plain(value) for name, value in measured.items()}}
    if problem:
        row["problem"] = problem
    _write(place, row)
    return row, False


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: NumPy's scalars as Python's, real numbers with `DIGITS` digits, NaN as None."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if abs(value) < float("inf") else None
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(f"a row holds numbers, texts, true, false and None, not a {type(value).__name__}")


def _read(place: Path) -> dict[str, Any] | None:
    """Return the row kept at `place`, or None where there is no whole one."""
    try:
        row = json.loads(place.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    whole = isinstance(row, dict) and isinstance(row.get("status"), str) and isinstance(row.get("problem", ""), str)
    return row if whole and not any(isinstance(value, dict | list) for value in row.values()) else None


def _write(place: Path, row: dict[str, Any]) -> None:
    """Write a row that appears whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(f".{os.getpid()}-{get_ident()}.writing")
    beside.write_text(json.dumps(row, allow_nan=False), encoding="utf-8")
    beside.replace(place)
