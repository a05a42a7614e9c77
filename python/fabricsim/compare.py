"""One scenario under several balancers or transports, and seeds: a tidy table of runs, and one of means with errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim.contestants import By, Contestant, of_balancer, of_transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from fabricsim.results import Results
    from fabricsim.run import Progress
    from fabricsim.scenario import Balancer, Scenario
    from fabricsim.scenario.balancers import AnyBalancer
    from fabricsim.scenario.transports import AnyTransport

# Flow completion times kept of one run for the distribution: all of them, or so many evenly spaced order statistics.
FCT_POINTS = 2000

# Columns of a run's row that are not measured: they say which run it was.
RUN_KEYS = (
    "transport", "balancer", "deployment", "seed", "status", "workload", "version", "result_hash", "hosts", "threads",
    "simulated_us",
)  # fmt: skip


# Objects in a summary whose keys are kinds, and what stands before and after the kind in the column of each.
_BY_KIND = {"drops_count": ("drops", "count"), "loss_fraction": ("loss", "fraction"), "lost_count": ("lost", "count")}
_NESTED = ("queues", "transport_counts", "transport_parameters", *_BY_KIND)


@dataclass(frozen=True)
class Comparison:
    """What a comparison came to.

    `base`: the scenario all runs share. `by`: what is compared, "balancer" or "transport"; it is the first column of
    all tables. `runs`: one row a run, with `seed` and the fields of its summary (a stage's queue as
    `edge_agg_max_packets`, ...). `fct`: `seed`, `fct_us`, up to 2,000 order statistics a run of all its flows, null for
    those that were not delivered. `problems`: what went wrong in which run; empty when every run finished within the
    bounds of physics.
    """

    base: Scenario
    runs: pl.DataFrame
    fct: pl.DataFrame
    problems: tuple[str, ...] = ()
    by: By = "balancer"

    @property
    def table(self) -> pl.DataFrame:
        """One row a balancer or transport: `summary_table(runs, by)`."""
        return summary_table(self.runs, self.by)

    @property
    def cct(self) -> str:
        """The CCT that the lower bound is of, as in `runs`; of transports it is that of the last delivery."""
        from fabricsim.bounds import bounds_cct_acked

        return "cct_acked_us" if self.by == "balancer" and bounds_cct_acked(self.base) else "cct_delivered_us"

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
    chosen = [of_balancer(one) for one in balancers]
    return compare_all(base, "balancer", chosen, seeds, folder=folder, workers=workers, progress=progress)


def compare_transports(
    base: Scenario,
    transports: Sequence[AnyTransport | tuple[AnyTransport, AnyBalancer]],
    seeds: int | Sequence[int] = 10,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Run `base` under each transport, over the balancer given with it or its usual one; else as `compare`.

    The usual one is `Rps` for dcSim, `Ofan` for paced hosts and those with windows, `Rsq` for the others
    (`fabricsim.contestants.usual_balancer`).
    """
    chosen = [of_transport(*one) if isinstance(one, tuple) else of_transport(one) for one in transports]
    return compare_all(base, "transport", chosen, seeds, folder=folder, workers=workers, progress=progress)


