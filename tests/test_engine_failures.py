"""Links that die and come back in mid-run, frame by frame against times computed by hand; links dead from the start."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest
from door import Config, assert_same, configure, fat_tree, leaf_spine, messages, permutation, run
from numpy.typing import NDArray

from fabricsim import (
    BALANCERS,
    Bytes,
    FatTree,
    FatTreeFailures,
    InterPodPermutation,
    Paced,
    Run,
    Scenario,
    balancer_from_text,
    simulate,
)
from fabricsim.failures import with_failures
from fabricsim.theory import link_loads, rho_max
from fabricsim.workloads import build

SEND_PS, GAP_PS, WIRE_PS = 41_580, 200, 500_000  # of a data frame of 4158 B at 800 Gbps, and the way over a link
HOP_PS, PERIOD_PS = SEND_PS + WIRE_PS, SEND_PS + GAP_PS
TIER = {"host": 0, "edge": 1, "leaf": 1, "agg": 2, "core": 3, "spine": 3}
Ends = tuple[int, int, int, int]
Ints = NDArray[np.int64]


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


DOWN = [["edge-0", "agg-1"], ["edge-4", "agg-5"], ["agg-2", "core-7"], ["agg-3", "core-1"], ["agg-9", "core-2"]]


def uplinks_taken(output: Any) -> dict[tuple[int, int, int], list[Ends]]:
    """The uplinks, first to last, that each packet (flow, psn, kind) took."""
    trace, ports = output["trace"], output["ports"]
    up = (ports["from_tier"] < ports["to_tier"]) & (ports["from_tier"] > 0)
    ends = list(
        zip(*(ports[f"{end}_{of}"].tolist() for end in ("from", "to") for of in ("tier", "index")), strict=True)
    )
    taken: dict[tuple[int, int, int], list[Ends]] = defaultdict(list)
    rows = np.flatnonzero(up[trace["link"]])
    for row in rows[np.argsort(trace["at_ps"][rows], kind="stable")].tolist():
        taken[int(trace["flow"][row]), int(trace["psn"][row]), int(trace["kind"][row])].append(
            ends[int(trace["link"][row])]
        )
    return taken


def living_paths(src: int, dst: int, w: int) -> set[tuple[int, int]]:
    """Pairs (aggregation switch of the pod, core) between hosts of two pods, all four links of which work."""
    dead = {(lower, upper) for lower, upper in DOWN}
    pods, edges = (src // w**2, dst // w**2), (src // w, dst // w)
    return {
        (j, c)
        for j in range(w)
        for c in range(w)
        if not dead
        & {
            link
            for pod, edge in zip(pods, edges, strict=True)
            for link in ((f"edge-{edge}", f"agg-{pod * w + j}"), (f"agg-{pod * w + j}", f"core-{j * w + c}"))
        }
    }


def test_drb_takes_turns_over_the_living_waypoints() -> None:
    """Each host visits every path that works equally often, and none that does not: its modulus is their number."""
    w, pod = 3, 9
    columns = permutation(54, 5, 91, lambda a, b: a // pod != b // pod)
    output = run(configure(fat_tree(6, links_down=DOWN), "drb", measure={"trace": True}), columns)
    visits: dict[tuple[int, int], dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    for (flow, _, kind), links in uplinks_taken(output).items():
        (*_, agg), (*_, core) = links
        visits[flow, kind][agg % w, core % w] += 1
    partial = 0
    for (flow, kind), paths in visits.items():
        src, dst = (int(columns[end][flow]) for end in (("dst", "src") if kind else ("src", "dst")))
        living = living_paths(src, dst, w)
        assert set(paths) == living
        assert sorted({91 // len(living), -(-91 // len(living))}) == sorted(set(paths.values()))
        partial += len(living) < w * w
    assert partial > 20


def test_ofan_gives_each_valid_port_one_packet_a_round() -> None:
    """A pointer that meets a dead port steps on: of any |V| packets in a row each valid port gets one."""
    w = 3
    # One flow an edge switch, so that every pointer there serves one flow, in the order of its packets.
    src = np.arange(18) * w
    dst = (src + 12 * w + 1) % 54
    config = configure(fat_tree(6, links_down=DOWN), "ofan", measure={"trace": True}, transport={"acks": "off"})
    output = run(config, messages(src, dst, 90 * 4096))
    at_edge: dict[int, list[Ends]] = defaultdict(list)
    for (flow, _, _), links in sorted(uplinks_taken(output).items()):
        at_edge[flow].append(links[0])
    rounds = set()
    for flow, links in at_edge.items():
        valid = {j for j, _ in living_paths(int(src[flow]), int(dst[flow]), w)}
        for first in range(len(links) - len(valid) + 1):
            assert {to % w for _, _, _, to in links[first : first + len(valid)]} == valid
        rounds.add(len(valid))
    assert rounds == {2, 3}


def test_ethereal_deflects_from_what_routing_knows_to_be_dead() -> None:
    """A host has no map: it splits over all nine paths, and switches send the dead ones' packets another way."""
    src, dst = 0, 40
    config = configure(fat_tree(6, links_down=DOWN), "ethereal:split=packets", measure={"trace": True})
    output = run(config, messages([src], [dst], 90 * 4096))
    assert output["status"] == "done"
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for (_, _, kind), links in uplinks_taken(output).items():
        if kind == 0:
            counts[links[0][3] % 3, links[1][3] % 3] += 1
    assert set(counts) == living_paths(src, dst, 3)
    assert sum(counts.values()) == 90
    assert sorted(counts.values()) != [15] * 6, "DRB would share equally; here some carry others' packets"
    assert all(count % 10 == 0 for count in counts.values()), "a subflow of 10 packets stays together"


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


def load_and_growth(load: float | Literal["rho-max:hop"], seed: int) -> tuple[float, float]:
    """The largest load of a link by theory, and how often larger queues get when messages get four times as long."""
    failures = FatTreeFailures(edge_agg_probability=0.02, agg_core_probability=0.02, seed=seed)
    fabric = FatTree(radix=8, failures=failures)
    largest = []
    for packets in (300, 1200):
        scenario = Scenario(
            fabric=fabric,
            workload=InterPodPermutation(message=Bytes(packets * 4096)),
            balancer=balancer_from_text("ofan"),
            transport=Paced(load=load, acks="off"),
            run=Run(seed=seed, threads=1),
        )
        largest.append(simulate(scenario).summary["max_queue_packets"])
    broken, sent = with_failures(fabric, seed), build(scenario)
    rate = rho_max(broken, sent.src, sent.dst, "hop") if isinstance(load, str) else load
    most = link_loads(broken, sent.src, sent.dst, "hop")["load_fraction"].to_numpy().max()
    return float(most) * rate, largest[1] / largest[0]


def test_at_the_hop_rate_no_link_is_overloaded_under_ofan() -> None:
    """rho_max by `hop`: loads are at most 1, and then queues keep their size; above it they grow with the messages."""
    for seed in (1, 2, 3):
        load, growth = load_and_growth("rho-max:hop", seed)
        assert load == pytest.approx(1)
        assert growth < 1.7
        load, growth = load_and_growth(1.0, seed)
        assert load > 1.1
        assert growth > 3


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
