"""Links that die and come back in mid-run, frame by frame against times computed by hand."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from door import Config, assert_same, configure, fat_tree, leaf_spine, messages, permutation, run

from fabricsim import BALANCERS

SEND_PS, GAP_PS, WIRE_PS = 41_580, 200, 500_000  # of a data frame of 4158 B at 800 Gbps, and the way over a link
HOP_PS, PERIOD_PS = SEND_PS + WIRE_PS, SEND_PS + GAP_PS
TIER = {"host": 0, "edge": 1, "leaf": 1, "agg": 2, "core": 3, "spine": 3}


def event(at_ps: int, lower: str, upper: str, state: str = "down") -> Config:
    return {"at_ps": at_ps, "link": [lower, upper], "state": state}


def changing(fabric: Config, *events: Config, delay_ps: int = 0) -> Config:
    return {**fabric, "link_events": list(events), "reconvergence_delay_ps": delay_ps}


def row_of(output: Any, sender: str, receiver: str) -> int:
    """Row in ports of the link from one node to another."""
    (a, i), (b, j) = (name.split("-") for name in (sender, receiver))
    ports, wanted = output["ports"], (TIER[a], int(i), TIER[b], int(j))
    found = np.ones(len(ports["from_tier"]), bool)
    for name, value in zip(("from_tier", "from_index", "to_tier", "to_index"), wanted, strict=True):
        found &= ports[name] == value
    return int(np.flatnonzero(found)[0])


def arrivals(output: Any, receiver: str) -> dict[int, int]:
    """When each data packet of flow 0 came to a node, by its number."""
    tier, index = receiver.split("-")
    trace, ports = output["trace"], output["ports"]
    here = (ports["to_tier"] == TIER[tier]) & (ports["to_index"] == int(index))
    rows = np.flatnonzero(here[trace["link"]] & (trace["kind"] == 0) & (trace["flow"] == 0))
    return dict(zip(trace["psn"][rows].tolist(), trace["at_ps"][rows].tolist(), strict=True))


def one_flow(fabric: Config, packets: int, src: int, dst: int, balancer: str = "ofan") -> Any:
    still = {"acks": "off", "start_jitter": "none"}
    config = configure(fabric, balancer, transport=still, measure={"trace": True})
    return run(config, messages([src], [dst], packets * 4096))


@pytest.mark.parametrize(("delay_ps", "down_for"), [(0, 6), (0, 40), (2_000_000, 6), (2_000_000, 120), (10**9, 20)])
def test_each_frame_over_the_only_link_by_hand(delay_ps: int, down_for: int) -> None:
    """Frame i of a host comes to its leaf at 541.58 ns + i * 41.78 ns and leaves over the only uplink at once.

    The link dies while frame 5 is being sent, and is repaired just when another comes, `down_for` frames later. Until
    routing knows of the failure frames go into the dead link; then none has a route, until it knows of the repair.
    """
    frames = 300
    came = HOP_PS + np.arange(frames) * PERIOD_PS
    down_ps = int(came[5]) + 20_000
    up_ps = int(came[5 + down_for])
    events = (event(down_ps, "leaf-0", "spine-0"), event(up_ps, "leaf-0", "spine-0", "up"))
    output = one_flow(changing(leaf_spine(2, 1, 1), *events, delay_ps=delay_ps), frames, 0, 1)
    routed = (came < down_ps + delay_ps) | (came >= up_ps + delay_ps)
    in_service = (came < down_ps) & (came + SEND_PS > down_ps)
    lost = routed & (in_service | ((came >= down_ps) & (came < up_ps)))
    assert in_service.sum() == 1
    assert arrivals(output, "leaf-0") == dict(enumerate(came.tolist()))
    through = {i: int(came[i]) + 3 * HOP_PS for i in range(frames) if routed[i] and not lost[i]}
    assert arrivals(output, "host-1") == through
    assert output["ports"]["lost_data_count"].sum() == lost.sum()
    assert output["ports"]["lost_data_count"][row_of(output, "leaf-0", "spine-0")] == lost.sum()
    assert output["totals"]["unroutable_data_count"] == (~routed).sum()
    assert output["status"] == "stuck"
    assert output["flows"]["delivered_packets_count"].tolist() == [len(through)]


def test_frames_in_a_queue_are_lost_with_the_one_in_service() -> None:
    """Four hosts send to another leaf over one uplink, in step: when frame 2 of each is there, two frames have left.

    Group g comes at 541.58 + g * 41.78 ns. Frame n of them all leaves at 541.58 + n * 41.78 + 41.58 ns. The link dies
    10 ns after group 2 has come: of three groups ten frames are lost. Repaired just before group 6, it begins anew.
    """
    at_ps = HOP_PS + 2 * PERIOD_PS + 10_000
    back_ps = HOP_PS + 6 * PERIOD_PS - 1
    events = (event(at_ps, "leaf-0", "spine-0"), event(back_ps, "leaf-0", "spine-0", "up"))
    fabric = changing(leaf_spine(2, 4, 1), *events, delay_ps=10**9)
    config = configure(fabric, transport={"acks": "off", "start_jitter": "none"}, measure={"trace": True})
    output = run(config, messages(range(4), range(4, 8), 10 * 4096))
    up = row_of(output, "leaf-0", "spine-0")
    trace = output["trace"]
    sent = [HOP_PS + SEND_PS, HOP_PS + PERIOD_PS + SEND_PS]
    sent += [back_ps + 1 + n * PERIOD_PS + SEND_PS for n in range(4 * 4)]
    assert (trace["at_ps"][trace["link"] == up] - WIRE_PS).tolist() == sent
    assert output["ports"]["lost_data_count"][up] == 10 + 3 * 4
    assert output["ports"]["max_queue_bytes"][up] >= 10 * 4158


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_on_its_way_to_a_dead_end_has_no_route(threads: int) -> None:
    """All uplinks of an aggregation switch die under a flow, and routing knows at once.

    Lost is the frame that the switch was sending. Frames that its edge switch had already sent towards it (those that
    came to the edge switch before, and to this one after) find no uplink there. All others take the other one.
    """
    frames = 100
    probe = one_flow(fat_tree(4), frames, 0, 15, "ecmp")
    agg = next(f"agg-{j}" for j in (0, 1) if arrivals(probe, f"agg-{j}"))
    cores = [f"core-{2 * int(agg[-1]) + c}" for c in (0, 1)]
    at_edge = HOP_PS + np.arange(frames) * PERIOD_PS
    at_agg = at_edge + HOP_PS
    down_ps = int(at_agg[20]) + 15_000
    fabric = changing(fat_tree(4), *(event(down_ps, agg, core) for core in cores))
    config = configure(fabric, "ecmp", threads=threads, transport={"acks": "off", "start_jitter": "none"})
    output = run(config | {"measure": {"queues": True, "trace": True}}, messages([0], [15], frames * 4096))
    stranded = (at_edge < down_ps) & (at_agg >= down_ps)
    sending = (at_agg < down_ps) & (at_agg + SEND_PS > down_ps)
    assert stranded.sum() == 13
    assert output["totals"]["unroutable_data_count"] == stranded.sum()
    assert output["ports"]["lost_data_count"].sum() == sending.sum() == 1
    assert sorted(arrivals(output, "host-15")) == np.flatnonzero(~stranded & ~sending).tolist()
    other = f"agg-{1 - int(agg[-1])}"
    assert sorted(arrivals(output, other)) == np.flatnonzero(at_edge >= down_ps).tolist()


def test_below_a_core_there_is_no_other_way() -> None:
    """The link from a core down to the destination's pod dies: what was already on the way to that core is lost."""
    frames = 100
    probe = one_flow(fat_tree(4), frames, 0, 15, "ecmp")
    core = next(c for c in range(4) if arrivals(probe, f"core-{c}"))
    near, far = f"agg-{core // 2}", f"agg-{6 + core // 2}"
    at_near = 2 * HOP_PS + np.arange(frames) * PERIOD_PS
    at_core = at_near + HOP_PS
    down_ps = int(at_core[30]) + 40_000
    output = one_flow(changing(fat_tree(4), event(down_ps, far, f"core-{core}")), frames, 0, 15, "ecmp")
    lost = (at_near < down_ps) & (at_core + SEND_PS > down_ps)
    assert lost.sum() > 10
    assert output["ports"]["lost_data_count"][row_of(output, f"core-{core}", far)] == lost.sum()
    assert output["ports"]["lost_data_count"].sum() == lost.sum()
    assert output["totals"]["unroutable_data_count"] == 0
    assert sorted(arrivals(output, "host-15")) == np.flatnonzero(~lost).tolist()
    assert sorted(arrivals(output, near)) == list(range(frames)), "the other core is as near"


