"""Ports as a scenario has them: linear marking, shared buffers, PFC and its headroom, trimming; what goes together."""

from typing import Any

import pytest

from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    Bytes,
    Dcsim,
    FatTree,
    Frame,
    Link,
    Nscc,
    Pfc,
    Phost,
    Port,
    Rps,
    Rsq,
    Scenario,
    SharedBuffer,
    core_config,
    scenario_from_mapping,
    scenario_to_toml,
)

FIFO = {"kind": "fifo"}


def ports(transport: Any = None, **fields: Any) -> dict[str, Any]:
    scenario = Scenario(transport=transport or Nscc(), port=Port(**fields))
    return dict(core_config(scenario)["port"])


def test_by_default_ports_of_windows_are_the_papers() -> None:
    assert ports() == {
        "buffer_bytes": 800_000, "ecn_threshold_bytes": 80_000, "ecn_full_bytes": None, "ecn_at": "dequeue",
        "shared_buffer": None, "pfc": None, "discipline": FIFO,
    }  # fmt: skip


def test_marking_between_two_thresholds() -> None:
    linear = ports(ecn_threshold="125066B", ecn_full_threshold="500265B", ecn_at="enqueue")
    assert (linear["ecn_threshold_bytes"], linear["ecn_full_bytes"], linear["ecn_at"]) == (125_066, 500_265, "enqueue")
    assert ports(ecn_full_threshold="200kB")["ecn_full_bytes"] == 200_000  # from 80 kB


def test_a_shared_buffer_takes_the_place_of_the_ports_own() -> None:
    shared = ports(shared_buffer=SharedBuffer(size="64MB", alpha=0.5))
    assert (shared["buffer_bytes"], shared["shared_buffer"]) == (None, {"bytes": 64_000_000, "alpha": 0.5})
    paced = Scenario(port=Port(shared_buffer={"size": "64MB"}))
    assert core_config(paced)["port"]["shared_buffer"] == {"bytes": 64_000_000, "alpha": 1.0}
    nested = scenario_from_mapping({}, ["port.shared_buffer.size=64MB"])
    assert nested == paced
    assert 'shared_buffer = {size = "64MB", alpha = 1.0}\n' in scenario_to_toml(paced)


def test_control_frames_first_with_and_without_trimming() -> None:
    assert ports(control_first=True)["discipline"] == {"kind": "control-first", "trimming": "off"}
    cut = ports(control_first=True, trimming="random")
    assert (cut["discipline"], cut["buffer_bytes"]) == ({"kind": "control-first", "trimming": "random"}, 800_000)


def test_the_headroom_is_what_can_still_arrive() -> None:
    """A link of 500 ns at 800 Gbps carries 100,000 B in two latencies, and 64 B while the pause is sent.

    One frame of 4158 B crossed the threshold, and another had begun when the pause came.
    """
    pauses = ports(pfc=Pfc())
    assert pauses["pfc"] == {
        "xoff_bytes": 100_064 + 2 * 4158, "xon_bytes": 100_064, "headroom_bytes": 100_064 + 2 * 4158,
    }  # fmt: skip
    assert pauses["buffer_bytes"] is None
    assert 'pfc = {xoff = "auto", xon = "auto", headroom = "auto"}  # here xoff 108380B, xon 100064B, headroom' in (
        scenario_to_toml(Scenario(transport=Nscc(), port=Port(pfc=Pfc())))
    )


@pytest.mark.parametrize("tier", ["host_link", "edge_agg_link", "agg_core_link"])
def test_the_longest_link_of_any_tier_decides(tier: str) -> None:
    fabric = FatTree(radix=4, **{tier: Link(rate="800Gbps", latency="3us")})
    pfc = core_config(Scenario(fabric=fabric, transport=Nscc(), port=Port(pfc=Pfc())))["port"]["pfc"]
    assert pfc["headroom_bytes"] == 600_000 + 64 + 2 * 4158


def test_the_larger_of_data_and_control_frames_counts_and_parts_of_a_byte_are_whole_ones() -> None:
    fabric = FatTree(radix=4, rate="1Gbps", latency="3ns")  # 0.75 B in two latencies
    frame = Frame(payload="100B", header="0B", ack="200B")
    pfc = core_config(Scenario(fabric=fabric, frame=frame, transport=Nscc(), port=Port(pfc=Pfc())))["port"]["pfc"]
    assert pfc["headroom_bytes"] == 1 + 200 + 2 * 200


