"""How fields of scenario models are called and written at the door to the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricsim.scenario.units import Bytes, Duration

_UNITS = {Bytes: "_bytes", Duration: "_ps"}


def lowered(fields: Mapping[str, object]) -> dict[str, Any]:
    """Return fields as the core reads them: names of sizes and times end in their unit, sequences are lists."""
    return dict(_lowered(name, value) for name, value in fields.items())


def _lowered(name: str, value: object) -> tuple[str, object]:
    if isinstance(value, Bytes | Duration):
        return name + _UNITS[type(value)], int(value)
    return name, list(value) if isinstance(value, tuple) else value
