"""One scenario and seed, one result: whatever the threads, the order of the messages, and what is measured."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from paper import Record, message, show
from polars.testing import assert_frame_equal

from fabricsim import (
    AllToAll,
    Drb,
    FatTree,
    Incast,
    InterPodPermutation,
    Jsq,
    Measure,
    Messages,
    Ofan,
    Permutation,
    Port,
    Results,
    Rps,
    Rsq,
    Run,
    Scenario,
    SimpleRr,
    simulate,
)
from fabricsim.cli import main
from fabricsim.workloads import build

FABRIC = FatTree(radix=8)
HOSTS = 128


def ring() -> Messages:
    """Twelve steps of a ring over hosts 0, 9, 18, ..., of uneven sizes and starts, beside messages that wait for none.

    A step waits for the one before: by turns for what its sender has received, and for its sender's own last ACK.
    """
    steps, ranks = 12, np.arange(0, HOSTS, 9)
    src, dst = np.tile(ranks, steps), np.tile(np.roll(ranks, -1), steps)
    row = np.arange(src.size)
    count = ranks.size
    waits = row[count:]
    received = np.roll(row.reshape(steps, count), 1, axis=1).ravel()[: waits.size]
    own = row[: waits.size]
    event = waits % 2
    plain = np.setdiff1d(np.arange(HOSTS), ranks)
    return Messages.from_arrays(
        np.concatenate([src, plain]),
        np.concatenate([dst, np.roll(plain, 40)]),
        np.concatenate([1 + row * 977 % 40_000, np.full(plain.size, 30_000)]),
        start_ps=np.concatenate([row % 3 * 100_000, plain * 10_000]),
        dep_message=waits,
        dep_on=np.where(event == 0, received, own),
        dep_event=event,
    )


SCENARIOS = {
    "permutation, rsq": Scenario(fabric=FABRIC, workload=Permutation(message=message(128)), balancer=Rsq()),
    "inter-pod permutation, jsq": Scenario(
        fabric=FABRIC, workload=InterPodPermutation(message=message(64)), balancer=Jsq()
    ),
    "all-to-all, ofan": Scenario(fabric=FABRIC, workload=AllToAll(message="4KiB"), balancer=Ofan()),
    "all-to-all in shifts, simple-rr": Scenario(
        fabric=FABRIC, workload=AllToAll(message="4KiB", order="shift"), balancer=SimpleRr()
    ),
    "incast with marks, rps": Scenario(
        fabric=FABRIC, workload=Incast(senders=40, message="64KiB"), balancer=Rps(), port=Port(ecn_threshold="80kB")
    ),
    "ring with waits, drb": Scenario(fabric=FABRIC, balancer=Drb()),
}
WORKLOADS: dict[str, Callable[[], Messages]] = {"ring with waits, drb": ring}


def messages_of(name: str) -> Messages:
    return WORKLOADS[name]() if name in WORKLOADS else build(SCENARIOS[name])


def run(name: str, messages: Messages | None = None, threads: int = 1, **parts: object) -> Results:
    scenario = SCENARIOS[name].replace(run=Run(threads=threads, seed=5), **parts)
    return simulate(scenario, messages_of(name) if messages is None else messages)


def in_other_order(messages: Messages, seed: int) -> tuple[Messages, np.ndarray]:
    """Return the messages shuffled, and the old row of each new one; waits are shuffled as well, and renumbered."""
    draw = np.random.default_rng(seed)
    order, waits = draw.permutation(len(messages)), draw.permutation(messages.dep_message.size)
    new_row = np.argsort(order)
    columns = {name: getattr(messages, name)[order] for name in ("src", "dst", "bytes", "start_ps", "rank")}
    columns |= {name: new_row[getattr(messages, name)[waits]] for name in ("dep_message", "dep_on")}
    return Messages.from_arrays(**columns, dep_event=messages.dep_event[waits]), order


@pytest.mark.parametrize("name", SCENARIOS)
def test_threads_do_not_matter(name: str, record_property: Record) -> None:
    """1, 2, 4 and 8: equal hashes, and every column of every message and every link is equal."""
    alone = run(name)
    hashes = [alone.summary["result_hash"]]
    for threads in (2, 4, 8):
        together = run(name, threads=threads)
        assert together.totals["threads"] == threads
        hashes.append(together.summary["result_hash"])
        assert_frame_equal(together.flows, alone.flows, check_exact=True)
        assert_frame_equal(together.ports, alone.ports, check_exact=True)
    show(record_property, f"hashes with 1, 2, 4, 8 threads, {name}", hashes, "one")
    assert len(set(hashes)) == 1


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_order_of_the_messages_does_not_matter(name: str) -> None:
    listed = run(name)
    for seed in (1, 2):
        shuffled, order = in_other_order(messages_of(name), seed)
        results = run(name, shuffled)
        assert results.summary["result_hash"] == listed.summary["result_hash"]
        assert_frame_equal(results.ports, listed.ports, check_exact=True)
        assert_frame_equal(results.flows.drop("message"), listed.flows.drop("message")[order], check_exact=True)


@pytest.mark.parametrize("name", SCENARIOS)
def test_measuring_does_not_matter(name: str) -> None:
    bare = run(name, measure=Measure(queues=False))
    for measure in (Measure(), Measure(trace=True), Measure(queues=False, trace=True)):
        measured = run(name, measure=measure)
        assert measured.summary["result_hash"] == bare.summary["result_hash"]
        assert_frame_equal(measured.flows, bare.flows, check_exact=True)
    assert run(name, threads=4, measure=Measure(trace=True)).summary["result_hash"] == bare.summary["result_hash"]


def test_the_command_line_comes_to_the_same(record_property: Record, capsys: pytest.CaptureFixture[str]) -> None:
    """`fabricsim run` with the paper's preset, on two threads: the same hash and figures as from Python on one."""
    scenario = Scenario(
        fabric=FatTree(radix=12), workload=Permutation(message=message(256)), run=Run(threads=1, seed=3)
    )
    summary = simulate(scenario).summary
    assert main(["run", "--preset", "ofan-paper", "--seed", "3", "--threads", "2", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    for field in ("result_hash", "cct_acked_us", "bound_us", "queues", "packet_hops_count"):
        show(record_property, f"{field} of the command line", printed[field], str(summary[field]))
        assert printed[field] == summary[field]


def test_hashes_tell_results_apart() -> None:
    """Else the tests above could not fail."""
    hashes = {name: run(name).summary["result_hash"] for name in SCENARIOS}
    other = SCENARIOS["permutation, rsq"].replace(run=Run(threads=1, seed=6))
    assert len({*hashes.values(), simulate(other).summary["result_hash"]}) == len(hashes) + 1
