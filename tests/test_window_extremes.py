"""Windows, timeouts, buffers and ACKs at the ends of what a scenario admits: all still arrives, and is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_window_losses import WINDOWED, frames

from fabricsim import Bytes, FatTree, Messages, Port, Run, Scenario, ScenarioError, balancer_from_text, simulate
from fabricsim.conformance.receptions import delivered_once
from fabricsim.results import Results
from fabricsim.scenario import Frame, Measure, PacketCount
from fabricsim.scenario.transports import TRANSPORTS, AnyTransport, Nscc, Swift

ONE_FRAME = PacketCount("1 packets")
HOSTS = np.arange(16)


def limited(kind: str, window: Any, **settings: Any) -> AnyTransport:
    """A transport whose windows are never larger than that."""
    name = "window" if kind == "constant-window" else "max_window"
    return TRANSPORTS[kind](**{name: window, **settings})


def everyone(transport: AnyTransport, packets: int = 60, **parts: Any) -> Results:
    """Each of 16 hosts sends to one in another pod and, later, to one under its own switch."""
    chosen: dict[str, Any] = {"measure": Measure(trace=True), "run": Run(threads=1, time_limit="10s")}
    scenario = Scenario(fabric=FatTree(radix=4), transport=transport, **{**chosen, **parts})
    messages = Messages.from_arrays(
        np.tile(HOSTS, 2),
        np.concatenate([(HOSTS + 5) % 16, HOSTS ^ 1]),
        packets * 4096,
        start_ps=np.repeat([0, 1_000_000], 16),
    )
    results = simulate(scenario, messages, check=False)
    delivered_once(results)
    return results


@pytest.mark.parametrize("kind", WINDOWED)
def test_a_window_below_a_frame_is_refused_and_one_of_a_frame_works(kind: str) -> None:
    with pytest.raises(ScenarioError, match=r'window: got "4157B"; allowed: at least a data frame, 4158B'):
        Scenario(fabric=FatTree(radix=4), transport=limited(kind, Bytes(4157)))
    results = everyone(limited(kind, Bytes(4158), start_jitter="none"), packets=20)
    assert results.summary["transport_counts"]["duplicates_count"] == 0
    # One packet a round trip: 20 of them over six links, two messages a host at a time.
    assert results.summary["cct_acked_us"] >= 20 * 6.25332


@pytest.mark.parametrize("kind", WINDOWED)
def test_a_window_far_above_all_that_is_sent_is_none(kind: str) -> None:
    """A lone flow is then sent in one go, at the link's rate."""
    scenario = Scenario(
        fabric=FatTree(radix=4), transport=limited(kind, Bytes("1000TB"), start_jitter="none", rto="100ms")
    )
    results = simulate(scenario, Messages.from_arrays([0], [15], 3000 * 4096))
    assert results.flows["last_acked_ps"].to_list() == [2999 * 41_780 + 6 * (41_580 + 500_000 + 640 + 500_000)]


@pytest.mark.parametrize("kind", WINDOWED)
@pytest.mark.parametrize("rto", ["1ns", "1us", "6us", "8us"])
@pytest.mark.parametrize("balancer", ["ofan", "reps", "ethereal"])
def test_timeouts_before_any_ack_can_come_repeat_packets_and_nothing_else(kind: str, rto: str, balancer: str) -> None:
    """Nothing is lost, so what is sent again arrives again: as many duplicates as retransmissions."""
    port = Port(buffer="infinite")
    transport = TRANSPORTS[kind](rto=rto)
    results = everyone(transport, packets=30, port=port, balancer=balancer_from_text(balancer))
    counts = results.summary["transport_counts"]
    again = int(results.flows["retransmitted_packets_count"].sum())
    # What is still under way when the last ACK comes is never received.
    assert counts["duplicates_count"] <= again
    if rto in ("1ns", "1us") and kind != "dctcp":
        assert counts["duplicates_count"] > 0.1 * again > 0
        assert counts["data_timeouts_count"] >= again


