"""Runs of the compiled core seen through `simulate`: one hash whatever does not matter, and runs that end badly."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fabricsim import (
    Ethereal,
    FatTree,
    Incast,
    Measure,
    Messages,
    Ofan,
    Permutation,
    Port,
    Rsq,
    Run,
    Scenario,
    UnfinishedError,
    simulate,
    simulate_many,
)
from fabricsim.workloads import build

pytest.importorskip("fabricsim._core")

SMALL = Scenario(fabric=FatTree(radix=4), workload=Permutation(message="64KiB"), balancer=Rsq(), run=Run(threads=1))


def result_hash(scenario: Scenario, messages: Messages | None = None) -> str:
    return str(simulate(scenario, messages).summary["result_hash"])


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_change_the_result(threads: int) -> None:
    assert result_hash(SMALL.replace(run=Run(threads=threads))) == result_hash(SMALL)


@pytest.mark.parametrize("measure", [Measure(queues=False), Measure(trace=True)])
def test_measuring_does_not_change_the_result(measure: Measure) -> None:
    assert result_hash(SMALL.replace(measure=measure)) == result_hash(SMALL)


def test_the_order_of_the_messages_does_not_change_the_result() -> None:
    messages = build(SMALL)
    order = np.random.default_rng(1).permutation(len(messages))
    shuffled = Messages.from_arrays(src=messages.src[order], dst=messages.dst[order], bytes=messages.bytes[order])
    assert result_hash(SMALL, shuffled) == result_hash(SMALL)


def test_the_seed_changes_the_result() -> None:
    assert result_hash(SMALL.replace(run=Run(seed=2))) != result_hash(SMALL)


def test_marks_are_counted_where_asked_for_and_nobody_reacts() -> None:
    silent, marking = (simulate(SMALL.replace(port=Port(**port))) for port in ({}, {"ecn_threshold": "8kB"}))
    assert silent.summary["marks_count"] == 0
    assert marking.summary["marks_count"] == marking.ports["marks"].sum() > 0
    # Two data frames and an ACK are above 8 kB: no port that never held that much has marked.
    assert marking.ports.filter(marks=0)["max_queue_bytes"].min() <= 8000
    assert (marking.ports.filter(pl.col("marks") > 0)["max_queue_bytes"] > 8000).all()
    assert marking.flows.equals(silent.flows)


def test_what_hosts_send_is_what_links_carry() -> None:
    results = simulate(SMALL)
    ports = results.ports
    packets = 16 * 64 // 4  # hosts, payload of 64 KiB in 4 KiB
    for stage in ("host-edge", "edge-host"):
        links = ports.filter(stage=stage)
        assert links["data_bytes"].sum() == packets * 4158
        assert links["control_bytes"].sum() == packets * 64
    hops = ports["data_frames_count"].sum() + ports["control_frames_count"].sum()
    assert results.summary["packet_hops_count"] == hops


def test_a_trace_has_every_reception() -> None:
    results = simulate(SMALL.replace(measure=Measure(trace=True)))
    assert results.trace is not None
    assert results.trace.height == results.summary["packet_hops_count"]
    ends = results.trace.filter(kind="ack").group_by("flow").agg(last="at_ps").sort("flow")
    assert [max(times) for times in ends["last"]] == results.flows["last_acked_ps"].to_list()


def test_small_messages_in_shorter_frames_beat_their_ideal_and_no_check() -> None:
    """Ethereal makes four frames of 1,024 B out of one of 4,096 B: less to store and forward at each of six links."""
    one = Messages.from_arrays(src=[0], dst=[15], bytes=[4096])
    split, whole = (
        simulate(SMALL.replace(balancer=Ethereal(split=split)), one).flows for split in ("bytes", "packets")
    )
    assert (split["packets_count"][0], whole["packets_count"][0]) == (4, 1)
    assert whole["fct_ps"][0] == whole["ideal_fct_ps"][0]
    # Three frames and their gaps ahead, then the last one over six links; a byte takes 10 ps.
    assert split["fct_ps"][0] == 3 * (1024 + 62 + 20) * 10 + 6 * ((1024 + 62) * 10 + 500_000)
    assert split["fct_ps"][0] < split["ideal_fct_ps"][0]


def test_a_full_buffer_is_named() -> None:
    incast = SMALL.replace(workload=Incast(senders=8, message="256KiB"), port=Port(buffer="20kB"))
    with pytest.raises(
        UnfinishedError, match=r"8 of 8 flows are unfinished[\s\S]*port edge-0 to host-0 dropped"
    ) as raised:
        simulate(incast)
    summary = raised.value.results.summary
    assert summary["status"] == "stuck"
    assert summary["max_queue_bytes"] <= 20_000
    assert summary["drops_count"]["data"] > 0


def test_a_run_past_its_time_limit_is_not_done() -> None:
    with pytest.raises(UnfinishedError, match="time limit of 3us"):
        simulate(SMALL.replace(run=Run(time_limit="3us")))


def test_progress_can_stop_a_run() -> None:
    def stop(*_: int) -> None:
        raise TimeoutError("enough")

    long = SMALL.replace(workload=Permutation(message="256MiB"))
    with pytest.raises(TimeoutError, match="enough"):
        simulate(long, progress=stop)


def test_many_runs_come_in_order_and_as_if_alone() -> None:
    scenarios = [
        SMALL.replace(balancer=balancer, run=Run(seed=seed)) for seed in (1, 2, 3) for balancer in (Ofan(), Rsq())
    ]
    many = simulate_many(scenarios, workers=2)
    assert [results.scenario for results in many] == scenarios
    assert [results.summary["result_hash"] for results in many] == [result_hash(scenario) for scenario in scenarios]
