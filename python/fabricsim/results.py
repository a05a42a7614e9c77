"""Results: everything a run left behind, with the scenario, version and seed that made it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim.errors import ScenarioError
from fabricsim.folders import (
    FLOWS,
    PORTS,
    SCENARIO,
    SERIES,
    SUMMARY,
    TRACE,
    WINDOWS,
    Held,
    check_folder,
    held,
    written_whole,
)

if TYPE_CHECKING:
    import polars as pl

    from fabricsim.scenario import Scenario

__all__ = ["Results", "check_folder"]

# A folder that another run replaces is gone for a moment: how often to look, a millisecond apart.
_ATTEMPTS = 50


@dataclass(frozen=True)
class Results:
    """One run's outcome.

    `flows`: one row a message. `ports`: one row a directed link (see `fabricsim.tables` for both). `totals`: the
    engine's counters, and the bounds in exact ps. `summary`: what the command line prints with `--json` (see
    `fabricsim.summary`). `duration_ps`: first data packet's start to the last completion (to the run's end if a flow is
    unfinished). `provenance`: version, seed, Python, platform. `trace`: one row a received packet, or None unless
    `measure.trace` is on. `series`: one row an interval, or None unless `measure.interval` is set.
    `windows`: one row an interval and watched message, or None unless `measure.watched_messages` names some.
    """

    scenario: Scenario
    flows: pl.DataFrame
    ports: pl.DataFrame
    totals: dict[str, Any]
    summary: dict[str, Any]
    duration_ps: int
    provenance: dict[str, Any]
    trace: pl.DataFrame | None = field(default=None, repr=False)
    series: pl.DataFrame | None = field(default=None, repr=False)
    windows: pl.DataFrame | None = field(default=None, repr=False)

    def write(self, folder: str | Path) -> Path:
        """Write `flows.parquet`, `ports.parquet`, `summary.json` and `scenario.json` to `folder`.

        Beside them `trace.parquet`, `series.parquet` and `windows.parquet` where the run recorded them.
        The folder appears whole or not at all: it is made beside its place and renamed. Earlier results are replaced.

        Raises:
            FileExistsError: `folder` is a file or the current folder, or holds anything other than results.

        """
        folder = Path(folder)
        check_folder(folder)
        scenario = self.scenario.model_dump(mode="json")
        with written_whole(folder) as beside:
            self.flows.write_parquet(beside / FLOWS)
            self.ports.write_parquet(beside / PORTS)
            for name, table in ((TRACE, self.trace), (SERIES, self.series), (WINDOWS, self.windows)):
                if table is not None:
                    table.write_parquet(beside / name)
            _write_json(beside / SUMMARY, {**self.summary, "totals": self.totals, "duration_ps": self.duration_ps})
            _write_json(beside / SCENARIO, {"scenario": scenario, "provenance": self.provenance})
        return folder

    @classmethod
    def read(cls, folder: str | Path) -> Results:
        """Return the results that `write` left in `folder`, all of one run even if another takes its place meanwhile.

        Raises:
            FileNotFoundError: `folder` holds no results.
            ScenarioError: what it holds cannot be read.

        """
        import polars as pl

        folder = Path(folder)
        for _ in range(_ATTEMPTS):
            try:
                with held(folder) as place:
                    try:
                        return cls._read(place)
                    except FileNotFoundError:
                        if place.is_there():
                            raise FileNotFoundError(f"{folder} holds no whole results") from None
            except FileNotFoundError as error:
                if error.errno is None:
                    raise
            except (ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
                allowed = f"a folder of results ({type(error).__name__}: {error})"
                raise ScenarioError("", folder, allowed) from None
            time.sleep(0.001)
        raise FileNotFoundError(f"{folder} holds no results")

    @classmethod
    def _read(cls, place: Held) -> Results:
        import polars as pl

        from fabricsim.scenario import Scenario

        def table(name: str) -> pl.DataFrame:
            with place.open(name) as file:
                return pl.read_parquet(file)

        def values(name: str) -> dict[str, Any]:
            with place.open(name) as file:
                read = json.load(file)
            if not isinstance(read, dict):
                raise ValueError(f"{name} is no JSON object")
            return read

        origin, summary = values(SCENARIO), values(SUMMARY)
        return cls(
            scenario=Scenario(**origin["scenario"]),
            flows=table(FLOWS),
            ports=table(PORTS),
            totals=summary.pop("totals"),
            duration_ps=summary.pop("duration_ps"),
            summary=summary,
            provenance=origin["provenance"],
            trace=table(TRACE) if TRACE in place.names() else None,
            series=table(SERIES) if SERIES in place.names() else None,
            windows=table(WINDOWS) if WINDOWS in place.names() else None,
        )


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")
