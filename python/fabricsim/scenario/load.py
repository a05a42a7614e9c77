"""Reading scenarios: a TOML file or mapping, on top of a preset, below overrides such as `fabric.radix=8`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fabricsim.errors import ScenarioError, Unknown
from fabricsim.scenario.balancers.short_text import balancer_from_text
from fabricsim.scenario.part import nearest, scenario_error
from fabricsim.scenario.presets import PRESETS
from fabricsim.scenario.scenario import KINDS, Scenario

Overrides = Mapping[str, object] | Iterable[str]
"""Either `{"fabric.radix": 8}`, or texts such as `fabric.radix=8` and `balancer=pofan:4` as on the command line."""

_DEFAULT_KIND: dict[str, str] = {part: Scenario.model_fields[part].default.kind for part in KINDS}


def scenario_from_toml(path: str | PathLike[str], overrides: Overrides = ()) -> Scenario:
    """Read a scenario file, with `overrides` on top; a relative `workload.path` in it is relative to the file.

    Raises `ScenarioError` when the file cannot be read, is not TOML, or holds what no scenario has.
    """
    file = Path(path)
    try:
        mapping = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ScenarioError("", file, f"a file that can be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, an integer of 4,300 digits, nested too deeply
        raise ScenarioError("", file, f"a TOML file ({error})") from None
    workload = mapping.get("workload")
    if isinstance(workload, dict) and isinstance(workload.get("path"), str):
        workload["path"] = str(file.parent / workload["path"])
    return scenario_from_mapping(mapping, overrides, where=str(file))


def scenario_from_mapping(mapping: Mapping[str, object], overrides: Overrides = (), where: str = "") -> Scenario:
    """Build a scenario from nested tables, the contents of a scenario file.

    Layers, each on top of the one before: the defaults, the preset that `preset` names, `mapping`, `overrides`. A layer
    that changes the `kind` of a part keeps what the new kind also has, and drops the rest. `where` names the source of
    `mapping` in errors. Raises `ScenarioError`.
    """
    given = _override_values(overrides)
    layers = [dict(mapping), _nested(given)]
    preset = layers[0].pop("preset", None)
    preset = layers[1].pop("preset", preset)
    if preset is not None:
        if not isinstance(preset, str) or preset not in PRESETS:
            near = nearest(preset, PRESETS) if isinstance(preset, str) else None
            value = Unknown(preset, near) if isinstance(preset, str) else preset
            raise ScenarioError("preset", value, ", ".join(PRESETS), _place("preset", given, where))
        layers.insert(0, PRESETS[preset])
    merged: dict[str, object] = {}
    for layer in layers:
        merged = _merged(merged, layer)
    for part in KINDS:
        fields = merged.get(part)
        if isinstance(fields, dict):
            fields.setdefault("kind", _DEFAULT_KIND[part])
    try:
        return Scenario.model_validate(merged)
    except ValidationError as error:
        raise _placed(scenario_error(error, merged, where), given) from None


def _merged(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    """Return two layers as one, table by table; those of `above` are copied, so presets and inputs stay as they are."""
    merged = dict(below)
    for name, value in above.items():
        kept = merged.get(name)
        if isinstance(value, Mapping):
            merged[name] = _merged(_kept(name, kept, value) if isinstance(kept, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def _kept(part: str, below: Mapping[str, Any], above: Mapping[str, object]) -> Mapping[str, Any]:
    """Return what of a part remains when `above` comes on top of it: all, or after a change of kind what still fits."""
    kind = above.get("kind")
    if part not in KINDS or kind is None or kind == below.get("kind", _DEFAULT_KIND[part]):
        return below
    model = KINDS[part].get(kind) if isinstance(kind, str) else None
    return {name: value for name, value in below.items() if model is not None and name in model.model_fields}


def _override_values(overrides: Overrides) -> dict[str, object]:
    if isinstance(overrides, Mapping):
        return dict(overrides)
    if isinstance(overrides, str):
        overrides = [overrides]
    values: dict[str, object] = {}
    for text in overrides:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ScenarioError("", text, 'name=value, such as "fabric.radix=8"', "--set")
        values[name.strip()] = _toml_value(value.strip())
    return values


def _toml_value(text: str) -> object:
    """Return what a TOML file would hold, or the text itself, so that `"1MiB"` needs no quotes on a command line."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _nested(values: Mapping[str, object]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *tables, last = name.split(".")
        here = nested
        for table in tables:
            inner = here.get(table)
            here[table] = inner = inner if isinstance(inner, dict) else {}
            here = inner
        is_short = name in ("balancer", "deployment.balancer") and isinstance(value, str)
        here[last] = balancer_from_text(str(value), f"--set {name}").model_dump() if is_short else value
    return nested


def _place(field: str, given: Mapping[str, object], where: str) -> str:
    """Return where a field's value came from: the override that set it, or `where`."""
    for name in given:
        if field == name or field.startswith(f"{name}.") or name.startswith(f"{field}."):
            return f"--set {name}"
    return where


def _placed(error: ScenarioError, given: Mapping[str, object]) -> ScenarioError:
    others = tuple(_placed(other, given) for other in error.others)
    return ScenarioError(error.field, error.value, error.allowed, _place(error.field, given, error.where), others)
