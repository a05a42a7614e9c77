"""Reads JSON files as strictly as TOML ones: a name that stands twice in one object is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fabricsim.errors import ScenarioError


def read_json(file: Path, field: str = "") -> Any:
    """Return what a JSON file holds.

    Raises:
        ScenarioError: the file cannot be read, is no JSON, names something twice, or is nested too deeply.

    """
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"), object_pairs_hook=_without_repeats)
    except OSError as error:
        raise ScenarioError(field, file, f"a file that can be read ({error.strerror or error})") from None
    except RecursionError:
        raise ScenarioError(field, file, "a JSON file (this one is nested too deeply)") from None
    except ValueError as error:
        raise ScenarioError(field, file, f"a JSON file ({error})") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{json.dumps(name)} stands twice in one object")
        found[name] = value
    return found
