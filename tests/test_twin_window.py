"""Hosts with windows against their slow twin: the same events, to the picosecond, on random small scenarios.

As `test_twin.py`, with selective repeat under each congestion controller, DCTCP, and what ports do only for them:
control first, trimming, marks on a ramp and at enqueue, a shared buffer, and PFC.
"""

from __future__ import annotations

import random

import pytest
import twin
from door import Config, configure, fat_tree, leaf_spine, link, messages
from twin.compare import compare
from twin.draws_window import KINDS, draw_config, draw_messages
from twin.tree import Tree

SEEDS = range(70)
FRAME = 4158
Drawn = dict[str, list[int]]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_twin_gives_the_same_events(seed: int) -> None:
    draw = random.Random(seed)
    config = draw_config(draw)
    compare(config, draw_messages(draw, config))


def test_the_scenarios_above_cover_what_they_should() -> None:
    """Drawn anew, by the twin only: nothing that the comparison is for stays untried."""
    columns = {f"{what}_{name}_count" for what in ("dropped", "lost") for name in ("data", "control")}
    columns |= {"marked_count", "trimmed_count", "paused_ps"}
    seen: set[str] = set()
    for seed in SEEDS:
        draw = random.Random(seed)
        config = draw_config(draw)
        drawn = draw_messages(draw, config)
        seen |= {config["transport"]["kind"], config["port"]["discipline"]["kind"], config["port"]["ecn_at"]}
        seen |= {name for name in ("shared_buffer", "pfc", "ecn_full_bytes") if config["port"][name]}
        seen |= {f"trimming {config['port']['discipline'].get('trimming')}"}
        seen |= {name for name in ("link_events", "losses", "links_degraded") if config["fabric"][name]}
        seen |= {name for name in ("dep_message",) if drawn[name]}
        if seed % 2 == 0 and can_run(config, drawn):
            outcome = twin.run(config, drawn, config["time_limit_ps"])
            seen |= {outcome.status} | {name for name in columns if any(outcome.ports[name])}
            seen |= {name for name, count in outcome.transport.items() if count}
    wanted = {*KINDS, "fifo", "control-first", "dequeue", "enqueue", "shared_buffer", "pfc", "ecn_full_bytes", *columns}
    wanted |= {f"trimming {name}" for name in (None, "off", "arriving", "random")} | {"done", "time-limit"}
    wanted |= {"link_events", "losses", "links_degraded", "dep_message", *twin.WINDOW_COUNTS, "fast_retransmits_count"}
    assert seen - {"stuck"} == wanted


def can_run(config: Config, drawn: Drawn) -> bool:
    hosts = Tree(config["fabric"]).hosts
    pairs = [(hosts[src], hosts[dst]) for src, dst in zip(drawn["src"], drawn["dst"], strict=True)]
    return all(src.can_reach(dst) and dst.can_reach(src) for src, dst in pairs)


def windows(fabric: Config, balancer: str = "rsq", frames: int = 40, limit_ps: int = 10**9, **port: object) -> Config:
    """A constant window of so many frames, an RTO of 60 us, and these fields of ports."""
    config = configure(fabric, balancer, limit_ps=limit_ps, measure={"trace": True})
    size = {"bytes": frames * FRAME}
    config["transport"] = {"kind": "constant-window", "max_window": size, "initial_window": size, "base_rtt_ps": None}
    config["transport"] |= {"rto_ps": 60_000_000, "ack_every_bytes": 1, "start_jitter": "none"}
    config["port"] |= port
    return config


def compare_messages(config: Config, src: list[int], dst: list[int], packets: int, apart_ps: int = 0) -> twin.Outcome:
    columns = messages(src, dst, packets * 4096, [apart_ps * i for i in range(len(src))])
    outcome = compare(config, {name: column.tolist() for name, column in columns.items()})
    assert outcome is not None
    return outcome


def test_marks_are_those_of_what_has_left_when_time_is_up() -> None:
    """Frames take 665 ns on the last link: time jumps from the last arrival to the limit, and one has left by then."""
    fabric = leaf_spine(1, 2, 1, link(800, 13_007))
    fabric["links_degraded"] = [{"link": ["host-1", "leaf-0"], "rate_bps": 50 * 10**9}]
    config = windows(fabric, limit_ps=5_000_000, ecn_threshold_bytes=0)
    outcome = compare_messages(config, [0], [1], 40)
    assert outcome.status == "time-limit"
    assert sum(outcome.ports["marked_count"]) == 7


