"""Slow or removed even cores, losses by chance, series and the watched port: what scenarios say of links."""

from typing import Any

import pytest

from fabricsim import simulate
from fabricsim.checks import theorem_2_ps
from fabricsim.errors import ScenarioError
from fabricsim.failures import drawn_failures, with_failures
from fabricsim.scenario import (
    FatTree,
    InfiniteAllToAll,
    LeafSpine,
    Link,
    Loss,
    Measure,
    Run,
    Scenario,
    core_config,
    scenario_from_mapping,
)
from fabricsim.theory.rho_max import rho_max

FABRIC = FatTree(radix=8)


def lists(fabric: FatTree) -> tuple[list[Any], list[Any]]:
    config = core_config(Scenario(fabric=fabric))["fabric"]
    return config["links_down"], config["links_degraded"]


def test_even_cores_run_at_a_hundredth_of_their_rate() -> None:
    down, degraded = lists(FABRIC.replace(even_cores_rate_fraction=0.01))
    assert down == []
    # 8 of 16 cores, each wired to the 8 pods; core c hangs on aggregation switch c // 4 of a pod.
    wanted = {(f"agg-{pod * 4 + core // 4}", f"core-{core}") for core in range(0, 16, 2) for pod in range(8)}
    assert {tuple(one["link"]) for one in degraded} == wanted
    assert len(degraded) == 64
    assert {one["rate_bps"] for one in degraded} == {8_000_000_000}


def test_even_cores_are_taken_out() -> None:
    down, degraded = lists(FABRIC.replace(even_cores_rate_fraction=0))
    assert degraded == []
    assert len(down) == 64
    assert {int(core.removeprefix("core-")) % 2 for _, core in down} == {0}
    assert lists(FABRIC) == ([], [])


def test_links_of_even_cores_that_are_listed_stay_as_they_are_listed() -> None:
    fabric = FABRIC.replace(
        even_cores_rate_fraction=0.5,
        links_down=[("agg-0", "core-0")],
        links_degraded=[{"link": ("agg-4", "core-0"), "rate": "1Gbps"}, {"link": ("agg-0", "core-1"), "rate": "2Gbps"}],
        agg_core_link=Link(rate="400Gbps", latency="1us"),
    )
    down, degraded = lists(fabric)
    assert down == [["agg-0", "core-0"]]
    rates = {tuple(one["link"]): one["rate_bps"] for one in degraded}
    assert len(rates) == len(degraded) == 64  # 64 of even cores less the one that is down, and one of an odd core
    assert (rates.pop(("agg-4", "core-0")), rates.pop(("agg-0", "core-1"))) == (10**9, 2 * 10**9)
    assert set(rates.values()) == {200 * 10**9}


def test_what_reads_a_fabric_sees_slow_and_missing_cores() -> None:
    slow, gone = (FABRIC.replace(even_cores_rate_fraction=fraction) for fraction in (0.25, 0))
    edges = slow.to_networkx().edges
    assert edges["agg-0", "core-2"]["rate_bps"] == 200 * 10**9
    assert edges["agg-0", "core-1"]["rate_bps"] == 800 * 10**9
    assert ("agg-0", "core-2") not in gone.to_networkx().edges
    # Four flows between pods: each agg-core link of the source's pod carries 4/16 of one, or 4/8.
    src, dst = [0, 1, 2, 3], [16, 17, 18, 19]
    assert rho_max(with_failures(FABRIC, 1), src, dst, "path") == pytest.approx(1)
    assert rho_max(with_failures(gone, 1), src, dst, "path") == pytest.approx(1)
    # All 16 hosts of a pod send to another: its agg-core links carry 16/16 each, or 16/8.
    src, dst = list(range(16)), list(range(16, 32))
    assert rho_max(with_failures(slow, 1), src, dst, "path") == pytest.approx(0.25)
    assert rho_max(with_failures(gone, 1), src, dst, "path") == pytest.approx(0.5)


def test_random_failures_know_of_cores_that_are_gone() -> None:
    fabric = FABRIC.replace(failures={"agg_core_probability": 0.2}, even_cores_rate_fraction=0)
    whole = FABRIC.replace(failures={"agg_core_probability": 0.2})
    # The same links fail by chance whatever else is down, where neither draw is thrown away.
    assert drawn_failures(whole, 3).redraws_count == drawn_failures(fabric, 3).redraws_count == 0
    assert drawn_failures(whole, 3).links == drawn_failures(fabric, 3).links
    failed = with_failures(fabric, 3)
    assert set(drawn_failures(fabric, 3).links) < set(failed.links_down)
    assert len([ends for ends in failed.links_down if int(ends[1].removeprefix("core-")) % 2 == 0]) == 64


