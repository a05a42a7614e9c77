"""Bounds: the paper's figures, hosts simulated frame by frame, hand computation, and runs that never beat them."""

from __future__ import annotations

import json
import random
from collections import deque
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fabricsim.bounds import bound_ps, ideal_fct_ps, least_cct_ps
from fabricsim.scenario import (
    AllToAll,
    Drb,
    Ecmp,
    FatTree,
    Frame,
    Incast,
    Jsq,
    LeafSpine,
    Link,
    MessageList,
    Ofan,
    Paced,
    Permutation,
    Rsq,
    Run,
    Scenario,
    SimpleRr,
    core_config,
)
from fabricsim.workloads import Messages, build

NS = 1000


def swap(packets: int, far: int = 15, **parts: Any) -> tuple[Scenario, Messages]:
    """Hosts 0 and `far` send each other `packets` packets."""
    scenario = Scenario(**{"fabric": FatTree(radix=4), **parts})
    size = packets * int(scenario.frame.payload)
    return scenario, Messages.from_arrays([0, far], [far, 0], size)


# In us; 17.05694 is printed in the Ofan paper, the others are Appendix A's formulas (docs/explanation/measures.md).
@pytest.mark.parametrize(
    ("packets", "bound_us"),
    [
        (119, "11.21800"), (256, "17.05694"), (418, "23.96138"), (512, "27.96766"), (1024, "49.78910"),
        (1533, "71.48268"), (2048, "93.43198"), (4096, "180.71774"),
    ],
)  # fmt: skip
def test_appendix_a_gives_the_papers_figures(packets: int, bound_us: str) -> None:
    scenario = Scenario(workload=Permutation(message=f"{4096 * packets}B"))
    assert bound_ps(scenario, build(scenario)) == Fraction(bound_us) * 10**6
    assert least_cct_ps(scenario, build(scenario)) == Fraction(bound_us) * 10**6 - 200


