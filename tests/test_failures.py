"""Random failures: which links fail, who is cut off (against all shortest paths of the graph), redraws, events."""

import itertools
import statistics

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricsim import FatTree, FatTreeFailures, LeafSpine, LeafSpineFailures, Run, Scenario, core_config
from fabricsim.errors import ScenarioError
from fabricsim.failures import connected_at_most, drawn_failures, with_failures
from fabricsim.scenario import scenario_from_mapping
from fabricsim.workloads import build
from fabricsim.workloads.draws import Draws

Ends = tuple[str, str]
NOTHING_FAILS = FatTreeFailures()


def switch_links(fabric: FatTree | LeafSpine) -> list[Ends]:
    return [(lower, upper) for lower, upper, _ in fabric.cables() if not lower.startswith("host-")]


def cut_off(fabric: FatTree | LeafSpine, down: set[Ends]) -> set[frozenset[str]]:
    """Pairs of edge switches all of whose shortest paths, as the whole graph has them, hold a link that is down."""
    graph = fabric.to_networkx()
    edges = [node for node in graph if node.startswith(("edge-", "leaf-"))]
    dead = {frozenset(ends) for ends in down}
    return {
        frozenset(pair)
        for pair in itertools.combinations(edges, 2)
        if all(
            any(frozenset(step) in dead for step in itertools.pairwise(path))
            for path in nx.all_shortest_paths(graph, *pair)
        )
    }


