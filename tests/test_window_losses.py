"""Transports with windows, where packets get lost: everything arrives once, and senders come to know it.

Held to the trace of what hosts received (`delivered_once`), not to the core's own counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from fabricsim import (
    BALANCERS,
    Bytes,
    Duration,
    FatTree,
    LeafSpine,
    Messages,
    Port,
    Run,
    Scenario,
    ScenarioError,
    balancer_from_text,
    simulate,
)
from fabricsim.conformance.receptions import delivered_once
from fabricsim.contestants import usual_balancer
from fabricsim.results import Results
from fabricsim.scenario import LinkEvent, Loss, Measure, Pfc
from fabricsim.scenario.pfc import pfc_bytes
from fabricsim.scenario.transports import TRANSPORTS, AnyTransport

WINDOWED = tuple(kind for kind, model in TRANSPORTS.items() if model.has_window)
OTHERS = ("dcsim", "pfabric", "phost", "dcpim")
SIZES = (0, 1, 4095, 4096, 4097, 4159, 40_000, 100 * 4096)
TRIMMING = Port(buffer=Bytes("30kB"), control_first=True, trimming="random")


def tangle(hosts: int, rows: int = 128) -> Messages:
    """Messages of all sizes, several a host; half of them wait for others, the last four for triggers."""
    draw = np.random.default_rng(1)
    src = draw.integers(0, hosts, rows)
    waiting = np.arange(rows // 2, rows - 4)
    return Messages.from_arrays(
        src,
        (src + draw.integers(1, hosts, rows)) % hosts,
        np.array(SIZES)[np.arange(rows) % len(SIZES)],
        start_ps=draw.integers(0, 10**6, rows),
        dep_message=waiting,
        dep_on=waiting - rows // 2,
        dep_event=waiting % 2,
        trigger_count=[2, 0],
        fire_trigger=[0, 0, 1, 1],
        fire_message=[0, 1, 2, 3],
        fire_event=[0, 1, 0, 1],
        target_trigger=[0, 0, 1, 1],
        target_message=[rows - 1, rows - 2, rows - 3, rows - 4],
    )


def entangled(transport: AnyTransport, lost: tuple[str, ...] = (), **parts: Any) -> Results:
    """Run the tangle, 1 % of those kinds of packet lost on every link, and see that all of it arrives once."""
    losses = tuple(Loss(packet=kind, probability=0.01) for kind in lost)
    scenario = Scenario(
        fabric=FatTree(radix=4, losses=losses),
        transport=transport,
        **{"measure": Measure(trace=True), "run": Run(threads=1, time_limit="10s"), **parts},
    )
    results = simulate(scenario, tangle(16), check=False)
    delivered_once(results)
    return results


def frames(results: Results, *columns: str) -> int:
    return sum(int(results.ports[name].sum()) for name in columns)


@pytest.mark.parametrize("kind", WINDOWED)
@pytest.mark.parametrize("ack_every", ["packet", "16384B"])
@pytest.mark.parametrize(
    "lost", [("data",), ("ack", "data-ack"), ("data", "ack", "data-ack")], ids=["data", "acks", "both"]
)
def test_one_percent_lost_on_every_link_is_made_good(kind: str, ack_every: str, lost: tuple[str, ...]) -> None:
    results = entangled(TRANSPORTS[kind](ack_every=ack_every), lost)
    assert (frames(results, "lost_data_count") > 30) == ("data" in lost)
    assert (frames(results, "lost_control_count") > 20) == ("ack" in lost)


@pytest.mark.parametrize("balancer", BALANCERS)
@pytest.mark.parametrize("kind", ["nscc", "dctcp"])
def test_so_it_is_under_every_balancer(kind: str, balancer: str) -> None:
    """REPS and Ethereal hear of timeouts, CONGA's metrics come back with ACKs, flowlets begin when one waits."""
    port = Port(buffer=Bytes("60kB"))
    results = entangled(TRANSPORTS[kind](), ("data", "ack"), balancer=balancer_from_text(balancer), port=port)
    assert frames(results, "lost_data_count") > 50


