"""Results under transports that are not paced: one packet of dcSim computed by hand, and tables made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_core
import numpy as np
import pytest

from fabricsim.bounds import all_bounds, bound_ps, ideal_fct_ps, least_cct_ps
from fabricsim.checks import theorem_2_ps
from fabricsim.errors import BoundViolationError, ScenarioError, UnfinishedError
from fabricsim.results import Results
from fabricsim.run import simulate
from fabricsim.scenario import Bytes, FatTree, InfiniteAllToAll, LeafSpine, Measure, Port, Rps, Rsq, Run, Scenario
from fabricsim.scenario.transports import Dcpim, Dcsim, Pfabric
from fabricsim.workloads import Messages

# Over four links of 800 Gbps and 500 ns; a Data frame takes 41,580 ps, a small one 640 ps, a gap 200 ps.
SIMS = Scenario(fabric=LeafSpine(radix=2), balancer=Rps(), transport=Dcsim(), run=Run(seed=5))
ONE_WAY_PS = 4 * (41_580 + 500_000)
# Theorem 2: RTT_p + 2 H (B delta + L/C + l/C), with delta = (L + 2.1 l)/C and gaps.
RTT_MAX_PS = 8 * 500_000 + 2 * 4 * (12 * (41_780 + 2.1 * 840) + 41_780 + 840)
LANES = ("sim", "sim_ack", "data_ack")


def one_packet(scenario: Scenario = SIMS, *, check: bool = True) -> Results:
    return simulate(scenario, Messages.from_arrays(src=[0], dst=[1], bytes=4096), check=check)


@pytest.fixture
def answer(core: fake_core.Core) -> dict[str, Any]:
    """One Data under dcSim: a Sim, its Sim-Ack, the Data RTT_max after the Sim, and a Data-Ack."""
    answer = core.answer
    assert int(RTT_MAX_PS) == RTT_MAX_PS
    delivered = fake_core.START_PS + int(RTT_MAX_PS) + ONE_WAY_PS
    flows, ports = answer["flows"], answer["ports"]
    for name in ("first_delivered_at_ps", "last_delivered_at_ps"):
        flows[name][:] = delivered
    flows["last_acked_at_ps"][:] = delivered + 4 * 500_640
    flows["delay_ps"][:] = ONE_WAY_PS
    small = fake_core.DATA * 1 + fake_core.ACKS * 2  # a Sim on the way there; a Sim-Ack and a Data-Ack back
    ports["control_frames_count"], ports["control_bytes"] = small, small * 64
    ports |= {"sim_frames_count": fake_core.DATA.copy(), "sim_ack_frames_count": fake_core.ACKS.copy()}
    ports |= {"data_ack_frames_count": fake_core.ACKS.copy(), "max_waiting_data_packets": np.zeros(8, np.uint32)}
    for lane in LANES:
        ports |= {f"dropped_{lane}_count": np.zeros(8, np.uint64)}
        ports |= {f"max_waiting_{lane}_packets": np.zeros(8, np.uint32)}
    answer["totals"]["end_at_ps"] = delivered + 4 * 500_640
    answer["transport"] = {
        "duplicates_count": 0, "data_timeouts_count": 0, "sims_sent_count": 1, "sims_acked_count": 1,
        "sims_timed_out_count": 0, "sim_acks_late_count": 0, "sim_rtt_max_ps": 8 * 500_640,
        "sim_rtt_sum_ps": 8 * 500_640,
    }  # fmt: skip
    return answer


def test_what_the_summary_says_of_sims_delays_and_losses(answer: dict[str, Any]) -> None:
    summary = one_packet().summary
    assert (summary["transport"], summary["load"]) == ("dcsim", None)
    assert summary["rtt_max_us"] == pytest.approx(RTT_MAX_PS / 1e6)
    assert summary["sim_rtt_max_us"] == pytest.approx(8 * 0.50064)
    assert summary["delay_mean_us"] == pytest.approx(ONE_WAY_PS / 1e6)
    assert summary["queueing_delay_mean_us"] == pytest.approx(0, abs=1e-12)
    assert summary["transport_counts"] == answer["transport"]
    assert summary["drops_count"] == {"data": 0, "control": 0, "sim": 0, "sim_ack": 0, "data_ack": 0}
    assert summary["loss_fraction"] == {"data": 0.0, "control": 0.0, "sim": 0.0, "sim_ack": 0.0, "data_ack": 0.0}
    assert summary["collective_cct_mean_us"] == summary["cct_delivered_us"]


def test_the_bound_is_that_of_the_data_alone_and_of_the_last_delivery(answer: dict[str, Any]) -> None:
    del answer
    results = one_packet()
    assert results.summary["bound_us"] == pytest.approx(ONE_WAY_PS / 1e6)
    increase = (RTT_MAX_PS + ONE_WAY_PS) / ONE_WAY_PS - 1
    assert results.summary["cct_increase_fraction"] == pytest.approx(increase)
    assert results.flows["slowdown"][0] == pytest.approx(increase + 1)
    # It is held to more: no Data leaves before RTT_max.
    assert results.totals["least_cct_ps"] == RTT_MAX_PS + ONE_WAY_PS


def test_a_waiting_packet_has_a_queueing_delay(answer: dict[str, Any]) -> None:
    answer["flows"]["delay_ps"] += 1_000_000
    for name in ("first_delivered_at_ps", "last_delivered_at_ps"):
        answer["flows"][name] += 1_000_000
    assert one_packet().flows["queueing_delay_mean_us"][0] == pytest.approx(1)


def test_the_unloaded_path_of_a_short_last_frame_is_shorter(answer: dict[str, Any]) -> None:
    """4,097 bytes: a frame of 4,158 and one of 63, so 4 * (41,580 + 630) / 2 + 4 * 500,000 ps on average."""
    answer["flows"]["packets_count"][:] = answer["flows"]["delivered_packets_count"][:] = 2
    scenario = SIMS.replace(frame=SIMS.frame.replace(last_frame="short"))
    results = simulate(scenario, Messages.from_arrays(src=[0], dst=[1], bytes=4097), check=False)
    answer["flows"]["delay_ps"][:] = 2 * 3_000_000
    later = simulate(scenario, Messages.from_arrays(src=[0], dst=[1], bytes=4097), check=False)
    assert later.flows["queueing_delay_mean_us"][0] == pytest.approx(3 - (2 * 42_210 + 2_000_000) / 1e6)
    assert results.flows["delay_mean_us"][0] == pytest.approx(ONE_WAY_PS / 2e6)


Doctor = Callable[[dict[str, Any]], None]


def hastens(answer: dict[str, Any]) -> None:
    for name in ("first_delivered_at_ps", "last_delivered_at_ps"):
        answer["flows"][name] -= 1


def forgets_a_copy(answer: dict[str, Any]) -> None:
    answer["transport"]["duplicates_count"] = 1


def sends_without_reason(answer: dict[str, Any]) -> None:
    answer["ports"]["data_frames_count"][0] = 2


def acknowledges_what_is_not_there(answer: dict[str, Any]) -> None:
    answer["flows"]["acked_packets_count"][:] = 2


def makes_a_frame(answer: dict[str, Any]) -> None:
    answer["ports"]["control_frames_count"][-2] = 3


def acknowledges_a_sim_twice(answer: dict[str, Any]) -> None:
    answer["transport"]["sims_acked_count"] = 2


def answers_late(answer: dict[str, Any]) -> None:
    answer["transport"] |= {"sims_sent_count": 2, "sims_timed_out_count": 1, "sim_acks_late_count": 1}


def is_slow(answer: dict[str, Any]) -> None:
    answer["transport"]["sim_rtt_max_ps"] = int(RTT_MAX_PS) + 1


@pytest.mark.parametrize(
    ("doctor", "message"),
    [
        (hastens, "less than the ideal"),
        (hastens, "ps that the model admits"),
        (forgets_a_copy, "data frames: 1 came to hosts, 1 packets and 1 duplicates counted"),
        (sends_without_reason, "data frames: 2 sent by hosts, of 1 packets and 0 retransmissions"),
        (acknowledges_what_is_not_there, "flow 0: 2 packets acknowledged, 1 delivered"),
        (makes_a_frame, "control frames: 3 sent by hosts, 4 delivered, 0 dropped and 0 lost"),
        (acknowledges_a_sim_twice, "Sims: 1 sent, 2 acknowledged, 0 timed out, 0 acknowledged after that"),
        (answers_late, "1 Sims' RTTs were above RTT_max"),
        (is_slow, f"more than the {int(RTT_MAX_PS)} ps of dcSim's Theorem 2"),
    ],
)
def test_a_run_that_breaks_physics_is_an_error(answer: dict[str, Any], doctor: Doctor, message: str) -> None:
    one_packet()
    doctor(answer)
    with pytest.raises(BoundViolationError) as raised:
        one_packet()
    assert message in str(raised.value)


def test_what_is_under_way_at_the_end_is_not_missed(answer: dict[str, Any]) -> None:
    """A copy that was sent again, and a control packet, still on their way when all is delivered."""
    answer["ports"]["data_frames_count"][0] = 2
    answer["flows"]["retransmitted_packets_count"][:] = 1
    answer["ports"]["control_frames_count"][0] += 1
    assert one_packet().summary["retransmitted_packets_count"] == 1


def test_copies_are_no_utilisation(answer: dict[str, Any]) -> None:
    once = one_packet().summary["utilisation_fraction"]
    for name in ("data_frames_count", "data_bytes"):
        answer["ports"][name] *= 2
    answer["flows"]["retransmitted_packets_count"][:] = 1
    answer["transport"]["duplicates_count"] = 1
    assert one_packet().summary["utilisation_fraction"] == pytest.approx(once)


def test_theorem_2_needs_its_assumptions() -> None:
    assert theorem_2_ps(SIMS) == RTT_MAX_PS
    slow = FatTree(radix=4, agg_core_link={"rate": "400Gbps", "latency": "500ns"})
    for without in (
        SIMS.replace(fabric=slow),
        SIMS.replace(transport=Dcsim(clock_drift_ppm=40)),
        SIMS.replace(transport=Dcsim(bucket_packets=13)),
        SIMS.replace(balancer=Rsq(), transport=Pfabric()),
    ):
        assert theorem_2_ps(without) is None


@pytest.mark.parametrize(
    ("transport", "wait_ps"),
    [
        (Dcsim(), int(RTT_MAX_PS)),
        (Dcsim(wait_fraction=0.75), int(0.75 * RTT_MAX_PS)),
        (Dcsim(wait_fraction=0), 8 * 500_640),  # the Sim there and the Sim-Ack back
        (Dcsim(clock_drift_ppm=40), int(RTT_MAX_PS * (1 - 40e-6))),
        (Dcsim(small_flows="direct", direct_below_packets=2), 0),
        (Dcsim(small_flows="direct", direct_below_packets=1), int(RTT_MAX_PS)),
    ],
)
def test_how_long_a_lone_flow_waits(transport: Dcsim, wait_ps: int) -> None:
    scenario, messages = SIMS.replace(transport=transport), Messages.from_arrays(src=[0], dst=[1], bytes=4096)
    assert bound_ps(scenario, messages) == ONE_WAY_PS
    assert least_cct_ps(scenario, messages) == wait_ps + ONE_WAY_PS


def test_bounds_of_data_alone() -> None:
    """Three senders of 100 packets, as under paced hosts without ACKs; each flow alone as there, too."""
    messages = Messages.from_arrays([1, 14, 15], [0, 0, 0], 409_600)
    first, receiving = 541_580, 300 * 41_780 - 200 + 500_000
    for transport in (Pfabric(), Dcpim()):
        scenario = Scenario(fabric=FatTree(radix=4), balancer=Rsq(), transport=transport)
        assert bound_ps(scenario, messages) == first + receiving
        assert ideal_fct_ps(scenario, messages).tolist() == [
            99 * 41_780 + links * first for links in (2, 6, 6)
        ]  # fmt: skip


def test_what_starts_late_counts_from_the_first_start() -> None:
    """The second message may start at 100 us: 30 us after the first did, 70 us remain, or all but the jitter."""
    scenario = Scenario(fabric=FatTree(radix=4), balancer=Rsq(), transport=Dcpim())
    messages = Messages.from_arrays([0, 4], [1, 5], 4096, start_ps=[0, 100_000_000])
    one = 2 * 541_580
    assert all_bounds(scenario, messages).bound_ps == 100_000_000 - 41_780 + one
    assert all_bounds(scenario, messages, 30_000_000).bound_ps == 70_000_000 + one
    assert all_bounds(scenario, messages, 5).bound_ps == 100_000_000 - 41_780 + one


def test_a_run_that_is_given_up_names_flows_and_not_pacing(answer: dict[str, Any]) -> None:
    answer["status"] = "stuck"
    answer["flows"]["acked_packets_count"][:] = 0
    answer["flows"]["last_acked_at_ps"][:] = fake_core.NEVER
    answer["ports"]["dropped_control_count"][3] = 1
    answer["ports"]["control_frames_count"][4:] -= fake_core.ACKS[4:]
    answer["ports"]["control_frames_count"][3] -= 1
    with pytest.raises(UnfinishedError) as raised:
        one_packet()
    message = str(raised.value)
    assert "flow 0 (host-0 to host-1): 1 of 1 packets delivered, 0 acknowledged" in message
    assert "paced" not in message
    # Once the core says that all is done, what ends the CCT is the last delivery.
    answer["status"] = "done"
    summary = one_packet().summary
    assert (summary["cct_acked_us"], summary["unfinished_count"]) == (None, 0)
    assert summary["cct_delivered_us"] == pytest.approx((RTT_MAX_PS + ONE_WAY_PS) / 1e6)


def test_a_series_has_utilisation_and_comes_back(answer: dict[str, Any], tmp_path: Path) -> None:
    """Two intervals of 2 us and one of 1 us; 4,158 bytes of 10 ps at two hosts that could receive in each."""
    answer["series"] = {name: np.zeros(3, np.uint64) for name in fake_core.SERIES}
    answer["series"]["end_ps"][:] = (2_000_000, 4_000_000, 5_000_000)
    answer["series"]["delivered_data_bytes"][:] = (0, 8316, 4158)
    assert one_packet().series is None
    results = one_packet(SIMS.replace(measure=Measure(interval="2us", watched_port="leaf-0/host-0")))
    assert results.series is not None
    assert results.series["end_us"].to_list() == [2, 4, 5]
    expected = [0, 2 * 41_580 / 4_000_000, 41_580 / 2_000_000]
    assert results.series["utilisation_fraction"].to_list() == pytest.approx(expected)
    back = Results.read(results.write(tmp_path / "run"))
    assert back.series is not None
    assert back.series.equals(results.series)
    results.write(tmp_path / "run")
    assert Results.read(one_packet().write(tmp_path / "run")).series is None


def test_lanes_are_columns_of_their_own(answer: dict[str, Any]) -> None:
    answer["ports"]["dropped_sim_count"][2] = answer["ports"]["dropped_control_count"][2] = 1
    results = one_packet(check=False)
    assert results.ports["dropped_sim_count"].to_list() == [0, 0, 1, 0, 0, 0, 0, 0]
    assert results.summary["drops_count"]["sim"] == 1
    # One Sim was sent; of control frames there were three.
    assert results.summary["loss_fraction"]["sim"] == 1.0
    assert results.summary["loss_fraction"]["control"] == pytest.approx(1 / 3)


def test_a_port_too_small_for_its_lanes_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"port\.buffer"):
        SIMS.replace(port=Port(buffer=Bytes("4200B")))


def test_flows_without_end_are_no_error_and_have_a_utilisation(core: fake_core.Core) -> None:
    """Two hosts that send each other 4,158 bytes of 10 ps in 10 us."""
    scenario = Scenario(fabric=LeafSpine(radix=2), workload=InfiniteAllToAll(duration="10us"))
    answer = core.answer
    answer["status"] = "time-limit"
    answer["totals"]["end_at_ps"] = 10_000_000
    for name, column in answer["flows"].items():
        answer["flows"][name] = np.repeat(column, 2)
    answer["flows"]["packets_count"][:] = 2**32 - 1
    answer["flows"]["started_at_ps"][:] = 0
    for name in ("last_delivered_at_ps", "last_acked_at_ps"):
        answer["flows"][name][:] = fake_core.NEVER
    for name in ("data_frames_count", "data_bytes", "control_frames_count", "control_bytes"):
        answer["ports"][name] = answer["ports"][name] + answer["ports"][name][[1, 0, 3, 2, 5, 4, 7, 6]]
    summary = simulate(scenario).summary
    assert (summary["status"], summary["unfinished_count"], summary["flows_count"]) == ("time-limit", 0, 2)
    assert (summary["cct_delivered_us"], summary["bound_us"], summary["packets_count"]) == (None, None, None)
    assert summary["utilisation_fraction"] == pytest.approx(41_580 / 10_000_000)