def random_events(seed: int, count: int) -> list[Config]:
    """Links of a tree of radix 4 that go down and come up by turns, all within 12 us."""
    draw = np.random.default_rng(seed)
    links = [(f"edge-{e}", f"agg-{e // 2 * 2 + j}") for e in range(8) for j in range(2)]
    links += [(f"agg-{a}", f"core-{a % 2 * 2 + c}") for a in range(8) for c in range(2)]
    times = np.sort(draw.choice(12_000_000, count, replace=False))
    state: dict[tuple[str, str], str] = defaultdict(lambda: "up")
    events = []
    for at_ps in times.tolist():
        link = links[draw.integers(len(links))]
        state[link] = "down" if state[link] == "up" else "up"
        events.append(event(at_ps, *link, state[link]))
    return events


@pytest.mark.parametrize("balancer", ["pofan:1" if kind == "pofan" else kind for kind in BALANCERS])
def test_every_frame_is_accounted_for_on_any_number_of_threads(balancer: str) -> None:
    """Sent = delivered + dropped + lost + without a route, of data and of ACKs, through forty changes."""
    columns = permutation(16, 7, 300)
    columns["dst"][columns["src"] > 12] = 0  # an incast besides, for drops
    fabric = changing(fat_tree(4), *random_events(3, 40), delay_ps=300_000)
    one, *more = (
        run(
            configure(fabric, balancer, threads=threads, port={"buffer_bytes": 100_000}, measure={"trace": True}),
            columns,
        )
        for threads in (1, 2, 3, 4)
    )
    for other in more:
        assert_same(one, other, but=("threads", "peak_rings_bytes"))
    ports, flows, totals = one["ports"], one["flows"], one["totals"]
    assert one["status"] == "stuck"
    from_hosts, to_hosts = ports["from_tier"] == 0, ports["to_tier"] == 0
    for kind, column in (("data", "delivered_packets_count"), ("control", "acked_packets_count")):
        sent, arrived = (int(ports[f"{kind}_frames_count"][some].sum()) for some in (from_hosts, to_hosts))
        gone = sum(int(ports[f"{what}_{kind}_count"].sum()) for what in ("dropped", "lost"))
        assert sent == arrived + gone + int(totals[f"unroutable_{kind}_count"])
        assert arrived == flows[column].sum()
    assert int(ports["data_frames_count"][from_hosts].sum()) == flows["packets_count"].sum()
    assert int(ports["control_frames_count"][from_hosts].sum()) == flows["delivered_packets_count"].sum()
    for count in (ports["lost_data_count"].sum(), ports["dropped_data_count"].sum(), totals["unroutable_data_count"]):
        assert count > 0, "each kind of loss occurs"


