"""The measured row of a run, kept by the hash of all that decides it, so that no finished run is run twice."""

from __future__ import annotations

import inspect
import json
import os
from hashlib import sha256
from pathlib import Path
from threading import get_ident
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fabricsim.results import Results
    from fabricsim.run import Progress
    from fabricsim.scenario import Scenario
    from fabricsim.workloads import Messages

    Measure = Callable[[Results], dict[str, Any]]

DIGITS = 10
"""Significant digits that a row keeps of a real number: more than any figure shows, fewer than sums may differ in."""

# What a summary says of the host that ran it, or of who asked, and not of what was simulated.
_NOT_MEASURED = ("wall_s", "cpu_s", "peak_rss_mb", "threads", "version")


def summary_row(results: Results) -> dict[str, Any]:
    """Return a run's summary as one flat row, without what another run of the same scenario need not repeat."""
    from fabricsim.compare import flat

    return {name: value for name, value in flat(results.summary).items() if name not in _NOT_MEASURED}


def row_of(
    scenario: Scenario, messages: Messages | None, measure: Measure | None, folder: Path, tick: Progress
) -> tuple[dict[str, Any], bool]:
    """Return the row in `folder`, or that of a run which is then kept there, and whether it was there.

    A row is what `measure` returns (default: `summary_row`), with `status` and, if the run did not finish or broke a
    bound, `problem` in a line; then a measure that fails leaves no more than these two.
    """
    from fabricsim import workloads
    from fabricsim.cache import content_hash
    from fabricsim.checks import check
    from fabricsim.errors import BoundViolationError, UnfinishedError
    from fabricsim.run import simulate

    if messages is None and getattr(scenario.workload, "path", None):
        messages = workloads.build(scenario)  # the file may have changed
    key = content_hash(scenario, messages, fingerprint(measure) if measure else b"summary")
    place = folder / key[:2] / f"{key}.json"
    try:
        kept: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        pass
    else:
        return kept, True
    results = simulate(scenario, messages, tick, check=False)
    problem = None
    try:
        check(results)
    except (UnfinishedError, BoundViolationError) as error:
        problem = str(error).splitlines()[0]
    try:
        measured = (measure or summary_row)(results)
    except Exception:
        if problem is None:
            raise
        measured = {}
    row = {"status": results.summary["status"], **{name: _plain(value) for name, value in measured.items()}}
    if problem:
        row["problem"] = problem
    _write(place, row)
    return row, False


def fingerprint(function: Callable[..., Any]) -> bytes:
    """Return a hash of a function's source and of what it uses of its own module and of this package."""
    assert isinstance(function, FunctionType)
    parts: dict[str, str] = {}
    todo = [function]
    while todo:
        one = todo.pop()
        parts[f"{one.__module__ == function.__module__} {one.__qualname__}"] = inspect.getsource(one)
        for name in sorted(set(_names(one.__code__)) & one.__globals__.keys()):
            value = one.__globals__[name]
            if isinstance(value, FunctionType) and value.__module__ == function.__module__:
                if f"True {value.__qualname__}" not in parts:
                    todo.append(value)
            elif isinstance(value, ModuleType | FunctionType | type):
                parts[name] = _source_in_package(value)
            else:
                parts[name] = repr(value)
    return sha256(repr(sorted(parts.items())).encode()).digest()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _source_in_package(value: ModuleType | FunctionType | type) -> str:
    """Return the text of the file that `value` is from, if that is one of this package's."""
    module = value.__name__ if isinstance(value, ModuleType) else value.__module__
    return inspect.getsource(inspect.getmodule(value) or value) if module.startswith("fabricsim.") else module


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: NumPy's scalars as Python's, real numbers with `DIGITS` digits, NaN as None."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if abs(value) < float("inf") else None
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(f"a row holds numbers, texts, true, false and None, not a {type(value).__name__}")


def _write(place: Path, row: dict[str, Any]) -> None:
    """Write a row that appears whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(f".{os.getpid()}-{get_ident()}.writing")
    beside.write_text(json.dumps(row, allow_nan=False), encoding="utf-8")
    beside.replace(place)
