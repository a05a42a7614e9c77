"""What `fabricsim list` and `fabricsim explain NAME` print, read from the scenario models."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from fabricsim.errors import ScenarioError, Unknown
from fabricsim.json_file import read_json
from fabricsim.scenario import KINDS, PRESETS, FatTreeFailures, LeafSpineFailures, Scenario
from fabricsim.scenario.failures import RandomFailures
from fabricsim.scenario.part import Part, nearest
from fabricsim.scenario.ranges import Allowed
from fabricsim.scenario.units import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic.fields import FieldInfo

MEASURED = Path(__file__).with_name("measured.json")
"""What was measured of each balancer, by kind: made by benchmarks and studies, never by hand."""

GROWTH_CONDITIONS = "with ACKs, 432 hosts, messages of 256KiB to 8MiB: studies/ofan/fig04"
"""What the exponents of growth in `MEASURED` were fitted to."""

_PLAIN = {bool: "true or false", int: "an integer", Path: "a path"}


@dataclass(frozen=True)
class Parameter:
    """A field of a model; `default` is None where a value must be given, `allowed` the range in words with its unit."""

    name: str
    default: str | None
    allowed: str
    meaning: str


@dataclass(frozen=True)
class Measured:
    """What a balancer costs and how its queues grow, as measured; None where it was not.

    `instructions_per_packet_hop`: of a run under it, on one thread. `growth_exponent`: slope of the largest queue over
    the message size, both as logarithms, with the standard error `growth_exponent_sem`: 0 is flat, 1 linear.
    """

    instructions_per_packet_hop: float | None = None
    growth_exponent: float | None = None
    growth_exponent_sem: float | None = None

    @property
    def cost(self) -> str:
        """The cost in words; empty where it was not measured."""
        cost = self.instructions_per_packet_hop
        return "" if cost is None else f"{cost:,.0f} instructions a packet-hop"

    @property
    def growth(self) -> str:
        """The growth in words; empty where it was not measured."""
        if self.growth_exponent is None:
            return ""
        error = "" if self.growth_exponent_sem is None else f" ± {self.growth_exponent_sem:.2f}"
        return f"m^({self.growth_exponent:.2f}{error})"


@dataclass(frozen=True)
class Entry:
    """One balancer, workload, fabric, transport or other part of a scenario.

    `part` is the section of a scenario file; `name` its `kind` there, or the part itself where it has only one. The
    next six are empty but for balancers (`differs`: also transports): where the scheme runs, what a switch remembers,
    how its average queue provably grows with the message size m on uplinks and downlinks (Ofan Table 1), how it
    deviates from its source, and what was measured. `discipline` is what ports do under a transport, else empty.
    """

    name: str
    part: str
    summary: str
    source: str
    parameters: tuple[Parameter, ...]
    where: str = ""
    state_per_switch: str = ""
    growth_up: str = ""
    growth_down: str = ""
    differs: str = ""
    measured: Measured = Measured()
    discipline: str = ""


def catalogue() -> tuple[Entry, ...]:
    """Return every entry: the kinds of each part, then the parts of which there is one kind only, then failures."""
    kinds = [_entry(name, part, model) for part, models in KINDS.items() for name, model in models.items()]
    single = [(part, _model(field.annotation)) for part, field in Scenario.model_fields.items() if part not in KINDS]
    return (*kinds, *(_entry(part, part, model) for part, model in single), _failures())


def entry(name: str) -> Entry:
    """Return the entry of a name such as `ofan`, `pofan:4` or `fat-tree`. Raises `ScenarioError` for unknown names."""
    wanted = name.strip().lower().partition(":")[0]
    entries = {known.name: known for known in catalogue()}
    if wanted not in entries:
        known = [*entries, *PRESETS]
        raise ScenarioError("", Unknown(name, nearest(wanted, known)), ", ".join(known))
    return entries[wanted]


@cache
def measured() -> dict[str, Measured]:
    """Return what was measured, by kind of balancer."""
    return {kind: Measured(**values) for kind, values in read_json(MEASURED).items()}


def _model(annotation: Any) -> Any:
    """Return the model of a part that may be left out."""
    return next((option for option in get_args(annotation) if option is not type(None)), annotation)


def _entry(name: str, part: str, model: Any) -> Entry:
    document = inspect.cleandoc(model.__doc__ or "")
    source = re.search(r"Source: (.+?)\.?(?:\n\n|$)", document, re.DOTALL)
    first = " ".join(document.split("\n\n")[0].split())
    facts = ("where", "state_per_switch", "growth_up", "growth_down", "differs", "discipline")
    return Entry(
        name=name,
        part=part,
        summary=getattr(model, "summary", first),
        source=getattr(model, "source", " ".join(source.group(1).split()) if source else ""),
        parameters=tuple(parameter(key, field) for key, field in model.model_fields.items() if key != "kind"),
        **{fact: getattr(model, fact, "") for fact in facts},
        measured=measured().get(name, Measured()) if part == "balancer" else Measured(),
    )


def _failures() -> Entry:
    """Return the one part of a part that has a name of its own; each fabric has those of its parameters that fit it."""
    entry = _entry("failures", "fabric.failures", FatTreeFailures)
    leaf_spine = _entry("failures", "fabric.failures", LeafSpineFailures)
    more = (one for one in leaf_spine.parameters if one not in entry.parameters)
    summary = inspect.cleandoc(RandomFailures.__doc__ or "").split("\n")[0]
    return replace(entry, summary=summary, parameters=(*entry.parameters, *more))


def parameter(name: str, field: FieldInfo) -> Parameter:
    """Return a model's field in words."""
    default = None if field.is_required() else _text(field.default)
    return Parameter(name, default, _allowed(field), " ".join((field.description or "").split()))


def _allowed(field: FieldInfo) -> str:
    return _limits(field.metadata) or _words(field.annotation)


def _limits(metadata: Iterable[object]) -> str:
    return next((limits.words for limits in metadata if isinstance(limits, Allowed)), "")


def _kind(model: Any) -> str:
    has_one = isinstance(model, type) and issubclass(model, Part) and "kind" in model.model_fields
    return str(model.model_fields["kind"].default) if has_one else ""


def _words(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        plain, *limits = get_args(annotation)
        return _limits(limits) or _words(plain)
    if isinstance(annotation, type) and issubclass(annotation, Quantity):
        return annotation.allowed()
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return "a table of " + ", ".join(annotation.model_fields)
    if isinstance(annotation, str) or get_origin(annotation) is tuple:
        return f'"{annotation}"' if isinstance(annotation, str) else "a list"
    options = [option for option in get_args(annotation) if option is not type(None)]
    kinds = [kind for option in options if (kind := _kind(option))]
    if len(kinds) > 1:
        return f"a table of a kind and its parameters, kind one of {', '.join(kinds)}"
    return " or ".join(map(_words, options)) or _PLAIN.get(annotation, "a text")


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, tuple) else str(value)
