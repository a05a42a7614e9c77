"""What an axis of a study may set, any field of the scenario by its dotted name; and the points of its tiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fabricsim import (
    Dcpim,
    Deployment,
    Duration,
    FatTree,
    FatTreeFailures,
    Link,
    Pofan,
    Rate,
    Rsq,
    Scenario,
    ScenarioError,
    SimpleRr,
    balancer_text,
    scenario_from_mapping,
)
from fabricsim.study.form import Study, with_field


@pytest.mark.parametrize(
    ("path", "value", "read"),
    [
        ("fabric.failures.edge_agg_probability", 0.1, lambda one: one.fabric.failures.edge_agg_probability),
        ("fabric.host_link.latency", "1us", lambda one: str(one.fabric.host_link.latency)),
        ("deployment.balancer", "pofan:1", lambda one: balancer_text(one.deployment.balancer)),
        ("deployment.balancer.ports_per_pipe", 2, lambda one: one.deployment.balancer.ports_per_pipe),
        ("workload.message", "8KiB", lambda one: str(one.workload.message)),
    ],
)
def test_an_axis_may_set_a_field_at_any_depth(path: str, value: Any, read: Callable[[Scenario], Any]) -> None:
    mixed = Scenario(
        fabric=FatTree(radix=4, host_link=Link(rate=Rate("400Gbps"), latency=Duration("2us"))),
        deployment=Deployment(balancer=Pofan(ports_per_pipe=1)),
    )
    made = with_field(mixed, path, value)
    assert read(made) == value
    # As an override does, where that can be written: the rest stays.
    assert made == scenario_from_mapping(mixed.model_dump(), {path: value})


def test_a_wrong_value_at_any_depth_is_refused_by_its_whole_name() -> None:
    for path in ("fabric.failures.edge_agg_probability", "fabric.failures.edge_probability"):
        with pytest.raises(ScenarioError) as refused:
            with_field(Scenario(), path, 2)
        assert refused.value.field == path


def test_a_nested_part_is_replaced_in_part() -> None:
    fabric = FatTree(radix=4, failures=FatTreeFailures(edge_agg_probability=0.1))
    assert fabric.failures is not None
    failures = fabric.failures.replace(agg_core_probability=0.2)
    assert failures == FatTreeFailures(edge_agg_probability=0.1, agg_core_probability=0.2)
    assert fabric.replace(failures=failures) == FatTree(radix=4, failures=failures)
    with pytest.raises(ScenarioError, match="agg_core_probability: got 2"):
        failures.replace(agg_core_probability=2)


def test_a_transport_comes_with_the_balancer_it_usually_runs_over_or_the_one_its_text_names() -> None:
    paper = scenario_from_mapping({"preset": "dcsim-paper"})
    usual, named, model = (
        with_field(paper, "transport", value)
        for value in ("dcpim", "dcpim:rounds=3/simple-rr:pointers=per-ingress", Dcpim(rounds=3))
    )
    assert (usual.transport, usual.balancer) == (Dcpim(), Rsq())
    assert (named.transport, named.balancer) == (Dcpim(rounds=3), SimpleRr(pointers="per-ingress"))
    assert (model.transport, model.balancer) == (Dcpim(rounds=3), Rsq())
    assert with_field(paper, "transport", "dcsim") == paper  # with the balancer of the preset
    assert with_field(paper, "transport.token_factor", 1.0).balancer == paper.balancer
    with pytest.raises(ScenarioError, match=r"balancer\.kind"):
        with_field(paper, "transport", "dcpim/rps")


def study(*grids: dict[str, Any], **single: Any) -> Study:
    grid = {"transport": "transport", "flow": "workload.message", "seed": "run.seed"}
    tiers = {"quick": single or grids}
    return Study(title="Points", source="Nobody", base=Scenario(), grid=grid, tiers=tiers)


def test_a_tier_of_several_grids_has_the_points_of_all_in_their_order_and_each_once() -> None:
    main = {"transport": ("dcsim", "dcpim"), "flow": {0.5: "45kB"}, "seed": range(1, 4)}
    others = {"seed": (1, 5), "flow": {0.5: "45kB", 1.0: "90kB"}, "transport": ("dcpim", "phost")}
    labels = [tuple(point.labels.values()) for point in study(main, others).points("quick")]
    assert labels == [
        *(("dcsim", 0.5, seed) for seed in (1, 2, 3)),
        *(("dcpim", 0.5, seed) for seed in (1, 2, 3)),
        ("dcpim", 0.5, 5),
        *(("dcpim", 1.0, seed) for seed in (1, 5)),
        *(("phost", flow, seed) for flow in (0.5, 1.0) for seed in (1, 5)),
    ]
    one = [point.labels for point in study(**main).points("quick")]
    assert one == [point.labels for point in study(main).points("quick")]


def test_a_wrong_grid_among_several_is_named_by_its_place() -> None:
    right = {"transport": ("dcsim",), "flow": ("45kB",), "seed": (1,)}
    with pytest.raises(ScenarioError, match=r'tiers\["quick"\]\[1\]\["seed"\]: got 1'):
        study(right, {**right, "seed": (1, 1)})
    with pytest.raises(ScenarioError, match=r'tiers\["quick"\]\[0\]: .*allowed: the axes of the grid'):
        study({"seed": (1,)}, right)
    with pytest.raises(ScenarioError, match="at least one grid"):
        study()
