"""Which switches run the balancer of a mixed deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabricsim.workloads.draws import Draws, Purpose

if TYPE_CHECKING:
    from fabricsim.scenario import Deployment, FatTree, LeafSpine


_NAMED = 4
"""How many listed switches are named one by one."""


def deployed_switches(deployment: Deployment, fabric: FatTree | LeafSpine, seed: int) -> list[str]:
    """Return the names of the switches that run `deployment.balancer`, lower tiers first.

    Random placements choose a fixed number, the nearest to `fraction` (halves up): exactly half of the switches, or of
    the pods, at 0.5 (Ofan section 6.4). `seed`: the run's, for a deployment without a seed of its own.
    """
    tiers = list(fabric.nodes_count)[1:-1]
    switches = [f"{tier}-{number}" for tier in tiers for number in range(fabric.nodes_count[tier])]
    draws = Draws(seed if deployment.seed is None else deployment.seed, Purpose.DEPLOYMENT)

    def chosen(count: int) -> list[int]:
        return [int(one) for one in np.sort(draws.order(count)[: int(count * deployment.fraction + 0.5)])]

    match deployment.placement:
        case "switches":
            listed = deployment.listed(fabric)
            return [name for name in switches if name in listed]
        case "all-edge":
            return [name for name in switches if name.startswith(f"{tiers[0]}-")]
        case "all-agg":
            return [name for name in switches if name.startswith("agg-")]
        case "random-switches":
            return [switches[place] for place in chosen(len(switches))]
        case "random-pods":
            assert fabric.kind == "fat-tree"
            pods = set(chosen(fabric.pods_count))
            per_pod = {"edge": fabric.edges_per_pod, "agg": fabric.aggs_per_pod}
            return [name for name in switches if _pod(name, per_pod) in pods]


def deployment_text(deployment: Deployment | None) -> str | None:
    """Return a deployment in a few words, such as "pofan:4 on all-edge"; None where there is none."""
    from fabricsim.scenario import balancer_text

    if deployment is None:
        return None
    where, listed = str(deployment.placement), deployment.switches
    if where == "switches":
        where = ", ".join(listed) if len(listed) <= _NAMED else f"{len(listed)} listed switches"
    elif where.startswith("random-"):
        where = f"{deployment.fraction:g} of the {where.removeprefix('random-')}, at random"
    return f"{balancer_text(deployment.balancer)} on {where}"


def _pod(name: str, per_pod: dict[str, int]) -> int:
    tier, _, number = name.partition("-")
    return int(number) // per_pod[tier]