def compare_all(
    base: Scenario,
    by: By,
    contestants: Sequence[Contestant],
    seeds: int | Sequence[int] = 10,
    *,
    folder: str | Path | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Run `base` with the parts of each contestant; `by` says what they are. Else as `compare`."""
    from contextlib import nullcontext

    from fabricsim.folders import check_comparison_folder
    from fabricsim.pool import in_pool
    from fabricsim.progress import many_bar
    from fabricsim.run import workers_for

    numbers = range(base.run.seed, base.run.seed + seeds) if isinstance(seeds, int) else seeds
    names = [one.label for one in contestants]
    _check_each_once(f"{by}s", names)
    _check_each_once("seeds", numbers)
    if folder:
        check_comparison_folder(Path(folder))
    # Seeds outside, contestants inside: an interrupted comparison has about as many runs of each.
    jobs = [(one.label, one.scenario(base, seed)) for seed in numbers for one in contestants]
    keep = Path(folder) / "runs" if folder else None

    def job(named: tuple[str, Scenario], tick: Progress) -> _Run:
        return _run(by, *named, keep, tick)

    with many_bar(len(jobs)) if progress else nullcontext() as bar:
        done = in_pool(job, jobs, workers_for([scenario for _, scenario in jobs], workers), bar)
    return _comparison(base, by, done, names)


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
    return of_balancer(balancer).label


def summary_table(runs: pl.DataFrame, by: By = "balancer") -> pl.DataFrame:
    """One row a balancer or transport, in order of appearance: its runs, and of each measure the mean and its error.

    `runs_count`, `unfinished_runs_count`; each measured column `x` gives `x_mean` and `x_sem` (standard error of the
    mean; null below two runs), and each maximum `x_max` too. A value that a run lacks (the CCT of an unfinished one) is
    left out of its mean.
    """
    import polars as pl

    from fabricsim.replication import means

    unfinished = runs.group_by(by, maintain_order=True).agg(
        (pl.col("unfinished_count") > 0).sum().alias("unfinished_runs_count")
    )
    table = means(runs.drop([name for name in RUN_KEYS if name != by], strict=False), [by])
    counts = (by, "runs_count")
    return table.select(*counts, unfinished["unfinished_runs_count"], pl.exclude(*counts))


@dataclass(frozen=True)
class _Run:
    """What a comparison keeps of one run: its tables stay on disk."""

    row: dict[str, Any]
    fct_us: pl.Series
    problem: str | None


def _run(by: By, name: str, scenario: Scenario, keep: Path | None, tick: Progress) -> _Run:
    from fabricsim.cache import simulate_cached
    from fabricsim.checks import check
    from fabricsim.errors import BoundViolationError, UnfinishedError
    from fabricsim.run import simulate

    if keep:
        stem = name.replace(":", "-").replace("/", "-")
        results = simulate_cached(scenario, keep, f"{stem}-seed-{scenario.run.seed}", tick)
    else:
        results = simulate(scenario, progress=tick, check=False)
    problem = None
    try:
        check(results)
    except (UnfinishedError, BoundViolationError) as error:
        problem = f"{name}, seed {scenario.run.seed}: {error}"
    return _Run({**flat(results.summary), by: name}, _order_statistics(results), problem)


def flat(summary: dict[str, Any]) -> dict[str, Any]:
    """Flatten a summary to one row: `queues["edge-agg"]["max_packets"]` is then `edge_agg_max_packets`, and so on."""
    row = {name: value for name, value in summary.items() if name not in _NESTED}
    for stage, measures in summary["queues"].items():
        row |= {f"{stage.replace('-', '_')}_{measure}": value for measure, value in measures.items()}
    for name, (before, after) in _BY_KIND.items():
        row |= {f"{before}_{kind}_{after}": value for kind, value in summary[name].items()}
    return {**row, **summary["transport_counts"]}


def _order_statistics(results: Results) -> pl.Series:
    """Return completion times ascending, those that never came (null) last: a share of points is one of flows."""
    import polars as pl

    times = results.flows["fct_us"].sort(nulls_last=True)
    if len(times) <= FCT_POINTS:
        return times
    return times.gather(pl.int_range(FCT_POINTS, eager=True) * (len(times) - 1) // (FCT_POINTS - 1))


def _comparison(base: Scenario, by: By, done: Sequence[_Run], order: Sequence[str]) -> Comparison:
    import polars as pl

    rows = sorted((run.row for run in done), key=lambda row: order.index(row[by]))
    # A seed may need all 64 bits, which would not be guessed from the first rows; what one transport counts, another
    # may not.
    schema = {"seed": pl.UInt64, "deployment": pl.String}
    runs = pl.DataFrame(rows, infer_schema_length=None, schema_overrides=schema)
    # A measure that no run has (such as the CCT, if none finished) is a number all the same.
    runs = runs.with_columns(pl.selectors.by_dtype(pl.Null).cast(pl.Float64)).select(by, "seed", pl.exclude(by, "seed"))
    fct = pl.concat(
        pl.DataFrame({"fct_us": run.fct_us}).select(
            pl.lit(run.row[by]).alias(by), pl.lit(run.row["seed"], pl.UInt64).alias("seed"), "fct_us"
        )
        for run in done
    )
    return Comparison(base, runs, fct, tuple(run.problem for run in done if run.problem), by)
