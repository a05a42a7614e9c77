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
from hypothesis import strategies as st
from scenario_draws import balancers, switch_balancers

from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    AllToAll,
    Bytes,
    Deployment,
    Duration,
    FatTree,
    Frame,
    Htsim,
    Incast,
    InterPodPermutation,
    LeafSpine,
    Link,
    Measure,
    MessageList,
    Ofan,
    Paced,
    Permutation,
    Pofan,
    Port,
    Rate,
    Rsq,
    Run,
    Scenario,
    core_config,
    scenario_from_mapping,
    scenario_schema,
    scenario_to_toml,
)

DOOR = Path(__file__).parents[1] / "bindings" / "README.md"

rates = st.integers(10**6, 10**14).map(Rate)
latencies = st.integers(1, 10**12).map(Duration)
links = st.none() | st.builds(Link, rate=rates, latency=latencies)
sizes = st.integers(0, 2**40).map(Bytes)


@st.composite
def fabrics(draw: st.DrawFn) -> FatTree | LeafSpine:
    half = draw(st.integers(1, 6))
    ratio = draw(st.sampled_from([d for d in range(1, half + 1) if half % d == 0]))
    rate = draw(rates)
    shared = {"radix": 2 * half, "rate": rate, "latency": draw(latencies), "host_link": draw(links)}
    lower, upper, model = draw(st.sampled_from([("edge", "agg", FatTree), ("leaf", "spine", LeafSpine)]))
    down = [(f"{lower}-0", f"{upper}-0")] if draw(st.booleans()) else []
    degraded = [{"link": (f"{lower}-1", f"{upper}-0"), "rate": Rate(10**6)}] if half > 1 and draw(st.booleans()) else []
    shared |= {"links_down": down, "links_degraded": degraded}
    if draw(st.booleans()):
        changed = {"link": (f"{upper}-0", f"{lower}-0"), "state": "up" if down else "down", "at": draw(latencies)}
        shared |= {"link_events": [changed], "reconvergence_delay": draw(latencies)}
    return model(**shared, **({"edge_oversubscription": ratio} if model is FatTree else {"oversubscription": ratio}))


deployments = st.builds(
    Deployment,
    balancer=switch_balancers.filter(
        lambda balancer: balancer.kind not in ("conga", "sglb", "ecmp")
    ),  # beside any other
    placement=st.sampled_from(["random-switches", "all-edge"]),
    fraction=st.floats(0, 1),
    seed=st.none() | st.integers(0, 2**64 - 1),
)
workloads = st.one_of(
    st.builds(Permutation, message=sizes),
    st.builds(InterPodPermutation, message=sizes),
    st.builds(
        AllToAll, per=st.sampled_from(["flow", "host"]), message=sizes, order=st.sampled_from(["random", "shift"])
    ),
    st.builds(Incast, senders=st.integers(1, 7), receiver=st.integers(0, 7), message=sizes),
    st.just(MessageList(messages=[{"src": 0, "dst": 1, "bytes": 5, "id": "a"}, {"src": 1, "dst": 0, "bytes": "1kB"}])),
    st.builds(Htsim, path=st.sampled_from(["a b.cm", "ä\"'\\.cm"]), start_unit=st.sampled_from(["us", "ps"])),
)
scenarios = st.builds(
    Scenario,
    fabric=fabrics(),
    workload=workloads,
    balancer=balancers,
    deployment=st.none() | deployments,
    transport=st.builds(
        Paced,
        load=st.floats(1e-6, 1),
        acks=st.sampled_from(["per-packet", "off"]),
        start_jitter=st.sampled_from(["uniform", "none"]),
    ),
    frame=st.builds(
        Frame,
        payload=st.integers(1, 2**16).map(Bytes),
        header=st.integers(1, 200).map(Bytes),
        ack=st.integers(1, 200).map(Bytes),
        gap=st.integers(0, 200).map(Bytes),
        last_frame=st.sampled_from(["full", "short"]),
    ),
    port=st.builds(
        Port,
        buffer=st.just("infinite") | st.integers(2**17, 2**40).map(Bytes),
        ecn_threshold=st.sampled_from(["auto", "none"]) | st.integers(1, 2**40).map(Bytes),
    ),
    measure=st.builds(Measure, queues=st.booleans(), trace=st.booleans()),
    run=st.builds(
        Run,
        seed=st.integers(0, 2**64 - 1),
        threads=st.just("auto") | st.integers(1, 1024),
        time_limit=st.integers(1, 10**18).map(Duration),
    ),
)


@given(scenarios)
@settings(max_examples=60, deadline=None)
def test_python_json_toml_python_is_the_identity(scenario: Scenario) -> None:
    text = scenario.model_dump_json()
    assert Scenario.model_validate_json(text) == scenario
    assert Scenario.model_validate_json(text).model_dump_json() == text
    assert Scenario.model_validate(scenario.model_dump()) == scenario
    assert Scenario.model_validate(scenario.model_dump(mode="json")) == scenario
    toml = scenario_to_toml(scenario)
    assert scenario_from_mapping(tomllib.loads(toml)) == scenario
    jsonschema.validate(tomllib.loads(toml), scenario_schema())
    jsonschema.validate(json.loads(text), scenario_schema())
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert copy.deepcopy(scenario) == scenario


@given(scenarios)
@settings(max_examples=60, deadline=None)
def test_the_core_gets_every_field_as_plain_integers(scenario: Scenario) -> None:
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
    assert (scenario.port.buffer, scenario.ecn_threshold_bytes) == ("infinite", None)
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
        (lambda: Frame(header="0B"), "header"),
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
