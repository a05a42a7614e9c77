"""dcSim's rules seen in traces: how many Sims are under way, which Data each one takes, where and when that goes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_dcsim import RTT_MAX_PS, datas_of, flow, matched, messages, run, sims_of

from fabricsim import Results
from fabricsim.theory import rtt_max_ps

FLOWS = (
    *(flow(host, 0, 30, collective=host) for host in (3, 5, 9, 12)),
    *(flow(host, (host + 7) % 16, 20, start="3us") for host in (1, 5, 9)),
    flow(2, 13, 1),
)
"""An incast of four, whose Sims are dropped, across flows that share hosts with it."""


def traced(seed: int = 1, **transport: Any) -> Results:
    parts: dict[str, Any] = {"fabric": {"radix": 4}, "measure": {"trace": True}, "run": {"seed": seed}}
    return run(messages(*FLOWS), transport={"queue_packets": 12, **transport}, **parts)


@pytest.mark.parametrize("transport", [{}, {"wait_fraction": 0.0}, {"bucket_packets": 1}], ids=str)
def test_no_more_sims_are_under_way_than_datas_wait(transport: dict[str, Any]) -> None:
    """Equation 3, at every start of a Sim. It counts until its Sim-Ack, or RTT_max; a Data until a Sim-Ack takes it."""
    results = traced(**transport)
    assert results.summary["drops_count"]["sim"] > 0
    assert results.summary["drops_count"]["data"] == 0
    for row, packets in enumerate(results.flows["packets_count"]):
        sims = sims_of(results, row)
        tight = 0
        for sim in sims:
            now = sim.sent_ps
            under_way = sum(
                one.sent_ps <= now < one.sent_ps + RTT_MAX_PS and (one.acked_ps is None or one.acked_ps > now)
                for one in sims
            )
            waiting = packets - sum(one.acked_ps is not None and one.acked_ps <= now for one in sims)
            assert under_way <= waiting
            tight += under_way == waiting
        # Or the rule is never put to the test.
        assert tight > 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_sim_ack_takes_the_first_data_which_leaves_rtt_max_after_the_sim(seed: int) -> None:
    """Section 2.4: over the Sim's path; late by no more than what else the host sends at the time."""
    results = traced(seed)
    for row, packets in enumerate(results.flows["packets_count"]):
        sims, datas = matched(sims_of(results, row)), datas_of(results, row)
        assert len(sims) == len(datas) == packets
        by_psn = {data.psn: data for data in datas}
        assert set(by_psn) == set(range(packets))
        for psn, sim in enumerate(sims):
            assert by_psn[psn].links == sim.links
            assert 0 <= by_psn[psn].sent_ps - sim.sent_ps - RTT_MAX_PS < 2_000_000
        due = [sims[data.psn].sent_ps for data in datas]
        assert due == sorted(due)


def test_async_datas_leave_in_order() -> None:
    """At the Sim-Ack, so in the order of Sim-Acks, which is that of the Datas they take."""
    results = traced(wait_fraction=0.0)
    for row, packets in enumerate(results.flows["packets_count"]):
        sims, datas = matched(sims_of(results, row)), datas_of(results, row)
        assert [data.psn for data in datas] == list(range(packets))
        late = [data.sent_ps - (sim.acked_ps or 0) for sim, data in zip(sims, datas, strict=True)]
        assert min(late) >= 0
        assert max(late) < 2_000_000


pairs = st.tuples(st.integers(0, 15), st.integers(0, 15)).filter(lambda pair: pair[0] != pair[1])


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(pairs, st.integers(1, 40), st.integers(0, 5000)), min_size=1, max_size=20),
    st.sampled_from([512, 1500, 4096, 9000]),
    st.integers(1, 24),
    st.sampled_from([1.0, 2.1, 3.0]),
    st.integers(0, 2**32),
)
def test_no_sim_takes_longer_than_theorem_2_allows(
    flows: list[tuple[tuple[int, int], int, int]], data_bytes: int, queue: int, factor: float, seed: int
) -> None:
    """Whatever is sent, and however many wait for the same host."""
    rows = [
        {"src": src, "dst": dst, "bytes": data_bytes * packets, "start": f"{start}ns"}
        for (src, dst), packets, start in flows
    ]
    results = run(
        messages(*rows),
        fabric={"radix": 4},
        frame={"payload": f"{data_bytes}B"},
        transport={"queue_packets": queue, "scale_queues": False, "token_factor": factor},
        run={"seed": seed},
    )
    bound_ps = rtt_max_ps(6, 12 * 650_000, 800 * 10**9, data_bytes, 64, queue_packets=queue, token_factor=factor)
    assert results.totals["rtt_max_ps"] == bound_ps
    assert 0 < results.summary["sim_rtt_max_us"] <= bound_ps / 1e6
    assert results.summary["transport_counts"]["sim_acks_late_count"] == 0
