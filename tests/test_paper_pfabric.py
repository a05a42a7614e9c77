"""pFabric: packets followed by hand, losses made good, and figures measured on the public dcPIM simulator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import polars as pl
import pytest

from fabricsim import Results, scenario_from_mapping, simulate
from fabricsim.scenario.derived import derived

FRAME, ACK, HOP = 90_000, 400, 650_000
"""Times in ps: 9,000 and 40 bytes at 800 Gb/s, the latency of a link."""
THERE, BACK = 2 * (FRAME + HOP), 2 * (ACK + HOP)
"""From a host to its neighbour, with nothing in the way: a data packet, an ACK."""
RTT_PS = 8_880_000
"""What the dcPIM simulator calls an RTT: two trips over six links, and the time of twelve data frames."""


def run(workload: dict[str, Any], rtts: float = 7, *, check: bool = True, **parts: Any) -> Results:
    """Run in the reference's setting; `rtts`: its timeout."""
    content: dict[str, Any] = {
        "preset": "dcsim-paper",
        "workload": workload,
        "balancer": {"kind": "simple-rr", "pointers": "per-ingress"},
        "transport": {"kind": "pfabric", "initial_window_packets": 99, "max_window_packets": 102},
        "frame": {"ack": "40B"},
    }
    for part, changes in parts.items():
        content[part] = content.get(part, {}) | changes
    content["transport"] |= {"start_jitter": "none", "rto_rtts": 1}
    content["transport"]["rto_rtts"] = rtts * RTT_PS / derived(scenario_from_mapping(content)).data_rtt_ps
    return simulate(scenario_from_mapping(content), check=check)


def messages(*rows: tuple[int, int, int]) -> dict[str, Any]:
    """Source, destination and packets of each."""
    return {"kind": "messages", "messages": [{"src": s, "dst": d, "bytes": 9000 * n} for s, d, n in rows]}


def receptions(results: Results, link: tuple[str, str]) -> list[tuple[int, int, int]]:
    """Moment, flow and number of each data packet out of a link."""
    assert results.trace is not None
    ports = results.ports.with_row_index().filter((pl.col("from") == link[0]) & (pl.col("to") == link[1]))
    seen = results.trace.filter((pl.col("link") == ports["index"][0]) & (pl.col("kind") == "data")).sort("at_ps")
    return list(seen.select("at_ps", pl.col("flow").cast(pl.Int64), pl.col("psn").cast(pl.Int64)).iter_rows())


def test_the_shorter_of_two_flows_goes_first() -> None:
    """Three packets from host 0 and two from host 1 to host 2, all under one switch.

    They meet at its port to host 2 from 740 ns on, one of each flow every 90 ns. The shorter flow takes every turn
    until it is done, and the longer one then sends its earliest packet first; every ACK has the way back to itself.
    """
    results = run(messages((0, 2, 3), (1, 2, 2)), measure={"trace": True})
    order = [(1, 0), (1, 1), (0, 0), (0, 1), (0, 2)]
    expected = [(THERE + turn * FRAME, *packet) for turn, packet in enumerate(order)]
    assert receptions(results, ("edge-0", "host-2")) == expected
    last = {flow: at for at, flow, _ in expected}
    assert results.flows["last_delivered_ps"].to_list() == [last[0], last[1]]
    assert results.flows["last_acked_ps"].to_list() == [last[0] + BACK, last[1] + BACK]


def test_what_the_hosts_port_drops_is_sent_after_a_timeout() -> None:
    """Four packets into a port that holds two. The timeout begins when the second is acknowledged; then a window of 1.

    The two that were dropped count as sent at the start.
    """
    results = run(messages((0, 1, 4)), rtts=3, port={"buffer": "18kB"}, measure={"trace": True})
    again = FRAME + THERE + BACK + 3 * RTT_PS
    left = [0, FRAME, again, again + THERE + BACK]
    assert receptions(results, ("edge-0", "host-1")) == [(at + THERE, 0, psn) for psn, at in enumerate(left)]
    assert results.flows["delay_ps"].to_list() == [4 * THERE + left[2] + left[3]]
    assert results.summary["retransmitted_packets_count"] == results.summary["drops_count"]["data"] == 2
    assert results.summary["transport_counts"] == {
        "duplicates_count": 0, "data_timeouts_count": 1, "probes_count": 0
    }  # fmt: skip


def test_probes_after_three_timeouts_in_a_row() -> None:
    """Nothing gets through: timeouts 1 to 3, and from the third one a probe a timeout, until 10.5 of them are over."""
    for after, timeouts, probes in ((3, 3, 8), (0, 10, 0)):
        results = run(
            messages((0, 127, 200)),
            rtts=1,
            check=False,
            transport={"probe_after_timeouts": after},
            fabric={"losses": [{"packet": kind, "probability": 1.0} for kind in ("data", "probe")]},
            run={"time_limit": f"{10.5 * RTT_PS / 1000:.0f}ns"},
        )
        counts = results.summary["transport_counts"]
        assert (counts["data_timeouts_count"], counts["probes_count"]) == (timeouts, probes)


