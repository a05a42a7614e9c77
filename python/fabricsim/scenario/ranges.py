"""Ranges of fields, declared once: each checks a value, says in words what it allows, and gives its JSON Schema.

Used as `radix: Annotated[int, Whole(2, 128, step=2)] = 12`. The words feed the error message, `fabricsim explain` and
the documentation. `word`: a text accepted beside the range, or several: `Whole(1, 1024, word="auto")`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from fabricsim.scenario.part import refusal
from fabricsim.scenario.units import Quantity


class Allowed(ABC):
    """What a field accepts; subclasses hold the limits and are put into `Annotated`."""

    word: str | tuple[str, ...] | None

    @property
    def _texts(self) -> tuple[str, ...]:
        """The texts accepted beside the range."""
        return self.word if isinstance(self.word, tuple) else (self.word,) if self.word else ()

    @property
    @abstractmethod
    def _values(self) -> str:
        """The range in words, without the `word`."""

    @abstractmethod
    def _check(self, value: object) -> object:
        """Return the value to keep, or refuse it."""

    @abstractmethod
    def _json_schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the range, without the `word`."""

    @property
    def words(self) -> str:
        """The range in words."""
        return self._values + self._beside

    @property
    def _beside(self) -> str:
        return "".join(f', or "{text}"' for text in self._texts)

    def _validate(self, value: object) -> object:
        return value if isinstance(value, str) and value in self._texts else self._check(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        serialized = core_schema.plain_serializer_function_ser_schema(_serialized, when_used="json")
        return core_schema.no_info_plain_validator_function(self._validate, serialization=serialized)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = self._json_schema()
        return {"anyOf": [*({"const": text} for text in self._texts), described]} if self._texts else described


def _serialized(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Quantity) else value


@dataclass(frozen=True)
class Whole(Allowed):
    """An integer from `low` to `high` in steps; true and false are no integers, nor is 12.0."""

    low: int
    high: int
    step: int = 1
    word: str | tuple[str, ...] | None = None

    @property
    def _values(self) -> str:
        kind = {1: "an integer", 2: "an even integer"}.get(self.step, f"a multiple of {self.step}")
        return f"{kind} from {self.low} to {self.high}"

    def _check(self, value: object) -> int:
        if isinstance(value, bool | Quantity) or not isinstance(value, int):
            raise refusal(value, self.words)
        if not self.low <= value <= self.high or value % self.step:
            raise refusal(value, self.words)
        return int(value)

    def _json_schema(self) -> JsonSchemaValue:
        step = {} if self.step == 1 else {"multipleOf": self.step}
        return {"type": "integer", "minimum": self.low, "maximum": self.high, **step}


def _short(number: float) -> str:
    """Write a number as short as a person would: 1e-6, not 1e-06."""
    return re.sub(r"e([+-])0+", r"e\1", f"{number:g}")


@dataclass(frozen=True)
class Real(Allowed):
    """A number from `low` to `high`, both included."""

    low: float
    high: float
    word: str | tuple[str, ...] | None = None

    @property
    def _values(self) -> str:
        return f"a number from {_short(self.low)} to {_short(self.high)}"

    def _check(self, value: object) -> float:
        if isinstance(value, bool | Quantity) or not isinstance(value, int | float):
            raise refusal(value, self.words + self._percent(value))
        if not self.low <= value <= self.high:  # NaN is neither
            raise refusal(value, self.words)
        return float(value)

    def _percent(self, value: object) -> str:
        """Return a hint for a share in percent, where it would be one that is allowed."""
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", value) if isinstance(value, str) else None
        share = float(found[1]) / 100 if found else None
        return "" if share is None or not self.low <= share <= self.high else f" (did you mean {_short(share)}?)"

    def _json_schema(self) -> JsonSchemaValue:
        return {"type": "number", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True)
class Ascending(Allowed):
    """A list of `count` numbers from `low` to `high`, each greater than the one before; kept as a tuple."""

    count: int
    low: float
    high: float
    word: str | tuple[str, ...] | None = None

    @property
    def _values(self) -> str:
        return f"a list of {self.count} ascending numbers from {_short(self.low)} to {_short(self.high)}"

    def _check(self, value: object) -> tuple[float, ...]:
        if not isinstance(value, list | tuple) or len(value) != self.count:
            raise refusal(value, self.words)
        if any(isinstance(one, bool | Quantity) or not isinstance(one, int | float) for one in value):
            raise refusal(value, self.words)
        if not self.low <= value[0] or not value[-1] <= self.high or any(not a < b for a, b in pairwise(value)):
            raise refusal(value, self.words)
        return tuple(map(float, value))

    def _json_schema(self) -> JsonSchemaValue:
        number = {"type": "number", "minimum": self.low, "maximum": self.high}
        return {"type": "array", "items": number, "minItems": self.count, "maxItems": self.count}


@dataclass(frozen=True)
class Between(Allowed):
    """A quantity with a unit from `low` to `high`, both included; their class says which unit."""

    low: Quantity
    high: Quantity
    word: str | tuple[str, ...] | None = None

    @property
    def _values(self) -> str:
        return f"{self.low.noun} from {self.low} to {self.high}"

    def _check(self, value: object) -> Quantity:
        kept = type(self.low).validate(value, self._beside)
        if not self.low <= kept <= self.high:
            raise refusal(str(kept), self.words)
        return kept

    def _json_schema(self) -> JsonSchemaValue:
        return type(self.low).text_schema()
