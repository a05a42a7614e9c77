"""The errors a user of fabricsim meets: bad input (`ValueError`) and runs not to be trusted (`RuntimeError`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricsim.results import Results

_LONGEST_SHOWN = 80
_LARGEST_INTEGER_SHOWN = 10**40


class ScenarioError(ValueError):
    """Bad input: one message of the form `fabric.radix: got 7; allowed: an even integer from 2 to 128 (scenario.toml)`.

    Attributes:
        field: dotted name of the field, or the place in a file (`line 3`); may be empty.
        value: what was given.
        allowed: what would have been accepted, in words.
        where: file, option or class the value came from; may be empty.
        others: further errors of the same input, each a `ScenarioError`; their messages follow on lines of their own.

    """

    def __init__(
        self, field: str, value: object, allowed: str, where: str = "", others: tuple[ScenarioError, ...] = ()
    ) -> None:
        self.field = field
        self.value = value
        self.allowed = allowed
        self.where = where
        self.others = others
        # Names come from files too, and may hold a line's end or worse.
        head = f"{_printable(field)}: " if field else ""
        tail = f" ({where})" if where else ""
        first = f"{head}got {shown(value)}; allowed: {allowed}{tail}"
        super().__init__("\n".join([first, *map(str, others)]))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[object, ...], dict[str, object]]:
        # What the core has refused carries the core's own words.
        return type(self), (self.field, self.value, self.allowed, self.where, self.others), {"args": self.args}


class Unknown(str):
    """A name that no model knows, as the `value` of a `ScenarioError`; shown with the nearest known name."""

    __slots__ = ("nearest",)
    nearest: str | None

    def __new__(cls, name: str, nearest: str | None = None) -> Unknown:
        """Hold the unknown `name` and the known name most like it, if any."""
        unknown = super().__new__(cls, name)
        unknown.nearest = nearest
        return unknown

    def __reduce__(self) -> tuple[type[Unknown], tuple[str, str | None]]:
        return type(self), (str(self), self.nearest)


class Missing:
    """Stands for a value that was not given, as the `value` of a `ScenarioError`."""


def shown(value: object) -> str:
    """Return `value` as a person would write it in a scenario file, cut to 80 characters; a path is never cut."""
    if isinstance(value, Path):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, Unknown):
        return f"the unknown name {json.dumps(value, ensure_ascii=False)}" + (
            f' (did you mean "{value.nearest}"?)' if value.nearest else ""
        )
    if value is None or value is Missing or isinstance(value, Missing):
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= _LARGEST_INTEGER_SHOWN:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)
    except (
        TypeError,
        ValueError,
    ):  # no JSON, or integers of more than 4,300 digits inside, which Python will not print
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in name)


class _RunError(RuntimeError):
    """A run whose results exist but must not be trusted; they are kept for inspection in `results`."""

    def __init__(self, message: str, results: Results) -> None:
        super().__init__(message)
        self.results = results

    def __reduce__(self) -> tuple[type[_RunError], tuple[str, Results]]:
        return type(self), (str(self), self.results)


class UnfinishedError(_RunError):
    """The run ended with messages unfinished (stuck, or at the time limit); `results` holds what was measured."""


class BoundViolationError(_RunError):
    """The run beat a physical bound (a flow faster than ideal, a CCT below its bound): a defect."""