def test_a_fraction_that_no_link_may_have_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"even_cores_rate_fraction: got 1e-07; allowed: 0, or at least 1.25e-06"):
        FABRIC.replace(even_cores_rate_fraction=1e-7)
    with pytest.raises(ScenarioError, match=r"^link_events\.0\.state: got \"down\"; allowed: \"up\""):
        FABRIC.replace(
            even_cores_rate_fraction=0,
            link_events=[{"at": "1us", "link": ("agg-0", "core-0"), "state": "down"}],
        )


@pytest.mark.parametrize("model", [FatTree, LeafSpine])
def test_losses_go_to_the_core_in_millionths(model: Any) -> None:
    fabric = model(radix=4, losses=[{"packet": "sim-ack", "probability": 0.25}, Loss(packet="data", probability=1e-6)])
    config = core_config(Scenario(fabric=fabric))["fabric"]["losses"]
    assert config == [{"packet": "sim-ack", "ppm": 250_000}, {"packet": "data", "ppm": 1}]


@pytest.mark.parametrize(
    ("losses", "says"),
    [
        (
            [{"packet": "data", "probability": 1.5}],
            "fabric.losses.0.probability: got 1.5; allowed: a number",
        ),
        (
            [{"packet": "data", "probability": 1.5e-6}],
            "fabric.losses.0.probability: got 1.5e-06; allowed: whole",
        ),
        ([{"packet": "syn", "probability": 0.1}], 'fabric.losses.0.packet: got "syn"; allowed: "data"'),
        (
            [{"packet": "rts", "probability": 0.1}] * 2,
            'fabric.losses.1.packet: got "rts"; allowed: each kind',
        ),
    ],
)
def test_losses_that_cannot_be_are_refused(losses: Any, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_mapping({"fabric": {"losses": losses}})
    assert str(caught.value).startswith(says)


def test_a_watched_port_is_a_directed_link() -> None:
    def watched(text: str, **parts: Any) -> Any:
        measure = Measure(interval="1us", watched_port=text)
        return core_config(Scenario(fabric=FABRIC, measure=measure, **parts))["measure"]

    assert watched("edge-0/host-3") == {
        "queues": True, "trace": False, "interval_ps": 1_000_000, "most_rows": None,
        "watched_port": ["edge-0", "host-3"], "watched_messages": [],
    }  # fmt: skip
    assert watched("ToR-0/aggregation-1")["watched_port"] == ["edge-0", "agg-1"]
    assert watched("core-1/agg-0")["watched_port"] == ["core-1", "agg-0"]
    for text, says in (
        ("edge-0", 'measure.watched_port: got "edge-0"; allowed: two neighbours as "from/to"'),
        ("edge-0/host-4", 'measure.watched_port: got ["edge-0", "host-4"]; allowed: two neighbours'),
        ("edge-0/host-400", 'measure.watched_port: got "host-400"; allowed: host-0 to host-127'),
        ("leaf-0/host-0", 'measure.watched_port: got "leaf-0"; allowed: a node'),
    ):
        with pytest.raises(ScenarioError) as caught:
            watched(text)
        assert str(caught.value).startswith(says)
    with pytest.raises(ScenarioError, match=r"watched_port: .* no port without an `interval`"):
        Measure(watched_port="edge-0/host-0")


def test_a_series_has_a_million_rows_at_most() -> None:
    assert core_config(Scenario(measure=Measure(interval="1us")))["measure"]["interval_ps"] == 10**6  # until 1 s
    with pytest.raises(ScenarioError, match=r"measure\.interval: got \"999ns\"; .*1,000,000 .*not 1,001,002"):
        Scenario(measure=Measure(interval="999ns"))
    assert Scenario(measure=Measure(interval="999ns"), run=Run(time_limit="900ms")).time_limit_ps == 9 * 10**11


def test_a_workload_without_end_ends_the_run() -> None:
    endless = Scenario(workload=InfiniteAllToAll(duration="300us"), measure=Measure(interval="1ns"))
    assert core_config(endless)["time_limit_ps"] == 300_000_000
    assert core_config(endless.replace(run=Run(time_limit="20us")))["time_limit_ps"] == 20_000_000
    assert core_config(Scenario())["time_limit_ps"] == 10**12


def test_runs_over_slow_and_missing_cores_know_of_them() -> None:
    base = scenario_from_mapping({"preset": "dcsim-paper"}, ["fabric.radix=4", "workload.kind=all-to-all"])
    gone, slow = (base.replace(fabric=base.fabric.replace(even_cores_rate_fraction=share)) for share in (0, 0.01))
    results = simulate(gone)
    assert results.summary["links_down_count"] == 8
    used = results.ports.filter(results.ports["from"].str.starts_with("core-") & (results.ports["carried_bytes"] > 0))
    assert set(used["from"]) == {"core-1", "core-3"}
    # Where links differ in rate, Theorem 2 of dcSim is no bound that a run could break.
    assert theorem_2_ps(gone) is not None
    assert theorem_2_ps(slow) is None
    ports = simulate(slow).ports
    assert set(ports.filter(ports["from"] == "core-2")["rate_gbps"]) == {8.0}
