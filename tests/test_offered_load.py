"""Loads of rho_max: computed from fabric and messages before a run, against loads counted by hand."""

import numpy as np
import pytest
from fake_core import Core

from fabricsim import (
    Dcsim,
    FatTree,
    LeafSpine,
    LeafSpineFailures,
    Messages,
    Paced,
    Permutation,
    Rps,
    Scenario,
    bound_ps,
    core_config,
    simulate,
)
from fabricsim.errors import ScenarioError
from fabricsim.failures import drawn_failures
from fabricsim.offered_load import shares, with_load
from fabricsim.run import workers_for
from fabricsim.workloads import build

READINGS = ["rho-max:path", "rho-max:hop", "rho-max:lp"]
# Four leaves of two hosts under two spines; both hosts of leaf 0 send to leaf 1.
ACROSS = Messages.from_arrays(src=[0, 1], dst=[2, 3], bytes=[4096, 4096])


@pytest.mark.parametrize("reading", READINGS)
def test_one_of_two_uplinks_carries_two_hosts_at_half_rate(reading: str) -> None:
    whole = Scenario(fabric=LeafSpine(radix=4), transport=Paced(load=reading))
    assert with_load(whole, ACROSS).transport.load == 1
    broken = whole.replace(fabric=LeafSpine(radix=4, links_down=[("leaf-0", "spine-1")]))
    assert with_load(broken, ACROSS).transport.load == pytest.approx(0.5)
    assert broken.transport.load == reading


def test_random_failures_count() -> None:
    fabric = LeafSpine(radix=4, failures=LeafSpineFailures(leaf_spine_probability=0.3))
    scenario = Scenario(fabric=fabric, transport=Paced(load="rho-max:path"))
    seeds = {seed: drawn_failures(fabric, seed).links for seed in range(40)}
    for seed, links in seeds.items():
        own = fabric.failures.model_copy(update={"seed": seed})
        seeded = scenario.replace(fabric=LeafSpine(radix=4, failures=own))
        # All leaves have two uplinks; who lost one has half the rate left, at either end.
        between = {lower for lower, _ in links} & {"leaf-0", "leaf-1"}
        assert with_load(seeded, ACROSS).transport.load == pytest.approx(0.5 if between else 1)


def test_a_host_shares_its_rate_by_bytes() -> None:
    messages = Messages.from_arrays(src=[0, 0, 1, 2, 2], dst=[1, 2, 0, 0, 1], bytes=[100, 300, 7, 0, 0])
    np.testing.assert_allclose(shares(messages), [0.25, 0.75, 1, 0.5, 0.5])
    # A quarter of host 0 and all of host 1 go over the one link that is left.
    mixed = Messages.from_arrays(src=[0, 0, 1], dst=[1, 2, 3], bytes=[300, 100, 5])
    broken = LeafSpine(radix=4, links_down=[("leaf-0", "spine-1")])
    scenario = Scenario(fabric=broken, transport=Paced(load="rho-max:lp"))
    assert with_load(scenario, mixed).transport.load == pytest.approx(1 / 1.25)


def test_the_summary_names_the_load_and_the_scenario_stays(core: Core) -> None:
    scenario = Scenario(fabric=LeafSpine(radix=2), transport=Paced(load="rho-max:hop"))
    results = simulate(scenario, Messages.from_arrays(src=[0], dst=[1], bytes=4096))
    assert results.summary["load"] == core.configs[0]["transport"]["load"] == 1.0
    assert results.summary["failure_redraws_count"] == 0
    assert results.scenario == scenario


def test_numbers_stay() -> None:
    scenario = Scenario(fabric=FatTree(radix=4), transport=Paced(load=0.5))
    assert with_load(scenario, build(scenario)) is scenario


def test_bounds_know_the_load() -> None:
    fabric = LeafSpine(radix=4, links_down=[("leaf-0", "spine-1")])
    by_name, by_number = (Scenario(fabric=fabric, transport=Paced(load=load)) for load in ("rho-max:lp", 0.5))
    assert bound_ps(by_name, ACROSS) == bound_ps(by_number, ACROSS)


def test_without_messages_there_is_no_number() -> None:
    scenario = Scenario(fabric=FatTree(radix=4), workload=Permutation(), transport=Paced(load="rho-max:path"))
    with pytest.raises(ScenarioError, match=r"transport\.load: got \"rho-max:path\"; allowed: a number, once"):
        core_config(scenario)
    assert workers_for([scenario], None) >= 1


@pytest.mark.parametrize("reading", READINGS)
def test_a_fabric_that_carries_next_to_nothing_is_refused(reading: str) -> None:
    """The one uplink left carries 1 Mbit/s of the 1.6 Tbit/s of two hosts."""
    slow = [{"link": ("leaf-0", "spine-0"), "rate": "1Mbps"}]
    fabric = LeafSpine(radix=4, links_down=[("leaf-0", "spine-1")], links_degraded=slow)
    says = rf'^transport\.load: got "{reading}"; allowed: .*: {reading} is 6\.25e-07 here, below 1e-06, the least$'
    with pytest.raises(ScenarioError, match=says):
        with_load(Scenario(fabric=fabric, transport=Paced(load=reading)), ACROSS)


@pytest.mark.parametrize("transport", [Dcsim(), Paced(load=0.5)])
def test_only_paced_hosts_are_told_a_load(transport: Dcsim | Paced) -> None:
    scenario = Scenario(fabric=LeafSpine(radix=4), balancer=Rps(), transport=transport)
    assert with_load(scenario, ACROSS) is scenario
