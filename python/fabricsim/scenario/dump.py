"""A scenario as the text of a TOML file that loads back to the equal scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fabricsim.scenario.derived import derived
from fabricsim.scenario.pfc import pfc_bytes
from fabricsim.scenario.scenario import Scenario
from fabricsim.scenario.units import Bytes


def scenario_to_toml(scenario: Scenario) -> str:
    """Return `scenario` as TOML with every default written out; `scenario_from_toml` reads it back unchanged.

    What `auto` comes to in this scenario stands beside it, as a comment.
    """
    sections = scenario.model_dump(mode="json", exclude_none=True)
    remarks = {
        "port": _port_remarks(scenario),
        "transport": {name: str(value) for name, value in scenario.transport.remarks(derived(scenario)).items()},
    }
    return "\n".join(f"[{name}]\n{_section(fields, remarks.get(name, {}))}" for name, fields in sections.items())


def _port_remarks(scenario: Scenario) -> dict[str, str]:
    port, remarks = scenario.port, {}
    buffer, marks, pauses = scenario.buffer_bytes, scenario.ecn_threshold_bytes, pfc_bytes(scenario)
    if port.buffer == "auto":
        remarks["buffer"] = "infinite" if buffer is None else str(Bytes(buffer))
    if port.ecn_threshold == "auto":
        remarks["ecn_threshold"] = "none" if marks is None else str(Bytes(marks))
    if pauses is not None:
        sizes = {"xoff": pauses.xoff, "xon": pauses.xon, "headroom": pauses.headroom}
        remarks["pfc"] = ", ".join(f"{name} {Bytes(size)}" for name, size in sizes.items())
    return remarks


def _section(fields: Mapping[str, object], remarks: Mapping[str, str]) -> str:
    ordered = sorted(fields.items(), key=lambda item: item[0] != "kind")
    return "".join(f"{name} = {_value(value)}{_remark(remarks.get(name))}\n" for name, value in ordered)


def _remark(text: str | None) -> str:
    return f"  # here {text}" if text else ""


def _value(value: object) -> str:
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_value(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        if value and isinstance(value[0], Mapping | list):
            return "[\n" + "".join(f"  {_value(entry)},\n" for entry in value) + "]"
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