def test_thresholds_as_given() -> None:
    assert ports(pfc=Pfc(xoff="500kB", xon="400kB", headroom="200kB"))["pfc"] == {
        "xoff_bytes": 500_000, "xon_bytes": 400_000, "headroom_bytes": 200_000,
    }  # fmt: skip
    assert ports(pfc=Pfc(xoff="60kB"))["pfc"]["xon_bytes"] == 60_000
    assert ports(pfc=Pfc(xoff="600kB"))["pfc"]["xon_bytes"] == 100_064
    assert ports(pfc=Pfc(xon="0B"))["pfc"]["xoff_bytes"] == 8_316


def test_too_little_headroom_is_refused_with_the_bytes_that_it_takes() -> None:
    assert ports(pfc=Pfc(headroom="108380B"))["pfc"]["headroom_bytes"] == 108_380
    with pytest.raises(ScenarioError, match=r"got \"108379B\"; allowed: at least 108380B") as caught:
        ports(pfc=Pfc(headroom="108379B"))
    assert caught.value.field == "port.pfc.headroom"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"trimming": "arriving"}, "trimming"),
        ({"trimming": "arriving", "control_first": True, "buffer": "infinite"}, "trimming"),
        ({"trimming": "arriving", "control_first": True, "pfc": Pfc()}, "trimming"),
        ({"buffer": "1MB", "pfc": Pfc()}, "buffer"),
        ({"buffer": "1MB", "shared_buffer": SharedBuffer(size="2MB")}, "buffer"),
        ({"shared_buffer": SharedBuffer(size="2MB"), "control_first": True}, "shared_buffer"),
        ({"shared_buffer": SharedBuffer(size="2MB"), "pfc": Pfc()}, "shared_buffer"),
        ({"shared_buffer": {"alpha": 1.0}}, "shared_buffer.size"),
        ({"pfc": {"xoff": "1kB", "xon": "2kB"}}, "pfc.xon"),
        ({"ecn_threshold": "80kB", "ecn_full_threshold": "79kB"}, "ecn_full_threshold"),
        ({"ecn_at": "arrival"}, "ecn_at"),
        ({"control_first": 1}, "control_first"),
    ],
)
def test_what_a_port_cannot_be(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Port(**fields)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("parts", "field", "says"),
    [
        ({"port": Port(control_first=True)}, "port.control_first", "constant-window, dctcp, nscc, swift, mswift"),
        ({"port": Port(pfc=Pfc())}, "port.pfc", "none unless transport.kind is one of constant-window"),
        ({"port": Port(ecn_full_threshold="80kB")}, "port.ecn_full_threshold", "has to be a size"),
        ({"port": Port(ecn_full_threshold="79kB"), "transport": Nscc()}, "port.ecn_full_threshold", "at least 80000B"),
        ({"port": Port(shared_buffer={"size": "4kB"})}, "port.shared_buffer.size", "the largest frame, 4158B"),
        (
            {"port": Port(shared_buffer={"size": "1MB"}), "transport": Phost(), "balancer": Rsq()},
            "port.shared_buffer",
            "an order of their own",
        ),
        (
            {"port": Port(ecn_full_threshold="1MB"), "transport": Dcsim(), "balancer": Rps()},
            "port.ecn_full_threshold",
            "its ports mark nothing",
        ),
        (
            {"port": Port(control_first=True), "transport": Nscc(), "frame": Frame(payload="1B", header="0B")},
            "frame.ack",
            "no more than a data frame, 1B, where port.control_first is true",
        ),
        ({"port": Port(buffer="4157B"), "transport": Nscc()}, "port.buffer", "at least the largest frame, 4158B"),
    ],
)
def test_what_does_not_go_together_is_refused(parts: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(ScenarioError, match=says) as caught:
        Scenario(**parts)
    assert caught.value.field == field


def test_a_scenario_that_names_no_buffer_can_be_written_and_read() -> None:
    scenario = Scenario(transport=Nscc(), port=Port(pfc=Pfc(xoff=Bytes("1MB")), control_first=True))
    assert Scenario(**scenario.model_dump(mode="json")) == scenario
