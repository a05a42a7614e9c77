"""dcPIM: lone flows by hand, what matching carries at most, and figures measured on the public dcPIM simulator."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from fabricsim import Results, scenario_from_mapping, simulate

FAST, SLOW = ("800Gbps", 9000, 99), ("100Gbps", 1500, 77)
"""The reference's two settings: rate, data frame, and its BDP, which is also the length of a short flow."""
CONTROL, LATENCY_PS, LINKS = 40, 650_000, 6
CONTROL_RTT_PS = 2 * LINKS * (LATENCY_PS + CONTROL * 10)
ROUND_PS = CONTROL_RTT_PS * 13 // 10
"""1.3 control RTTs at 800 Gb/s, where a byte takes 10 ps."""
ROUNDS = CHANNELS = 4
FRAME_PS = 90_000
CHANNEL_PACKETS = ROUNDS * ROUND_PS // FRAME_PS // CHANNELS
ROUND_ROBIN = {"kind": "simple-rr", "pointers": "per-ingress"}
RANDOM = {"kind": "rsq"}


def run(
    workload: dict[str, Any],
    setting: tuple[str, int, int] = FAST,
    balancer: dict[str, Any] = ROUND_ROBIN,
    run: dict[str, Any] | None = None,
    **transport: Any,
) -> Results:
    rate, data, bdp = setting
    frame_ps = data * 8 * 10**12 // (int(rate.removesuffix("Gbps")) * 10**9)
    content = {
        "fabric": {"kind": "fat-tree", "radix": 8, "rate": rate, "latency": "650ns"},
        "workload": workload,
        "balancer": balancer,
        "frame": {"payload": f"{data}B", "header": "0B", "ack": f"{CONTROL}B", "gap": "0B"},
        "port": {"buffer": "500kB"},
        "transport": {
            "kind": "dcpim",
            "short_packets": bdp,
            "window_packets": bdp,
            "resend_timeout": f"{bdp * frame_ps}ps",
            "start_jitter": "none",
            **transport,
        },
        "run": {"threads": 1, **(run or {})},
    }
    return simulate(scenario_from_mapping(content))


def flow(packets: int, **others: Any) -> dict[str, Any]:
    return {"kind": "messages", "messages": [{"src": 0, "dst": 127, "bytes": 9000 * packets, **others}]}


def one_way_ps(size: int) -> int:
    return LINKS * (LATENCY_PS + size * 10)


