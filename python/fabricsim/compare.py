"""The same scenario under several balancers and seeds: one tidy table of runs, and one of means with their errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from fabricsim.results import Results
    from fabricsim.run import Progress
    from fabricsim.scenario import Balancer, Scenario

# Flow completion times kept of one run for the distribution: all of them, or so many evenly spaced order statistics.
FCT_POINTS = 2000

# Columns of a run's row that are not measured: they say which run it was.
RUN_KEYS = (
    "balancer", "deployment", "seed", "status", "workload", "version", "result_hash", "hosts", "threads",
    "simulated_us",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What a comparison came to.

    `base`: the scenario all runs share. `runs`: one row a run, with `balancer`, `seed` and the fields of its summary (a
    stage's queue as `edge_agg_max_packets`, ...). `fct`: `balancer`, `seed`, `fct_us`, up to 2,000 order statistics a
    run of all its flows, null for those that were not delivered. `problems`: what went wrong in which run; empty when
    every run finished within the bounds of physics.
    """

    base: Scenario
    runs: pl.DataFrame
    fct: pl.DataFrame
    problems: tuple[str, ...] = ()

    @property
    def table(self) -> pl.DataFrame:
        """One row a balancer: `summary_table(runs)`."""
        return summary_table(self.runs)

    def write(self, folder: str | Path) -> list[Path]:
        """Write the tables `table` and `runs` as Parquet and CSV, the figure as PNG and PDF, and `index.html`.

        Returns the files, the page last.
        """
        from fabricsim import plot, report

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / name for name in ("table.parquet", "table.csv", "runs.parquet", "runs.csv")]
        self.table.write_parquet(files[0])
        self.table.write_csv(files[1])
        self.runs.write_parquet(files[2])
        self.runs.write_csv(files[3])
        files += plot.save(plot.comparison(self.table, self.runs, self.fct), folder / "comparison")
        page = folder / "index.html"
        page.write_text(report.comparison_page(self), encoding="utf-8")
        return [*files, page]


