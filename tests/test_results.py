"""Tables, summary and checks against one packet's journey computed by hand (see fake_core)."""

from pathlib import Path
from typing import Any

import fake_core
import numpy as np
import polars as pl
import pytest

from fabricsim import metrics
from fabricsim.errors import BoundViolationError, ScenarioError, UnfinishedError
from fabricsim.results import Results
from fabricsim.run import simulate
from fabricsim.scenario import LeafSpine, Measure, Paced, Run, Scenario
from fabricsim.scenario.losses import Loss
from fabricsim.workloads import Messages

PAIR = Scenario(fabric=LeafSpine(radix=2), run=Run(seed=5))


@pytest.fixture
def answer(core: fake_core.Core) -> dict[str, Any]:
    """What the core is going to say; a test may change it before it simulates."""
    return core.answer


def one_packet(scenario: Scenario = PAIR, *, check: bool = True) -> Results:
    return simulate(scenario, Messages.from_arrays(src=[0], dst=[1], bytes=4096), check=check)


def test_flow_moments_are_exact_and_in_microseconds(answer: dict[str, Any]) -> None:
    del answer
    (flow,) = one_packet().flows.to_dicts()
    assert (flow["message"], flow["src"], flow["dst"], flow["message_bytes"], flow["packets_count"]) == (
        0,
        0,
        1,
        4096,
        1,
    )
    assert flow["start_ps"] == 1_000
    assert flow["fct_ps"] == 2_166_320
    assert flow["last_acked_ps"] == 4_169_880
    assert flow["last_acked_us"] == pytest.approx(4.16988, rel=1e-12)
    assert flow["slowdown"] == 1.0  # the only packet of an idle fabric


def test_ports_are_named_and_their_use_is_frames_and_gaps_over_the_duration(answer: dict[str, Any]) -> None:
    del answer
    ports = one_packet().ports
    assert ports["from"].to_list()[:3] == ["host-0", "host-1", "leaf-0"]
    assert ports["stage"].unique(maintain_order=True).to_list() == [
        "host-leaf",
        "leaf-spine",
        "spine-leaf",
        "leaf-host",
    ]
    assert ports["direction"].to_list() == ["up"] * 4 + ["down"] * 4
    # 4158 + 20 bytes of 10 ps each in a round trip of 4,168,880 ps
    assert ports["utilisation_fraction"][0] == pytest.approx(41_780 / 4_168_880, rel=1e-12)
    assert ports["mean_queue_packets"][0] == pytest.approx(41_580 / 4_168_880, rel=1e-12)


def test_summary_holds_both_completion_times(answer: dict[str, Any]) -> None:
    del answer
    summary = one_packet().summary
    assert summary["cct_acked_us"] == pytest.approx(4.16888, rel=1e-12)
    assert summary["cct_delivered_us"] == pytest.approx(2.16632, rel=1e-12)
    assert summary["utilisation_fraction"] == pytest.approx(41_580 / 4_168_880, rel=1e-12)
    assert list(summary["queues"]) == ["host-leaf", "leaf-spine", "spine-leaf", "leaf-host"]
    # of the two links of a stage one carried all the data: 1 / mean(1, 0) - 1
    assert summary["queues"]["leaf-spine"]["overload_fraction"] == 1.0
    assert summary["unfinished_count"] == 0


def test_without_acks_the_delivered_time_counts(answer: dict[str, Any]) -> None:
    answer["flows"]["last_acked_at_ps"][:] = fake_core.NEVER
    answer["flows"]["acked_packets_count"][:] = 0
    for column in ("control_bytes", "control_frames_count"):
        answer["ports"][column][:] = 0
    summary = one_packet(PAIR.replace(transport=Paced(acks="off"))).summary
    assert summary["cct_acked_us"] is None
    assert summary["cct_increase_fraction"] == pytest.approx(2.16632 / summary["bound_us"] - 1, abs=1e-12)


