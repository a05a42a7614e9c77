"""What every part of a scenario is: a frozen model that refuses unknown names and reports a `ScenarioError`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from fabricsim.errors import Missing, ScenarioError, Unknown


class Part(BaseModel):
    """Base of every scenario model: frozen, unknown names refused, every error a `ScenarioError`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise scenario_error(error, data, where=type(self).__name__) from None

    # Tells pydantic that this is not a custom constructor, as RootModel does: a nested mapping is then validated in
    # place and its errors keep the full path of the field.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def replace(self, **fields: Any) -> Self:
        """Return a copy with some fields exchanged, checked anew: `scenario.replace(run=scenario.run.replace(seed=7))`.

        Raises `ScenarioError`.
        """
        return type(self)(**{**dict(self), **fields})

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_names(cls, data: object) -> object:
        if isinstance(data, Mapping):
            for name in data:
                if name not in cls.model_fields:
                    unknown = Unknown(str(name), nearest(str(name), cls.model_fields))
                    raise refusal(unknown, ", ".join(cls.model_fields), field=str(name))
        return data


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, or None when none is alike."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


class _Held:
    """Carries any value through pydantic's error context, which would otherwise try to print it."""

    def __init__(self, value: object) -> None:
        self.value = value


def refusal(value: object, allowed: str, field: str = "") -> PydanticCustomError:
    """Return the error with which a validator refuses `value`; `field` names a field below the one it validates."""
    return PydanticCustomError(
        "refused", "allowed: {allowed}", {"allowed": allowed, "field": field, "held": _Held(value)}
    )


def scenario_error(error: ValidationError, data: object, where: str) -> ScenarioError:
    """Turn pydantic's report on `data` into one `ScenarioError`; further errors follow in `others`."""
    found = [_single(details, data, where) for details in error.errors(include_url=False)]
    first = found[0]
    return ScenarioError(first.field, first.value, first.allowed, first.where, tuple(found[1:]))


def _single(details: ErrorDetails, data: object, where: str) -> ScenarioError:
    context = details.get("ctx", {})
    field = _dotted(details, data)
    value: object = details["input"]
    allowed = details["msg"].removeprefix("Input should be ").replace("'", '"')
    match details["type"]:
        case "refused":
            field, value, allowed = _joined(field, context["field"]), context["held"].value, context["allowed"]
        case "value_error" | "assertion_error":
            cause = context["error"]
            allowed = str(cause)
            if isinstance(cause, ScenarioError):
                field, value, allowed = _joined(field, cause.field), cause.value, cause.allowed
        case "missing":
            value, allowed = Missing, "a value (the field has no default)"
        case "union_tag_not_found" if isinstance(value, Mapping):
            field, value, allowed = _joined(field, "kind"), Missing, "the name of a kind"
        case "union_tag_invalid":
            kinds = context["expected_tags"].replace("'", "").split(", ")
            near = nearest(str(context["tag"]), kinds)
            hint = f' (did you mean "{near}"?)' if near else ""
            kind = value.get("kind") if isinstance(value, Mapping) else context["tag"]
            field, value, allowed = _joined(field, "kind"), kind, "one of " + ", ".join(kinds) + hint
        case "model_type" | "model_attributes_type" | "dict_type" | "union_tag_not_found":
            allowed = "a table of named values"
        case "tuple_type" | "list_type":
            allowed = "a list"
        case "bool_type":
            allowed = "true or false"
    return ScenarioError(field, value, allowed, where)


def _joined(*names: str) -> str:
    return ".".join(name for name in names if name)


def _dotted(details: ErrorDetails, data: object) -> str:
    """Return the field's dotted name: pydantic's path without the union tags, which are not in the input."""
    names: list[str] = []
    here: Any = data
    for step in details["loc"]:
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            if details["type"] != "missing" or step != details["loc"][-1]:
                continue
        names.append(str(step))
    return _joined(*names)
