"""What an axis of a study may set: any field of the scenario, by its dotted name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fabricsim import (
    Deployment,
    Duration,
    FatTree,
    FatTreeFailures,
    Link,
    Pofan,
    Rate,
    Scenario,
    ScenarioError,
    balancer_text,
    scenario_from_mapping,
)
from fabricsim.study.form import with_field


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