def test_appendix_a_by_hand() -> None:
    """m = 256: i1 = 78, so the last data packet is the 178th of 178 that alternate with ACKs."""
    data, ack, gap, links = 41_580, 640, 200, 6 * 500 * NS
    i1 = -(-(links + 5 * data) // (data + gap)) + 1
    assert i1 == 78
    last_ack_before = links + 6 * data + (i1 - 1) * (data + gap) + (ack + gap) + (256 - i1) * (data + ack + 2 * gap)
    assert bound_ps(*swap(256)) == last_ack_before + 5 * ack + links == 17_056_940


def pair_cct_ps(packets: int, hops: list[tuple[int, int]], frame: Frame, load: float) -> int:
    """Two hosts send each other packets over a path of (ps per byte, latency) links: simulated frame by frame.

    Both do the same at the same time, so one is simulated, and what it sends is what it receives.
    """
    data, ack, gap = int(frame.data_bytes), int(frame.ack), int(frame.gap)
    free_at = [0] * len(hops)

    def arrival(kind: int, at: int) -> int:
        for hop, (byte, latency) in enumerate(hops):
            start = max(at, free_at[hop])
            free_at[hop] = start + (kind + gap) * byte
            at = start + kind * byte + latency
        return at

    byte = hops[0][0]
    interval = int((data + gap) * byte / load + 0.5)
    now, sent, next_data, last_was_data, end = 0, 0, 0, False, 0
    acks: deque[int] = deque()
    while sent < packets or acks:
        data_at = max(next_data, now) if sent < packets else None
        ack_at = max(acks[0], now) if acks else None
        if ack_at is None or (data_at is not None and (data_at < ack_at or (data_at == ack_at and not last_was_data))):
            assert data_at is not None
            acks.append(arrival(data, data_at))
            now, sent, next_data, last_was_data = data_at + (data + gap) * byte, sent + 1, data_at + interval, True
        else:
            acks.popleft()
            end = arrival(ack, ack_at)
            now, last_was_data = ack_at + (ack + gap) * byte, False
    return end


@pytest.mark.parametrize("packets", [1, 2, 25, 26, 77, 78, 79, 119, 256, 600])
@pytest.mark.parametrize(("far", "links"), [(1, 2), (2, 4), (15, 6)])
def test_a_pair_simulated_frame_by_frame_meets_the_bound(packets: int, far: int, links: int) -> None:
    expected = pair_cct_ps(packets, [(10, 500 * NS)] * links, Frame(), 1.0)
    scenario, messages = swap(packets, far)
    assert bound_ps(scenario, messages) - 200 <= least_cct_ps(scenario, messages) <= expected
    # Equal but for short messages, where ACKs do not wait for data.
    assert expected - bound_ps(scenario, messages) in (0, -200)


@pytest.mark.parametrize("load", [0.3, 0.9, 0.985, 1.0])
@pytest.mark.parametrize(
    "frame", [Frame(), Frame(payload="9000B", header="1B", gap="0B"), Frame(ack="900B", gap="99B")]
)
def test_other_frames_rates_and_loads(load: float, frame: Frame) -> None:
    fabric = FatTree(radix=4, rate="100Gbps", latency="123ns")
    for packets in (1, 7, 8, 9, 100):
        scenario, messages = swap(packets, fabric=fabric, frame=frame, transport=Paced(load=load))
        expected = pair_cct_ps(packets, [(80, 123 * NS)] * 6, frame, load)
        assert 0 <= expected - least_cct_ps(scenario, messages) <= 0.01 * expected


def test_appendix_a_needs_its_assumptions() -> None:
    """Each broken assumption gives the naive bound, which lacks the ACKs between the data: it is lower."""
    scenario, messages = swap(256)
    appendix_a, naive = bound_ps(scenario, messages), 255 * 41_780 + 6 * 541_580 + 6 * 500_640
    assert naive < appendix_a
    one_way = Messages.from_arrays([0, 1], [15, 14], 2**20)
    waiting = Messages.from_arrays([0, 15], [15, 0], 2**20, dep_message=[1], dep_on=[0], dep_event=[0])
    unequal = Messages.from_arrays([0, 15], [15, 0], [2**20, 4096])
    assert bound_ps(scenario, one_way) == naive
    assert bound_ps(scenario, unequal) == naive
    # At host 15 the dependency acts at once; then the other message takes its time.
    assert bound_ps(scenario, waiting) == 255 * 41_780 + 6 * 541_580 + naive
    silent = scenario.replace(transport=Paced(acks="off"))
    assert bound_ps(silent, messages) == 255 * 41_780 + 6 * 541_580


def test_incast_is_held_up_at_its_receiver() -> None:
    """3 senders of 100 packets: one reaches the last switch, 300 cross the last link, an ACK returns."""
    scenario = Scenario(fabric=FatTree(radix=4))
    near = Messages.from_arrays([1, 14, 15], [0, 0, 0], 409_600)
    first = 541_580
    receiving = 300 * 41_780 - 200 + 500_000
    assert bound_ps(scenario, near) == first + receiving + 2 * 500_640
    far = Messages.from_arrays([13, 14, 15], [0, 0, 0], 409_600)
    assert bound_ps(scenario, far) == 5 * first + receiving + 6 * 500_640


def test_all_to_all_is_held_up_at_its_hosts() -> None:
    scenario = Scenario(fabric=LeafSpine(radix=4), workload=AllToAll(message="200kB", order="shift"))
    # 7 messages of 49 packets; at best the last sent goes to the host under the same leaf.
    assert bound_ps(scenario, build(scenario)) == 342 * 41_780 + 2 * 541_580 + 2 * 500_640


def test_late_starts_count_less_the_jitter_of_the_first() -> None:
    scenario = Scenario(fabric=FatTree(radix=4), transport=Paced(start_jitter="none"))
    messages = Messages.from_arrays([0, 2], [1, 3], 4096, start_ps=[5_000, 9_000_000])
    one = 2 * 541_580 + 2 * 500_640
    assert bound_ps(scenario, messages) == 9_000_000 - 5_000 + one
    assert bound_ps(scenario.replace(transport=Paced()), messages) == 9_000_000 - 5_000 - 41_780 + one


def test_chains_and_turns() -> None:
    """A message starts when its dependency or its trigger lets it: across hosts one link latency later."""
    scenario = Scenario(fabric=FatTree(radix=4, latency="100ns"))
    data, ack, signal = 2 * 141_580, 2 * 100_640, 100_000
    # 0->1, then 1->0 at once on delivery; then 4->5 on its ACK, across hosts.
    chain = Messages.from_arrays([0, 1, 4], [1, 0, 5], 4096, dep_message=[1, 2], dep_on=[0, 1], dep_event=[0, 1])
    assert bound_ps(scenario, chain) == data + (data + ack + signal) + (data + ack)
    # Multishot: 4->5 starts with the first delivery, 6->7 with the second, which is three packets later.
    turns = Messages.from_arrays(
        [0, 2, 4, 6], [1, 3, 5, 7], [4096, 4 * 4096, 4096, 4096],
        trigger_count=[0], fire_trigger=[0, 0], fire_message=[1, 0], fire_event=[0, 0],
        target_trigger=[0, 0], target_message=[2, 3],
    )  # fmt: skip
    assert bound_ps(scenario, turns) == (data + 3 * 41_780 + signal) + (data + ack)


@pytest.mark.parametrize(
    ("packets", "links", "expected"),
    # results of htsim on an idle network lack the gap; here n packets: (n-1) * 41.78 + h * 541.58 ns.
    [(1, 2, 1_083_160), (1, 6, 3_249_480), (256, 6, 255 * 41_780 + 3_249_480)],
)
def test_ideal_fct(packets: int, links: int, expected: int) -> None:
    far = {2: 1, 4: 2, 6: 15}[links]
    assert ideal_fct_ps(*swap(packets, far)).tolist() == [expected, expected]


def single_path_fct_ps(sizes: list[int], hops: list[tuple[int, int]], gap: int, load: float) -> int:
    """Frames of one flow through links in a row, one after the other."""
    free_at = [0] * len(hops)
    begin = end = 0
    for size in sizes:
        at = begin
        for hop, (byte, latency) in enumerate(hops):
            start = max(at, free_at[hop])
            free_at[hop] = start + (size + gap) * byte
            at = start + size * byte + latency
        end = max(end, at)
        begin += int((size + gap) * hops[0][0] / load + 0.5)
    return end


@pytest.mark.parametrize("load", [0.5, 1.0])
@pytest.mark.parametrize("last_frame", ["full", "short"])
@pytest.mark.parametrize("rates", [(800, 800, 800), (800, 400, 100), (100, 800, 200)])
def test_ideal_fct_on_one_path(rates: tuple[int, int, int], last_frame: str, load: float) -> None:
    """A fabric of radix 2 has one path, on which the ideal is what the frames take one after the other."""
    links = [Link(rate=f"{rate}Gbps", latency=f"{rate}ns") for rate in rates]
    fabric = FatTree(radix=2, host_link=links[0], edge_agg_link=links[1], agg_core_link=links[2])
    frame = Frame(last_frame=last_frame)  # type: ignore[arg-type]
    scenario = Scenario(fabric=fabric, frame=frame, transport=Paced(load=load))
    up = [(8000 // rate, rate * NS) for rate in rates]
    for size in (0, 1, 4095, 4096, 4097, 40_960, 100_000):
        whole, rest = divmod(size, 4096)
        last = [] if size and not rest else [62 + rest if last_frame == "short" or not size else 4158]
        expected = single_path_fct_ps([4158] * whole + last, up + up[::-1], 20, load)
        ideal = int(ideal_fct_ps(scenario, Messages.from_arrays([0], [1], size))[0])
        # A short frame may overtake whole ones where there are several paths, which the ideal allows for.
        assert expected - (2 * 4158 * 80 if last_frame == "short" and rest else 0) <= ideal <= expected


def test_ideal_fct_spreads_over_slow_uplinks() -> None:
    """4 uplinks of a quarter of the host's rate carry what it sends, so they do not slow a long message."""
    fabric = LeafSpine(radix=8, leaf_spine_link=Link(rate="200Gbps", latency="500ns"))
    messages = Messages.from_arrays([0], [31], 400 * 4096)
    slow, fast = 2 * (4 * 41_580 + 500_000), 2 * (41_580 + 500_000)
    assert ideal_fct_ps(Scenario(fabric=fabric), messages)[0] == 399 * 41_780 + slow + fast
    half = LeafSpine(radix=8, oversubscription=2, leaf_spine_link=Link(rate="200Gbps", latency="500ns"))
    assert ideal_fct_ps(Scenario(fabric=half), messages)[0] == 199 * 4 * 41_780 + slow + fast


def test_nothing_overflows() -> None:
    scenario = Scenario(fabric=FatTree(radix=4, rate="10Gbps"))
    messages = Messages.from_arrays([0, 15], [15, 0], 10**13)
    packets = -(-(10**13) // 4096)
    path, byte = 6 * 500 * NS, 800
    assert ideal_fct_ps(scenario, messages)[0] == (packets - 1) * 4178 * byte + 6 * 4158 * byte + path
    assert bound_ps(scenario, messages) > packets * 4178 * byte


def random_scenario(draw: random.Random) -> Scenario:
    links = {"host_link": Link(rate="300Gbps", latency="100ns")} if draw.random() < 0.3 else {}
    fabric = draw.choice([FatTree(radix=4, **links), LeafSpine(radix=4, **links), FatTree(radix=2, **links)])
    hosts = fabric.hosts_count
    acks = draw.choice(["per-packet", "off"])
    size = f"{draw.choice([0, 1, 4096 * draw.randint(1, 200), draw.randint(1, 300_000)])}B"
    messages: list[dict[str, Any]] = []
    for number in range(12):
        src, dst = draw.sample(range(hosts), 2)
        event = draw.choice(["delivered", "acked"]) if acks != "off" else "delivered"
        after = [{"id": before, "event": event} for before in range(number) if draw.random() < 0.15]
        start = f"{draw.choice([0, draw.randint(0, 5000)])}ns"
        messages.append({"src": src, "dst": dst, "bytes": size, "start": start, "id": number, "after": after})
    workload = draw.choice(
        [
            Permutation(message=size), AllToAll(message="10kB"), Incast(senders=hosts - 1, message=size),
            MessageList.model_validate({"messages": messages}),
        ]
    )  # fmt: skip
    return Scenario(
        fabric=fabric,
        workload=workload,
        balancer=draw.choice([Ofan(), Drb(), Rsq(), Jsq(), SimpleRr(), Ecmp()]),
        frame=Frame(last_frame=draw.choice(["full", "short"]), gap=draw.choice(["0B", "20B"])),
        transport=Paced(load=draw.choice([1.0, 0.99, 0.5]), acks=acks, start_jitter=draw.choice(["uniform", "none"])),
        run=Run(seed=draw.getrandbits(63)),
    )


@pytest.mark.parametrize("seed", range(60))
def test_no_run_beats_its_bounds(seed: int) -> None:
    core = pytest.importorskip("fabricsim._core")
    scenario = random_scenario(random.Random(seed))
    messages = build(scenario)
    flows = core.run(json.dumps(core_config(scenario)), messages.to_door(), None)["flows"]
    started = flows["started_at_ps"].astype(np.int64)
    assert np.all(flows["last_delivered_at_ps"].astype(np.int64) - started >= ideal_fct_ps(scenario, messages))
    last = "last_acked_at_ps" if scenario.transport.acks == "per-packet" else "last_delivered_at_ps"
    assert int(flows[last].max()) - int(started.min()) >= least_cct_ps(scenario, messages)
