"""dcSim's theorems in the simulator: what one port sends (1), how long a Sim's round trip is (2), when a flow ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabricsim import Results, scenario_from_mapping, simulate
from fabricsim.theory import lone_flow_ps, rtt_max_ps, sims_and_datas_utilisation_fraction, token_interval_ps

RATE = 800 * 10**9
DATA, SMALL = 9000, 64
PAPER: dict[str, Any] = {"data_bytes": DATA, "small_bytes": SMALL, "queue_packets": 12, "rate_bps": RATE}
ACROSS = {"hops": 6, "propagation_rtt_ps": 12 * 650_000, **PAPER}
"""Between pods of the paper's fabric."""


def run(workload: dict[str, Any], **others: dict[str, Any]) -> Results:
    return simulate(scenario_from_mapping({"preset": "dcsim-paper", "workload": workload, **others}))


def flow(src: int, dst: int, packets: int) -> dict[str, Any]:
    return {"src": src, "dst": dst, "bytes": DATA * packets}


@pytest.mark.parametrize("packets", [1, 10, 87, 500])
def test_a_lone_flow_ends_when_theory_says(packets: int) -> None:
    results = run({"kind": "messages", "messages": [flow(0, 127, packets)]}, transport={"start_jitter": "none"})
    (ended_ps,) = results.flows["last_delivered_ps"].to_list()
    assert ended_ps == pytest.approx(lone_flow_ps(packets, **ACROSS), rel=0.02)


@pytest.mark.parametrize(
    "workload",
    [
        {"kind": "permutation", "message": "783kB"},
        {"kind": "all-to-all", "message": "36kB", "order": "index"},
        {"kind": "all-to-all-v", "message": "36kB"},
        {"kind": "incast", "senders": 100, "message": "270kB"},
        {"kind": "collectives", "message": "90kB"},
    ],
    ids=lambda workload: workload["kind"],
)
def test_no_sim_takes_longer_than_theorem_2_allows(workload: dict[str, Any]) -> None:
    summary = run(workload).summary
    bound_ps = rtt_max_ps(**ACROSS)
    assert summary["rtt_max_us"] == bound_ps / 1e6
    # Longer than with no queue at all, or nothing was put to the test.
    assert 7.8 < summary["sim_rtt_max_us"] <= bound_ps / 1e6


@pytest.mark.parametrize("factor", [1.0, 2.1])
def test_a_port_sends_what_theorem_1_says(factor: float) -> None:
    """Three hosts flood a fourth under one switch; acknowledgments go the other way, so none is at that port."""
    results = run(
        {"kind": "messages", "messages": [flow(host, 0, 3000) for host in (1, 2, 3)]},
        transport={"token_factor": factor},
        measure={"trace": True},
    )
    assert results.trace is not None
    port = results.ports.with_row_index().filter(
        (results.ports["from"] == "edge-0") & (results.ports["to"] == "host-0")
    )
    seen = results.trace.filter(results.trace["link"] == port["index"][0]).sort("at_ps")
    at, kind = seen["at_ps"].to_numpy(), seen["kind"].to_numpy()
    # From the middle, when what the full bucket let pass at the start has left, until the first flow runs out of Sims.
    last = int(results.flows["last_delivered_ps"].to_numpy().min()) - 2 * rtt_max_ps(**ACROSS)
    first = last // 2
    within = np.flatnonzero((at > first) & (at < last))
    assert within.size > 2000
    sent = kind[within]
    assert set(sent) == {"sim", "data"}
    if factor == 1:  # else there are pauses, in which a Data may come late
        assert np.all(sent[1:] != sent[:-1])
    bytes_sent = np.where(sent[1:] == "data", DATA, SMALL).sum()
    busy = bytes_sent * 8e12 / RATE / (at[within[-1]] - at[within[0]])
    assert busy == pytest.approx(sims_and_datas_utilisation_fraction(DATA, SMALL, factor), abs=1e-3)
    spacing = np.diff(at[within][sent == "sim"]).mean()
    assert spacing == pytest.approx(float(token_interval_ps(RATE, DATA, SMALL, factor)), rel=1e-3)
