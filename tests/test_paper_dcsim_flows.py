"""When a lone flow of dcSim ends, how variants change it, and small flows that go without Sims."""

from __future__ import annotations

import polars as pl
import pytest
from paper_dcsim import DATA_PS, HOP_PS, RTT_MAX_PS, datas_of, flow, messages, run, sims_of

NO_JITTER = {"start_jitter": "none"}
DELTA_PS = 91_344
"""(L + 2.1 l)/C, by hand: 9,134.4 bytes at 800 Gbit/s."""

PAIRS = {"rack": (0, 1, 2), "pod": (4, 7, 4), "pods": (15, 6, 6)}
"""Two hosts of a tree of radix 4, which has two hosts an edge switch and four a pod, and the links between them."""


def one_way_ps(links: int) -> int:
    return links * (HOP_PS + DATA_PS)


@pytest.mark.parametrize("packets", [1, 2, 12, 13, 40, 87, 300, 757, 1000])
@pytest.mark.parametrize("pair", PAIRS)
def test_a_lone_flow_ends_when_theory_says(pair: str, packets: int) -> None:
    """RTT_max + (n - 1) delta + one way, within 2 %, and never before the last of n Datas can have left.

    RTT_max is the fabric's, of six links, whatever the pair. Below: Datas that follow each other at line rate.
    """
    src, dst, links = PAIRS[pair]
    results = run(messages(flow(src, dst, packets)), fabric={"radix": 4}, transport=NO_JITTER)
    (ended_ps,) = results.flows["last_delivered_ps"].to_list()
    assert ended_ps == pytest.approx(RTT_MAX_PS + (packets - 1) * DELTA_PS + one_way_ps(links), rel=0.02)
    assert ended_ps >= RTT_MAX_PS + (packets - 1) * DATA_PS + one_way_ps(links)
    assert ended_ps >= results.totals["least_cct_ps"]


@pytest.mark.parametrize("fraction", [0.0, 0.2, 0.5, 0.85, 1.0])
def test_a_data_leaves_at_its_fraction_or_at_the_sim_ack(fraction: float) -> None:
    """A lone Sim is back after 12 links of 650.64 ns: 0.354 of RTT_max."""
    transport = {**NO_JITTER, "wait_fraction": fraction}
    results = run(messages(flow(0, 15, 1)), fabric={"radix": 4}, transport=transport, measure={"trace": True})
    (sim,), (data,) = sims_of(results, 0), datas_of(results, 0)
    assert sim.acked_ps == 12 * 650_640
    assert data.sent_ps == max(round(fraction * RTT_MAX_PS), sim.acked_ps)


@pytest.mark.parametrize("kind", ["uniform", "extreme"])
def test_a_host_waits_by_its_own_clock(kind: str) -> None:
    """Each host's wait is off by one share: at most 1000 ppm, at both ends of it under "extreme"."""
    flows = [flow(host, (host + 8) % 16, 1) for host in range(16)]
    transport = {**NO_JITTER, "clock_drift_ppm": 1000.0, "clock_drift": kind}
    results = run(messages(*flows), fabric={"radix": 4}, transport=transport, measure={"trace": True})
    waits = [datas_of(results, row)[0].sent_ps - sims_of(results, row)[0].sent_ps for row in range(16)]
    shares = [wait / RTT_MAX_PS - 1 for wait in waits]
    assert max(map(abs, shares)) <= 1.01e-3
    assert min(shares) < -2e-4 < 2e-4 < max(shares)
    ends = sum(abs(share) > 0.99e-3 for share in shares)
    assert ends == 16 if kind == "extreme" else ends < 8


SMALL = [flow(host, 15 - host, 8) for host in range(4)]
LARGE = [flow(host, (host + 5) % 16, 400) for host in range(16)]


def small_and_large(small_flows: str) -> pl.DataFrame:
    transport = {"small_flows": small_flows, "direct_below_packets": 9, "scale_queues": False}
    # Room for 24 Datas: what dcSim needs here, and less than direct packets would take.
    port = {"buffer": "218304B"}
    return run(messages(*LARGE, *SMALL), fabric={"radix": 4}, transport=transport, port=port).flows


def test_small_flows_without_sims_end_earlier_and_cost_no_data() -> None:
    """They save an RTT_max each and go behind all others, which keep their place in the buffers."""
    simulated, direct = (small_and_large(kind) for kind in ("simulated", "direct"))
    small = simulated["packets_count"] == 8
    assert direct.filter(small)["fct_us"].to_numpy().max() < simulated.filter(small)["fct_us"].to_numpy().min()
    for flows in (simulated, direct):
        assert flows.filter(~small)["retransmitted_packets_count"].sum() == 0
    fct = "fct_us"
    assert direct.filter(~small)[fct].to_numpy().mean() == pytest.approx(
        simulated.filter(~small)[fct].to_numpy().mean(), rel=0.03
    )
