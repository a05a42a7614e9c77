"""Schemes that come to the same at the edge of their parameters: bit for bit where they draw alike, else on average."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from door import (
    Columns,
    Config,
    assert_same,
    cct_acked_ps,
    configure,
    fat_tree,
    leaf_spine,
    messages,
    permutation,
    run,
)
from paper import Mean, Record, show

from fabricsim import BALANCERS, balancer_from_text

EVERY = tuple(BALANCERS)
TREES: dict[str, Config] = {
    "fat tree": fat_tree(6),
    "dead links": fat_tree(6, links_down=[["edge-0", "agg-1"], ["agg-5", "core-6"]]),
    "leaf-spine": leaf_spine(9, 6, 6),
}


def outcome(fabric: Config, balancer: str, columns: Columns, seed: int = 3, **parts: Any) -> Any:
    return run(configure(fabric, balancer, seed, measure={"trace": True}, **parts), columns)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ar:nominal_buffer=1000TB", "rsq"),  # all queues at the lowest level: any uplink
        ("ar:nominal_buffer=1000TB:acks=as-data", "rsq"),
        ("choice:1", "rsq"),  # the shortest of one queue
        ("flowlet:gap=0ps", "rsq"),  # every packet begins a burst
        ("reps:explore_packets=1048576", "rps"),  # explores for ever
        ("choice:6", "choice:64"),  # all queues
        ("pofan:6", "ofan"),  # one pipe
        ("pofan:3", "ofan:port_order=xor"),  # of 3 down ports, one pipe; in the leaf-spine tree two
    ],
)
def test_the_same_draws_give_the_same_run(tree: str, one: str, other: str) -> None:
    columns = permutation(54, 4, 40)
    outputs = [outcome(TREES[tree], balancer, columns) for balancer in (one, other)]
    if (tree, one) == ("leaf-spine", "pofan:3"):
        assert not np.array_equal(outputs[0]["trace"]["at_ps"], outputs[1]["trace"]["at_ps"])
    else:
        assert_same(*outputs)
    assert not np.array_equal(outcome(TREES[tree], "jsq", columns)["trace"]["at_ps"], outputs[1]["trace"]["at_ps"])


def test_drill_without_memory_is_the_power_of_choices() -> None:
    """`Drill` remembers one uplink at least; the core takes none, too."""
    columns = permutation(54, 4, 40)
    for sampled in (1, 2, 3):
        config = configure(fat_tree(6), f"drill:{sampled}:1", 3, measure={"trace": True})
        with_memory = run(config, columns)
        config["balancer"]["ports_remembered"] = 0
        choice = outcome(fat_tree(6), f"choice:{sampled}", columns)
        assert_same(run(config, columns), choice)
        assert not np.array_equal(with_memory["trace"]["at_ps"], choice["trace"]["at_ps"])


@pytest.mark.parametrize("balancer", EVERY)
def test_where_there_is_no_choice_all_schemes_are_one(balancer: str) -> None:
    """One uplink: not a frame is elsewhere, or at another time, than under random spraying."""
    columns = permutation(12, 2, 50)
    columns["dst"][columns["src"] > 9] = 0
    for tree in (leaf_spine(4, 3, 1), fat_tree(2)):
        here = columns if tree["kind"] == "leaf-spine" else messages([0, 1], [1, 0], 50 * 4096)
        assert_same(outcome(tree, balancer, here), outcome(tree, "rsq", here))


@pytest.mark.parametrize("balancer", [kind for kind in EVERY if BALANCERS[kind].where == "switch"])
def test_deployed_on_every_switch_it_is_the_scenarios_balancer(balancer: str) -> None:
    columns = permutation(54, 6, 30)
    config = configure(fat_tree(6), "rsq", 2, measure={"trace": True})
    everywhere = [f"{tier}-{number}" for tier in ("edge", "agg") for number in range(18)]
    config["deployments"] = [{"switches": everywhere, "balancer": balancer_from_text(balancer).lowered()}]
    assert_same(run(config, columns), outcome(fat_tree(6), balancer, columns, seed=2))


def mean_cct(balancer: str, packets: int = 64, runs: int = 60) -> Mean:
    columns = permutation(16, 1, packets)
    runs_ps = [cct_acked_ps(run(configure(fat_tree(4), balancer, seed), columns)) for seed in range(runs)]
    return Mean.of(np.array(runs_ps, np.float64) / 1e6)


@pytest.mark.parametrize(
    ("one", "other", "unlike"),
    [
        ("choice:2", "jsq", "choice:1"),  # both uplinks of the two
        ("choice:64", "jsq", "choice:1"),
        ("drill:2:1", "jsq", "choice:1"),
        ("rps", "rsq", "ofan"),  # a random entropy, hashed
    ],
)
def test_other_draws_give_the_same_mean(one: str, other: str, unlike: str, record_property: Record) -> None:
    """Completion times over 60 seeds, within 4 standard errors, which are small beside a scheme that differs."""
    means = {balancer: mean_cct(balancer) for balancer in (one, other, unlike)}
    show(record_property, f"CCT in us: {one}, {other}, {unlike}", [str(mean) for mean in means.values()], "same, other")
    assert means[one].agrees_with(means[other])
    assert not means[one].agrees_with(means[unlike])


def uplinks_of_flows(output: Any) -> dict[tuple[int, int, int], set[int]]:
    """The uplinks that packets of each (flow, kind) took at each switch."""
    trace, ports = output["trace"], output["ports"]
    up = (ports["from_tier"] < ports["to_tier"]) & (ports["from_tier"] > 0)
    taken: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for row in np.flatnonzero(up[trace["link"]]).tolist():
        link = int(trace["link"][row])
        node = int(ports["from_tier"][link]) * 1000 + int(ports["from_index"][link])
        taken[int(trace["flow"][row]), int(trace["kind"][row]), node].add(link)
    return taken


@pytest.mark.parametrize("balancer", ["ecmp", "flowlet:gap=1s", "flowlet", "rps:entropies=1"])
def test_a_flow_that_never_pauses_keeps_its_uplink(balancer: str) -> None:
    """Per-flow hashing, and flowlets of paced flows at full rate (Ofan paper, section 2.1): one way a flow and kind."""
    columns = permutation(54, 5, 60)
    taken = uplinks_of_flows(outcome(fat_tree(6), balancer, columns, transport={"acks": "off"}))
    assert {len(links) for links in taken.values()} == {1}
    at_edges = [next(iter(links)) for (_, _, node), links in taken.items() if node < 2000]
    assert len(set(at_edges)) > 30, "flows differ: of 54 edge uplinks most are in use"


def test_flowlets_of_flows_that_pause_spread() -> None:
    """At a tenth of the rate the frames of a flow are 418 ns apart: each begins a burst if the gap is below that."""
    columns = permutation(54, 5, 60)
    for gap_ns, spreads in ((300, True), (500, False)):
        slow = {"acks": "off", "load": 0.1}
        taken = uplinks_of_flows(outcome(fat_tree(6), f"flowlet:gap={gap_ns}ns", columns, transport=slow))
        at_edges = {len(links) for (_, _, node), links in taken.items() if node < 2000}
        assert at_edges == ({3} if spreads else {1})


@pytest.mark.parametrize("balancer", ["conga", "dlb", "sglb"])
def test_light_loads_look_alike_to_those_who_count_in_eighths(balancer: str) -> None:
    """Below an eighth of a link's rate every cost is 0. CONGA then stays where a flow is; the others draw each time."""
    columns = permutation(54, 5, 80, lambda a, b: a // 9 != b // 9)
    taken = uplinks_of_flows(outcome(fat_tree(6), balancer, columns, transport={"acks": "off", "load": 0.03}))
    used = {len(links) for links in taken.values()}
    assert used == ({1} if balancer == "conga" else {3})


@pytest.mark.parametrize("balancer", ["conga", "dlb", "sglb", "jsq", "drill:2:1"])
def test_two_flows_of_a_leaf_part_ways(balancer: str) -> None:
    """Two flows at full rate and two uplinks: what looks at loads or queues keeps them apart, and no queue grows."""
    columns = messages([0, 1], [2, 3], 2000 * 4096)
    largest = []
    for seed in range(8):
        output = outcome(leaf_spine(2, 2, 2), balancer, columns, seed, transport={"acks": "off"})
        assert output["status"] == "done"
        up = (output["ports"]["from_tier"] == 1) & (output["ports"]["to_tier"] == 3)
        largest.append(int(output["ports"]["max_queue_bytes"][up].max()) // 4158)
    assert max(largest) < 200, "both on one uplink all along would queue 1,000 more"