@pytest.mark.parametrize(("queued_bytes", "packets"), [(4157, 0), (4158, 1), (8315, 1), (8316, 2)])
def test_a_queue_counts_whole_data_frames(answer: dict[str, Any], queued_bytes: int, packets: int) -> None:
    answer["ports"]["max_queue_bytes"][:] = 0
    answer["ports"]["max_queue_bytes"][2] = queued_bytes
    summary = one_packet().summary
    assert summary["max_queue_packets"] == packets
    assert summary["max_queue_bytes"] == queued_bytes


def test_a_hosts_own_queue_is_not_the_largest_queue(answer: dict[str, Any]) -> None:
    answer["ports"]["max_queue_bytes"][0] = 10**9
    assert one_packet().summary["max_queue_bytes"] == 4158


def test_unmeasured_queues_are_null(answer: dict[str, Any]) -> None:
    del answer
    results = one_packet(PAIR.replace(measure=Measure(queues=False)))
    assert results.summary["max_queue_packets"] is None
    assert results.summary["queues"]["leaf-spine"]["max_packets"] is None
    assert results.ports["max_queue_bytes"].null_count() == 8


def lose_the_packet_at_the_leaf(answer: dict[str, Any]) -> None:
    for column in ("first_delivered_at_ps", "last_delivered_at_ps", "last_acked_at_ps"):
        answer["flows"][column][:] = fake_core.NEVER
    for column in ("delivered_packets_count", "acked_packets_count"):
        answer["flows"][column][:] = 0
    for column in ("data_bytes", "data_frames_count"):
        answer["ports"][column][2:] = 0
    for column in ("control_bytes", "control_frames_count"):
        answer["ports"][column][:] = 0
    answer["ports"]["dropped_data_count"][2] = 1
    answer["status"] = "stuck"


def test_an_unfinished_run_names_the_flow_and_the_port_that_dropped(answer: dict[str, Any]) -> None:
    lose_the_packet_at_the_leaf(answer)
    with pytest.raises(UnfinishedError) as raised:
        one_packet()
    message = str(raised.value)
    assert "1 of 1 flows are unfinished" in message
    assert "flow 0 (host-0 to host-1): 0 of 1 packets delivered, 0 acknowledged" in message
    assert "port leaf-0 to spine-0 dropped 1 frames" in message
    summary = raised.value.results.summary
    assert summary["drops_count"] == {"data": 1, "control": 0}
    assert summary["cct_acked_us"] is None
    assert summary["cct_increase_fraction"] is None


@pytest.mark.parametrize("where", ["dead_link", "unroutable"])
def test_what_failures_swallow_is_counted_and_named(answer: dict[str, Any], where: str) -> None:
    lose_the_packet_at_the_leaf(answer)
    answer["ports"]["dropped_data_count"][2] = 0
    if where == "dead_link":
        answer["ports"]["lost_data_count"][2] = 1
    else:
        answer["totals"]["unroutable_data_count"] = 1
    with pytest.raises(UnfinishedError) as raised:
        one_packet()
    assert raised.value.results.summary["lost_count"] == {"dead_link": 0, "unroutable": 0, where: 1}
    assert "frames were lost, and paced hosts do not send lost packets again" in str(raised.value)
    named = {"dead_link": "link leaf-0 to spine-0 was down: 1 frames lost", "unroutable": "1 frames were lost where no"}
    assert named[where] in str(raised.value)


def test_chance_is_named_where_links_lose_by_it(answer: dict[str, Any]) -> None:
    lose_the_packet_at_the_leaf(answer)
    answer["ports"]["dropped_data_count"][2], answer["ports"]["lost_data_count"][2] = 0, 1
    lossy = PAIR.replace(fabric=LeafSpine(radix=2, losses=(Loss(packet="data", probability=0.5),)))
    with pytest.raises(UnfinishedError, match="link leaf-0 to spine-0 was down or lost by chance: 1 frames lost"):
        one_packet(lossy)


def test_an_unfinished_run_is_returned_when_unchecked(answer: dict[str, Any]) -> None:
    lose_the_packet_at_the_leaf(answer)
    assert one_packet(check=False).flows["fct_ps"].to_list() == [None]


def test_the_time_limit_is_named(answer: dict[str, Any]) -> None:
    lose_the_packet_at_the_leaf(answer)
    answer["status"] = "time-limit"
    with pytest.raises(UnfinishedError, match=r"time limit of 1s is reached \(run.time_limit\)"):
        one_packet()


