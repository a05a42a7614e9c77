"""How far one scheme is ahead of others at every value of an axis: what most comparisons of a paper come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fabricsim.balancer_style import display_name
from fabricsim.replication import Mean, ratios

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Leads:
    """Ratios of a measure of others to that of one scheme: `ratios[other][value of the axis]`, above 1 where it leads.

    As text: `dcPIM 1.43 ± 0.01 at 0.5, 1.60 ± 0.02 at 1; pHost ...`.
    """

    ratios: Mapping[str, Mapping[Any, Mean]]

    def __str__(self) -> str:
        return "; ".join(
            f"{display_name(other)} {', '.join(f'{one} at {value}' for value, one in along.items())}"
            for other, along in self.ratios.items()
        )

    def smallest(self) -> Leads:
        """Keep of each other scheme the smallest ratio only, with the value of the axis at which it is."""
        smallest = {other: min(along, key=lambda value: along[value].value) for other, along in self.ratios.items()}
        return Leads({other: {value: self.ratios[other][value]} for other, value in smallest.items()})

    def everywhere(self, least: float = 1) -> bool | None:
        """Whether all ratios are above `least`; None if none is below, but one is nearer than two standard errors."""
        found = [one for along in self.ratios.values() for one in along.values()]
        if any(one.value <= least for one in found):
            return False
        return True if all(one.above(least) for one in found) else None

    def verdict(self, least: float = 1) -> tuple[str, bool | None]:
        """Return what a claim returns: the ratios as text, and whether all are above `least`."""
        return f"{self} times", self.everywhere(least)

    def reduction(self) -> float:
        """By which share the scheme's measure is lower than the others', in the mean over all of them and the axis."""
        return fmean(1 - 1 / one.value for along in self.ratios.values() for one in along.values())


def leads(
    table: pl.DataFrame,
    column: str,
    axis: str,
    first: str,
    others: Sequence[str],
    *,
    by: str = "transport",
    values: Sequence[Any] | None = None,
    **where: Any,
) -> Leads:
    """Compare `first` with `others` in a column, at each value of `axis` that `first` has (or each of `values`).

    `by`: the axis that names the schemes; `where`: the point on all other axes but `seed`. Ratios are means over seeds
    of runs with the same seed, as `fabricsim.study.ratios`. Raises `LookupError` if there is nothing to compare.
    """
    import polars as pl

    if values is None:
        fixed = [pl.col(name) == value for name, value in {by: first, **where}.items()]
        values = table.filter(*fixed)[axis].unique(maintain_order=True).to_list()
    if not values or not others:
        raise LookupError(f"no run of {first}, or nothing to compare it with")
    return Leads(
        {
            other: {
                value: ratios(table, column, {by: other, axis: value, **where}, {by: first, axis: value, **where})
                for value in values
            }
            for other in others
        }
    )
