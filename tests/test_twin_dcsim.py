"""dcSim against its slow twin: the same events, to the picosecond, on random small scenarios.

As `test_twin.py`, with dcSim's hosts and ports: the trace of all receptions (Sims, Sim-Acks, Data-Acks and Datas), the
columns of flows and ports (drops, counts and largest queues by lane), and what hosts have counted.
"""

from __future__ import annotations

import random

import pytest
import twin
from door import Config, leaf_spine, messages
from door_dcsim import HOP, dcsim
from twin.compare import compare
from twin.draws_dcsim import draw_config, draw_messages
from twin.tree import Tree

SEEDS = range(360)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_twin_gives_the_same_events(seed: int) -> None:
    draw = random.Random(seed)
    config = draw_config(draw)
    drawn = draw_messages(draw, config)
    compare(config, drawn)


def test_the_scenarios_above_cover_what_they_should() -> None:
    """Drawn anew, by the twin only: nothing that the comparison is for stays untried."""
    columns = [f"dropped_{lane}_count" for lane in ("sim", "sim_ack", "data_ack", "data")]
    columns += ["lost_data_count", "lost_control_count"]
    seen: set[str] = set()
    for seed in SEEDS[:150]:
        draw = random.Random(seed)
        config = draw_config(draw)
        drawn = draw_messages(draw, config)
        if not can_run(config, drawn):
            continue
        outcome = twin.run(config, drawn, config["time_limit_ps"])
        seen |= {config["balancer"]["kind"], config["fabric"]["kind"], outcome.status}
        seen |= {name for name in columns if any(outcome.ports[name])}
        seen |= {name for name, count in (outcome.transport | outcome.totals).items() if count}
        seen |= {name for name in ("link_events", "losses", "links_degraded") if config["fabric"][name]}
        seen |= {"block" for _, _, _, psn, kind in outcome.trace if kind == 4 and psn >> 16}
        seen |= {name for name in ("reordered_packets_count",) if any(outcome.flows[name])}
        seen |= {name for name in ("dep_message",) if drawn[name]}
    wanted = {"rps", "drb", "fat-tree", "leaf-spine", "done", "time-limit", *columns, "block", "dep_message"}
    wanted |= {"link_events", "losses", "links_degraded", "reordered_packets_count", *twin.DCSIM_COUNTS}
    assert seen - {"unroutable_data_count", "unroutable_control_count"} == wanted


def can_run(config: Config, drawn: dict[str, list[int]]) -> bool:
    hosts = Tree(config["fabric"]).hosts
    pairs = [(hosts[src], hosts[dst]) for src, dst in zip(drawn["src"], drawn["dst"], strict=True)]
    return all(src.can_reach(dst) and dst.can_reach(src) for src, dst in pairs)


def compare_messages(config: Config, src: list[int], dst: list[int], packets: list[int]) -> twin.Outcome:
    columns = messages(src, dst, [count * 9000 for count in packets])
    outcome = compare(config, {name: column.tolist() for name, column in columns.items()})
    assert outcome is not None
    return outcome


def test_a_data_that_the_hosts_own_port_drops_gives_its_path_back() -> None:
    """Async, room for one Data: of a burst of 12 Sim-Acks most Datas are dropped at once. Of 16 paths none is left."""
    fabric = leaf_spine(2, 1, 2, HOP)
    config = dcsim(fabric, wait_ps=0, data_timeout_ps=30_000_000, data_buffer_bytes=9000, entropies=16)
    compare_messages(config, [0], [1], [100])


def test_data_without_a_sim_does_not_give_a_sims_path_free() -> None:
    config = dcsim(leaf_spine(2, 1, 2, HOP), queue_packets=3, direct_below_packets=30, entropies=16)
    compare_messages(config, [0, 0], [1, 1], [100, 20])


def test_a_small_flow_without_losses_needs_no_sim() -> None:
    config = dcsim(leaf_spine(1, 2, 1, HOP), queue_packets=5, direct_below_packets=100, ack_every=1)
    assert compare_messages(config, [0], [1], [60]).transport["sims_sent_count"] == 0


def test_what_a_failing_link_loses_has_waited_until_then() -> None:
    down = {"at_ps": 1_500_000, "link": ["leaf-0", "spine-0"], "state": "down"}
    config = dcsim(leaf_spine(2, 3, 1, HOP), time_limit_ps=3_000_000, direct_below_packets=100, link_events=[down])
    compare_messages(config, [0, 1, 2], [3, 4, 5], [10, 10, 10])


def test_data_that_gives_way_has_waited_until_then() -> None:
    """Room for five Datas, which small flows fill: each Data that is due takes the place of one of theirs."""
    fabric = leaf_spine(1, 3, 1, HOP)
    config = dcsim(fabric, wait_ps=0, direct_below_packets=70, queue_packets=5, data_buffer_bytes=45_000)
    assert compare_messages(config, [0, 0], [1, 2], [60, 100]).ports["dropped_data_count"][0] > 0