def shift(column: str, by_ps: int) -> Any:
    def change(answer: dict[str, Any]) -> None:
        moved = answer["flows"][column].astype(np.int64) + by_ps
        answer["flows"][column] = moved.astype(np.uint64)

    return change


def overfill(answer: dict[str, Any]) -> None:
    # 4,168,880 ps are 416,888 bytes' time; one frame with its gap may still be on the wire: 4,178 bytes.
    answer["ports"]["control_bytes"][3] = 416_888 + 4_178 - 20 + 1


def lose_without_a_trace(answer: dict[str, Any]) -> None:
    answer["ports"]["data_frames_count"][0] = 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            shift("last_delivered_at_ps", -1),
            "flow 0 (host-0 to host-1) took 2166319 ps, less than the ideal 2166320 ps",
        ),
        (shift("last_acked_at_ps", -1), "the CCT of 4168879 ps is less than the 4168880 ps that the model admits"),
        (overfill, "link leaf-1 to spine-0 was taken 1.0"),
        (lose_without_a_trace, "data frames: 2 sent by hosts, 1 delivered, 0 dropped and 0 lost"),
    ],
)
def test_broken_physics_is_an_error(answer: dict[str, Any], change: Any, message: str) -> None:
    change(answer)
    with pytest.raises(BoundViolationError) as raised:
        one_packet()
    assert message in str(raised.value)
    assert raised.value.results.summary["hosts"] == 2


def test_what_the_core_refuses_is_a_scenario_error(core: fake_core.Core) -> None:
    refused = "fabric.links_down: got edge-9; allowed: a link of the fabric"

    def refuse() -> None:
        raise ValueError(refused)

    core.before = refuse
    with pytest.raises(ScenarioError) as raised:
        one_packet()
    assert str(raised.value) == refused
    assert (raised.value.field, raised.value.value, raised.value.allowed) == (
        "fabric.links_down",
        "edge-9",
        "a link of the fabric",
    )


def flows_of_three() -> pl.DataFrame:
    ones = ("message_bytes", "packets_count", "delivered_packets_count", "acked_packets_count")
    moments = ("start_ps", "first_delivered_ps", "last_delivered_ps", "last_acked_ps")
    rows = (
        {"src": [0, 1, 0], "dst": [1, 0, 1]}
        | {name: [1, 1, 1] for name in ones}
        | {name: [9, 5, 7] for name in moments}
    )
    return pl.DataFrame(rows)


def test_the_hash_does_not_see_the_order_of_the_rows() -> None:
    flows, drops = flows_of_three(), {"data": 0}
    assert metrics.result_hash(flows, drops, 0) == metrics.result_hash(flows.reverse(), drops, 0)


@pytest.mark.parametrize("column", ["src", "message_bytes", "packets_count", "start_ps", "last_acked_ps"])
def test_the_hash_sees_every_value(column: str) -> None:
    flows, drops = flows_of_three(), {"data": 0}
    moved = flows.with_columns(pl.col(column) + pl.Series([0, 0, 1]))
    assert metrics.result_hash(flows, drops, 0) != metrics.result_hash(moved, drops, 0)


def test_the_hash_sees_drops_and_marks() -> None:
    flows = flows_of_three()
    hashes = {metrics.result_hash(flows, {"data": drops}, marks) for drops, marks in ((0, 0), (1, 0), (0, 1))}
    assert len(hashes) == 3


def test_results_come_back_from_their_folder(answer: dict[str, Any], tmp_path: Path) -> None:
    del answer
    results = one_packet()
    back = Results.read(results.write(tmp_path / "deep" / "pair"))
    assert back.flows.equals(results.flows)
    assert back.ports.equals(results.ports)
    assert (back.scenario, back.summary, back.totals) == (results.scenario, results.summary, results.totals)
    assert back.provenance["seed"] == 5
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["pair"]


def test_results_replace_results_but_nothing_else(answer: dict[str, Any], tmp_path: Path) -> None:
    del answer
    results = one_packet()
    results.write(tmp_path / "pair")
    results.write(tmp_path / "pair")
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match="holds no results"):
        results.write(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