@pytest.mark.parametrize("kind", WINDOWED)
@pytest.mark.parametrize("order", [{}, {"control_first": True}, {"control_first": True, "trimming": "random"}], ids=len)
def test_buffers_of_one_frame_let_everything_through_in_the_end(kind: str, order: dict[str, Any]) -> None:
    results = everyone(TRANSPORTS[kind](), packets=20, port=Port(buffer=Bytes(4158), **order))
    assert frames(results, "trimmed_count" if "trimming" in order else "dropped_data_count") > 100


@pytest.mark.parametrize("kind", WINDOWED)
@pytest.mark.parametrize("balancer", ["reps", "ethereal", "conga", "flowlet", "drb", "dlb", "sglb"])
def test_messages_of_one_packet_or_none_under_schemes_with_a_memory(kind: str, balancer: str) -> None:
    """300 of them, most from few hosts, over buffers that drop; with short last frames too."""
    draw = np.random.default_rng(2)
    src = draw.integers(0, 4, 300)
    dst = (src + draw.integers(1, 16, 300)) % 16
    for frame in (Frame(), Frame(last_frame="short")):
        scenario = Scenario(
            fabric=FatTree(radix=4),
            balancer=balancer_from_text(balancer),
            transport=TRANSPORTS[kind](ack_every="1MB"),
            port=Port(buffer=Bytes("9kB")),
            frame=frame,
            measure=Measure(trace=True),
            run=Run(threads=1, time_limit="10s"),
        )
        results = simulate(scenario, Messages.from_arrays(src, dst, draw.integers(0, 4097, 300)), check=False)
        delivered_once(results)
        assert frames(results, "dropped_data_count") > 0


def test_swift_below_a_packet_paces_and_recovers() -> None:
    """128 flows to one host, whose fair share is a packet each: with a least window of 0.01 packets nobody starves."""
    src = np.tile(np.arange(1, 16), 9)
    scenario = Scenario(
        fabric=FatTree(radix=4),
        transport=Swift(),
        port=Port(buffer=Bytes("100kB")),
        run=Run(threads=1, time_limit="1s"),
    )
    results = simulate(scenario, Messages.from_arrays(src, np.zeros_like(src), 64 * 4096))
    bound_us = results.summary["bound_us"]
    assert results.summary["cct_acked_us"] < 10 * bound_us


def test_nscc_settles_where_it_says() -> None:
    """Two flows share a link for long: each gets half of it within 10 %, and the queue stays below the target's."""
    transport = Nscc(start_jitter="none")
    scenario = Scenario(fabric=FatTree(radix=4), transport=transport, run=Run(threads=1))
    results = simulate(scenario, Messages.from_arrays([4, 8], [0, 0], 20_000_000))
    first, last = sorted(results.flows["last_delivered_ps"].to_list())
    assert first > 0.9 * last
    assert results.summary["cct_delivered_us"] == pytest.approx(2 * 20_000_000 / 4096 * 41_780 / 1e6, rel=0.03)


def test_copies_that_still_wait_at_the_end_have_not_been_carried() -> None:
    """A queue of 15 first windows takes longer than a short RTO: links are full of copies, and no fuller than full."""
    transport = TRANSPORTS["constant-window"](rto="20us")
    scenario = Scenario(fabric=FatTree(radix=4), transport=transport, port=Port(buffer="infinite"), run=Run(threads=1))
    results = simulate(scenario, Messages.from_arrays(HOSTS[1:], np.zeros(15, np.int64), 100 * 4096))
    assert results.flows["retransmitted_packets_count"].sum() > 1000
    into_host = results.ports.filter((results.ports["to"] == "host-0") & (results.ports["from"] == "edge-0"))
    assert 0.9 < into_host["utilisation_fraction"][0] <= 1
