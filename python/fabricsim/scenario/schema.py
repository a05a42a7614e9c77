"""JSON Schema of scenario files, for editors and for checks outside Python."""

from __future__ import annotations

from typing import Any

from fabricsim.scenario.presets import PRESETS
from fabricsim.scenario.scenario import KINDS, Scenario


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario file: what `scenario_from_toml` reads.

    It knows names, types, ranges and units; what depends on several fields (a link of this fabric) only loading checks.
    """
    schema = Scenario.model_json_schema()
    for part in KINDS:
        described = schema["properties"][part]
        described.pop("discriminator", None)
        # A file may leave `kind` to the preset or the default; then several kinds can fit, which oneOf forbids.
        if "oneOf" in described:
            described["anyOf"] = described.pop("oneOf")
    schema["properties"] = {
        "preset": {"enum": list(PRESETS), "description": "Values to start from; everything else here overrides them."},
        **schema["properties"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "fabricsim scenario",
    }