@pytest.mark.parametrize("lost", [("data",), ("ack",), ("data", "ack", "probe")], ids="-".join)
@pytest.mark.parametrize("changes", [{}, {"nic_backpressure": True}, {"probe_after_timeouts": 1}], ids=str)
def test_every_packet_arrives_once_whatever_is_lost(changes: dict[str, Any], lost: Sequence[str]) -> None:
    """At 2 %, with messages of no byte, of one, of about one packet and of many, on one thread and on two."""
    sizes = (0, 1, 8999, 9000, 9001, 9000 * 250)
    listed = [{"src": host, "dst": (host + 5) % 16, "bytes": size} for host in range(16) for size in sizes]
    one, two = (
        run(
            {"kind": "messages", "messages": listed},
            rtts=3,
            fabric={"radix": 4, "losses": [{"packet": kind, "probability": 0.02} for kind in lost]},
            transport=changes,
            frame={"last_frame": "short"},
            run={"threads": threads},
        )
        for threads in (1, 2)
    )
    assert one.summary["result_hash"] == two.summary["result_hash"]
    for column in ("delivered_packets_count", "acked_packets_count"):
        assert one.flows[column].to_list() == [1, 1, 1, 1, 2, 250] * 16
    assert sum(one.summary["lost_count"].values()) > 20
    assert (one.summary["transport_counts"]["probes_count"] > 0) == ("probe_after_timeouts" in changes)


FIGURES = {
    ("permutation", 44, 7): 10.84, ("permutation", 87, 3): 71.12, ("permutation", 87, 7): 106.64,
    ("permutation", 174, 7): 121.40, ("permutation", 348, 3): 123.44, ("permutation", 348, 7): 159.96,
    ("all-to-all", 1, 7): 130.83, ("all-to-all", 8, 3): 161.14, ("all-to-all", 4, 7): 208.33,
    ("all-to-all", 8, 7): 259.22,
}  # fmt: skip
"""CCT in us (last data packet at its destination) by pattern, packets a flow and RTTs of timeout.

Figures measured on the public dcPIM simulator (k = 8, 800 Gb/s, 9,000 B, ports of 500 kB, window 99, one seed). Its
event queue mixes up what happens at one moment: of a window that is put into a host's port at once, any packets may be
those that find no room, where here it is the last. A flow then stops at an early hole, and its timeout begins soon
after its start; here it begins when all that found room is acknowledged, 13.2 us after that. So permutations, where
each flow has one such timeout, come out up to 22 us later here.
"""


@cache
def cct_us(pattern: str, packets: int, rtts: int) -> float:
    order = {"order": "shift"} if pattern == "all-to-all" else {}
    results = run({"kind": pattern, "message": f"{9000 * packets}B", **order}, rtts)
    return float(results.summary["cct_delivered_us"])


@pytest.mark.parametrize(("case", "figure"), FIGURES.items(), ids=str)
def test_completion_is_near_that_of_the_dcpim_simulator(case: tuple[str, int, int], figure: float) -> None:
    # In the one row beyond a quarter, the 13.2 us explained above are 19 % by themselves.
    assert cct_us(*case) == pytest.approx(figure, rel=0.3 if case == ("permutation", 87, 3) else 0.25)


@pytest.mark.parametrize("pattern", ["permutation", "all-to-all"])
def test_completions_are_ordered_as_in_the_dcpim_simulator(pattern: str) -> None:
    cases = [case for case in FIGURES if case[0] == pattern]
    assert sorted(cases, key=FIGURES.__getitem__) == sorted(cases, key=lambda case: cct_us(*case))


def test_flows_that_wait_for_room_lose_nothing_in_their_own_port() -> None:
    """What the dcPIM simulator's figures are made of, drops in hosts' ports and their timeouts, is gone."""
    permutation = {"kind": "permutation", "message": f"{9000 * 174}B"}
    waiting, dropping = (run(permutation, transport={"nic_backpressure": wait}) for wait in (True, False))
    at_hosts = pl.col("from").str.starts_with("host-")
    assert waiting.ports.filter(at_hosts)["dropped_data_count"].sum() == 0
    # 99 packets are put into a port that holds 55, at each of 128 hosts.
    assert dropping.ports.filter(at_hosts)["dropped_data_count"].sum() == 128 * (99 - 55)
    assert waiting.summary["cct_delivered_us"] < dropping.summary["cct_delivered_us"] - 7 * RTT_PS / 1e6