@pytest.mark.parametrize("kind", WINDOWED)
@pytest.mark.parametrize("lost", [(), ("trimmed",), ("nack",), ("trimmed", "nack", "data", "ack")])
@pytest.mark.parametrize("trimming", ["arriving", "random"])
def test_what_is_trimmed_comes_again_also_if_no_nack_does(kind: str, lost: tuple[str, ...], trimming: str) -> None:
    port = TRIMMING.replace(trimming=trimming)
    results = entangled(TRANSPORTS[kind](), lost, port=port)
    assert frames(results, "trimmed_count") > 20
    assert frames(results, "dropped_data_count") == 0
    counts = results.summary["transport_counts"]
    assert counts["nacks_sent_count"] > 0
    if not lost and kind != "dctcp":
        # Each trimmed packet is sent again for its NACK, without waiting for a timeout.
        assert counts["data_timeouts_count"] == counts["duplicates_count"] == 0
        assert results.flows["retransmitted_packets_count"].sum() == frames(results, "trimmed_count")


@pytest.mark.parametrize("kind", WINDOWED)
def test_links_that_die_and_come_back_in_mid_run(kind: str) -> None:
    """One of two uplinks at first, then the other too, for 100 us: nobody gets in or out, and then all do."""
    changes = ((2, "agg-0", "down"), (4, "agg-1", "down"), (104, "agg-0", "up"), (304, "agg-1", "up"))
    events = tuple(
        LinkEvent(at=Duration(f"{at}us"), link=("edge-0", agg), state=state)  # type: ignore[arg-type]
        for at, agg, state in changes
    )
    for balancer in ("ofan", "reps", "ecmp"):
        for delay in ("0us", "20us"):
            fabric = FatTree(radix=4, link_events=events, reconvergence_delay=Duration(delay))
            scenario = Scenario(
                fabric=fabric,
                transport=TRANSPORTS[kind](),
                balancer=balancer_from_text(balancer),
                measure=Measure(trace=True),
                run=Run(threads=1, time_limit="10s"),
            )
            hosts = np.arange(16)
            results = simulate(scenario, Messages.from_arrays(hosts, (hosts + 5) % 16, 150 * 4096), check=False)
            delivered_once(results)
            assert sum(results.summary["lost_count"].values()) > 10


def incast(transport: AnyTransport, radix: int, **parts: Any) -> Results:
    """All other hosts send 1 MiB to host 0."""
    fabric = FatTree(radix=radix)
    others = np.arange(1, fabric.hosts_count)
    scenario = Scenario(
        fabric=fabric,
        transport=transport,
        balancer=usual_balancer(transport),
        **{"port": Port(buffer=Bytes("800kB")), "run": Run(threads=1, time_limit="10s"), **parts},
    )
    return simulate(scenario, Messages.from_arrays(others, np.zeros_like(others), 2**20))


@pytest.mark.parametrize(
    ("kind", "radix"), [*((kind, 12) for kind in WINDOWED), *((kind, 8) for kind in OTHERS)], ids=str
)
def test_an_incast_of_all_hosts_completes(kind: str, radix: int) -> None:
    """431 to 1 with windows, 127 to 1 with the others: everything delivered and acknowledged, no faster than a link."""
    results = incast(TRANSPORTS[kind](), radix)
    flows = results.flows
    assert (flows["delivered_packets_count"] == 256).all()
    if results.scenario.transport.acks_messages:
        assert (flows["acked_packets_count"] == 256).all()
    frame_ps = results.scenario.frame.data_bytes * 10
    assert results.summary["cct_delivered_us"] * 1e6 > 256 * flows.height * frame_ps
    if kind in WINDOWED:
        assert frames(results, "dropped_data_count") > 0
        # What left hosts arrived or was dropped.
        again = int(flows["retransmitted_packets_count"].sum())
        arrived = 256 * flows.height + results.summary["transport_counts"]["duplicates_count"]
        assert 256 * flows.height + again == arrived + frames(results, "dropped_data_count")


LOSSLESS = Port(pfc=Pfc())


def is_lossless(results: Results) -> None:
    counts, again = results.summary["transport_counts"], int(results.flows["retransmitted_packets_count"].sum())
    assert frames(results, "dropped_data_count", "dropped_control_count") == 0
    assert counts["data_timeouts_count"] == 0
    # DCTCP takes packets for lost that were overtaken.
    assert again == 0 or results.scenario.transport.kind == "dctcp"
    assert counts["duplicates_count"] <= again
    assert results.summary["paused_us"] > 0


