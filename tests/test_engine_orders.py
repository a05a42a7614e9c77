"""Messages that agree in everything but what waits for them: which row holds which must not show in a result."""

from __future__ import annotations

import numpy as np
import pytest

from fabricsim import Ecmp, FatTree, Jsq, Messages, Ofan, Rsq, Scenario, simulate
from fabricsim.scenario import Balancer

BALANCERS = (Ecmp(), Rsq(), Jsq(), Ofan())
FABRIC = FatTree(radix=4)


def hash_of(messages: Messages, balancer: Balancer) -> str:
    return str(simulate(Scenario(fabric=FABRIC, balancer=balancer), messages).summary["result_hash"])


def shuffled(messages: Messages, order: np.ndarray) -> Messages:
    """The same messages in the order of rows `order`."""
    columns = messages.to_door()
    place = np.argsort(order)
    for name in ("src", "dst", "bytes", "start_ps", "rank"):
        columns[name] = columns[name][order]
    for name in ("dep_message", "dep_on", "fire_message", "target_message"):
        columns[name] = place[columns[name]]
    return Messages.from_arrays(**columns)


@pytest.mark.parametrize("balancer", BALANCERS, ids=lambda balancer: balancer.kind)
def test_of_two_equal_messages_the_awaited_one_may_be_in_either_row(balancer: Balancer) -> None:
    """Rows 0 and 1 are equal; a long message waits for one of them. Their turns at the host differ, so which it is does
    matter, but not in which row it stands."""
    awaited = (
        Messages.from_arrays(
            [0, 0, 5], [15, 15, 9], [81_920, 81_920, 10**6], dep_message=[2], dep_on=[row], dep_event=[0]
        )
        for row in (0, 1)
    )
    assert len({hash_of(messages, balancer) for messages in awaited}) == 1


@pytest.mark.parametrize("balancer", BALANCERS, ids=lambda balancer: balancer.kind)
def test_a_ring_in_any_order_of_rows(balancer: Balancer) -> None:
    """A ring's steps are equal messages, told apart by how many steps come before and after them."""
    hosts, steps = 16, 40
    host = np.tile(np.arange(hosts), steps)
    later = np.arange(hosts, hosts * steps)
    before = later - hosts - host[later] + (host[later] - 5) % hosts
    ring = Messages.from_arrays(
        host, (host + 5) % hosts, 8192, dep_message=later, dep_on=before, dep_event=np.zeros(later.size, int)
    )
    orders = [np.arange(hosts * steps), *(np.random.default_rng(seed).permutation(hosts * steps) for seed in range(3))]
    assert len({hash_of(shuffled(ring, order), balancer) for order in orders}) == 1


@pytest.mark.parametrize("seed", range(8))
def test_random_crowds_of_equal_messages_in_any_order_of_rows(seed: int) -> None:
    """Many copies of few messages, with dependencies, a barrier and a multishot among them."""
    draw = np.random.default_rng(seed)
    rows = 40
    src = draw.integers(0, 3, rows)
    edges = np.unique(np.sort(draw.integers(0, rows, (30, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    last = np.arange(rows - 6, rows)
    edges = edges[~np.isin(edges[:, 1], last)]
    messages = Messages.from_arrays(
        src,
        src + draw.integers(5, 7, rows),
        draw.integers(0, 2, rows) * 20_000,
        dep_message=edges[:, 1],
        dep_on=edges[:, 0],
        dep_event=draw.integers(0, 2, len(edges)),
        trigger_count=[3, 0],
        fire_trigger=[0, 0, 0, 1, 1, 1],
        fire_message=draw.permutation(rows - 6)[:6],
        fire_event=draw.integers(0, 2, 6),
        target_trigger=[0, 0, 0, 1, 1, 1],
        target_message=last,
    )
    orders = [np.arange(rows), *(draw.permutation(rows) for _ in range(3))]
    assert len({hash_of(shuffled(messages, order), BALANCERS[seed % 4]) for order in orders}) == 1
