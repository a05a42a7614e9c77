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

Values = Sequence[Any] | Mapping[Any, Any]
Axes = Mapping[str, Values]


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
        tiers: for "quick", "medium" and "full" the values of every axis, or a list of such grids, whose points are
            run one grid after the other, each point once. Values of a whole part may be texts ("pofan:4") or models
            (`Pofan(ports_per_pipe=4)`); a mapping gives them names for the table. A transport brings the balancer that
            it usually runs over, or that its text names: "dcpim/simple-rr".
        columns: measures to keep in the table, in this order; empty for all.
        panels: of the figure: how many side by side, or (rows, columns).
        panel_inches: width and height of a panel.

    Raises:
        ScenarioError: a grid without axes, a tier that is none of the three or has other axes than the grid, no panels.

    """

    title: str
    source: str
    base: Scenario
    grid: Mapping[str, str | None]
    tiers: Mapping[str, Axes | Sequence[Axes]]
    columns: Sequence[str] = ()
    panels: int | tuple[int, int] = 1
    panel_inches: tuple[float, float] = field(default=(4.2, 3.2))

    def __post_init__(self) -> None:
        if not self.grid:
            raise ScenarioError("grid", self.grid, "at least one axis")
        shape = self.panels if isinstance(self.panels, tuple) else (1, self.panels)
        if len(shape) != 2 or not all(isinstance(count, int) and count >= 1 for count in shape):
            raise ScenarioError("panels", self.panels, "an integer of at least 1, or two such for (rows, columns)")
        if not self.tiers:
            raise ScenarioError("tiers", None, f"at least one of {', '.join(TIERS)}")
        for tier, given in self.tiers.items():
            if tier not in TIERS:
                raise ScenarioError("tiers", tier, ", ".join(TIERS))
            if not given:
                raise ScenarioError(f'tiers["{tier}"]', given, "at least one grid")
            for place, axes in enumerate(self._grids(tier)):
                name = f'tiers["{tier}"]' if isinstance(given, Mapping) else f'tiers["{tier}"][{place}]'
                if axes.keys() != self.grid.keys():
                    raise ScenarioError(name, list(axes), f"the axes of the grid: {', '.join(self.grid)}")
                for axis, values in axes.items():
                    _check_values(f'{name}["{axis}"]', values)

    def check_tier(self, tier: str, where: str = "") -> None:
        """Raise `ScenarioError` if there is no such tier."""
        if tier not in self.tiers:
            raise ScenarioError("tier", Unknown(tier), ", ".join(self.tiers), where)

    def points(self, tier: str) -> Iterator[Point]:
        """Yield every combination of the tier's values, the last axis changing fastest. Raises `ScenarioError`.

        A combination of labels that an earlier grid of the tier has is left out.
        """
        self.check_tier(tier)
        seen: set[tuple[Any, ...]] = set()
        for axes in self._grids(tier):
            for chosen in product(*(_named(axes[axis]) for axis in self.grid)):
                labels, values = zip(*chosen, strict=True)
                if labels not in seen:
                    seen.add(labels)
                    yield Point(*(dict(zip(self.grid, side, strict=True)) for side in (values, labels)))

    def _grids(self, tier: str) -> Sequence[Axes]:
        given = self.tiers[tier]
        return (given,) if isinstance(given, Mapping) else given

    def scenario(self, point: Point) -> Scenario:
        """Return the base with the fields that the grid names set to the point's values. Raises `ScenarioError`."""
        scenario = self.base
        for axis, path in self.grid.items():
            if path is not None:
                scenario = with_field(scenario, path, point[axis])
        return scenario


def with_field(scenario: Scenario, path: str, value: Any) -> Scenario:
    """Return a copy with a part ("balancer") or a field at any depth ("fabric.failures.seed") set, checked anew.

    A whole transport comes with a balancer that suits it: `fabricsim.contestants.transport_contestant`.
    Raises `ScenarioError` if there is no such field, or it does not take the value.
    """
    from fabricsim.contestants import of_transport, transport_contestant
    from fabricsim.scenario import TRANSPORTS, balancer_from_text

    name, *inner = path.split(".")
    if name not in type(scenario).model_fields:
        raise ScenarioError("grid", Unknown(path), f"a field that begins with {', '.join(type(scenario).model_fields)}")
    if path == "transport" and isinstance(value, (str, *TRANSPORTS.values())):
        given = transport_contestant(value) if isinstance(value, str) else of_transport(value)  # type: ignore[arg-type]
        return scenario.replace(**given.parts)
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
    from fabricsim.scenario import BALANCERS, TRANSPORTS
    from fabricsim.scenario.transports.short_text import transport_text
    from fabricsim.scenario.units import Quantity

    if isinstance(value, Quantity):
        return int(value)  # in the unit that the axis should have in its name
    if isinstance(value, tuple(BALANCERS.values())):
        return label(value)  # type: ignore[arg-type]
    if isinstance(value, tuple(TRANSPORTS.values())):
        return transport_text(value)  # type: ignore[arg-type]
    return value if isinstance(value, bool | int | float) else str(value)
