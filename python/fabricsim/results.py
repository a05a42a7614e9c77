"""Results: everything a run left behind, with the scenario, version and seed that made it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from fabricsim.scenario import Scenario

# The file whose presence says that a folder holds results, and may be replaced by newer ones.
SCENARIO_FILE = "scenario.json"


@dataclass(frozen=True)
class Results:
    """One run's outcome.

    `flows`: one row a message. `ports`: one row a directed link (see `fabricsim.tables` for both). `totals`: the
    engine's counters, and the bounds in exact ps. `summary`: what the command line prints with `--json` (see
    `fabricsim.summary`). `duration_ps`: first data packet's start to the last completion (to the run's end if a flow is
    unfinished). `provenance`: version, seed, Python, platform. `trace`: one row a received packet, or None unless
    `measure.trace` is on.
    """

    scenario: Scenario
    flows: pl.DataFrame
    ports: pl.DataFrame
    totals: dict[str, Any]
    summary: dict[str, Any]
    duration_ps: int
    provenance: dict[str, Any]
    trace: pl.DataFrame | None = field(default=None, repr=False)

    def write(self, folder: str | Path) -> Path:
        """Write `flows.parquet`, `ports.parquet`, `summary.json`, `scenario.json` (and `trace.parquet`) to `folder`.

        The folder appears whole or not at all: it is made beside its place and renamed. Earlier results are replaced.

        Raises:
            FileExistsError: `folder` exists and holds something other than results.

        """
        folder = Path(folder)
        check_folder(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = folder.with_name(f".{folder.name}.writing")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        self.flows.write_parquet(beside / "flows.parquet")
        self.ports.write_parquet(beside / "ports.parquet")
        if self.trace is not None:
            self.trace.write_parquet(beside / "trace.parquet")
        _write_json(beside / "summary.json", {**self.summary, "totals": self.totals, "duration_ps": self.duration_ps})
        scenario = self.scenario.model_dump(mode="json")
        _write_json(beside / SCENARIO_FILE, {"scenario": scenario, "provenance": self.provenance})
        if folder.exists():
            shutil.rmtree(folder)
        beside.rename(folder)
        return folder

    @classmethod
    def read(cls, folder: str | Path) -> Results:
        """Return the results that `write` left in `folder`.

        Raises:
            FileNotFoundError: `folder` holds no results.

        """
        import polars as pl

        from fabricsim.scenario import Scenario

        folder = Path(folder)
        origin = json.loads((folder / SCENARIO_FILE).read_text())
        summary = json.loads((folder / "summary.json").read_text())
        trace = folder / "trace.parquet"
        return cls(
            scenario=Scenario.model_validate(origin["scenario"]),
            flows=pl.read_parquet(folder / "flows.parquet"),
            ports=pl.read_parquet(folder / "ports.parquet"),
            totals=summary.pop("totals"),
            duration_ps=summary.pop("duration_ps"),
            summary=summary,
            provenance=origin["provenance"],
            trace=pl.read_parquet(trace) if trace.exists() else None,
        )


def check_folder(folder: Path) -> None:
    """Refuse a place that results may not replace; ask before a long run, not after it.

    Raises:
        FileExistsError: `folder` is a file, or a folder that holds something other than results.

    """
    if not folder.exists() or (folder.is_dir() and ((folder / SCENARIO_FILE).exists() or not any(folder.iterdir()))):
        return
    raise FileExistsError(f"{folder} exists and holds no results: name a new or an empty folder")


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n")
