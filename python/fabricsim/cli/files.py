"""`fabricsim validate`, `init` and `convert`: scenario files and message lists, without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from fabricsim.cli.options import WHOLE, Preset, Set
from fabricsim.errors import ScenarioError


def validate(
    files: Annotated[
        list[Path] | None, Parameter(negative=(), show_default=False, help="Scenarios and traffic matrices to check.")
    ] = None,
    /,
    *,
    set_: Set = None,
    schema: Annotated[
        bool, Parameter(negative=(), show_default=False, help="Print the JSON Schema of scenario files, for editors.")
    ] = False,
) -> int:
    """Check scenarios and traffic matrices without running them: names, values, whether the messages fit the fabric.

    Exit status: 0 all are good; 2 one is not.

    For example:

        fabricsim validate scenario.toml
        fabricsim validate a.toml b.toml matrix.cm
        fabricsim validate --schema
    """
    if schema:
        import json

        from fabricsim.scenario import scenario_schema

        print(json.dumps(scenario_schema(), indent=1))
        return 0
    if not files:
        raise ScenarioError("", None, "at least one file to check, or --schema")
    return max(_validate(file, set_ or ()) for file in files)


def init(
    file: Annotated[Path, Parameter(help="The scenario file to write.")] = Path("scenario.toml"),
    /,
    *,
    preset: Preset = "ofan-paper",
    set_: Set = None,
    force: Annotated[bool, Parameter(negative=(), show_default=False, help="Replace the file if it exists.")] = False,
) -> None:
    """Write a scenario file to start from, with every default written out.

    For example:

        fabricsim init
        fabricsim init small.toml --set fabric.radix=4 --set balancer=pofan:2
    """
    from fabricsim.cli.scenario_input import read_scenario
    from fabricsim.cli.terminal import say
    from fabricsim.scenario import scenario_to_toml

    if file.exists() and not force:
        raise ScenarioError("", file, "a file that does not exist yet, or --force")
    file.write_text(scenario_to_toml(read_scenario(None, preset, set_ or ())), encoding="utf-8")
    say(f"wrote {file}; run it with: fabricsim run {file}")


def convert(
    source: Annotated[Path, Parameter(help="Message list to read: .cm, .json, .npz or .parquet.")],
    target: Annotated[Path, Parameter(help="Message list to write; its ending says the format.")],
    /,
    *,
    hosts: Annotated[
        int | None, WHOLE, Parameter(help="Hosts that a .cm file states; by default the source's, or the fewest.")
    ] = None,
    start_unit: Annotated[
        Literal["us", "ps"], Parameter(help="Unit of `start` in a .cm file; htsim's tools disagree.")
    ] = "us",
    force: Annotated[bool, Parameter(negative=(), show_default=False, help="Replace the target if it exists.")] = False,
) -> None:
    """Convert message lists between htsim's .cm and .json, .npz and .parquet.

    For example:

        fabricsim convert matrix.cm messages.npz
        fabricsim convert messages.json matrix.cm --hosts 128
    """
    from fabricsim.cli.terminal import say
    from fabricsim.workloads import read_htsim, read_messages, write_htsim, write_messages

    if target.exists() and not force:
        raise ScenarioError("", target, "a file that does not exist yet, or --force")
    if source.suffix == ".cm":
        stated, messages = read_htsim(source, start_unit)
    else:
        messages = read_messages(source)
        stated = max((int(end.max()) + 1 for end in (messages.src, messages.dst) if end.size), default=2)
    if target.suffix == ".cm":
        write_htsim(messages, target, stated if hosts is None else hosts, start_unit)
    else:
        write_messages(messages, target)
    say(f"wrote {target}: {len(messages):,} messages")


def _validate(file: Path, overrides: list[str] | tuple[()]) -> int:
    from fabricsim.cli.scenario_input import read_scenario
    from fabricsim.cli.terminal import say
    from fabricsim.workloads import build

    try:
        scenario = read_scenario(file, None, overrides)
        messages = build(scenario)
    except ScenarioError as error:
        say(f"{file}: {error}")
        return 2
    hosts = f"a {scenario.fabric.kind} of {scenario.fabric.hosts_count:,} hosts"
    print(f"{file}: good: {len(messages):,} messages on {hosts}, {scenario.balancer.kind}")
    return 0
