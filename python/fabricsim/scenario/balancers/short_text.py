"""Balancers as short texts, for command lines and tables: `ofan`, `pofan:4`, `drill:2:1`, `reps:freezing=off`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_origin

from fabricsim.errors import ScenarioError, Unknown
from fabricsim.scenario.balancers import BALANCERS, AnyBalancer, BalancerPart
from fabricsim.scenario.part import Part, nearest

_BETWEEN_ENTRIES = "+"  # a comma separates balancers
_FLAGS = {"true": True, "false": False}


def balancer_from_text(text: str, where: str = "") -> AnyBalancer:
    """Return the balancer that a short text names.

    A kind alone has its defaults; after it follow parameters, each after a colon: `choice:2` and `drill:2:1` give the
    scheme's main ones in their order, `field=value` any. Entries of a list are joined by `+`, as in
    `ar:level_fractions=0.05+0.1+0.2`. `balancer_text` is the inverse. Raises `ScenarioError`; `where` says in it where
    the text came from.
    """
    balancer: AnyBalancer = part_from_text(text, "balancer", BALANCERS, where)
    return balancer


def part_from_text(text: str, part: str, models: Mapping[str, type[Part]], where: str) -> Any:
    """Return the part of a scenario, one of `models` by kind, that a short text names. Raises `ScenarioError`."""
    kind, *parameters = text.strip().split(":")
    model = models.get(kind.lower())
    if model is None:
        raise ScenarioError(part, Unknown(kind, nearest(kind.lower(), models)), ", ".join(models), where)
    short = _short(model)
    fields: dict[str, object] = {}
    for place, parameter in enumerate(_whole(parameters) if not short else parameters):
        name, equals, value = parameter.partition("=")
        if not equals:
            name, value = short[place] if place < len(short) else "", parameter
        name = name.strip()
        if not name or not value or name in fields:
            raise ScenarioError(part, text, _form(model), where)
        fields[name] = _value(model, name, value.strip())
    try:
        return model(**fields)
    except ScenarioError as error:
        raise ScenarioError(f"{part}.{error.field}", error.value, error.allowed, where) from None


def balancer_text(balancer: BalancerPart) -> str:
    """Return a balancer's short text: its kind, and of its parameters those that are not at their defaults."""
    return part_text(balancer)


def part_text(part: Part) -> str:
    """Return the text that `part_from_text` reads."""
    fields = part.model_dump(mode="json")
    changed = {name for name, field in type(part).model_fields.items() if getattr(part, name) != field.default}
    short = list(_short(type(part)))
    while short and short[-1] not in changed and not getattr(part, "short_is_whole", False):
        short.pop()
    parts = [fields.pop("kind"), *(_text(fields.pop(name)) for name in short)]
    return ":".join([*parts, *(f"{name}={_text(value)}" for name, value in fields.items() if name in changed)])


def _short(model: type[Part]) -> tuple[str, ...]:
    """Return the parameters that may go without a name, of which balancers have some."""
    return getattr(model, "short", ())


def _whole(parameters: list[str]) -> list[str]:
    """Return the parameters, all with names, with what follows a colon within a value put back: load=rho-max:hop."""
    whole: list[str] = []
    for parameter in parameters:
        if whole and "=" in whole[-1] and "=" not in parameter:
            whole[-1] += f":{parameter}"
        else:
            whole.append(parameter)
    return whole


def _form(model: type[Part]) -> str:
    kind = model.model_fields["kind"].default
    texts = list(_examples(model, kind))
    return " or ".join([f'"{kind}" alone', *texts])


def _examples(model: type[Part], kind: str) -> Iterator[str]:
    if short := _short(model):
        yield f'"{":".join([kind, *(name.upper() for name in short)])}"'
    if names := [name for name in model.model_fields if name != "kind"]:
        yield f'"{kind}:FIELD=VALUE" of {", ".join(names)}, each once'


def _value(model: type[Part], name: str, text: str) -> object:
    """Return the number or the truth that a text is, or the text; entries of a list one by one."""
    field = model.model_fields.get(name)
    if field is not None and get_origin(field.annotation) is tuple:
        return [_plain(entry) for entry in text.split(_BETWEEN_ENTRIES)]
    return _plain(text)


def _plain(text: str) -> object:
    if text in _FLAGS:
        return _FLAGS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bool):
        return str(value).lower()
    return _BETWEEN_ENTRIES.join(map(str, value)) if isinstance(value, list) else str(value)
