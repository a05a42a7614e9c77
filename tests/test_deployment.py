"""Mixed deployments: which switches run the other balancer, and what is refused."""

from collections import Counter

import pytest

from fabricsim import Ar, Conga, Deployment, FatTree, LeafSpine, Pofan, Rps, Rsq, Run, Scenario, Sglb, core_config
from fabricsim.deployment import deployed_switches, deployment_text
from fabricsim.errors import ScenarioError
from fabricsim.scenario import scenario_from_mapping

FOUR_OFAN = Pofan(ports_per_pipe=4)


def chosen(fabric: FatTree | LeafSpine, seed: int = 1, **fields: object) -> list[str]:
    return deployed_switches(Deployment(balancer=FOUR_OFAN, **fields), fabric, seed)


@pytest.mark.parametrize("radix", [2, 4, 6, 12])
def test_exactly_half_of_the_edge_and_aggregation_switches(radix: int) -> None:
    fabric = FatTree(radix=radix)
    for seed in range(20):
        switches = chosen(fabric, seed)
        assert len(set(switches)) == len(switches) == radix**2 // 2
        assert all(name.startswith(("edge-", "agg-")) for name in switches)


def test_every_switch_is_as_likely_as_the_others() -> None:
    fabric = FatTree(radix=4)
    draws = 400
    counts = Counter(name for seed in range(draws) for name in chosen(fabric, seed))
    assert len(counts) == 16
    assert all(abs(count - draws / 2) < 5 * (draws / 4) ** 0.5 for count in counts.values())


