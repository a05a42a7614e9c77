"""`fabricsim list` and `fabricsim explain`: what a scenario can name, and what each name means."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from fabricsim.errors import ScenarioError, Unknown

if TYPE_CHECKING:
    from fabricsim.catalogue import Entry

# What can be listed, in the order of a scenario file: plural, and the section of the file.
LISTS = {
    "fabrics": "fabric",
    "workloads": "workload",
    "balancers": "balancer",
    "transports": "transport",
    "sections": "",
    "presets": "preset",
}


def list_names(
    what: Annotated[str | None, Parameter(help=f"One of {', '.join(LISTS)}; without it, all of them.")] = None,
    /,
) -> None:
    """List what a scenario can name: fabrics, workloads, balancers, transports, other sections, presets.

    For example:

        fabricsim list
        fabricsim list balancers
    """
    if what is not None and what not in LISTS:
        from fabricsim.scenario.part import nearest

        raise ScenarioError("", Unknown(what, nearest(what, LISTS)), ", ".join(LISTS))
    for name in [what] if what else LISTS:
        _show_list(name)


def explain(
    name: Annotated[str, Parameter(help="A name that `fabricsim list` shows, such as ofan or fat-tree.")],
    /,
) -> None:
    """Explain a name: what it is, where it comes from, its parameters with defaults and ranges.

    For example:

        fabricsim explain pofan
        fabricsim explain fat-tree
        fabricsim explain ofan-paper
    """
    from fabricsim.catalogue import entry
    from fabricsim.scenario import PRESETS, scenario_from_mapping, scenario_to_toml

    if name in PRESETS:
        print(f'{name}: a preset; `preset = "{name}"` in a scenario file, or --preset {name}, stands for\n')
        print(scenario_to_toml(scenario_from_mapping({"preset": name})))
        return
    _show_entry(entry(name))


def _show_list(name: str) -> None:
    from fabricsim.catalogue import catalogue
    from fabricsim.cli.terminal import show_table
    from fabricsim.scenario import KINDS, PRESETS

    section = LISTS[name]
    if section == "preset":
        show_table(
            name, ("name", "sets"), [(preset, ", ".join(parts)) for preset, parts in PRESETS.items()], numbers=False
        )
        return
    entries = [known for known in catalogue() if (known.part == section if section else known.part not in KINDS)]
    if section == "balancer":
        headings = ("name", "runs on", "up", "down", "what it does")
        rows = [(one.name, one.where, _short(one.growth_up), _short(one.growth_down), one.summary) for one in entries]
        title = f"{name} (up, down: growth of the average queue with the message size m, as proved; ?: not proved)"
        show_table(title, headings, rows, numbers=False)
        return
    if section == "transport":
        title = f"{name} (ports: what they do with what waits)"
        ports = [(one.name, one.discipline, one.summary) for one in entries]
        show_table(title, ("name", "ports", "what it does"), ports, numbers=False)
        return
    show_table(name, ("name", "what it is"), [(one.name, one.summary) for one in entries], numbers=False)


def _short(growth: str) -> str:
    return growth.replace(", not proved", "?").replace("not proved", "?")


def _show_entry(entry: Entry) -> None:
    from fabricsim.catalogue import GROWTH_CONDITIONS
    from fabricsim.scenario import KINDS

    kind = f'kind = "{entry.name}" in ' if entry.part in KINDS else ""
    print(f"{entry.name}: {entry.summary}\n")
    facts = {
        "scenario": f"{kind}[{entry.part}]",
        "source": entry.source,
        "differs": entry.differs,
        "runs on": entry.where,
        "ports": entry.discipline,
        "remembers": entry.state_per_switch,
        "average queue": f"uplinks {entry.growth_up}; downlinks {entry.growth_down}" if entry.growth_up else "",
        "measured growth": f"largest queue {entry.measured.growth} ({GROWTH_CONDITIONS})"
        if entry.measured.growth
        else "",
        "measured cost": entry.measured.cost,
    }
    width = min(shutil.get_terminal_size().columns, 120)
    for fact, text in facts.items():
        if text:
            print(textwrap.fill(text, width, initial_indent=f"  {fact + ':':<16} ", subsequent_indent=" " * 19))
    if entry.parameters:
        print("\nParameters, with their defaults:")
    for one in entry.parameters:
        default = "(must be given)" if one.default is None else one.default
        print(f"\n  {one.name}: {default}")
        for text in (one.meaning, f"Allowed: {one.allowed}."):
            print(textwrap.fill(text, width, initial_indent=" " * 6, subsequent_indent=" " * 6))
