"""What the load balancers promise, seen in whole runs: proven queue bounds, equal shares, schemes that are equal."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from door import (
    DATA_FRAME_BYTES,
    assert_same,
    cct_acked_ps,
    configure,
    fat_tree,
    leaf_spine,
    permutation,
    ports_between,
    run,
)
from numpy.typing import NDArray

from fabricsim.scenario import BALANCERS


@pytest.mark.parametrize("fabric", [fat_tree(4), fat_tree(6), fat_tree(8), leaf_spine(6, 4, 4)])
@pytest.mark.parametrize("seed", [1, 2])
def test_pofan_with_one_pipe_is_ofan(fabric: dict[str, Any], seed: int) -> None:
    hosts = fabric["pods"] ** 3 // 4 if fabric["kind"] == "fat-tree" else 24
    columns = permutation(hosts, seed, 20)
    ofan, pofan, piped = (
        run(configure(fabric, kind, seed, measure={"trace": True}), columns) for kind in ("ofan", "pofan:4", "pofan:1")
    )
    assert_same(ofan, pofan)
    assert not np.array_equal(ofan["trace"]["at_ps"], piped["trace"]["at_ps"]), "several pipes are another scheme"


@pytest.mark.parametrize(("balancer", "ports_per_pipe"), [("ofan", 6), ("pofan:2", 2), ("pofan:1", 1)])
@pytest.mark.parametrize("radix", [4, 6])
def test_each_pointer_gives_every_uplink_its_share(balancer: str, ports_per_pipe: int, radix: int) -> None:
    """A rotation (Ofan paper, section 4): of the N packets of a pointer every uplink gets floor(N / w) or ceil(N / w).

    At an edge switch a pointer serves a (destination edge switch, kind) and the hosts of one pipe; at an aggregation
    switch a (destination pod, kind) and the edge switches of one pipe.
    """
    w = radix // 2
    columns = permutation(radix**3 // 4, 7, 37)
    output = run(configure(fat_tree(radix), balancer, 3, measure={"trace": True}), columns)
    ports, trace = output["ports"], output["trace"]
    from_tier, to_tier = (ports[name][trace["link"]] for name in ("from_tier", "to_tier"))
    came: dict[tuple[int, int, int], int] = {}
    shares: dict[tuple[int, ...], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for hop in np.flatnonzero(from_tier < to_tier).tolist():
        flow, psn, kind = (int(trace[name][hop]) for name in ("flow", "psn", "kind"))
        tier, node, link = int(from_tier[hop]), int(ports["from_index"][trace["link"][hop]]), int(trace["link"][hop])
        receiver = int(columns["src" if kind else "dst"][flow])
        if tier > 0:
            pipe = came[flow, psn, kind] % w // ports_per_pipe
            shares[tier, node, pipe, receiver // (w if tier == 1 else w * w), kind][link] += 1
        came[flow, psn, kind] = node
    assert len(shares) > 4 * radix
    for links in shares.values():
        counts = sorted([*links.values(), *[0] * (w - len(links))])
        assert counts[-1] - counts[0] <= 1


@pytest.mark.parametrize("balancer", ["ofan", "pofan:1", "pofan:2", "drb"])
@pytest.mark.parametrize("radix", [4, 6, 8])
def test_edge_uplink_queues_stay_within_their_proven_bound(balancer: str, radix: int) -> None:
    """At most w + 1 packets however long the messages (Ofan paper, appendices D, F.4, H)."""
    for seed in range(1, 5):
        for packets in (64, 200):
            columns = permutation(radix**3 // 4, seed, packets)
            output = run(configure(fat_tree(radix), balancer, seed), columns)
            largest = int(output["ports"]["max_queue_bytes"][ports_between(output, 1, 2)].max())
            assert 1 <= largest // DATA_FRAME_BYTES <= radix // 2 + 1


def test_random_spraying_breaks_that_bound() -> None:
    """Else the test above would pass whatever the scheme."""
    output = run(configure(fat_tree(8), "rsq"), permutation(128, 1, 200))
    assert output["ports"]["max_queue_bytes"][ports_between(output, 1, 2)].max() // DATA_FRAME_BYTES > 8


@pytest.mark.parametrize("balancer", ["simple-rr", "jsq"])
@pytest.mark.parametrize("radix", [4, 6, 8])
def test_oblivious_rotation_keeps_uplinks_empty_and_fills_downlinks(balancer: str, radix: int) -> None:
    """Ofan paper, appendix C, step 5: all hosts northbound, data only, and no uplink ever holds a second frame.

    The price is paid on the way down (Theorem 2): queues that grow in proportion to the messages.
    """
    pod = radix**2 // 4
    down: dict[int, int] = {}
    for packets in (100, 400):
        columns = permutation(radix**3 // 4, 1, packets, lambda a, b: a // pod != b // pod)
        output = run(configure(fat_tree(radix), balancer, 1, transport={"acks": "off"}), columns)
        queue = output["ports"]["max_queue_bytes"]
        for lower, upper in ((1, 2), (2, 3)):
            assert queue[ports_between(output, lower, upper)].max() == DATA_FRAME_BYTES
        down[packets] = int(queue[ports_between(output, 3, 2) | ports_between(output, 2, 1)].max())
    assert 3.5 < down[400] / down[100] < 4.5


def ccts(balancer: str) -> NDArray[np.float64]:
    columns = permutation(16, 1, 64)
    return np.array(
        [cct_acked_ps(run(configure(fat_tree(4), balancer, seed), columns)) for seed in range(60)], np.float64
    )


def test_rps_is_statistically_rsq() -> None:
    """A random entropy value, hashed, is a random port (Ofan paper, section 3.1): means within 4 standard errors."""
    rps, rsq = ccts("rps"), ccts("rsq")
    error = float(np.sqrt(rps.var(ddof=1) / len(rps) + rsq.var(ddof=1) / len(rsq)))
    assert error < 0.01 * rsq.mean(), "too few runs to say anything"
    assert abs(rps.mean() - rsq.mean()) < 4 * error
    assert 0.5 < statistics.stdev(rps) / statistics.stdev(rsq) < 2
    assert ccts("ofan").mean() < rsq.mean() - 4 * error, "the test can tell schemes apart"


@pytest.mark.parametrize("balancer", list(BALANCERS))
def test_no_scheme_uses_a_link_that_is_down(balancer: str) -> None:
    """Nor leaves a link unused over which the destinations can be reached."""
    down = [["edge-0", "agg-0"], ["edge-3", "agg-4"], ["agg-2", "core-7"], ["agg-5", "core-6"]]
    output = run(configure(fat_tree(6, links_down=down), balancer, 2), permutation(54, 3, 200))
    assert output["status"] == "done"
    ports = output["ports"]
    dead = set()
    for lower, upper in down:
        (low_tier, low), (up_tier, up) = (
            ({"edge": 1, "agg": 2, "core": 3}[tier], int(index))
            for tier, index in (name.split("-") for name in (lower, upper))
        )
        dead |= {(low_tier, low, up_tier, up), (up_tier, up, low_tier, low)}
    ends = zip(*(ports[name].tolist() for name in ("from_tier", "from_index", "to_tier", "to_index")), strict=True)
    frames = ports["data_frames_count"] + ports["control_frames_count"]
    used = {end: int(count) for end, count in zip(ends, frames, strict=True)}
    assert all(used[end] == 0 for end in dead)
    if balancer not in ("ecmp", "flowlet"):
        assert all(count > 0 for end, count in used.items() if end not in dead)