def sent_ps(packets: int, accepted_ps: int) -> int:
    """When the last packet of a lone long flow leaves, by the tokens that its receiver sends once it has accepted.

    A channel for each `CHANNEL_PACKETS`; a token every T times 4 / channels, anew from where an epoch begins. The first
    one leaves behind the acceptance. The sender needs T for each packet.
    """
    epoch_ps = ROUNDS * ROUND_PS
    interval_ps = FRAME_PS * CHANNELS // -(-packets // CHANNEL_PACKETS)
    token_ps, free_ps = accepted_ps, 0
    for packet in range(packets):
        behind_ps = CONTROL * 10 if packet == 0 else 0
        free_ps = max(free_ps, token_ps + behind_ps + one_way_ps(CONTROL)) + FRAME_PS
        next_epoch_ps = (token_ps // epoch_ps + 1) * epoch_ps
        token_ps = min(token_ps + interval_ps, next_epoch_ps)
    return free_ps - FRAME_PS


@pytest.mark.parametrize("packets", [1, 2, CHANNEL_PACKETS, CHANNEL_PACKETS + 1, 3 * CHANNEL_PACKETS + 1])
@pytest.mark.parametrize("start_round", [0, 1, 2.5, 7])
def test_a_lone_long_flow_ends_when_the_rounds_say(packets: int, start_round: float) -> None:
    """Announced in one round, it is requested at the start of the next and accepted at its end: then tokens go out.

    At once, since no data phase uses any channel. A start on the dot of a round is heard of within it.
    """
    start_ps = round(start_round * ROUND_PS)
    results = run(flow(packets, start=f"{start_ps}ps"), short_packets=0)
    accepted_ps = ((start_ps + one_way_ps(CONTROL)) // ROUND_PS + 2) * ROUND_PS
    ended_ps = sent_ps(packets, accepted_ps) + one_way_ps(9000)
    assert results.flows["last_delivered_ps"].to_list() == [ended_ps]
    assert results.flows["last_acked_ps"].to_list() == [ended_ps + one_way_ps(CONTROL)]
    counts = results.summary["transport_counts"]
    assert (counts["tokens_sent_count"], counts["tokens_expired_count"], counts["duplicates_count"]) == (packets, 0, 0)


@pytest.mark.parametrize("packets", [1, 50, 99])
def test_a_lone_short_flow_is_sent_at_once(packets: int) -> None:
    """Its announcement leaves first, and has no part in anything else."""
    results = run(flow(packets))
    ended_ps = CONTROL * 10 + (packets - 1) * FRAME_PS + one_way_ps(9000)
    assert results.flows["last_delivered_ps"].to_list() == [ended_ps]
    assert results.summary["transport_counts"]["tokens_sent_count"] == 0


def test_hosts_are_matched_nearly_wholly_and_never_beyond_their_channels() -> None:
    """Everybody wants all of everybody, for six epochs, the first of which knows of nothing in its first round."""
    epochs = 6
    duration_ps = epochs * ROUNDS * ROUND_PS + 1
    results = run({"kind": "infinite-all-to-all", "duration": f"{duration_ps}ps"}, balancer=RANDOM)
    most = epochs * 128 * CHANNELS
    assert 0.97 * most < results.summary["transport_counts"]["channels_matched_count"] <= most


# Figures measured on the public dcPIM simulator, one seed each, CCT in us. Its draws are its own, and flows of 87
# packets that it sends at once (16.8 us) just fit into its buffers, where others' luck may lose a few: none here.
PERMUTATIONS = (
    (FAST, 44, 99, 10.65),
    (FAST, 44, 0, 44.42),
    (FAST, 87, 0, 59.70),
    (FAST, 174, 99, 65.49),
    (FAST, 348, 99, 84.09),
    (SLOW, 38, 77, 11.82),
    (SLOW, 77, 77, 19.50),
    (SLOW, 154, 77, 69.92),
    (SLOW, 308, 77, 84.10),
)
ALL_TO_ALLS = ((FAST, 1, 99, 18.12), (FAST, 4, 99, 52.92), (SLOW, 1, 77, 24.71), (SLOW, 4, 77, 71.12))


def cct_us(
    kind: str, setting: tuple[str, int, int], packets: int, short: int, balancer: dict[str, Any] = ROUND_ROBIN
) -> float:
    workload: dict[str, Any] = {"kind": kind, "message": f"{setting[1] * packets}B"}
    if kind == "all-to-all":
        workload["order"] = "shift"
    return float(run(workload, setting, balancer, short_packets=short).summary["cct_delivered_us"])


@pytest.mark.parametrize(("setting", "packets", "short", "reference_us"), PERMUTATIONS)
def test_a_permutation_takes_what_it_takes_in_the_reference(
    setting: tuple[str, int, int], packets: int, short: int, reference_us: float
) -> None:
    assert cct_us("permutation", setting, packets, short) == pytest.approx(reference_us, rel=0.25)


@pytest.mark.parametrize(("setting", "packets", "short", "reference_us"), ALL_TO_ALLS)
def test_an_all_to_all_takes_what_it_takes_in_the_reference(
    setting: tuple[str, int, int], packets: int, short: int, reference_us: float
) -> None:
    assert cct_us("all-to-all", setting, packets, short) == pytest.approx(reference_us, rel=0.25)


@pytest.mark.parametrize("setting", [FAST, SLOW])
@pytest.mark.parametrize("balancer", [ROUND_ROBIN, RANDOM], ids=["round-robin", "random"])
def test_the_order_is_that_of_the_reference(setting: tuple[str, int, int], balancer: dict[str, Any]) -> None:
    rows = sorted((row for row in PERMUTATIONS if row[0] == setting), key=lambda row: row[3])
    times = [cct_us("permutation", *row[:3], balancer) for row in rows]
    assert all(first < second for first, second in pairwise(times)), times