@pytest.mark.parametrize(
    ("kind", "radix", "control_first"),
    [("nscc", 12, False), *((kind, 8, first) for kind in WINDOWED for first in (False, True))],
    ids=str,
)
def test_pauses_lose_nothing_in_an_incast(kind: str, radix: int, control_first: bool) -> None:
    """And the receiver's link is never idle: the incast ends as soon as any can, but for the first packet's way."""
    # The last packet of all first windows waits for more than DCTCP's 1 ms.
    transport = TRANSPORTS[kind](rto="10ms") if kind == "dctcp" else TRANSPORTS[kind]()
    results = incast(transport, radix, port=LOSSLESS.replace(control_first=control_first))
    is_lossless(results)
    if kind == "constant-window":
        flows = results.flows.height
        earliest_us = 256 * flows * (4158 + 20) * 10 / 1e6
        assert results.summary["cct_delivered_us"] == pytest.approx(earliest_us, rel=0.01)


@pytest.mark.parametrize("fabric", [FatTree(radix=4), LeafSpine(radix=8)], ids=lambda fabric: fabric.kind)
@pytest.mark.parametrize("control_first", [False, True])
@pytest.mark.parametrize("xoff", ["0B", "4158B", "20kB"])
def test_pauses_do_not_lock_trees(fabric: FatTree | LeafSpine, control_first: bool, xoff: str) -> None:
    """A permutation, an incast and an all-to-all at once: every host and link is busy, most of them are paused."""
    hosts = np.arange(fabric.hosts_count)
    src, dst = (one.ravel() for one in np.meshgrid(hosts, hosts))
    apart = src != dst
    src, dst = (
        np.concatenate([hosts, hosts[1:], src[apart]]),
        np.concatenate([(hosts + hosts.size // 2) % hosts.size, np.zeros_like(hosts[1:]), dst[apart]]),
    )
    for balancer in ("ecmp", "ofan"):
        scenario = Scenario(
            fabric=fabric,
            transport=TRANSPORTS["constant-window"](),
            balancer=balancer_from_text(balancer),
            port=Port(pfc=Pfc(xoff=Bytes(xoff), xon=Bytes("0B")), control_first=control_first),
            run=Run(threads=1, time_limit="1s"),
        )
        is_lossless(simulate(scenario, Messages.from_arrays(src, dst, 20 * 4096)))


def with_headroom(headroom: int) -> Port:
    return Port(pfc=Pfc(xoff=Bytes("20kB"), xon=Bytes("10kB"), headroom=Bytes(headroom)))


def test_headroom_is_what_can_still_arrive_and_a_byte_less_is_refused() -> None:
    """800 Gb/s for two times 500 ns and the 0.64 ns of a pause: 100,064 B, and two frames of 4158 B."""
    needed = 100_000 + 64 + 2 * 4158
    base = Scenario(fabric=FatTree(radix=4), transport=TRANSPORTS["constant-window"](), port=LOSSLESS)
    here = pfc_bytes(base)
    assert here is not None
    assert here.headroom == needed
    base.replace(port=with_headroom(needed))
    with pytest.raises(ScenarioError, match=rf"port\.pfc\.headroom: got .*; allowed: at least {needed}B"):
        base.replace(port=with_headroom(needed - 1))


def test_so_many_bytes_of_headroom_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two frames less than needed, an incast over a paused port does lose some: the bound is no idle one."""
    monkeypatch.setattr("fabricsim.scenario.combinations.check_headroom", lambda _: None)
    dropped = []
    for headroom in (108_380, 108_380 - 3 * 4158, 50_000):
        results = incast(TRANSPORTS["constant-window"](), 4, port=with_headroom(headroom))
        dropped.append(frames(results, "dropped_data_count"))
    assert dropped[0] == 0
    assert 0 < dropped[1] <= dropped[2]


@pytest.mark.parametrize("kind", WINDOWED)
def test_a_shared_buffer_loses_what_it_cannot_hold_and_all_arrives(kind: str) -> None:
    """A port's queue never exceeds alpha times what is then free: alpha B / (1 + alpha) when it is alone."""
    port = Port(shared_buffer={"size": "100kB", "alpha": 0.5})
    results = entangled(TRANSPORTS[kind](), port=port)
    switches = results.ports.filter(~pl.col("stage").str.starts_with("host-"))
    assert frames(results, "dropped_data_count") > 0
    assert switches["max_queue_bytes"].max() <= 100_000 / 3 + 4158