@pytest.mark.parametrize(("rto_us", "loses_to_the_end"), [(10, False), (1000, True)])
def test_ethereal_moves_a_subflow_after_a_timeout(rto_us: int, loses_to_the_end: bool) -> None:
    """Half of the paths die and routing never learns of it: the subflows there lose all, until they time out."""
    frames = 4000  # 167 us
    fabric = changing(fat_tree(4), event(3_000_000, "edge-0", "agg-0"), delay_ps=10**12)
    config = configure(fabric, f"ethereal:split=packets:rto={rto_us}us", measure={"trace": True})
    output = run(config, messages([0], [15], frames * 4096))
    arrived = np.zeros(frames, bool)
    arrived[list(arrivals(output, "host-15"))] = True
    assert 0.3 < 1 - arrived[80:180].mean() < 0.7, "two of four subflows are lost at first"
    assert arrived[:50].all(), "sent before"
    assert arrived[-1000:].mean() == (0.5 if loses_to_the_end else 1)


def test_links_of_a_dead_switch_come_back_in_any_order() -> None:
    """Each of the four uplinks of a leaf is down for a while, by turns with the next: no moment without one."""
    events = []
    for spine in range(4):
        events.append(event(1_000_000 * (spine + 1), "leaf-0", f"spine-{spine}"))
        events.append(event(1_000_000 * (spine + 1) + 1_400_000, "leaf-0", f"spine-{spine}", "up"))
    output = one_flow(changing(leaf_spine(2, 4, 4), *events), 300, 0, 5, "rsq")
    lost = output["ports"]["lost_data_count"]
    assert output["totals"]["unroutable_data_count"] == 0
    assert lost.sum() <= 4, "at most the frame in service of each"
    trace = output["trace"]
    for spine, (down, up) in enumerate(zip(events[::2], events[1::2], strict=True)):
        link = row_of(output, "leaf-0", f"spine-{spine}")
        left = np.sort(trace["at_ps"][trace["link"] == link].astype(np.int64)) - WIRE_PS
        idle = [(a, b) for a, b in pairwise(left.tolist()) if a <= down["at_ps"] and b > up["at_ps"]]
        assert idle, "nothing leaves over it while it is down"
