"""Errors as others get them: through a process pool, and with whatever a file holds in them."""

import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from fabricsim import (
    FatTree,
    FatTreeFailures,
    Incast,
    Messages,
    Ofan,
    Paced,
    Permutation,
    Port,
    Run,
    Scenario,
    ScenarioError,
    UnfinishedError,
    scenario_from_mapping,
    simulate,
    simulate_many,
)
from fabricsim.compare import compare

CUT_SHORT = Scenario(fabric=FatTree(radix=4), workload=Permutation(message="1MiB"), run=Run(time_limit="2us"))
CUT_OFF = Scenario(fabric=FatTree(radix=4, links_down=[("edge-0", "agg-0"), ("edge-0", "agg-1")]))


def test_an_unfinished_run_comes_back_from_a_process_pool() -> None:
    """An error that cannot be unpickled breaks the whole pool."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(UnfinishedError) as caught:
            pool.submit(simulate, CUT_SHORT).result()
        assert caught.value.results.summary["unfinished_count"] == 16
        assert pool.submit(str, "still there").result() == "still there"


@pytest.mark.parametrize("limit", ["5us", "20us", "60us"])
def test_a_run_cut_short_with_long_queues_is_unfinished_and_no_violation(limit: str) -> None:
    """What waits at the end is counted as carried: 1.7 times what the receiver's link can carry in 20 us."""
    with pytest.raises(UnfinishedError, match="the time limit of"):
        simulate(Scenario(fabric=FatTree(radix=4), workload=Incast(senders=8), run=Run(time_limit=limit)))


def test_a_run_that_dropped_says_that_nothing_is_sent_again() -> None:
    with pytest.raises(UnfinishedError, match="paced hosts do not send lost packets again"):
        simulate(Scenario(fabric=FatTree(radix=4), workload=Incast(senders=8), port=Port(buffer="40kB")))


@pytest.mark.parametrize("scenario", [None, {"fabric": {"radix": 4}}, "scenario.toml"])
def test_what_is_no_scenario_is_a_type_error_that_says_so(scenario: object) -> None:
    with pytest.raises(TypeError, match="allowed: a Scenario, made by"):
        simulate(scenario)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="allowed: a Scenario, made by"):
        simulate_many([scenario])  # type: ignore[list-item]


def test_what_the_core_refuses_keeps_its_words() -> None:
    with pytest.raises(ScenarioError) as caught:
        simulate(CUT_OFF)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert "edge-0/agg-0, edge-0/agg-1" in str(again)


@pytest.mark.parametrize("load", [1.0, "rho-max:path"])
@pytest.mark.parametrize("failures", [None, FatTreeFailures(agg_core_probability=0.01)])
def test_a_cut_is_the_doing_of_links_down_whoever_finds_it(load: float, failures: FatTreeFailures | None) -> None:
    fabric = FatTree(**{**dict(CUT_OFF.fabric), "failures": failures})
    with pytest.raises(ScenarioError, match=r'^fabric\.links_down: got "no path from .*edge-0.*agg-0.*agg-1') as caught:
        simulate(CUT_OFF.replace(fabric=fabric, transport=Paced(load=load)))
    assert caught.value.field == "fabric.links_down"


@pytest.mark.parametrize("messages", [[1], {"src": [0]}, 3])
def test_what_are_no_messages_is_a_type_error_that_says_so(messages: object) -> None:
    with pytest.raises(TypeError, match=r"messages: got .*; allowed: Messages, made by"):
        simulate(Scenario(fabric=FatTree(radix=4)), messages)  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", ["x", 0, -1, 1.5])
def test_workers_are_a_number_of_at_least_one(workers: object) -> None:
    with pytest.raises(ScenarioError, match=r"workers: got .*; allowed: an integer of at least 1"):
        simulate_many([CUT_SHORT], workers=workers)  # type: ignore[arg-type]


def test_a_name_with_a_line_end_stays_on_its_line() -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_mapping({"fabric": {"a\nb\x1b": 1}})
    assert str(caught.value).startswith(r'fabric.a\nb\u001b: got the unknown name "a\nb\u001b"')


@pytest.mark.parametrize("kind", [3, ["ofan"], {"x": 3}, None, True])
def test_a_kind_that_is_no_text_is_shown_as_given(kind: object) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_mapping({"balancer": {"kind": kind}})
    shown = "nothing" if kind is None else json.dumps(kind)
    assert str(caught.value).startswith(f"balancer.kind: got {shown}; allowed: ")


def test_a_comparison_of_nothing_or_of_one_thing_twice_is_refused() -> None:
    for balancers, seeds, field in (
        ([], 1, "balancers: got nothing"),
        ([Ofan()], 0, "seeds: got nothing"),
        ([Ofan()], [], "seeds: got nothing"),
        ([Ofan(), Ofan()], 1, 'balancers: got "ofan"'),
        ([Ofan()], [1, 2, 1], "seeds: got 1"),
    ):
        with pytest.raises(ScenarioError, match=field):
            compare(CUT_SHORT, balancers, seeds)  # type: ignore[arg-type]


def test_a_load_that_the_core_refuses_is_refused_by_the_scenario() -> None:
    scenario_from_mapping({"transport": {"load": 1e-6}})
    with pytest.raises(
        ScenarioError, match=r"^transport\.load: got 1e-07; allowed: a number from 1e-6 to 1, .* \(here\)$"
    ):
        scenario_from_mapping({"transport": {"load": 1e-7}}, where="here")


def test_scenarios_and_results_survive_pickling() -> None:
    messages = Messages.from_arrays(np.arange(3), np.arange(3) + 1, 5000)
    results = simulate(CUT_SHORT.replace(run=Run()), messages)
    again = pickle.loads(pickle.dumps(results))
    assert again.scenario == results.scenario
    assert again.summary == results.summary
    assert again.flows.equals(results.flows)