def test_whole_pods() -> None:
    fabric = FatTree(radix=6, edge_oversubscription=3)  # 3 edge switches and 1 aggregation switch a pod
    switches = chosen(fabric, placement="random-pods")
    pods = {int(name[5:]) // 3 for name in switches if name.startswith("edge-")}
    assert len(pods) == 3
    assert set(switches) == {f"edge-{3 * pod + e}" for pod in pods for e in range(3)} | {f"agg-{pod}" for pod in pods}


def test_whole_tiers_and_lists() -> None:
    fabric = FatTree(radix=4)
    assert chosen(fabric, placement="all-edge") == [f"edge-{number}" for number in range(8)]
    assert chosen(fabric, placement="all-agg") == [f"agg-{number}" for number in range(8)]
    assert chosen(fabric, placement="switches", switches=["Fabric-3", "tor-5"]) == ["edge-5", "agg-3"]
    assert chosen(LeafSpine(radix=4), placement="all-edge") == [f"leaf-{number}" for number in range(4)]
    assert len(chosen(LeafSpine(radix=8))) == 4
    assert all(name.startswith("leaf-") for name in chosen(LeafSpine(radix=8)))


@pytest.mark.parametrize(("fraction", "count"), [(0, 0), (0.02, 0), (0.04, 1), (0.25, 4), (0.97, 16), (1, 16)])
def test_other_fractions_are_the_nearest_number(fraction: float, count: int) -> None:
    assert len(chosen(FatTree(radix=4), fraction=fraction)) == count


def test_seeds() -> None:
    fabric = FatTree(radix=8)
    assert chosen(fabric, 1) == chosen(fabric, 1)
    own = Deployment(balancer=FOUR_OFAN, seed=1)
    assert deployed_switches(own, fabric, 2) == chosen(fabric, 1)
    assert chosen(fabric, 1) != chosen(fabric, 2)


def test_the_core_gets_names_and_the_balancer() -> None:
    mixed = Scenario(fabric=FatTree(radix=4), balancer=Ar(), deployment=Deployment(balancer=FOUR_OFAN), run=Run(seed=4))
    (lowered,) = core_config(mixed)["deployments"]
    assert lowered == {"switches": chosen(FatTree(radix=4), 4), "balancer": FOUR_OFAN.lowered()}
    nobody = mixed.replace(deployment=Deployment(balancer=FOUR_OFAN, fraction=0))
    assert core_config(nobody)["deployments"] == core_config(Scenario())["deployments"] == []


def test_deployments_in_files_and_short_texts() -> None:
    tables = {"balancer": {"kind": "ar"}, "deployment": {"balancer": {"kind": "pofan"}, "placement": "all-edge"}}
    scenario = scenario_from_mapping(tables)
    assert scenario.deployment == Deployment(balancer=FOUR_OFAN, placement="all-edge")
    overridden = scenario_from_mapping(tables, ["deployment.balancer=pofan:2", "deployment.placement=all-agg"])
    assert overridden.deployment == Deployment(balancer=Pofan(ports_per_pipe=2), placement="all-agg")
    assert scenario_from_mapping({}, ["deployment.balancer=rsq"]).deployment == Deployment(balancer=Rsq())


MALFORMED = [
    ({"balancer": {"kind": "reps"}}, "deployment.balancer.kind", "one of ecmp, flowlet"),
    ({"placement": "all-edge"}, "deployment.balancer", "a value"),
    ({"placement": "switches"}, "deployment.switches", "at least one switch"),
    ({"switches": ["edge-0"]}, "deployment.switches", 'no list where placement = "random-switches"'),
    ({"placement": "switches", "switches": ["edge-0", "tor-0"]}, "deployment.switches.1", "each switch once"),
    ({"placement": "switches", "switches": ["core-0"]}, "deployment.switches.0", "edge-N or agg-N"),
    ({"placement": "switches", "switches": ["host-0"]}, "deployment.switches.0", "edge-N or agg-N"),
    ({"placement": "switches", "switches": ["edge-72"]}, "deployment.switches.0", "edge-0 to edge-71"),
    ({"fraction": 1.1}, "deployment.fraction", "a number from 0 to 1"),
]


@pytest.mark.parametrize(("fields", "field", "says"), MALFORMED)
def test_wrong_deployments_name_their_field(fields: dict[str, object], field: str, says: str) -> None:
    given = fields if field == "deployment.balancer" else {"balancer": {"kind": "rsq"}, **fields}
    with pytest.raises(ScenarioError) as caught:
        scenario_from_mapping({"deployment": given})
    assert caught.value.field == field
    assert says in caught.value.allowed


@pytest.mark.parametrize("placement", ["random-pods", "all-agg"])
def test_two_levels_have_no_pods_and_no_aggregation(placement: str) -> None:
    with pytest.raises(ScenarioError, match=r"deployment\.placement: got .*; allowed: random-switches, all-edge or"):
        Scenario(fabric=LeafSpine(radix=4), deployment=Deployment(balancer=Rsq(), placement=placement))


def test_hosts_schemes_are_not_deployed_on_switches() -> None:
    with pytest.raises(ScenarioError, match=r'^balancer\.kind: got "rps"; allowed: one of ecmp'):
        Deployment(balancer=Rps())
    assert Scenario(balancer=Rps(), deployment=Deployment(balancer=Rsq())).deployment is not None


def test_conga_and_sglb_do_not_mix() -> None:
    for one, other in ((Conga(), Sglb()), (Sglb(), Conga())):
        with pytest.raises(ScenarioError, match=r"deployment\.balancer\.kind: got .*conga and sglb would write"):
            Scenario(balancer=one, deployment=Deployment(balancer=other))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"placement": "all-edge"}, "pofan:4 on all-edge"),
        ({"fraction": 0.25}, "pofan:4 on 0.25 of the switches, at random"),
        ({"placement": "random-pods"}, "pofan:4 on 0.5 of the pods, at random"),
        ({"placement": "switches", "switches": ("edge-0", "agg-3")}, "pofan:4 on edge-0, agg-3"),
        ({"placement": "switches", "switches": [f"edge-{n}" for n in range(9)]}, "pofan:4 on 9 listed switches"),
    ],
)
def test_a_deployment_in_a_few_words(fields: dict[str, object], text: str) -> None:
    assert deployment_text(Deployment(balancer=FOUR_OFAN, **fields)) == text
    assert deployment_text(None) is None