@st.composite
def broken_fabrics(draw: st.DrawFn) -> tuple[FatTree | LeafSpine, set[Ends]]:
    radix = draw(st.sampled_from([2, 4, 6]))
    whole: FatTree | LeafSpine
    if draw(st.booleans()):
        over = st.sampled_from([d for d in range(1, radix // 2 + 1) if radix // 2 % d == 0])
        whole = FatTree(radix=radix, edge_oversubscription=draw(over), agg_oversubscription=draw(over))
    else:
        whole = LeafSpine(radix=radix)
    links = switch_links(whole)
    # Few to many: at a third of the links about half of the fabrics are cut.
    dead = draw(st.lists(st.sampled_from(links), max_size=len(links) // 2, unique=True))
    return whole, set(dead)


@given(broken_fabrics())
@settings(max_examples=120, deadline=None)
def test_cut_off_is_who_has_no_shortest_path(broken: tuple[FatTree | LeafSpine, set[Ends]]) -> None:
    whole, down = broken
    failures = NOTHING_FAILS if isinstance(whole, FatTree) else LeafSpineFailures()
    fabric = type(whole)(**{**dict(whole), "links_down": tuple(down), "failures": failures})
    pairs = cut_off(whole, down)
    if not pairs:
        assert drawn_failures(fabric, 1).links == ()
        return
    with pytest.raises(ScenarioError) as caught:
        drawn_failures(fabric, 1)
    assert caught.value.field == "fabric.links_down"
    pair = frozenset(str(caught.value.value).removeprefix("no path from ").split(" to "))
    assert pair in pairs
    if "more" in caught.value.allowed:  # the first twenty are named
        return
    # The links it names are down, and are a cut: they alone leave the two without a path.
    named = {tuple(link.split(" to ")) for link in caught.value.allowed.split("down between them: ")[1].split(", ")}
    assert named <= down
    assert pair in cut_off(whole, named)


def test_each_tier_fails_with_its_own_probability() -> None:
    fabric = FatTree(failures=FatTreeFailures(edge_agg_probability=0.05, agg_core_probability=0.02))
    counts: dict[str, list[int]] = {"edge": [], "agg": []}
    for seed in range(60):
        lower = [low.partition("-")[0] for low, _ in drawn_failures(fabric, seed).links]
        for tier, drawn in counts.items():
            drawn.append(lower.count(tier))
    for tier, probability in (("edge", 0.05), ("agg", 0.02)):
        mean = 432 * probability  # 12 pods of 6 x 6 links
        error = (432 * probability * (1 - probability) / 60) ** 0.5
        assert abs(statistics.mean(counts[tier]) - mean) < 4 * error
        # Links fail independently: the variance is the binomial one (60 draws know it to 18 %).
        assert statistics.variance(counts[tier]) == pytest.approx(mean * (1 - probability), rel=0.75)


def test_a_seed_names_its_failures_and_more_of_them_at_a_higher_probability() -> None:
    def failed(probability: float, seed: int = 3) -> set[Ends]:
        fabric = FatTree(failures=FatTreeFailures(edge_agg_probability=probability, agg_core_probability=probability))
        return set(drawn_failures(fabric, seed).links)

    assert failed(0) == set()
    assert failed(0.01) < failed(0.02) < failed(0.05)
    assert failed(0.02) != failed(0.02, seed=4)
    own = FatTreeFailures(edge_agg_probability=0.02, agg_core_probability=0.02, seed=3)
    assert set(drawn_failures(FatTree(failures=own), 99).links) == failed(0.02)


def test_disconnected_draws_are_drawn_again_and_counted_or_refused() -> None:
    odds = {"edge_agg_probability": 0.2, "agg_core_probability": 0.2}
    again, refusing = (
        FatTree(radix=4, failures=FatTreeFailures(**odds, disconnected=how)) for how in ("redraw", "refuse")
    )
    redraws = []
    for seed in range(40):
        drawn = drawn_failures(again, seed)
        assert not cut_off(FatTree(radix=4), set(drawn.links))
        redraws.append(drawn.redraws_count)
        if drawn.redraws_count:
            with pytest.raises(
                ScenarioError, match=r'fabric\.failures: got "no path from .* or disconnected = "redraw"; '
            ):
                drawn_failures(refusing, seed)
        else:
            assert drawn_failures(refusing, seed) == drawn
    assert min(redraws) == 0
    assert max(redraws) > 1


def test_probabilities_that_always_cut_are_refused() -> None:
    fabric = LeafSpine(radix=8, failures=LeafSpineFailures(leaf_spine_probability=0.75))
    with pytest.raises(
        ScenarioError, match=r'got "no path from leaf-0 to leaf-\d"; .* in one of 1,000 draws; down betw'
    ):
        drawn_failures(fabric, 1)


@pytest.mark.parametrize(
    "fabric",
    [
        LeafSpine(radix=4, failures=LeafSpineFailures(leaf_spine_probability=1)),
        LeafSpine(radix=64, failures=LeafSpineFailures(leaf_spine_probability=0.9)),
        FatTree(radix=64, failures=FatTreeFailures(edge_agg_probability=0.7)),
        FatTree(radix=64, failures=FatTreeFailures(edge_agg_probability=0.5, agg_core_probability=0.97)),
    ],
)
def test_a_hopeless_draw_is_not_made(fabric: FatTree | LeafSpine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Draws, "uniforms", None)
    says = r"fabric\.failures: got .*; allowed: .* in less than one of 10\^\d+, so none was tried"
    with pytest.raises(ScenarioError, match=says):
        drawn_failures(fabric, 1)


@pytest.mark.parametrize(
    "whole", [FatTree(radix=4), FatTree(radix=6, agg_oversubscription=3), LeafSpine(radix=4), LeafSpine(radix=6)]
)
def test_no_fabric_is_connected_more_often_than_the_bound_says(whole: FatTree | LeafSpine) -> None:
    """By counting draws; the bound of two leaves under one spine each is exact."""
    draws = 300
    for odds in (0.05, 0.15, 0.3):
        failures = {f"{tier}_probability": odds for tier in ("edge_agg", "agg_core")}
        if isinstance(whole, LeafSpine):
            failures = {"leaf_spine_probability": odds}
        fabric = type(whole)(**{**dict(whole), "failures": {**failures, "disconnected": "refuse"}})
        connected = 0
        for seed in range(draws):
            try:
                drawn_failures(fabric, seed)
            except ScenarioError:
                continue
            connected += 1
        most = connected_at_most(fabric)
        assert connected / draws < most + 4 * (most * (1 - most) / draws) ** 0.5


def test_the_bound_of_two_leaves_is_their_chance() -> None:
    fabric = LeafSpine(radix=2, failures=LeafSpineFailures(leaf_spine_probability=0.25))
    assert connected_at_most(fabric) == pytest.approx(0.75**2)


def test_failures_come_on_top_of_the_links_of_the_list() -> None:
    fabric = FatTree(
        radix=8,
        links_down=[("edge-0", "agg-3")],
        links_degraded=[{"link": (f"edge-{e}", f"agg-{a}"), "rate": "1Gbps"} for e in range(4) for a in range(3)],
        failures=FatTreeFailures(edge_agg_probability=0.1, agg_core_probability=0.1),
    )
    drawn = set(drawn_failures(fabric, 6).links)
    degraded = {slower.link for slower in fabric.links_degraded}
    assert drawn & degraded
    resolved = with_failures(fabric, 6)
    assert set(resolved.links_down) == drawn | {("edge-0", "agg-3")}
    assert {slower.link for slower in resolved.links_degraded} == degraded - drawn
    assert resolved.failures is None
    lowered = core_config(Scenario(fabric=fabric, run=Run(seed=6)))["fabric"]
    assert {tuple(ends) for ends in lowered["links_down"]} == set(resolved.links_down)
    assert with_failures(resolved, 6) is resolved


def test_events_that_change_nothing_fall_away() -> None:
    link, other = ("leaf-0", "spine-0"), ("leaf-1", "spine-1")
    events = [
        {"at": "3us", "link": link, "state": "down"},
        {"at": "1us", "link": link, "state": "down"},
        {"at": "2us", "link": link, "state": "up"},
        {"at": "1us", "link": other, "state": "down"},
    ]
    odds = LeafSpineFailures(leaf_spine_probability=0.2)
    fabric = LeafSpine(radix=4, link_events=events, failures=odds)
    seed = next(
        s for s in range(999) if (drawn := drawn_failures(fabric, s).links) and link in drawn and other not in drawn
    )
    assert [(str(event.at), event.link, event.state) for event in with_failures(fabric, seed).link_events] == [
        ("1us", other, "down"),
        ("2us", link, "up"),
        ("3us", link, "down"),
    ]


def test_failures_leave_the_workload_as_it_is() -> None:
    whole = Scenario(fabric=FatTree(radix=8))
    broken = Scenario(fabric=FatTree(radix=8, failures=FatTreeFailures(edge_agg_probability=0.1)))
    assert core_config(broken)["fabric"]["links_down"]
    np.testing.assert_array_equal(build(whole).dst, build(broken).dst)


def test_failures_in_a_file() -> None:
    tables = {"fabric": {"radix": 4, "failures": {"edge_agg_probability": 0.01, "disconnected": "refuse"}}}
    assert scenario_from_mapping(tables, ["fabric.failures.seed=7"]).fabric.failures == FatTreeFailures(
        edge_agg_probability=0.01, disconnected="refuse", seed=7
    )
    with pytest.raises(ScenarioError, match=r"fabric\.failures\.leaf_spine_probability: got the unknown name"):
        scenario_from_mapping({"fabric": {"failures": {"leaf_spine_probability": 0.1}}})
    with pytest.raises(
        ScenarioError, match=r"fabric\.failures\.edge_agg_probability: got 1\.5; allowed: a number from 0"
    ):
        scenario_from_mapping({"fabric": {"failures": {"edge_agg_probability": 1.5}}})
