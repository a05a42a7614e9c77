"""Scenarios: the paper's defaults, identity through JSON and TOML, the core's configuration, one clear error."""

import copy
import json
import math
import pickle
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from scenario_draws import scenarios

from fabricsim import Messages, _core
from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    Dcpim,
    Dcsim,
    Deployment,
    FatTree,
    Frame,
    LeafSpine,
    Measure,
    Ofan,
    Paced,
    Permutation,
    Pofan,
    Port,
    Rsq,
    Run,
    Scenario,
    core_config,
    scenario_from_mapping,
    scenario_schema,
    scenario_to_toml,
)

DOOR = Path(__file__).parents[1] / "bindings" / "README.md"
SCHEMA = jsonschema.Draft202012Validator(scenario_schema())


@given(scenarios())
@settings(max_examples=60, deadline=None)
def test_python_json_toml_python_is_the_identity(scenario: Scenario) -> None:
    text = scenario.model_dump_json()
    assert Scenario.model_validate_json(text) == scenario
    assert Scenario.model_validate_json(text).model_dump_json() == text
    assert Scenario.model_validate(scenario.model_dump()) == scenario
    assert Scenario.model_validate(scenario.model_dump(mode="json")) == scenario
    toml = scenario_to_toml(scenario)
    assert scenario_from_mapping(tomllib.loads(toml)) == scenario
    SCHEMA.validate(tomllib.loads(toml))
    SCHEMA.validate(json.loads(text))
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert copy.deepcopy(scenario) == scenario


def in_reach(scenario: Scenario) -> Scenario:
    """The same, with a load that takes no messages and times in which the farthest hosts hear of each other."""
    match scenario.transport:
        case Paced(load=str()):
            return scenario.replace(transport=scenario.transport.replace(load=0.5))
        case Dcpim():
            return scenario.replace(transport=scenario.transport.replace(control_rtt="auto"))
        case Dcsim():
            return scenario.replace(transport=scenario.transport.replace(rtt_max="auto"))
    return scenario


@given(scenarios())
@settings(max_examples=60, deadline=None)
def test_the_core_gets_every_field_as_plain_integers(scenario: Scenario) -> None:
    scenario = in_reach(scenario)
    config = core_config(scenario)
    assert json.loads(json.dumps(config)) == config
    for path, value in leaves(config):
        assert type(value) in (int, float, str, bool, type(None)), path
        # Names of quantities end in their unit, and only there stands an integer of it.
        if path.endswith(("_bytes", "_bps", "_ps")):
            assert value is None or type(value) is int


def leaves(value: object, path: str = "") -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [leaf for name, entry in value.items() for leaf in leaves(entry, f"{path}.{name}")]
    if isinstance(value, list):
        return [leaf for entry in value for leaf in leaves(entry, path)]
    return [(path, value)]


def test_core_config_is_the_doors_example() -> None:
    example = re.search(r"```json\n(.*?)```", DOOR.read_text(encoding="utf-8"), re.DOTALL)
    assert example
    scenario = Scenario(
        fabric=FatTree(
            radix=12,
            links_down=[("edge-0", "agg-3")],
            links_degraded=[{"link": ("agg-3", "core-18"), "rate": "400Gbps"}],
            link_events=[{"at": "5us", "link": ("edge-0", "agg-1"), "state": "down"}],
            losses=[{"packet": "sim", "probability": 0.001}],
        ),
        deployment=Deployment(balancer=Rsq(), placement="switches", switches=["edge-4", "agg-7"]),
    )
    assert core_config(scenario) == json.loads(example.group(1))


def test_core_config_of_two_levels() -> None:
    fabric = core_config(Scenario(fabric=LeafSpine(radix=64)))["fabric"]
    assert {key: fabric[key] for key in ("kind", "leaves", "hosts_per_leaf", "spines")} == {
        "kind": "leaf-spine",
        "leaves": 64,
        "hosts_per_leaf": 32,
        "spines": 32,
    }
    assert fabric["leaf_spine_link"] == {"rate_bps": 800_000_000_000, "latency_ps": 500_000}


def test_auto_threads_wait_for_two_thousand_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert core_config(Scenario(fabric=FatTree(radix=18)))["threads"] == 1  # 1,458 hosts
    assert core_config(Scenario(fabric=FatTree(radix=20)))["threads"] == 7  # exactly 2,000 hosts
    assert core_config(Scenario(fabric=FatTree(radix=20), run=Run(threads=3)))["threads"] == 3


