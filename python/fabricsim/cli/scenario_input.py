"""From a command's arguments to a scenario: a file or a preset, with overrides on top."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim.errors import ScenarioError
from fabricsim.json_file import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fabricsim.contestants import By, Contestant
    from fabricsim.scenario import Scenario

MESSAGE_FILES = (".npz", ".parquet")


def read_scenario(
    file: Path | None,
    preset: str | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    threads: str | None = None,
) -> Scenario:
    """Read `file`, a scenario or a traffic matrix, and lay the overrides over it.

    Raises:
        ScenarioError: neither file nor preset is given, the file is of no known kind, or holds what no scenario has.

    """
    if file is None and preset is None:
        raise ScenarioError("", None, "a scenario file, a traffic matrix, or --preset (see `fabricsim run --help`)")
    options = (("preset", preset), ("run.seed", seed), ("run.threads", threads))
    typed = {name: value for name, value in options if value is not None}
    try:
        return _scenario(file, [*overrides, *(f"{name}={value}" for name, value in typed.items())])
    except ScenarioError as error:
        raise _as_typed(error, {f"--set {name}": f"--{name.rpartition('.')[2]}" for name in typed}) from None


def _scenario(file: Path | None, layers: Sequence[str]) -> Scenario:
    from fabricsim.scenario import scenario_from_mapping, scenario_from_toml

    if file is None:
        return scenario_from_mapping({}, layers)
    kind = file.suffix.lower()
    if kind == ".toml":
        return scenario_from_toml(file, layers)
    if kind == ".cm":
        matrix = {"workload": {"kind": "htsim", "path": str(file)}, **_fabric_of(file, layers)}
        return scenario_from_mapping(matrix, layers, str(file))
    if kind == ".json" and (scenario := _scenario_in(file)) is not None:
        return scenario_from_mapping(scenario, layers, str(file))
    if kind in (".json", *MESSAGE_FILES):
        return scenario_from_mapping({"workload": {"kind": "messages", "path": str(file)}}, layers, str(file))
    raise ScenarioError("", file, "a file ending in .toml, .cm, .json, .npz or .parquet")


def _as_typed(error: ScenarioError, options: Mapping[str, str]) -> ScenarioError:
    """Return the error with the option that was typed as its source, where the override that stands for it is named."""
    others = tuple(_as_typed(other, options) for other in error.others)
    return ScenarioError(error.field, error.value, error.allowed, options.get(error.where, error.where), others)


def read_contestants(balancers: str | None, transports: str | None) -> tuple[By, list[Contestant]]:
    """Read balancers, such as `ofan,pofan:4,rsq`, or transports, such as `dcsim,dcpim/simple-rr`: one of the two.

    Raises:
        ScenarioError: both or neither are given, one is unknown, or stands there twice.

    """
    from fabricsim.contestants import of_balancer, transport_contestant
    from fabricsim.scenario import balancer_from_text

    if (balancers is None) == (transports is None):
        got = None if balancers is None else f"{balancers} and {transports}"
        raise ScenarioError("--balancers", got, "one of --balancers and --transports")
    chosen: list[Contestant] = []
    for name in (balancers if balancers is not None else transports or "").split(","):
        if balancers is not None:
            one = of_balancer(balancer_from_text(name, "--balancers"))
        else:
            one = transport_contestant(name, "--transports")
        if one in chosen:
            option, noun = ("--transports", "transport") if balancers is None else ("--balancers", "balancer")
            raise ScenarioError(option, name.strip(), f"each {noun} once")
        chosen.append(one)
    return "transport" if balancers is None else "balancer", chosen


def _fabric_of(matrix: Path, layers: Sequence[str]) -> dict[str, object]:
    """Return the radix at which the fabric has the matrix's hosts, if there is one and nobody has named another."""
    from fabricsim.scenario import scenario_from_mapping
    from fabricsim.workloads import read_htsim

    if any(layer.startswith(("fabric.radix", "fabric=")) for layer in layers):
        return {}
    hosts = read_htsim(matrix).hosts
    kind = [layer for layer in layers if layer.startswith(("preset=", "fabric.kind="))]
    fabrics = (scenario_from_mapping({}, [*kind, f"fabric.radix={radix}"]).fabric for radix in range(2, 130, 2))
    fabric = next((fabric for fabric in fabrics if fabric.hosts_count == hosts), None)
    return {"fabric": {"kind": fabric.kind, "radix": fabric.radix}} if fabric else {}


def _scenario_in(file: Path) -> dict[str, object] | None:
    """Return the scenario in a JSON file, such as the `scenario.json` of results; None if it is a message list."""
    content = read_json(file)
    if not isinstance(content, dict) or "messages" in content:
        return None
    inner = content.get("scenario", content)
    return inner if isinstance(inner, dict) else content
