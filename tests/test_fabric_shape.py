"""Fabrics: counts, degrees, wiring and distances, against closed formulas, hand-written wiring and graph search."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricsim.errors import ScenarioError
from fabricsim.scenario import FatTree, LeafSpine, Link

EVEN_RADIXES = st.integers(1, 64).map(lambda half: 2 * half)


def divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


@st.composite
def fat_trees(draw: st.DrawFn, most: int = 8) -> FatTree:
    radix = 2 * draw(st.integers(1, most // 2))
    ratios = st.sampled_from(divisors(radix // 2))
    return FatTree(radix=radix, edge_oversubscription=draw(ratios), agg_oversubscription=draw(ratios))


@st.composite
def leaf_spines(draw: st.DrawFn, most: int = 10) -> LeafSpine:
    radix = 2 * draw(st.integers(1, most // 2))
    return LeafSpine(radix=radix, oversubscription=draw(st.sampled_from(divisors(radix // 2))))


@given(EVEN_RADIXES)
def test_fat_tree_counts_are_the_papers(k: int) -> None:
    tree = FatTree(radix=k)
    assert tree.nodes_count == {"host": k**3 // 4, "edge": k**2 // 2, "agg": k**2 // 2, "core": k**2 // 4}
    assert (tree.hosts_count, tree.edges_count, tree.pods_count) == (k**3 // 4, k**2 // 2, k)


@given(EVEN_RADIXES)
def test_leaf_spine_counts(k: int) -> None:
    tree = LeafSpine(radix=k)
    assert tree.nodes_count == {"host": k**2 // 2, "leaf": k, "spine": k // 2}


def test_the_papers_fabrics() -> None:
    assert FatTree().hosts_count == 432
    assert LeafSpine().hosts_count == 2048
    assert [FatTree(radix=k).hosts_count for k in range(4, 17, 2)] == [16, 54, 128, 250, 432, 686, 1024]


@pytest.mark.parametrize("radix", [4, 8, 16, 24])
def test_every_switch_uses_exactly_its_ports(radix: int) -> None:
    for tree in (FatTree(radix=radix), LeafSpine(radix=radix)):
        graph = tree.to_networkx()
        for node, tier in graph.nodes(data="tier"):
            # A spine of a two-level tree serves all k leaves, a core all k pods.
            assert graph.degree[node] == (1 if tier == "host" else radix)
        assert nx.is_connected(graph)


def test_wiring_of_the_smallest_tree_by_hand() -> None:
    wires = {(lower, upper) for lower, upper, _ in FatTree(radix=4).cables()}
    assert len(wires) == 16 + 16 + 16
    pod_2 = {("edge-4", "agg-4"), ("edge-4", "agg-5"), ("edge-5", "agg-4"), ("edge-5", "agg-5")}
    assert {wire for wire in wires if wire[0] in ("edge-4", "edge-5")} == pod_2
    # Aggregation switch j of every pod is wired to cores 2j and 2j + 1.
    assert {lower for lower, upper in wires if upper == "core-1"} == {"agg-0", "agg-2", "agg-4", "agg-6"}
    assert {lower for lower, upper in wires if upper == "core-2"} == {"agg-1", "agg-3", "agg-5", "agg-7"}
    assert [wire for wire in wires if wire[0] == "host-9"] == [("host-9", "edge-4")]


@given(st.one_of(fat_trees(), leaf_spines()))
@settings(max_examples=25, deadline=None)
def test_distances_agree_with_graph_search(tree: FatTree | LeafSpine) -> None:
    lengths = dict(nx.all_pairs_shortest_path_length(tree.to_networkx()))
    hosts = range(tree.hosts_count)
    for src, dst in itertools.islice(itertools.permutations(hosts, 2), 0, None, 7):
        assert tree.hops(src, dst) == lengths[f"host-{src}"][f"host-{dst}"]
    if len(hosts) > 1:
        farthest = max(lengths["host-0"][f"host-{dst}"] for dst in hosts if dst)
        assert tree.diameter_links == farthest


@given(st.one_of(fat_trees(), leaf_spines(8)))
@settings(max_examples=25, deadline=None)
def test_neighbours_are_exactly_the_cables(tree: FatTree | LeafSpine) -> None:
    cables = {(lower, upper): link for lower, upper, link in tree.cables()}
    assert len(cables) == len(list(tree.cables()))
    tiers = list(tree.nodes_count.items())
    for (low, lows), (high, highs) in itertools.combinations(tiers, 2):
        for a, b in itertools.product(range(lows), range(highs)):
            assert tree.link_between((low, a), (high, b)) == cables.get((f"{low}-{a}", f"{high}-{b}"))


def test_propagation_adds_each_tiers_latency_up_and_down() -> None:
    tree = FatTree(
        radix=4,
        host_link=Link(rate="400Gbps", latency="100ns"),
        agg_core_link=Link(rate="800Gbps", latency="2us"),
    )
    graph = tree.to_networkx()
    for dst in range(1, 16):
        path = nx.dijkstra_path_length(graph, "host-0", f"host-{dst}", weight="latency_ps")
        assert tree.propagation_ps(0, dst) == path
    arrays = tree.propagation_ps(np.zeros(3, dtype=np.int64), np.array([1, 2, 15]))
    assert arrays.tolist() == [200_000, 1_200_000, 5_200_000]


def test_default_propagation_is_the_papers_three_microseconds() -> None:
    assert FatTree().propagation_ps(0, 431) == 3_000_000
    assert FatTree().diameter_links == 6


@given(fat_trees(12))
def test_oversubscription_keeps_down_ports_and_divides_uplinks(tree: FatTree) -> None:
    half = tree.radix // 2
    assert (tree.hosts_per_edge, tree.edges_per_pod) == (half, half)
    assert tree.aggs_per_pod * tree.edge_oversubscription == half
    assert tree.cores_per_agg * tree.agg_oversubscription == half


@pytest.mark.parametrize("model", [FatTree, LeafSpine])
@pytest.mark.parametrize("radix", [-2, 0, 1, 7, 127, 129, 130, 12.0, "12", True, None, [4], 2**70])
def test_radix_out_of_range(model: type[FatTree | LeafSpine], radix: object) -> None:
    with pytest.raises(ScenarioError, match=r"^radix: got .*; allowed: an even integer from 2 to 128"):
        model(radix=radix)


def test_oversubscription_must_divide() -> None:
    for given_ratio in (0, 4, 5, 7, -1, 1.5, True):
        with pytest.raises(ScenarioError, match=r"^edge_oversubscription: got "):
            FatTree(radix=12, edge_oversubscription=given_ratio)
    with pytest.raises(ScenarioError, match="a divisor of radix/2 = 6: 1, 2, 3, 6"):
        FatTree(radix=12, agg_oversubscription=4)
    with pytest.raises(ScenarioError, match="a divisor of radix/2 = 5: 1, 5"):
        LeafSpine(radix=10, oversubscription=2)


def test_links_are_kept_under_their_own_names_lower_tier_first() -> None:
    tree = FatTree(
        radix=4,
        links_down=[("fabric-1", "ToR-0"), ("super-spine-3", "agg-3")],
        links_degraded=[{"link": ["aggregation-0", "edge-1"], "rate": "8Gbps"}],
    )
    assert tree.links_down == (("edge-0", "agg-1"), ("agg-3", "core-3"))
    assert tree.links_degraded[0].link == ("edge-1", "agg-0")
    graph = tree.to_networkx()
    assert not graph.has_edge("edge-0", "agg-1")
    assert graph.edges["edge-1", "agg-0"] == {"rate_bps": 8_000_000_000, "latency_ps": 500_000}
    assert graph.number_of_edges() == 48 - 2
    assert LeafSpine(radix=4, links_down=[("spine-1", "tor-3")]).links_down == (("leaf-3", "spine-1"),)


@pytest.mark.parametrize(
    ("down", "says"),
    [
        ([("edge-0", "agg-72")], "agg-0 to agg-71"),
        ([("edge-0", "agg-6")], "two neighbours"),
        ([("edge-0", "core-0")], "two neighbours"),
        ([("edge-0", "edge-0")], "two neighbours"),
        ([("agg-0", "core-6")], "two neighbours"),
        ([("edge-0", "agg-0"), ("edge-0", "agg-0")], "each link once"),
        ([("edge-0", "agg-0"), ("agg-0", "tor-0")], "each link once"),
        ([("host-0", "edge-0")], "links between switches"),
        ([("edge-00", "agg-0")], "a node: host-0 to host-431"),
        ([("edge--1", "agg-0")], "a node: host-0"),
        ([("edge", "agg-0")], "a node: host-0"),
        ([("leaf-0", "agg-0")], "a node: host-0"),
        ([("edge-99999999999999999999", "agg-0")], "a node: host-0"),
        ([("edge-0",)], "two node names"),
        ([("edge-0", "agg-0", "core-0")], "two node names"),
        (["edge-0"], "two node names"),
        ([("edge-0", 3)], "two node names"),
        ("edge-0", "a list"),
        ([None], "two node names"),
    ],
)
def test_wrong_link_lists_name_the_row(down: object, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        FatTree(links_down=down)
    assert caught.value.field.startswith("links_down")
    assert says in caught.value.allowed


def test_degraded_links_are_slower_and_not_down() -> None:
    slower = {"link": ["edge-0", "agg-0"], "rate": "400Gbps"}
    with pytest.raises(ScenarioError, match=r"links_degraded\.0\.link: .*each link once"):
        FatTree(links_down=[("edge-0", "agg-0")], links_degraded=[slower])
    with pytest.raises(ScenarioError, match=r"links_degraded\.0\.rate: got \"801Gbps\"; allowed: at most .* 800Gbps"):
        FatTree(links_degraded=[{**slower, "rate": "801Gbps"}])
    with pytest.raises(ScenarioError, match=r"links_degraded\.0\.rate: got 400; .*did you mean \"400bps\""):
        FatTree(links_degraded=[{**slower, "rate": 400}])


@pytest.mark.parametrize("latency", ["0ns", "1.1s", "500", 500, "-1ns", "0.5ps"])
def test_latency_out_of_range(latency: object) -> None:
    with pytest.raises(ScenarioError, match=r"^latency: got "):
        FatTree(latency=latency)
