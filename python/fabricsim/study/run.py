"""One study at one tier: its runs, side by side and each kept, its table, its verdicts, and the folder of all that."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim.study.claims import Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from matplotlib.figure import Figure

    from fabricsim.run import Progress
    from fabricsim.scenario import Scenario
    from fabricsim.study.files import StudyFile
    from fabricsim.study.form import Point
    from fabricsim.workloads import Messages

ROWS = "rows"
TABLE, CLAIMS, FIGURE, PAGE = "table.csv", "claims.json", "figure.png", "index.html"


@dataclass(frozen=True)
class StudyOutcome:
    """What a study came to at a tier.

    `table`: one row a run in the order of the grid (or what the file's own `table` made of it). `problems`: the runs
    that did not finish or broke a bound. `runs_count`, `kept_count`: all runs, and those that were kept from before.
    """

    file: StudyFile
    tier: str
    table: pl.DataFrame
    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...]
    runs_count: int
    kept_count: int

    def count(self, outcome: str) -> int:
        """How many claims came out so."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)

    def figure(self) -> Figure:
        """Draw the figure. Raises `ScenarioError` if the study's plot fails."""
        from fabricsim import plot

        study = self.file.study
        with plot.panels(study.panels, study.panel_inches) as (figure, axes):
            try:
                with self.file.blamed("plot"):
                    self.file.plot(self.table, axes)
            except ValueError:
                if not self.problems:
                    raise
                axes[0].set_title("some runs did not finish")
            for axis in axes:
                if axis.axison and not axis.has_data():
                    plot.leave_empty(axis, "no run finished" if self.problems else "not run in this tier")
        return figure

    def write(self, folder: Path) -> Path:
        """Write table (Parquet, CSV), claims (JSON), figure (PNG, PDF) and page to `folder`; returns the page.

        Two outcomes of the same runs leave the same files, byte for byte.
        """
        from fabricsim import plot
        from fabricsim.study.page import study_page

        folder.mkdir(parents=True, exist_ok=True)
        self.table.write_parquet(folder / "table.parquet")
        self.table.write_csv(folder / TABLE)
        (folder / CLAIMS).write_text(self.claims_json(), encoding="utf-8")
        figure = self.figure()
        plot.save(figure, folder / "figure")
        page = folder / PAGE
        page.write_text(study_page(self, plot.svg(figure)), encoding="utf-8")
        return page

    def claims_json(self) -> str:
        """Return the verdicts and what they are about, as JSON."""
        study = self.file.study
        about = {"study": self.file.name, "title": study.title, "source": study.source, "tier": self.tier}
        counts = {"runs_count": self.runs_count, "unfinished_runs_count": len(self.problems)}
        claims = [asdict(verdict) for verdict in self.verdicts]
        return json.dumps({**about, **counts, "claims": claims}, indent=1, ensure_ascii=False) + "\n"


def run_study(
    file: StudyFile, tier: str, folder: Path, *, workers: int | None = None, progress: bool = False
) -> StudyOutcome:
    """Run a study's tier and judge its claims. Rows are kept in `folder/rows`, for all studies and tiers together.

    `workers`: runs at a time; None fills the machine's cores. `progress`: show a bar. Raises `ScenarioError` for a tier
    that the study does not have, and for whatever is wrong with its file.
    """
    from contextlib import nullcontext

    from fabricsim.pool import in_pool
    from fabricsim.progress import many_bar
    from fabricsim.run import workers_for
    from fabricsim.study.kept import row_of

    jobs = list(_jobs(file, tier))

    def job(one: _Job, tick: Progress) -> tuple[dict[str, Any], bool]:
        with file.blamed(f"run of {one.point}"):
            return row_of(one.scenario, one.messages, file.measure, folder / ROWS, tick)

    with many_bar(len(jobs), file.name) if progress else nullcontext() as bar:
        done = in_pool(job, jobs, workers_for([one.scenario for one in jobs], workers), bar)
    rows = [row for row, _ in done]
    problems = tuple(f"{one.point}: {row['problem']}" for one, row in zip(jobs, rows, strict=True) if "problem" in row)
    table = _table(file, [one.point for one in jobs], rows, incomplete=bool(problems))
    verdicts = []
    for claim in file.claims:
        with file.blamed(f'claim "{claim.says}"'):
            verdicts.append(judge(claim, table, tier, bool(problems)))
    return StudyOutcome(file, tier, table, tuple(verdicts), problems, len(jobs), sum(kept for _, kept in done))


@dataclass(frozen=True)
class _Job:
    point: Point
    scenario: Scenario
    messages: Messages | None


def _jobs(file: StudyFile, tier: str) -> Iterator[_Job]:
    for point in file.study.points(tier):
        with file.blamed(f"scenario of {point}"):
            scenario = file.study.scenario(point)
            if file.scenario:
                scenario = file.scenario(scenario, point)
            messages = file.messages(scenario, point) if file.messages else None
        yield _Job(point, scenario, messages)


def _table(
    file: StudyFile, points: Sequence[Point], rows: Sequence[dict[str, Any]], *, incomplete: bool
) -> pl.DataFrame:
    """Return one row a run, axes first, and what the file's own `table` makes of it."""
    import polars as pl

    merged = [{**row, **point.labels} for point, row in zip(points, rows, strict=True)]
    names = [*file.study.grid, *(name for row in rows for name in row if name not in file.study.grid)]
    if file.study.columns:
        names = [*file.study.grid, "status", *file.study.columns]
    with file.blamed("table"):
        if not incomplete and (missing := [name for name in names if not any(name in row for row in merged)]):
            raise KeyError(f"no run has a {missing[0]}")
        # Columns are inferred from all rows, and a whole number stands for itself among real ones.
        columns = {name: _column([row.get(name) for row in merged]) for name in dict.fromkeys(names)}
        runs = pl.DataFrame(columns).with_columns(pl.selectors.by_dtype(pl.Null).cast(pl.Float64))
        try:
            return file.table(runs) if file.table else runs
        except Exception:
            if not incomplete:
                raise
            return runs


def _column(values: list[Any]) -> list[Any]:
    if any(isinstance(value, float) for value in values):
        return [float(value) if isinstance(value, int) else value for value in values]
    return values
