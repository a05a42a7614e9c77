"""The engine against its slow twin: the same events, to the picosecond, on random small scenarios.

Every scenario is drawn as a whole (fabric, speeds, failures, frames, buffers, balancers, pacing, messages, waits), so
that whatever combination a user may ask for has a chance to be compared. Equal are the trace of all receptions, the
flows' columns, the ports' columns with their queue integrals, and the packets that had no way left.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import twin
from door import AS_IT_STARTS, configure, fat_tree, link
from door import messages as columns_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twin.catalogue import SCHEMES
from twin.compare import compare
from twin.draws import HOST_SIDE, draw_config, draw_messages

from fabricsim import scenario

SEEDS = range(300)


def compare_drawn(draw: random.Random) -> None:
    config = draw_config(draw)
    compare(config, draw_messages(draw, config))


def test_large_frames_at_an_odd_rate_take_their_time_to_the_nearest_picosecond() -> None:
    """182,410 B at 350 Gb/s: 4,169,371.43 ps; a byte's time with 16 bits after the point would make it 4,169,372."""
    config = draw_config(random.Random(0))
    link = {"rate_bps": 350 * 10**9, "latency_ps": 500_000}
    config["fabric"] = {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 1, "spines": 1, "host_link": link}
    config["fabric"] |= {"leaf_spine_link": link, **AS_IT_STARTS}
    config["frame"] |= {"payload_bytes": 182_348, "header_bytes": 62, "ack_bytes": 64, "last_frame": "full"}
    config["port"] |= {"buffer_bytes": None, "ecn_threshold_bytes": None}
    config["transport"] = {"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "none"}
    wanted = compare(config, listed(columns_of([0], [1], 1)))
    assert wanted is not None
    assert wanted.flows["last_delivered_at_ps"] == [4 * (4_169_371 + 500_000)]


@pytest.mark.parametrize("kind", ["dlb", "sglb"])
@pytest.mark.parametrize("threshold", [None, 10**12])
@pytest.mark.parametrize("seed", range(4))
def test_samples_do_not_depend_on_a_limit_that_never_acts(seed: int, threshold: int | None, kind: str) -> None:
    """With limits, ports are brought up to date at the end of each window: at 1 us a frame was queued, later not."""
    fabric = fat_tree(4, host_link=link(800, 100_000))
    balancer = f"{kind}:sample_interval=1us:nominal_buffer=80kB"
    config = configure(
        fabric, balancer, seed, transport={"start_jitter": "none", "acks": "off"}, measure={"trace": True}
    )
    config["port"]["ecn_threshold_bytes"] = threshold
    compare(config, listed(columns_of([0, 0], [8, 12], 4096, [850_000, 1_180_000])))


@pytest.mark.parametrize("rto_us", [13, 15, 16, 20])
def test_an_ack_that_comes_after_the_timeout_does_not_undo_it(rto_us: int) -> None:
    """Ethereal: a flow sends every 7.3 us and hears ACKs 17 us later, so that ACKs may be the first to find it out."""
    config = configure(fat_tree(4), f"ethereal:split=packets:rto={rto_us}us", measure={"trace": True})
    config["frame"]["payload_bytes"] = 182_348
    compare(config, listed(columns_of([0] * 4, [8, 10, 12, 14], 30 * 182_348)))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_adverts_of_idle_windows_arrive_in_order(threads: int) -> None:
    """SGLB: with large frames and a short link time jumps over samples, which cores take before those below hear."""
    fabric = fat_tree(4, agg_core_link=link(200, 13_007))
    config = configure(fabric, "sglb:load_gain=1:nominal_buffer=5MB", threads=threads, measure={"trace": True})
    config["frame"]["payload_bytes"] = 182_348
    config["transport"]["start_jitter"] = "none"
    compare(config, listed(columns_of([7, 5, 2, 10, 4], [8, 9, 11, 6, 0], [1, 547_044, 228_074, 1, 348_610])))


def listed(columns: dict[str, Any]) -> dict[str, list[int]]:
    return {name: column.tolist() for name, column in columns.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_twin_gives_the_same_events(seed: int) -> None:
    compare_drawn(random.Random(seed))


def test_the_scenarios_above_cover_what_they_should() -> None:
    """Drawn anew, by the twin only: nothing that the comparison is for stays untried."""
    counts = ("dropped_data_count", "dropped_control_count", "marked_count", "lost_data_count", "lost_control_count")
    seen: set[str] = set()
    for seed in SEEDS:
        draw = random.Random(seed)
        config = draw_config(draw)
        messages = draw_messages(draw, config)
        seen |= {config["balancer"]["kind"], config["fabric"]["kind"], config["transport"]["acks"]}
        seen |= {name for name in ("links_down", "links_degraded", "link_events") if config["fabric"][name]}
        seen |= {name for name in ("dep_message", "trigger_count") if messages[name]}
        seen |= {f"{deployment['balancer']['kind']} on some" for deployment in config["deployments"]}
        if not config["fabric"]["links_down"]:
            outcome = twin.run(config, messages)
            seen |= {outcome.status, *(name for name in counts if any(outcome.ports[name]))}
            seen |= {name for name, total in outcome.totals.items() if total}
    wanted = {*SCHEMES, "fat-tree", "leaf-spine", "per-packet", "off", "links_down", "links_degraded", "link_events"}
    wanted |= {f"{kind} on some" for kind in SCHEMES if kind not in HOST_SIDE}
    wanted |= {"dep_message", "trigger_count", "done", "stuck", *counts}
    wanted |= {"unroutable_data_count", "unroutable_control_count"}
    assert seen == wanted


def test_the_twin_knows_every_balancer() -> None:
    assert SCHEMES.keys() == scenario.BALANCERS.keys()


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
@given(st.randoms(use_true_random=False))
def test_the_twin_gives_the_same_events_on_whatever_hypothesis_finds(draw: random.Random) -> None:
    compare_drawn(draw)
