"""The gate on instruction counts fails when it should; what is said of balancers was measured."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest


def benchmark(name: str) -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def instructions() -> ModuleType:
    return benchmark("instructions")


def test_what_is_said_of_balancers_is_what_was_measured() -> None:
    made = benchmark("measured")
    assert json.loads(made.MEASURED.read_text()) == made.measured()


@pytest.mark.parametrize(("measured", "ok"), [(90.0, True), (103.0, True), (103.1, False), (200.0, False)])
def test_more_than_three_per_cent_above_fails(instructions: ModuleType, measured: float, ok: bool) -> None:
    assert (instructions.judge({"ofan": measured}, {"ofan": 100.0}) == []) is ok


def test_a_balancer_without_a_committed_count_fails(instructions: ModuleType) -> None:
    assert "jsq" in instructions.judge({"jsq": 1.0}, {"ofan": 100.0})[0]


def test_set_up_is_subtracted(instructions: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up, each_hop = 1_000_000, 150
    monkeypatch.setattr(
        instructions, "count", lambda _gate, _balancer, packets: (set_up + each_hop * packets * 6, packets * 6)
    )
    assert instructions.per_packet_hop(Path("gate"), "ofan") == each_hop
