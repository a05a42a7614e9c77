"""What dcSim's ports carry and lose in whole runs: Equation 2's four rates, and how much room Datas need."""

from __future__ import annotations

import polars as pl
import pytest
from paper_dcsim import DATA_BYTES, RATE_BPS, RTT_MAX_PS, SMALL_BYTES, B, data_buffer, flow, messages, run, scenario

from fabricsim import Results, simulate

DELTA_PS = 91_344


def test_the_four_kinds_fill_the_line_between_them() -> None:
    """Equation 2, where it is exact: all to all under one switch, so that no two Sims meet and the ways back are alike.

    A Sim, a Sim-Ack and a Data an interval of delta, a Data-Ack for 16 of them: alpha + 2 1/16 small packets of the
    alpha + 2.1 that there is time for.
    """
    flows = [flow(src, dst, 1500) for src in range(4) for dst in range(4) if src != dst]
    results = run(messages(*flows), measure={"trace": True})
    assert results.trace is not None
    assert results.summary["drops_count"]["control"] == 0
    # Into hosts 0 to 3, from when the buckets, full at first, have no surplus left.
    ports = results.ports.with_row_index().filter(pl.col("from") == "edge-0", pl.col("to").str.starts_with("host-"))
    start, end = 200_000_000, int(results.flows["last_delivered_ps"].to_numpy().min()) - 2 * RTT_MAX_PS
    for link in ports["index"]:
        seen = results.trace.filter(pl.col("link") == link, pl.col("at_ps").is_between(start, end))
        count = dict(seen["kind"].value_counts().iter_rows())
        intervals = (end - start) / DELTA_PS
        for kind in ("sim", "sim-ack", "data"):
            assert count[kind] == pytest.approx(intervals, rel=2e-3)
        assert count["data-ack"] == pytest.approx(intervals / 16, rel=0.03)
        carried = sum(number * (DATA_BYTES if kind == "data" else SMALL_BYTES) for kind, number in count.items())
        alpha = DATA_BYTES / SMALL_BYTES
        expected = (alpha + 2 + 1 / 16) / (alpha + 2.1)
        assert carried * 8e12 / RATE_BPS / (end - start) == pytest.approx(expected, abs=1e-3)


def incast(room: int, bucket: int, seed: int) -> Results:
    """60 Datas at once for one host, more than the last port's bucket and queue let pass as Sims: 2 B."""
    transport = {"scale_queues": False, "start_jitter": "none", "bucket_packets": bucket}
    given = scenario(
        {"kind": "incast", "senders": 60, "message": "9kB"},
        transport=transport,
        port={"buffer": data_buffer(room)},
        run={"seed": seed},
    )
    return simulate(given)


@pytest.mark.parametrize("bucket", [1, B])
def test_a_data_buffer_of_twice_the_sim_queue_holds_what_one_of_the_same_size_loses(bucket: int) -> None:
    """Section 4.1, Fig. 11. What is lost is sent again; the paper's threshold is a factor of 2."""
    for seed in range(1, 11):
        small, large = (incast(room, bucket, seed) for room in (B, 2 * B))
        assert small.summary["drops_count"]["data"] > 0
        assert small.summary["retransmitted_packets_count"] == small.summary["drops_count"]["data"]
        assert large.summary["drops_count"]["data"] == 0


@pytest.mark.parametrize("bucket", [1, B])
def test_a_permutation_needs_no_more_than_that(bucket: int) -> None:
    for seed in (1, 2, 3):
        results = run(
            {"kind": "permutation", "message": "783kB"},
            transport={"scale_queues": False, "bucket_packets": bucket},
            port={"buffer": data_buffer(2 * B)},
            run={"seed": seed},
        )
        assert results.summary["drops_count"]["data"] == 0
        assert results.summary["drops_count"]["sim"] > 0


def test_more_than_that_is_needed_where_hosts_flood_one_for_long() -> None:
    """Section 2.5: near-zero loss is no guarantee. Sims pass at the port's rate; their Datas come closer together."""
    results = run(
        {"kind": "incast", "senders": 15, "message": "900kB"},
        fabric={"radix": 4},
        transport={"scale_queues": False},
        port={"buffer": data_buffer(2 * B)},
    )
    last = results.ports.filter(pl.col("to") == "host-0")
    assert last["dropped_data_count"][0] > 0
    assert last["max_waiting_data_packets"][0] == 2 * B
    assert last["max_waiting_sim_packets"][0] == B
