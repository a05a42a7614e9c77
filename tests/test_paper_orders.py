"""Ofan's port orders (Ofan paper, appendix F.2), read from traces, and POfan where one pipe covers the switch."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from paper import DATA_FRAME_BYTES, Record, message, show
from polars.testing import assert_frame_equal

from fabricsim import (
    FatTree,
    InterPodPermutation,
    Measure,
    Messages,
    Ofan,
    Permutation,
    Pofan,
    Results,
    Run,
    Scenario,
    simulate,
)

Order = tuple[int, ...]
Packet = tuple[int, int, str]
Pointer = tuple[str, int, int]
"""Tier, destination (edge switch or pod) and class (0 data, 1 ACK)."""


def turned(order: Order) -> Order:
    """The order as a cycle that begins with uplink 0."""
    zero = order.index(0)
    return order[zero:] + order[:zero]


def formula(basis: Order, d: int, destinations: int, t: int) -> Order:
    """Equations 16 to 18."""
    w = len(basis)
    b = (w - 1).bit_length()
    identifier = d + destinations * t
    id1, id2 = identifier % 2**b, identifier // 2**b
    return tuple(((v ^ id1 if v ^ id1 < w else v) + id2) % w for v in basis)


def cycles(basis: Order) -> set[Order]:
    """All cyclic orders that any pointer can follow."""
    w = len(basis)
    b = (w - 1).bit_length()
    return {turned(formula(basis, d, 1, 0)) for d in range(2**b * w)}


def traced(radix: int, seed: int) -> tuple[Results, NDArray[np.int64]]:
    """Host 0 sends to a host under every other edge switch, and each of them to host 0; and who receives, by flow."""
    w = radix // 2
    others = np.arange(1, radix * w) * w + 1
    host = np.zeros_like(others)
    src, dst = np.concatenate([host, others]), np.concatenate([others, host])
    scenario = Scenario(fabric=FatTree(radix=radix), balancer=Ofan(), measure=Measure(trace=True), run=Run(seed=seed))
    return simulate(scenario, Messages.from_arrays(src, dst, 4 * w * w * 4096)), dst


@cache
def choices(radix: int, seed: int) -> dict[Pointer, list[int]]:
    """Return the uplinks that each pointer of edge-0 and of agg-0 chose, in turn.

    All of host 0's packets come to edge-0 over one link, and all of edge-0's to agg-0 over one link, so the order of
    their arrival there is the order of the decisions.
    """
    w = radix // 2
    results, dst = traced(radix, seed)
    assert results.trace is not None
    ends = list(zip(results.ports["from"], results.ports["to"], strict=True))
    entry = {ends.index(("host-0", "edge-0")): "edge", ends.index(("edge-0", "agg-0")): "agg"}
    uplink = {ends.index(("edge-0", f"agg-{j}")): ("edge", j) for j in range(w)}
    uplink |= {ends.index(("agg-0", f"core-{c}")): ("agg", c) for c in range(w)}
    arrived: list[tuple[str, Packet]] = []
    left: dict[tuple[str, Packet], int] = {}
    for at in results.trace.sort("at_ps").iter_rows(named=True):
        packet = (at["flow"], at["psn"], at["kind"])
        if at["link"] in entry:
            arrived.append((entry[at["link"]], packet))
        if at["link"] in uplink:
            tier, port = uplink[at["link"]]
            left[tier, packet] = port
    found: dict[Pointer, list[int]] = defaultdict(list)
    for tier, packet in arrived:
        flow, _, kind = packet
        # Host 0 sends data of the flows of the first half and ACKs of their partners in the second half.
        receiver = int(dst[flow]) if kind == "data" else int(dst[flow - len(dst) // 2])
        if (tier, packet) in left:
            place = receiver // w if tier == "edge" else receiver // (w * w)
            found[tier, place, int(kind == "ack")].append(left[tier, packet])
    return found


def orders(radix: int, seed: int) -> dict[Pointer, Order]:
    """The order that each pointer follows, seen to repeat itself over all of its packets."""
    w = radix // 2
    found = {}
    for pointer, ports in choices(radix, seed).items():
        first = tuple(ports[:w])
        assert sorted(first) == list(range(w)), f"{pointer} does not visit every uplink in turn"
        assert ports == [first[i % w] for i in range(len(ports))], f"{pointer} changes its order"
        found[pointer] = turned(first)
    return found


def fitting_bases(seen: dict[Pointer, Order], radix: int) -> list[Order]:
    """Every P by which the formula explains the orders. P turned around fits as well: it only moves the starts."""
    w = radix // 2
    destinations = {"edge": radix * w, "agg": radix}
    return [
        basis
        for basis in permutations(range(w))
        if all(turned(formula(basis, d, destinations[tier], t)) == order for (tier, d, t), order in seen.items())
    ]


@pytest.mark.parametrize("radix", [8, 10, 12])
def test_port_orders_are_those_of_one_permutation_for_all_switches(radix: int, record_property: Record) -> None:
    """One P explains every pointer of both tiers by the formula, data and ACK; and another seed shows the same orders.

    All P are tried, so nothing is taken from the code but what it does.
    """
    w = radix // 2
    seen = orders(radix, 1)
    assert seen == orders(radix, 2), "P does not depend on the seed"
    assert len(seen) == 2 * (radix * w - 1) + 2 * (radix - 1), "every pointer of both switches was seen"
    fitting = fitting_bases(seen, radix)
    assert fitting, "no P explains the orders"
    for basis in fitting:
        by_addition = {turned(tuple((v + shift) % w for v in basis)) for shift in range(w)}
        show(record_property, f"cyclic orders at w = {w}, P = {basis}", len(cycles(basis)), f"{w} by additions alone")
        assert len(by_addition) == w
        at_edge = {order for (tier, _, _), order in seen.items() if tier == "edge"}
        assert at_edge <= cycles(basis)
        if w == 6:
            assert at_edge == cycles(basis)


def test_thirty_cyclic_orders_at_six_uplinks(record_property: Record) -> None:
    """The paper's figure, counted at one edge switch of the 432-host fabric."""
    seen = {order for (tier, _, _), order in orders(12, 1).items() if tier == "edge"}
    show(record_property, "cyclic orders seen at edge-0, w = 6", len(seen), "30")
    assert len(seen) == 30