def test_defaults_are_section_6_of_the_ofan_paper() -> None:
    scenario = Scenario()
    assert scenario.fabric.hosts_count == 432
    assert (int(scenario.fabric.rate), int(scenario.fabric.latency)) == (800 * 10**9, 500_000)
    frame = scenario.frame
    assert [int(size) for size in (frame.payload, frame.header, frame.ack, frame.gap)] == [4096, 62, 64, 20]
    assert frame.data_bytes == 4158
    assert int(scenario.workload.message) == 256 * 4096
    # Paced hosts: buffers and marks are for the cases with congestion control and REPS (footnote 6).
    assert (scenario.buffer_bytes, scenario.ecn_threshold_bytes) == (None, None)
    assert scenario_from_mapping({"preset": "ofan-paper"}) == scenario


def test_scenarios_are_frozen_and_replaced_with_checks() -> None:
    scenario = Scenario()
    with pytest.raises(ValueError, match="frozen"):
        scenario.balancer = Rsq()
    assert scenario.replace(balancer=Rsq()) == Scenario(balancer=Rsq())
    with pytest.raises(ScenarioError, match="balancer"):
        scenario.replace(balancer="rsq")


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Paced(load=0), "load"),
        (lambda: Paced(load=-0.5), "load"),
        (lambda: Paced(load=1.0000001), "load"),
        (lambda: Paced(load=math.nan), "load"),
        (lambda: Paced(load=math.inf), "load"),
        (lambda: Paced(load=True), "load"),
        (lambda: Paced(load="1"), "load"),
        (lambda: Paced(load=10**400), "load"),
        (lambda: Paced(acks="some"), "acks"),
        (lambda: Paced(start_jitter=0), "start_jitter"),
        (lambda: Frame(payload="0B"), "payload"),
        (lambda: Frame(payload="256KiB"), "payload"),
        (lambda: Frame(payload="262143B"), "payload"),
        (lambda: Frame(header="-1B"), "header"),
        (lambda: Frame(ack="0B"), "ack"),
        (lambda: Frame(gap=20), "gap"),
        (lambda: Port(buffer=0), "buffer"),
        (lambda: Port(buffer="0B"), "buffer"),
        (lambda: Port(buffer=None), "buffer"),
        (lambda: Port(ecn_threshold="infinite"), "ecn_threshold"),
        (lambda: Paced(load="rho-max"), "load"),
        (lambda: Scenario(port=Port(buffer="4157B")), "port.buffer"),
        (lambda: Run(seed=-1), "seed"),
        (lambda: Run(seed=2**64), "seed"),
        (lambda: Run(seed=1.0), "seed"),
        (lambda: Run(seed=True), "seed"),
        (lambda: Run(threads=0), "threads"),
        (lambda: Run(threads="all"), "threads"),
        (lambda: Run(time_limit="0s"), "time_limit"),
        (lambda: Run(time_limit=1), "time_limit"),
        (lambda: Measure(queues=1), "queues"),
        (lambda: Measure(trace="yes"), "trace"),
        (lambda: Pofan(ports_per_pipe=0), "ports_per_pipe"),
        (lambda: Pofan(ports_per_pipe=4.0), "ports_per_pipe"),
        (lambda: Permutation(message="1GBps"), "message"),
        (lambda: Scenario(fabric={"kind": "torus"}), "fabric.kind"),
        (lambda: Scenario(fabric=None), "fabric"),
        (lambda: Scenario(fabric=Ofan()), "fabric.kind"),
        (lambda: Scenario(fabric={}), "fabric.kind"),
        (lambda: Scenario(balancer="rsq"), "balancer"),
        (lambda: Scenario(seed=1), "seed"),
    ],
)
def test_bad_values_name_their_field(build: object, field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        build()  # type: ignore[operator]
    assert caught.value.field == field
    assert re.fullmatch(rf"{re.escape(field)}: got .+; allowed: .+ \(\w+\)", str(caught.value))


def test_smallest_buffer_holds_one_frame() -> None:
    assert int(Scenario(port=Port(buffer="4158B")).port.buffer) == 4158


def test_scenario_errors_survive_pickling() -> None:
    with pytest.raises(ScenarioError) as caught:
        FatTree(radix=7, raddix=3, latency=5)
    twin = pickle.loads(pickle.dumps(caught.value))
    assert (str(twin), twin.field, twin.where) == (str(caught.value), caught.value.field, caught.value.where)


@given(scenarios())
@settings(max_examples=60, deadline=None)
def test_the_core_takes_whatever_a_scenario_takes(scenario: Scenario) -> None:
    scenario = in_reach(scenario)
    config = {**core_config(scenario), "time_limit_ps": 1}
    messages = Messages.from_arrays([0], [scenario.fabric.hosts_count - 1], [1])
    try:
        output = _core.run(json.dumps(config), messages.to_door(), None)
    except ValueError as error:
        # Only the core finds out that links that are down leave no path, and that a frame takes no time.
        if not re.search("no path from host-|a frame that the fastest link sends in 1 ps or more", str(error)):
            raise
    else:
        assert output["status"] == "time-limit"