def compare(
    base: Scenario,
    balancers: Sequence[Balancer],
    seeds: int | Sequence[int] = 10,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Run `base` under each balancer with each seed (a number n means seeds base, base + 1 ... n of them).

    A seed gives every balancer the same workload. With `folder`, each run is kept in `folder/runs` as soon as it is
    done: an interrupted comparison, called again, runs what is missing. `workers`, `progress`: as in `simulate_many`.
    A run that does not finish, or breaks a bound, is a row like any other and a line in `problems`.

    Raises `ScenarioError` for no balancers or seeds, or one given twice, and `FileExistsError` if `folder` holds things
    but no comparison.
    """
    from contextlib import nullcontext

    from fabricsim.folders import check_comparison_folder
    from fabricsim.pool import in_pool
    from fabricsim.progress import many_bar
    from fabricsim.run import workers_for

    numbers = range(base.run.seed, base.run.seed + seeds) if isinstance(seeds, int) else seeds
    _check_each_once("balancers", [label(balancer) for balancer in balancers])
    _check_each_once("seeds", numbers)
    if folder:
        check_comparison_folder(Path(folder))
    # Seeds outside, balancers inside: an interrupted comparison has about as many runs of each.
    scenarios = [
        base.replace(balancer=balancer, run=base.run.replace(seed=seed)) for seed in numbers for balancer in balancers
    ]
    keep = Path(folder) / "runs" if folder else None

    def job(scenario: Scenario, tick: Progress) -> _Run:
        return _run(scenario, keep, tick)

    with many_bar(len(scenarios)) if progress else nullcontext() as bar:
        done = in_pool(job, scenarios, workers_for(scenarios, workers), bar)
    return _comparison(base, done, [label(balancer) for balancer in balancers])


def _check_each_once(name: str, given: Sequence[object]) -> None:
    """Refuse what would be averaged over nothing, or over one run counted twice."""
    from fabricsim.errors import ScenarioError

    if not given:
        raise ScenarioError(name, None, "at least one")
    if isinstance(given, range):
        return
    seen: set[object] = set()
    for value in given:
        if value in seen:
            raise ScenarioError(name, value, "each once")
        seen.add(value)


def label(balancer: Balancer) -> str:
    """Return a balancer's short form: its kind and what is not at its default, such as `ofan` or `pofan:4`."""
    from fabricsim.scenario import balancer_text

    return balancer_text(balancer)


def summary_table(runs: pl.DataFrame) -> pl.DataFrame:
    """One row a balancer, in order of appearance: its runs counted, and of each measure the mean and its error.

    `runs_count`, `unfinished_runs_count`; each measured column `x` gives `x_mean` and `x_sem` (standard error of the
    mean; null below two runs), and each maximum `x_max` too. A value that a run lacks (the CCT of an unfinished one) is
    left out of its mean.
    """
    import polars as pl

    from fabricsim.replication import means

    unfinished = runs.group_by("balancer", maintain_order=True).agg(
        (pl.col("unfinished_count") > 0).sum().alias("unfinished_runs_count")
    )
    table = means(runs.drop([name for name in RUN_KEYS if name != "balancer"], strict=False), ["balancer"])
    counts = ("balancer", "runs_count")
    return table.select(*counts, unfinished["unfinished_runs_count"], pl.exclude(*counts))


@dataclass(frozen=True)
class _Run:
    """What a comparison keeps of one run: its tables stay on disk."""

    row: dict[str, Any]
    fct_us: pl.Series
    problem: str | None


def _run(scenario: Scenario, keep: Path | None, tick: Progress) -> _Run:
    from fabricsim.cache import simulate_cached
    from fabricsim.checks import check
    from fabricsim.errors import BoundViolationError, UnfinishedError
    from fabricsim.run import simulate

    name = label(scenario.balancer)
    if keep:
        results = simulate_cached(scenario, keep, f"{name.replace(':', '-')}-seed-{scenario.run.seed}", tick)
    else:
        results = simulate(scenario, progress=tick, check=False)
    problem = None
    try:
        check(results)
    except (UnfinishedError, BoundViolationError) as error:
        problem = f"{name}, seed {scenario.run.seed}: {error}"
    return _Run({**flat(results.summary), "balancer": name}, _order_statistics(results), problem)


def flat(summary: dict[str, Any]) -> dict[str, Any]:
    """Flatten a summary to one row: `queues["edge-agg"]["max_packets"]` is then `edge_agg_max_packets`, and so on."""
    row = {name: value for name, value in summary.items() if name not in ("queues", "drops_count", "lost_count")}
    for stage, measures in summary["queues"].items():
        row |= {f"{stage.replace('-', '_')}_{measure}": value for measure, value in measures.items()}
    row |= {f"drops_{kind}_count": count for kind, count in summary["drops_count"].items()}
    return row | {f"lost_{kind}_count": count for kind, count in summary["lost_count"].items()}


def _order_statistics(results: Results) -> pl.Series:
    """Return completion times ascending, those that never came (null) last: a share of points is one of flows."""
    import polars as pl

    times = results.flows["fct_us"].sort(nulls_last=True)
    if len(times) <= FCT_POINTS:
        return times
    return times.gather(pl.int_range(FCT_POINTS, eager=True) * (len(times) - 1) // (FCT_POINTS - 1))


def _comparison(base: Scenario, done: Sequence[_Run], order: Sequence[str]) -> Comparison:
    import polars as pl

    rows = sorted((run.row for run in done), key=lambda row: order.index(row["balancer"]))
    # A seed may need all 64 bits, which would not be guessed from the first rows.
    schema = {"seed": pl.UInt64, "deployment": pl.String}
    runs = pl.DataFrame(rows, infer_schema_length=None, schema_overrides=schema)
    # A measure that no run has (such as the CCT, if none finished) is a number all the same.
    runs = runs.with_columns(pl.selectors.by_dtype(pl.Null).cast(pl.Float64)).select(
        "balancer", "seed", pl.exclude("balancer", "seed")
    )
    fct = pl.concat(
        pl.DataFrame({"fct_us": run.fct_us}).select(
            pl.lit(run.row["balancer"]).alias("balancer"), pl.lit(run.row["seed"], pl.UInt64).alias("seed"), "fct_us"
        )
        for run in done
    )
    return Comparison(base, runs, fct, tuple(run.problem for run in done if run.problem))