def test_pointers_start_at_random_and_ack_pointers_half_a_rotation_on() -> None:
    """See docs/explanation/balancers.md; told by the first port of each pointer (the formula tells its place)."""
    w = 6
    starts: dict[int, int] = defaultdict(int)
    for seed in range(1, 4):
        taken, basis = choices(12, seed), fitting_bases(orders(12, seed), 12)[0]
        for d in range(1, 72):
            data, ack = (formula(basis, d, 72, t).index(taken["edge", d, t][0]) for t in (0, 1))
            starts[data] += 1
            assert ack == (data + w // 2) % w
    assert min(starts.values()) > 18, "213 starts over 6 places: 35.5 each, 3.3 standard deviations below"


@pytest.mark.parametrize(("radix", "ports_per_pipe"), [(8, 4), (12, 6), (12, 8)])
@pytest.mark.parametrize("workload", [Permutation, InterPodPermutation])
def test_pofan_with_one_pipe_is_ofan_bit_for_bit(
    radix: int, ports_per_pipe: int, workload: type[Permutation] | type[InterPodPermutation]
) -> None:
    """Section 6.6: every reception, every flow and every port."""
    scenario = Scenario(
        fabric=FatTree(radix=radix),
        workload=workload(message=message(24)),
        balancer=Ofan(),
        measure=Measure(trace=True),
        run=Run(threads=1),
    )
    ofan, pofan = simulate(scenario), simulate(scenario.replace(balancer=Pofan(ports_per_pipe=ports_per_pipe)))
    assert ofan.trace is not None
    assert pofan.trace is not None
    for name in ("trace", "flows", "ports"):
        assert_frame_equal(getattr(pofan, name), getattr(ofan, name), check_exact=True)
    assert pofan.summary["result_hash"] == ofan.summary["result_hash"]
    narrow = simulate(scenario.replace(balancer=Pofan(ports_per_pipe=2)))
    assert narrow.summary["result_hash"] != ofan.summary["result_hash"], "several pipes are another scheme"
    assert ofan.summary["max_queue_bytes"] > DATA_FRAME_BYTES
