"""What `fabricsim list` and `fabricsim explain NAME` print, read from the scenario models."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

from fabricsim.errors import ScenarioError, Unknown
from fabricsim.scenario import KINDS, PRESETS, Scenario
from fabricsim.scenario.part import Part, nearest
from fabricsim.scenario.ranges import Allowed
from fabricsim.scenario.units import Quantity

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_PLAIN = {bool: "true or false", int: "an integer", Path: "a path"}


@dataclass(frozen=True)
class Parameter:
    """A field of a model; `default` is None where a value must be given, `allowed` the range in words with its unit."""

    name: str
    default: str | None
    allowed: str
    meaning: str


@dataclass(frozen=True)
class Entry:
    """One balancer, workload, fabric, transport or other part of a scenario.

    `part` is the section of a scenario file; `name` its `kind` there, or the part itself where it has only one. The
    last five are empty but for balancers (`differs`: also transports): where the scheme runs, what a switch remembers,
    how its average queue provably grows with the message size m on uplinks and downlinks (Ofan Table 1), and how it
    deviates from its source.
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


def catalogue() -> tuple[Entry, ...]:
    """Return every entry: the kinds of each part first, then the parts of which there is one kind only."""
    kinds = [_entry(name, part, model) for part, models in KINDS.items() for name, model in models.items()]
    single = [(part, field.annotation) for part, field in Scenario.model_fields.items() if part not in KINDS]
    return (*kinds, *(_entry(part, part, model) for part, model in single))


def entry(name: str) -> Entry:
    """Return the entry of a name such as `ofan`, `pofan:4` or `fat-tree`. Raises `ScenarioError` for unknown names."""
    wanted = name.strip().lower().partition(":")[0]
    entries = {known.name: known for known in catalogue()}
    if wanted not in entries:
        known = [*entries, *PRESETS]
        raise ScenarioError("", Unknown(name, nearest(wanted, known)), ", ".join(known))
    return entries[wanted]


def _entry(name: str, part: str, model: Any) -> Entry:
    document = inspect.cleandoc(model.__doc__ or "")
    source = re.search(r"Source: (.+?)\.?(?:\n\n|$)", document, re.DOTALL)
    first = " ".join(document.split("\n\n")[0].split())
    facts = ("where", "state_per_switch", "growth_up", "growth_down", "differs")
    return Entry(
        name=name,
        part=part,
        summary=getattr(model, "summary", first),
        source=getattr(model, "source", " ".join(source.group(1).split()) if source else ""),
        parameters=tuple(parameter(key, field) for key, field in model.model_fields.items() if key != "kind"),
        **{fact: getattr(model, fact, "") for fact in facts},
    )


def parameter(name: str, field: FieldInfo) -> Parameter:
    """Return a model's field in words."""
    default = None if field.is_required() else _text(field.default)
    return Parameter(name, default, _allowed(field), " ".join((field.description or "").split()))


def _allowed(field: FieldInfo) -> str:
    for limits in field.metadata:
        if isinstance(limits, Allowed):
            return limits.words
    return _words(field.annotation)


def _words(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, Quantity):
        return annotation.allowed()
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return "a table of " + ", ".join(annotation.model_fields)
    if isinstance(annotation, str):
        return f'"{annotation}"'
    if get_origin(annotation) is tuple:
        return "a list"
    options = [_words(option) for option in get_args(annotation) if option is not type(None)]
    return " or ".join(options) or _PLAIN.get(annotation, "a text")


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return "[]" if value == () else str(value)
