"""`Study`: what a study file declares, and the runs that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from fabricsim.errors import ScenarioError, Unknown

if TYPE_CHECKING:
    from fabricsim.scenario import Scenario

TIERS = ("quick", "medium", "full")
"""From the smallest to the paper's size: seconds (in CI), minutes, as long as it takes."""

Values = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    """One run's place in the grid: `point["radix"]` is the value of an axis, `point.labels` what tables call it."""

    values: Mapping[str, Any]
    labels: Mapping[str, Any]

    def __getitem__(self, axis: str) -> Any:
        return self.values[axis]

    def __str__(self) -> str:
        return ", ".join(f"{axis} {label}" for axis, label in self.labels.items())


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is run for a figure or table of a paper.

    Args:
        title: what the figure shows, in a line.
        source: where it stands, such as "Ofan Fig. 4".
        base: the scenario that every run starts from.
        grid: the axes, which become the first columns of the table: of each the field of the scenario that it sets
            ("run.seed", "fabric.radix", or a whole part such as "balancer"), or None for an axis that only the file's
            own `scenario(base, point)` or `messages(scenario, point)` reads.
        tiers: for "quick", "medium" and "full" the values of every axis. Values of a whole part may be texts
            ("pofan:4") or models (`Pofan(ports_per_pipe=4)`); a mapping gives them names for the table.
        columns: measures to keep in the table, in this order; empty for all.
        panels: of the figure: how many side by side, or (rows, columns).
        panel_inches: width and height of a panel.

    Raises:
        ScenarioError: a tier that is none of the three or has other axes than the grid.

    """

    title: str
    source: str
    base: Scenario
    grid: Mapping[str, str | None]
    tiers: Mapping[str, Mapping[str, Values]]
    columns: Sequence[str] = ()
    panels: int | tuple[int, int] = 1
    panel_inches: tuple[float, float] = field(default=(4.2, 3.2))

    def __post_init__(self) -> None:
        if not self.tiers:
            raise ScenarioError("tiers", None, f"at least one of {', '.join(TIERS)}")
        for tier, axes in self.tiers.items():
            if tier not in TIERS:
                raise ScenarioError("tiers", tier, ", ".join(TIERS))
            if axes.keys() != self.grid.keys():
                raise ScenarioError(f'tiers["{tier}"]', list(axes), f"the axes of the grid: {', '.join(self.grid)}")
            for axis, values in axes.items():
                _check_values(f'tiers["{tier}"]["{axis}"]', values)

    def check_tier(self, tier: str, where: str = "") -> None:
        """Raise `ScenarioError` if there is no such tier."""
        if tier not in self.tiers:
            raise ScenarioError("tier", Unknown(tier), ", ".join(self.tiers), where)

    def points(self, tier: str) -> Iterator[Point]:
        """Yield every combination of the tier's values, the last axis changing fastest. Raises `ScenarioError`."""
        self.check_tier(tier)
        named = [list(_named(values)) for values in self.tiers[tier].values()]
        for chosen in product(*named):
            labels, values = (dict(zip(self.grid, side, strict=True)) for side in zip(*chosen, strict=True))
            yield Point(values, labels)

    def scenario(self, point: Point) -> Scenario:
        """Return the base with the fields that the grid names set to the point's values. Raises `ScenarioError`."""
        scenario = self.base
        for axis, path in self.grid.items():
            if path is not None:
                scenario = with_field(scenario, path, point[axis])
        return scenario


def with_field(scenario: Scenario, path: str, value: Any) -> Scenario:
    """Return a copy with a part ("balancer") or a field at any depth ("fabric.failures.seed") set, checked anew.

    Raises `ScenarioError` if there is no such field, or it does not take the value.
    """
    from fabricsim.scenario import balancer_from_text

    name, *inner = path.split(".")
    if name not in type(scenario).model_fields:
        raise ScenarioError("grid", Unknown(path), f"a field that begins with {', '.join(type(scenario).model_fields)}")
    if path in ("balancer", "deployment.balancer") and isinstance(value, str):
        value = balancer_from_text(value)
    return scenario.replace(**{name: _laid_over(getattr(scenario, name), inner, value)})


def _laid_over(part: Any, names: Sequence[str], value: Any) -> Any:
    """Return a part with a field below it set, as a mapping: so an error of its check has the field's whole name.

    What is not there, such as `fabric.failures` without any, is made of that field alone.
    """
    from fabricsim.scenario.part import Part

    if not names:
        return value
    name, *inner = names
    fields = dict(part) if isinstance(part, Part) else {}
    return {**fields, name: _laid_over(fields.get(name), inner, value)}


def _check_values(field_name: str, values: Values) -> None:
    if isinstance(values, str) or not isinstance(values, Iterable) or not len(values):
        raise ScenarioError(field_name, values, "a list of values, or a mapping from names to values")
    labels = [label for label, _ in _named(values)]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise ScenarioError(field_name, label, "each value once")


def _named(values: Values) -> Iterator[tuple[Any, Any]]:
    """Yield each value with what tables call it."""
    if isinstance(values, Mapping):
        yield from values.items()
        return
    for value in values:
        yield _label(value), value


def _label(value: Any) -> Any:
    from fabricsim.compare import label
    from fabricsim.scenario import BALANCERS
    from fabricsim.scenario.units import Quantity

    if isinstance(value, Quantity):
        return int(value)  # in the unit that the axis should have in its name
    if isinstance(value, tuple(BALANCERS.values())):
        return label(value)  # type: ignore[arg-type]
    return value if isinstance(value, bool | int | float) else str(value)
