"""dcSim at the door: what a run does not depend on, what it counts, and a lone flow computed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from door import Columns, Config, assert_same, fat_tree, leaf_spine, messages, run
from door_dcsim import HOP, RTT_MAX_PS, dcsim

from fabricsim import simulate
from fabricsim.scenario import scenario_from_mapping

DATA, SIM, SIM_ACK, DATA_ACK = 0, 2, 3, 4
LANES = {SIM: "sim", SIM_ACK: "sim_ack", DATA_ACK: "data_ack"}
LOSSES = [{"packet": kind, "ppm": 20_000} for kind in ("data", "sim", "sim-ack", "data-ack")]
UNEVEN = {"clock_drift_ppm": 40.0, "start_jitter": "uniform", "data_timeout_ps": 100_000_000}


def collectives(seed: int = 1) -> Columns:
    """Three all-to-alls of 5 of 16 hosts with sizes of their own, and flows that wait for theirs."""
    draw = np.random.default_rng(seed)
    rows = [
        (src, dst, collective)
        for collective in range(3)
        for src, dst in _pairs(draw.choice(16, 5, replace=False).tolist())
    ]
    src, dst, collective = np.array(rows).T
    sizes = draw.integers(1, 12 * 9000, len(rows))
    waits = {"dep_message": [50, 51, 52], "dep_on": [0, 1, 2], "dep_event": [0, 1, 1]}
    columns = messages(src, dst, map(int, sizes), map(int, collective * 1_000_000), **waits)
    return columns | {"collective": collective.astype(np.uint32), "rank": np.zeros(len(rows), dtype=np.uint32)}


def _pairs(hosts: list[int]) -> list[tuple[int, int]]:
    return [(a, b) for a in hosts for b in hosts if a != b]


def assert_same_flows(one: Any, other: Any, order: Any = slice(None)) -> None:
    assert one["status"] == other["status"] == "done"
    assert one["transport"] == other["transport"]
    for name, column in one["flows"].items():
        np.testing.assert_array_equal(column[order], other["flows"][name], err_msg=name)


def test_a_lone_flow_of_three_packets_by_hand() -> None:
    """Host 0 to host 1 under one leaf; room for two tokens. A Sim takes 640 ps, a Data 90,000, each link 650,000 more.

    Links: 0 host 0 to leaf, 1 host 1 to leaf, 2 leaf to host 0, 3 leaf to host 1.
    """
    config = dcsim(leaf_spine(1, 2, 1, HOP), bucket_packets=2)
    output = run(config, messages([0], [1], 3 * 9000))
    wanted = [
        # Sims leave at 0 and 640; the third token comes 90,000 + 2.1 * 640 = 91,344 after the first was spent.
        (650_640, 0, 0, SIM),
        (651_280, 0, 1, SIM),
        (91_344 + 650_640, 0, 2, SIM),
        # So it does at the leaf: the first leaves it at 650,640, the third comes 91,344 later and finds a token.
        (1_301_280, 3, 0, SIM),
        (1_301_920, 3, 1, SIM),
        (91_344 + 1_301_280, 3, 2, SIM),
        # Sim-Acks follow at once and need no tokens.
        (1_951_920, 1, 0, SIM_ACK),
        (1_952_560, 1, 1, SIM_ACK),
        (91_344 + 1_951_920, 1, 2, SIM_ACK),
        (2_602_560, 2, 0, SIM_ACK),
        (2_603_200, 2, 1, SIM_ACK),
        (91_344 + 2_602_560, 2, 2, SIM_ACK),
        # Datas are due RTT_max after 0, 640 and 91,344. The second waits for the first, the third for the second.
        (RTT_MAX_PS + 1 * 90_000 + 650_000, 0, 0, DATA),
        (RTT_MAX_PS + 2 * 90_000 + 650_000, 0, 1, DATA),
        (RTT_MAX_PS + 3 * 90_000 + 650_000, 0, 2, DATA),
        # The leaf sends each when it has the whole, when the one before has just left.
        (RTT_MAX_PS + 2 * 90_000 + 1_300_000, 3, 0, DATA),
        (RTT_MAX_PS + 3 * 90_000 + 1_300_000, 3, 1, DATA),
        (RTT_MAX_PS + 4 * 90_000 + 1_300_000, 3, 2, DATA),
        # The last Data is acknowledged at once: all below 3 are there.
        (RTT_MAX_PS + 360_000 + 1_300_000 + 650_640, 1, 3, DATA_ACK),
        (RTT_MAX_PS + 360_000 + 1_300_000 + 2 * 650_640, 2, 3, DATA_ACK),
    ]
    trace = zip(*(output["trace"][name].tolist() for name in ("at_ps", "link", "psn", "kind")), strict=True)
    assert list(trace) == sorted(wanted)
    flow = {name: int(column[0]) for name, column in output["flows"].items()}
    assert (flow["started_at_ps"], flow["last_acked_at_ps"]) == (0, RTT_MAX_PS + 360_000 + 2_601_280)
    assert (flow["retransmitted_packets_count"], flow["reordered_packets_count"]) == (0, 0)
    assert flow["delay_ps"] == 3 * (2 * 90_000 + 2 * 650_000)
    counts = output["transport"]
    assert (counts["sims_sent_count"], counts["sims_acked_count"], counts["sims_timed_out_count"]) == (3, 3, 0)
    assert (counts["sim_rtt_max_ps"], counts["sim_rtt_sum_ps"]) == (2_602_560, 3 * 2_602_560)
    # All Sims were put into the host's port at once; the third Data is due when the second has just left it.
    assert output["ports"]["max_waiting_sim_packets"][:4].tolist() == [3, 0, 0, 1]
    assert output["ports"]["max_waiting_data_packets"][:4].tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("losses", [(), LOSSES], ids=["no losses", "losses"])
@pytest.mark.parametrize("wait_ps", [RTT_MAX_PS, 0])
def test_any_number_of_threads_gives_the_same_bytes(wait_ps: int, losses: list[Config]) -> None:
    one, two, three = (
        run(dcsim(fat_tree(4, HOP), threads=threads, losses=losses, wait_ps=wait_ps, **UNEVEN), collectives())
        for threads in (1, 2, 3)
    )
    assert len(one["trace"]["at_ps"]) > 5_000
    assert bool(one["transport"]["data_timeouts_count"]) == bool(losses)
    for other in (two, three):
        assert_same(one, other, but=("threads", "peak_rings_bytes"))


def test_any_number_of_threads_gives_the_same_hash() -> None:
    def hash_of(threads: int, seed: int = 1) -> str:
        fabric = {"kind": "fat-tree", "radix": 4, "losses": [{"packet": "sim", "probability": 0.01}]}
        workload = {"kind": "all-to-all", "message": "90kB"}
        mapping = {"preset": "dcsim-paper", "fabric": fabric, "workload": workload}
        scenario = scenario_from_mapping(mapping | {"run": {"threads": threads, "seed": seed}})
        return str(simulate(scenario).summary["result_hash"])

    assert hash_of(1) == hash_of(2) == hash_of(3) != hash_of(1, seed=2)


@pytest.mark.parametrize("direct_below_packets", [0, 5])
def test_the_order_of_the_list_means_nothing(direct_below_packets: int) -> None:
    columns = collectives()
    order = np.random.default_rng(3).permutation(len(columns["src"]))
    place = np.argsort(order).astype(np.uint32)
    shuffled = {name: columns[name][order] for name in ("src", "dst", "bytes", "start_ps", "rank", "collective")}
    shuffled |= {name: place[columns[name]] for name in ("dep_message", "dep_on")}
    config = dcsim(fat_tree(4, HOP), losses=LOSSES, direct_below_packets=direct_below_packets, **UNEVEN)
    assert_same_flows(run(config, columns), run(config, columns | shuffled), order)


def test_to_measure_changes_nothing() -> None:
    def outcome(**measure: Any) -> Any:
        return run(dcsim(fat_tree(4, HOP), losses=LOSSES, **UNEVEN, **measure), collectives())

    plain = outcome(trace=False, queues=False)
    assert len(plain["trace"]["at_ps"]) == len(plain["series"]["end_ps"]) == 0
    assert not plain["ports"]["max_queue_bytes"].any()
    for interval_ps in (None, 100_000, 777_777, 10**9):
        watched_port = ["edge-0", "host-1"] if interval_ps else None
        other = outcome(trace=True, queues=True, interval_ps=interval_ps, watched_port=watched_port)
        assert_same_flows(plain, other)
        assert other["ports"]["max_queue_bytes"].any()


@pytest.mark.parametrize("interval_ps", [100_000, 777_777, 10**9])
def test_the_series_sums_up_to_what_flows_and_ports_have(interval_ps: int) -> None:
    config = dcsim(fat_tree(4, HOP), losses=LOSSES, queue_packets=3, interval_ps=interval_ps, **UNEVEN)
    config["measure"]["watched_port"] = ["edge-0", "host-1"]
    output = run(config, collectives())
    series = {name: int(column.sum()) for name, column in output["series"].items()}
    flows, ports = output["flows"], output["ports"]
    assert series["delivered_packets_count"] == flows["packets_count"].sum()
    assert series["delivered_data_bytes"] == 9000 * flows["packets_count"].sum()
    assert series["reordered_packets_count"] == flows["reordered_packets_count"].sum() > 0
    sent = flows["packets_count"].sum() + flows["retransmitted_packets_count"].sum()
    assert series["sent_data_packets_count"] == sent > flows["packets_count"].sum()
    assert series["dropped_data_count"] == ports["dropped_data_count"].sum()
    assert series["dropped_control_count"] == ports["dropped_control_count"].sum() > 0
    watched = (ports["from_tier"] == 1) & (ports["to_tier"] == 0) & (ports["to_index"] == 1)
    assert series["port_sim_frames_count"] == ports["sim_frames_count"][watched].sum() > 0
    assert series["port_data_frames_count"] == ports["data_frames_count"][watched].sum() > 0
    ends = output["series"]["end_ps"].tolist()
    assert ends[:-1] == list(range(interval_ps, ends[-1], interval_ps))
    assert ends[-1] == output["totals"]["end_at_ps"]


def test_every_frame_of_every_lane_is_accounted_for() -> None:
    """At each switch what comes in goes out or is dropped; a lone flow that ends the run leaves nothing waiting."""
    columns = collectives()
    last = messages([0], [15], 3 * 9000, 2_000_000_000)
    columns = {name: np.concatenate([column, last[name]]) for name, column in columns.items()}
    config = dcsim(fat_tree(4, HOP), losses=LOSSES, queue_packets=3, data_buffer_bytes=45_000, **UNEVEN)
    output = run(config, columns)
    ports, trace, counts = output["ports"], output["trace"], output["transport"]
    assert output["status"] == "done"
    for kind, lane in LANES.items():
        received = np.bincount(trace["link"][trace["kind"] == kind], minlength=len(ports["from_tier"]))
        started, dropped = ports[f"{lane}_frames_count"], ports[f"dropped_{lane}_count"]
        assert (received <= started).all()
        assert started.sum() > received.sum(), "some are lost"
        assert_conserved(ports, received, started + dropped)
    received = np.bincount(trace["link"][trace["kind"] == DATA], minlength=len(ports["from_tier"]))
    np.testing.assert_array_equal(received, ports["data_frames_count"])
    assert_conserved(
        ports, received, ports["data_frames_count"] + ports["lost_data_count"] + ports["dropped_data_count"]
    )
    is_nic = ports["from_tier"] == 0
    into_hosts = received[ports["to_tier"] == 0].sum()
    assert into_hosts == output["flows"]["packets_count"].sum() + counts["duplicates_count"]
    assert counts["sims_sent_count"] == ports["sim_frames_count"][is_nic].sum()
    assert counts["sims_sent_count"] == counts["sims_acked_count"] + counts["sims_timed_out_count"]
    assert counts["sim_acks_late_count"] == 0, "RTT_max bounds what a Sim takes (Theorem 2)"
    assert counts["sim_rtt_max_ps"] <= RTT_MAX_PS
    assert ports["dropped_sim_count"].sum() > 0


def assert_conserved(ports: Any, received: Any, handed_on: Any) -> None:
    """By switch."""
    for tier in (1, 2, 3):
        for index in range(int(ports["from_index"][ports["from_tier"] == tier].max()) + 1):
            comes = (ports["to_tier"] == tier) & (ports["to_index"] == index)
            goes = (ports["from_tier"] == tier) & (ports["from_index"] == index)
            assert received[comes].sum() == handed_on[goes].sum(), (tier, index)


def test_lost_datas_are_all_that_is_sent_again() -> None:
    """A Data-Ack names all that has arrived (dcSim section 2.4, step 4, and docs/explanation/transports.md)."""
    config = dcsim(fat_tree(4, HOP), losses=[{"packet": "data", "ppm": 3000}])
    lost = again = 0
    for config["seed"] in range(60):
        output = run(config, messages([0], [15], 16 * 9000))
        lost += int(output["ports"]["lost_data_count"].sum())
        again += int(output["flows"]["retransmitted_packets_count"][0])
    assert again == lost > 0


@pytest.mark.parametrize("interval_ps", [100_000, 700_001, 10**9])
def test_a_run_that_is_cut_ends_at_its_limit_with_and_without_series(interval_ps: int) -> None:
    """Windows of 650 ns, cut at 40.3 us: neither they nor intervals decide where a run ends."""
    config = dcsim(fat_tree(4, HOP), losses=LOSSES, **UNEVEN) | {"time_limit_ps": 40_300_001}
    plain = run(config, collectives())
    config["measure"] |= {"interval_ps": interval_ps}
    other = run(config, collectives())
    assert plain["status"] == "time-limit"
    assert plain["totals"]["end_at_ps"] == 40_300_001
    assert_same(plain | {"series": {}}, other, but=("peak_rings_bytes",))
    assert other["series"]["end_ps"].tolist()[-1] == 40_300_001