def test_copies_that_wait_when_all_is_done_have_not_been_carried() -> None:
    """Fifteen senders fill an infinite buffer for longer than their RTO of 20 us."""
    config = windows(fat_tree(4))
    config["transport"]["rto_ps"] = 20_000_000
    outcome = compare_messages(config, list(range(1, 16)), [0] * 15, 40)
    assert outcome.transport["data_timeouts_count"] > 0


def test_a_flow_takes_its_turn_from_when_it_is_ready() -> None:
    """Small windows and many flows: most become ready while the NIC is busy, and ACKs let others go on meanwhile."""
    config = windows(leaf_spine(2, 2, 2), frames=2)
    compare_messages(config, [0] * 6, [1, 2, 3, 1, 2, 3], 20, apart_ps=60_007)


@pytest.mark.parametrize("size", [47_000, 130_001])
def test_a_window_takes_in_what_a_subflows_short_frame_needs(size: int) -> None:
    config = windows(leaf_spine(2, 2, 5), "ethereal:split=bytes", frames=10)
    columns = messages([0], [2], [size])
    compare(config, {name: column.tolist() for name, column in columns.items()})


@pytest.mark.parametrize("slow", ["leaf-0", "leaf-1"])
@pytest.mark.parametrize("spine", range(3))
def test_the_base_rtt_is_that_of_the_best_path(spine: int, slow: str) -> None:
    fabric = leaf_spine(2, 1, 3) | {"links_degraded": [{"link": [slow, f"spine-{spine}"], "rate_bps": 10**11}]}
    config = windows(fabric, "ofan")
    config["transport"] |= {"max_window": {"bdp": 1.0}, "initial_window": {"bdp": 1.0}}
    compare_messages(config, [0], [1], 200)


@pytest.mark.parametrize("lost_ppm", [0, 100_000])
@pytest.mark.parametrize("balancer", ["dlb", "sglb", "jsq", "ar"])
def test_balancers_see_the_queues_of_ports_that_hold_packets_back(balancer: str, lost_ppm: int) -> None:
    """A frame that will be lost is in the queue while it is on the wire, and is never counted as sent."""
    fabric = fat_tree(4, agg_core_link=link(100), edge_agg_link=link(200))
    fabric |= {"losses": [{"packet": "data", "ppm": lost_ppm}]}
    discipline = {"kind": "control-first", "trimming": "off"}
    compare_messages(windows(fabric, balancer, discipline=discipline), [0, 1, 2, 3], [8, 9, 12, 4], 60)


@pytest.mark.parametrize("discipline", [{"kind": "fifo"}, {"kind": "control-first", "trimming": "off"}])
@pytest.mark.parametrize("xon_frames", [4, 3, 0])
def test_a_switch_pauses_a_host_that_sends_faster_than_the_next_link(xon_frames: int, discipline: Config) -> None:
    fabric = leaf_spine(2, 1, 1, link(100, 13_007)) | {"host_link": link(350, 100_000)}
    limits = {"xoff_bytes": 4 * FRAME, "xon_bytes": xon_frames * FRAME, "headroom_bytes": 100 * FRAME}
    outcome = compare_messages(windows(fabric, pfc=limits, discipline=discipline), [0], [1], 40)
    assert outcome.ports["paused_ps"][0] > 0
    assert sum(outcome.ports["dropped_data_count"]) == 0


def test_a_sender_that_has_been_told_of_a_loss_waits_for_its_pace_and_no_longer() -> None:
    """Swift, windows of less than a frame: what is trimmed is sent again when the pace allows, not at its timeout."""
    config = windows(
        leaf_spine(1, 9, 1), buffer_bytes=FRAME, discipline={"kind": "control-first", "trimming": "arriving"}
    )
    config["transport"] |= {
        "kind": "swift", "increase_packets": 1.0, "decrease_gain": 0.8, "most_decrease": 0.9, "base_target_ps": 100_000,
        "hop_target_ps": 0, "flow_scaling_ps": 0, "flow_scaling_from_packets": 0.1, "flow_scaling_to_packets": 100.0,
        "min_window_packets": 0.2, "reset_after_timeouts": 5,
    }  # fmt: skip
    assert compare_messages(config, list(range(1, 9)), [0] * 8, 12).transport["nacks_sent_count"] > 0
