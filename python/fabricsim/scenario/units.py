"""Sizes, rates, durations and counts with exact units: `Bytes`, `Rate` (bit/s), `Duration` (ps), `PacketCount`.

Each is an integer. A text such as "1MiB", "100kB", "800Gbps" or "500ns" is read with exact fractions, never floats;
what is not a whole number of bytes, bit/s or picoseconds is refused, and so is a bare number. MB is 10^6 and MiB 2^20
bytes.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from fabricsim.errors import ScenarioError
from fabricsim.scenario.part import refusal

LARGEST = 2**63 - 1
"""Largest quantity of any unit: it fits the signed 64-bit columns of the results as well as the core's."""

_TEXT = re.compile(r"([+-]?)([0-9]{1,20}(?:\.[0-9]{1,30})?) ?([A-Za-zµμ/]*)", re.ASCII)


class Quantity(int):
    """A non-negative integer in the class's base unit, read from and written as a text with a unit.

    `Bytes("1MiB")`, or `Bytes(1048576)` where the class itself names the unit. `int(x)` is the number in the base
    unit, `str(x)` the shortest exact text. Raises `ScenarioError` on anything else.
    """

    units: ClassVar[dict[str, int]]
    aliases: ClassVar[dict[str, str]] = {}
    noun: ClassVar[str]
    base: ClassVar[str]
    example: ClassVar[str]
    hints: ClassVar[dict[str, str]] = {}

    def __new__(cls, value: str | int) -> Self:
        """Read a text with a unit, or take an integer in the base unit."""
        if isinstance(value, str):
            return cls._parse(value)
        other_unit = isinstance(value, Quantity) and type(value) is not cls
        if other_unit or isinstance(value, bool) or not isinstance(value, int):
            raise ScenarioError("", value, cls.allowed(), cls.__name__)
        if not 0 <= value <= LARGEST:
            raise ScenarioError("", value, f"from 0 to {LARGEST} {cls.base}", cls.__name__)
        return super().__new__(cls, value)

    @classmethod
    def allowed(cls) -> str:
        """Return in words what texts the class reads."""
        *most, last = cls.units
        return f'{cls.noun} as a text with a unit ({", ".join(most)} or {last}), such as "{cls.example}"'

    @classmethod
    def _parse(cls, text: str) -> Self:
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise ScenarioError("", text, cls.allowed(), cls.__name__)
        sign, number, unit = match.groups()
        scale = cls.units.get(cls.aliases.get(unit, unit))
        if scale is None:
            raise ScenarioError("", text, cls.allowed() + cls._hint(number, unit), cls.__name__)
        exact = Fraction(number) * scale
        if sign == "-" and exact != 0:
            raise ScenarioError("", text, f"{cls.noun} of 0 or more", cls.__name__)
        if exact.denominator != 1:
            raise ScenarioError("", text, f"{cls.noun} of a whole number of {cls.base}", cls.__name__)
        if exact > LARGEST:
            raise ScenarioError("", text, f"{cls.noun} of at most {LARGEST} {cls.base}", cls.__name__)
        return super().__new__(cls, int(exact))

    @classmethod
    def _hint(cls, number: str, unit: str) -> str:
        if not unit:
            return f'; a bare number has no unit: did you mean "{number}{cls.hints[""]}"?'
        if unit in cls.hints:
            return f"; {cls.hints[unit]}"
        folded = {name.lower(): name for name in reversed(list(cls.units))}
        guess = folded.get(unit.lower())
        return f'; did you mean "{number}{guess}"?' if guess else ""

    def __str__(self) -> str:
        """Return the shortest exact text, the larger unit where two are as short."""
        number = int(self)
        texts = [f"{number // scale}{unit}" for unit, scale in self.units.items() if number % scale == 0]
        return min(reversed(texts), key=len) if number else f"0{next(iter(self.units))}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec) if not spec else format(int(self), spec)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @classmethod
    def validate(cls, value: object, beside: str = "") -> Self:
        """Read a model's input: the class itself or a text with a unit; a bare number is refused with a hint.

        `beside` names what else the field accepts, for the error message.
        """
        if type(value) is cls:
            return value
        if isinstance(value, str):
            try:
                return cls._parse(value)
            except ScenarioError as error:
                raise refusal(value, error.allowed + beside) from None
        bare = isinstance(value, int) and not isinstance(value, bool | Quantity) and 0 <= value <= LARGEST
        raise refusal(value, cls.allowed() + beside + (cls._hint(str(value), "") if bare else ""))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.validate,
            serialization=core_schema.plain_serializer_function_ser_schema(str, when_used="json"),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return cls.text_schema()

    @classmethod
    def text_schema(cls) -> JsonSchemaValue:
        """Return the JSON Schema of the texts that the class reads."""
        names = "|".join(re.escape(name) for name in [*cls.units, *cls.aliases])
        pattern = rf"^\s*\+?[0-9]{{1,20}}(\.[0-9]{{1,30}})? ?({names})\s*$"
        return {"type": "string", "pattern": pattern, "examples": [cls.example]}


class Bytes(Quantity):
    """A size in bytes: B, kB = 10^3, MB, GB, TB, KiB = 2^10, MiB, GiB, TiB."""

    units: ClassVar[dict[str, int]] = {
        "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
        "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
    }  # fmt: skip
    aliases: ClassVar[dict[str, str]] = {"KB": "kB"}
    noun, base, example = "a size", "bytes", "1MiB"
    hints: ClassVar[dict[str, str]] = {
        "": "B",
        **{f"{p}b": f"{p}b counts bits: did you mean {p}B?" for p in ("", "k", "K", "M", "G", "T")},
        **{f"{p}bit": f"{p}bit counts bits: did you mean {p}B?" for p in ("k", "K", "M", "G", "T")},
    }


class Rate(Quantity):
    """A rate in bit/s: bps, kbps = 10^3, Mbps, Gbps, Tbps (also written Gb/s or Gbit/s)."""

    units: ClassVar[dict[str, int]] = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
    aliases: ClassVar[dict[str, str]] = {
        f"{p}{tail}": f"{p}bps" for p in ("", "k", "M", "G", "T") for tail in ("b/s", "bit/s")
    }
    noun, base, example = "a rate", "bit/s", "800Gbps"
    hints: ClassVar[dict[str, str]] = {
        "": "bps",
        **{
            f"{p}{tail}": f"{p}{tail} counts bytes: did you mean {p}bps?"
            for p in ("", "k", "K", "M", "G", "T")
            for tail in ("Bps", "B/s")
        },
    }


class Duration(Quantity):
    """A duration in picoseconds: ps, ns, us (or µs), ms, s."""

    units: ClassVar[dict[str, int]] = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
    aliases: ClassVar[dict[str, str]] = {"µs": "us", "μs": "us"}
    noun, base, example = "a duration", "picoseconds", "500ns"
    hints: ClassVar[dict[str, str]] = {"": "ps", **dict.fromkeys(("fs", "min", "h"), "the units run from ps to s")}


class PacketCount(Quantity):
    """A number of full data frames, where a size in bytes could stand too: packets (or packet)."""

    units: ClassVar[dict[str, int]] = {"packets": 1}
    aliases: ClassVar[dict[str, str]] = {"packet": "packets"}
    noun, base, example = "a number of packets", "packets", "225packets"
    hints: ClassVar[dict[str, str]] = {"": "packets"}

    @classmethod
    def allowed(cls) -> str:
        """Return in words what texts the class reads."""
        return f'{cls.noun}, such as "{cls.example}"'
