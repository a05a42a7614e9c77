"""rho_max by hand: dead links, slower ones, oversubscription, several flows a host, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from link_loads import DST, READINGS, SRC, loads_by_ends

from fabricsim import FatTree, FatTreeFailures, LeafSpine
from fabricsim.errors import ScenarioError
from fabricsim.failures import with_failures
from fabricsim.theory import Reading, link_loads, rho_max


@pytest.mark.parametrize("reading", READINGS)
def test_one_dead_edge_link_by_hand(reading: Reading) -> None:
    """Both flows of edge-0 must take agg-1, so its link carries 2, and so does the one back from agg-1."""
    fabric = FatTree(radix=4, links_down=[("edge-0", "agg-0")])
    assert rho_max(fabric, SRC, DST, reading) == pytest.approx(1 / 2)
    loads = loads_by_ends(fabric, SRC, DST, reading)
    assert loads["edge-0", "agg-1"] == pytest.approx(2)
    assert loads["agg-1", "edge-0"] == pytest.approx(2)
    assert ("edge-0", "agg-0") not in loads
    if reading != "lp":
        # edge-1 still splits 1 : 1, so agg-0 sends 1 and agg-1 sends 3, each over two cores.
        assert loads["agg-0", "core-0"] == pytest.approx(1 / 2)
        assert loads["agg-1", "core-2"] == pytest.approx(3 / 2)


def test_one_dead_core_link_by_hand_tells_the_readings_apart() -> None:
    """Pod 0 has four flows and three ways up. `path`: 4/3 on each. `hop`: half of all, 2, over agg-0's only core.

    The best split cannot do better than 4 over 3 links.
    """
    fabric = FatTree(radix=4, links_down=[("agg-0", "core-0")])
    assert rho_max(fabric, SRC, DST, "path") == pytest.approx(3 / 4)
    assert rho_max(fabric, SRC, DST, "hop") == pytest.approx(1 / 2)
    assert rho_max(fabric, SRC, DST, "lp") == pytest.approx(3 / 4)
    path, hop = (loads_by_ends(fabric, SRC, DST, reading) for reading in ("path", "hop"))
    assert path["edge-0", "agg-0"] == pytest.approx(2 / 3)
    assert path["agg-0", "core-1"] == path["agg-1", "core-2"] == pytest.approx(4 / 3)
    assert hop["edge-0", "agg-0"] == pytest.approx(1)
    assert hop["agg-0", "core-1"] == pytest.approx(2)
    assert hop["agg-1", "core-3"] == pytest.approx(1)


@pytest.mark.parametrize("reading", READINGS)
def test_a_dead_link_elsewhere_in_the_destination_pod_counts(reading: Reading) -> None:
    """Flows under one pod: edge-0 reaches edge-1 over agg-1 alone when edge-1 has lost agg-0."""
    fabric = FatTree(radix=4, links_down=[("edge-1", "agg-0")])
    loads = loads_by_ends(fabric, np.array([0, 1]), np.array([2, 3]), reading)
    assert loads["edge-0", "agg-1"] == pytest.approx(2)
    assert loads["edge-0", "agg-0"] == 0
    assert rho_max(fabric, [0, 1], [2, 3], reading) == pytest.approx(1 / 2)


@pytest.mark.parametrize("reading", READINGS)
def test_rates_and_oversubscription_by_hand(reading: Reading) -> None:
    assert rho_max(FatTree(radix=4, edge_oversubscription=2), SRC, DST, reading) == pytest.approx(1 / 2)
    assert rho_max(FatTree(radix=8, agg_oversubscription=4), [0, 1], [32, 33], reading) == 1
    assert rho_max(LeafSpine(radix=8, oversubscription=2), np.arange(32), (np.arange(32) + 4) % 32, reading) == 1 / 2
    slower = FatTree(radix=4, links_degraded=[{"link": ("edge-0", "agg-0"), "rate": "400Gbps"}])
    # 1.5 times the rate for two flows; equal halves put twice its rate on the slow link.
    assert rho_max(slower, SRC, DST, reading) == pytest.approx(3 / 4 if reading == "lp" else 1 / 2)
    hosts = FatTree(radix=4, host_link={"rate": "400Gbps", "latency": "500ns"}, links_down=[("edge-0", "agg-0")])
    assert rho_max(hosts, SRC, DST, reading) == 1
    slow_host = [{"link": ("host-0", "edge-0"), "rate": "400Gbps"}]
    one = FatTree(radix=4, links_down=[("edge-0", "agg-0")], links_degraded=slow_host)
    assert rho_max(one, [0, 1], [8, 9], reading) == pytest.approx(1 / 1.5)


def test_a_host_splits_its_rate_over_its_flows() -> None:
    """All-to-all in equal parts loads as evenly as a permutation; a weight is a share of the line rate."""
    fabric = FatTree(radix=4)
    src, dst = (np.array(ends) for ends in zip(*((s, d) for s in range(16) for d in range(16) if s != d), strict=True))
    loads = loads_by_ends(fabric, src, dst, "path")
    assert loads["edge-0", "agg-0"] == pytest.approx(14 / 15)
    assert loads["agg-0", "core-0"] == pytest.approx(12 / 15)
    assert loads_by_ends(fabric, src, dst, "path", [1 / 15] * 240) == pytest.approx(loads)
    assert loads_by_ends(fabric, np.array([0]), np.array([15]), "hop", [0.5])["agg-0", "core-1"] == pytest.approx(1 / 8)


@pytest.mark.parametrize("reading", READINGS)
def test_no_flow_or_none_between_switches_is_no_load(reading: Reading) -> None:
    assert rho_max(FatTree(radix=4), [], [], reading) == 1
    assert rho_max(FatTree(radix=4), [0, 1], [1, 0], reading) == 1
    assert link_loads(FatTree(radix=4), [0], [1], reading)["load_fraction"].sum() == 0


@pytest.mark.parametrize("reading", READINGS)
def test_a_cut_pair_is_refused_with_the_links_that_cut_it(reading: Reading) -> None:
    """edge-0 is left agg-0, edge-5 agg-5 (index 1 of pod 2): no path, though both have a link."""
    down = [("edge-0", "agg-1"), ("edge-5", "agg-4"), ("edge-2", "agg-2")]
    with pytest.raises(ScenarioError) as caught:
        rho_max(FatTree(radix=4, links_down=down), SRC, (SRC + 10) % 16, reading)
    says = str(caught.value)
    assert caught.value.field == "fabric.links_down"
    assert "no path from host-0 to host-10" in says
    assert "edge-0 to agg-1, edge-5 to agg-4" in says
    assert "agg-2" not in says
    # Within a pod, and through different cores only.
    with pytest.raises(ScenarioError, match="host-1 to host-2"):
        rho_max(FatTree(radix=4, links_down=[("edge-0", "agg-0"), ("edge-1", "agg-1")]), [1], [2], reading)
    cores = [("agg-0", "core-0"), ("agg-4", "core-1"), ("edge-0", "agg-1")]
    with pytest.raises(ScenarioError, match="cut by edge-0 to agg-1, agg-0 to core-0, agg-4 to core-1"):
        rho_max(FatTree(radix=4, links_down=cores), [1], [8], reading)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (([0, 16], [1, 2]), "src.1"),
        (([0, 1], [1, -1]), "dst.1"),
        (([0.5], [1]), "src"),
        (([0, 1], [1]), "dst"),
        (([0, 3], [1, 3]), "dst.1"),
        (([0], [4], "equal"), "reading"),
        (([0], [4], "path", [1, 2]), "weights"),
        (([0], [4], "path", [-1]), "weights"),
    ],
)
def test_wrong_flows_are_refused(arguments: tuple[object, ...], field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        rho_max(FatTree(radix=4), *arguments)  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.parametrize("function", [rho_max, link_loads])
def test_failures_that_are_not_drawn_yet_are_refused(function: Callable[..., object]) -> None:
    """Else the fabric would count as whole: with a third of the links gone rho_max is below 1."""
    fabric = FatTree(radix=8, failures=FatTreeFailures(edge_agg_probability=0.3))
    src = np.arange(128)
    says = r"fabric\.failures: got .*0\.3.*; allowed: .*fabricsim\.failures\.with_failures\(fabric, seed\) draws them"
    with pytest.raises(ScenarioError, match=says):
        function(fabric, src, (src + 64) % 128)
    assert rho_max(with_failures(fabric, 1), src, (src + 64) % 128) < 1


@pytest.mark.parametrize("fabric", [None, 8, "fat-tree"])
def test_what_is_no_fabric_is_refused(fabric: object) -> None:
    with pytest.raises(ScenarioError, match=r"fabric: got .*; allowed: a FatTree"):
        rho_max(fabric, [0], [1])  # type: ignore[arg-type]
