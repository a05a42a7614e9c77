"""Means over replicated runs with their standard errors, differences and ratios of runs with the same seed, growth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl


@dataclass(frozen=True)
class Mean:
    """A mean over `count` independent runs; `sem`, its standard error, is NaN below two runs."""

    value: float
    sem: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Mean:
        """Mean of one value a run. Raises `LookupError` if there is none."""
        import statistics

        numbers = [float(value) for value in values]
        if not numbers:
            raise LookupError("a mean needs at least one run that has the value")
        sem = statistics.stdev(numbers) / len(numbers) ** 0.5 if len(numbers) > 1 else float("nan")
        return cls(statistics.fmean(numbers), sem, len(numbers))

    @property
    def percent(self) -> Mean:
        """The same in percent, of a fraction."""
        return Mean(self.value * 100, self.sem * 100, self.count)

    def above(self, limit: float, errors: float = 2) -> bool | None:
        """Whether it lies above `limit`; None if it is nearer to it than so many standard errors."""
        if not abs(self.value - limit) >= errors * self.sem:
            return None
        return self.value > limit

    def within(self, low: float, high: float) -> bool | None:
        """Whether it lies in the interval; None if its standard error is above a quarter of the interval."""
        return low <= self.value <= high if self.sem <= (high - low) / 4 else None

    def __format__(self, spec: str) -> str:
        """Return mean ± standard error, each in the format `spec` (by default `.2f`)."""
        spec = spec or ".2f"
        return format(self.value, spec) + ("" if self.count < 2 else f" ± {format(self.sem, spec)}")

    def __str__(self) -> str:
        return format(self)


def mean(table: pl.DataFrame, column: str, **where: Any) -> Mean:
    """Mean of a column over the runs at a point: `mean(table, "max_queue_packets", balancer="ofan", radix=8)`.

    Runs that lack the value are left out. Raises `LookupError` if no run is left.
    """
    return Mean.of(_at(table, where)[column].drop_nulls())


def means(table: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """One row a point, in order of appearance: `runs_count`, and `x_mean` and `x_sem` of each number `x` but the seed.

    `x_sem` is the standard error of the mean, null below two runs; maxima have `x_max` too. A value that a run lacks is
    left out of its mean.
    """
    import polars as pl

    columns: list[pl.Expr] = []
    for name, kind in table.schema.items():
        if not kind.is_numeric() or name in by or name == "seed":
            continue
        value = pl.col(name).cast(pl.Float64)
        columns += [value.mean().alias(f"{name}_mean"), (value.std() / value.count().sqrt()).alias(f"{name}_sem")]
        if "max_" in name:
            columns.append(pl.col(name).max().alias(f"{name}_max"))
    return table.group_by(by, maintain_order=True).agg(pl.len().alias("runs_count"), *columns)


def differences(
    table: pl.DataFrame, column: str, first: Mapping[str, Any], second: Mapping[str, Any], by: str = "seed"
) -> Mean:
    """Mean over seeds of the column at `first` less that at `second`, both of the same seed.

    What a seed does to both, such as its workload, does not count in the error.
    Example: `differences(table, "cct_increase_fraction", {"balancer": "drb"}, {"balancer": "ofan"})`. Raises
    `LookupError` if no seed has both, or one has several runs.
    """
    return Mean.of(one - other for one, other in _pairs(table, column, first, second, by))


def ratios(
    table: pl.DataFrame, column: str, first: Mapping[str, Any], second: Mapping[str, Any], by: str = "seed"
) -> Mean:
    """Mean over seeds of the column at `first` over that at `second`; else as `differences`."""
    return Mean.of(one / other for one, other in _pairs(table, column, first, second, by))


def growth(table: pl.DataFrame, x: str, y: str, **where: Any) -> Mean:
    """Return the exponent a of y ~ x^a, fitted to all runs at a point, with its standard error.

    `fabricsim.theory.fit_exponent` says how, and what the error assumes. `growth(table, "message_bytes",
    "max_queue_bytes", balancer="rsq")`. Raises `ScenarioError` for fewer than 3 runs or 2 sizes, or values not above 0.
    """
    from fabricsim.theory import fit_exponent

    runs = _at(table, where).select(x, y).drop_nulls()
    found = fit_exponent(runs[x].to_numpy(), runs[y].to_numpy())
    return Mean(found.value, found.error, runs.height)


def _pairs(
    table: pl.DataFrame, column: str, first: Mapping[str, Any], second: Mapping[str, Any], by: str
) -> list[tuple[float, float]]:
    one, other = (_at(table, where).select(by, column).drop_nulls() for where in (first, second))
    for side, where in ((one, first), (other, second)):
        if side[by].is_duplicated().any():
            raise LookupError(f"several runs of one {by} at {dict(where)}: name the other axes too")
    return one.join(other, on=by, maintain_order="left").select(column, f"{column}_right").rows()


def _at(table: pl.DataFrame, where: Mapping[str, Any]) -> pl.DataFrame:
    import polars as pl

    return table.filter(*(pl.col(name) == value for name, value in where.items()))
