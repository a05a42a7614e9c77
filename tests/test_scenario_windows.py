"""Transports with windows as models: what is derived from rate and RTT, by hand; windows as given; what is refused."""

from typing import Any

import pytest

from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    BALANCERS,
    TRANSPORTS,
    Bytes,
    ConstantWindow,
    Dctcp,
    FatTree,
    Frame,
    LeafSpine,
    Link,
    Measure,
    Mswift,
    Nscc,
    Ofan,
    Paced,
    PacketCount,
    Port,
    Reps,
    Scenario,
    Swift,
    core_config,
    scenario_from_mapping,
    scenario_to_toml,
)
from fabricsim.scenario.combinations import balancers_of
from fabricsim.scenario.derived import derived
from fabricsim.scenario.transports.short_text import transport_from_text, transport_text

FAMILY = tuple(kind for kind, model in TRANSPORTS.items() if model.has_window)
NS = 1000


def paper(kind: str, *overrides: str) -> Scenario:
    """The Ofan paper's setting with another transport."""
    return scenario_from_mapping({"preset": "ofan-paper"}, [f"transport.kind={kind}", *overrides])


def lowered(scenario: Scenario) -> dict[str, Any]:
    return dict(core_config(scenario)["transport"])


def test_the_family() -> None:
    assert FAMILY == ("constant-window", "dctcp", "nscc", "swift", "mswift")
    assert {kind for kind in FAMILY if TRANSPORTS[kind].reacts_to_marks} == {"dctcp", "nscc"}
    assert all(balancers_of(kind) == tuple(BALANCERS) for kind in FAMILY)


@pytest.mark.parametrize("kind", FAMILY)
def test_over_the_papers_preset_it_is_the_papers_setting_with_congestion_control(kind: str) -> None:
    """Ofan section 6, footnote 6: 800 kB a port, marks at 80 kB; an ACK a packet (Appendix A); windows of 1.5 BDP."""
    scenario = paper(kind)
    assert isinstance(scenario.balancer, Ofan)
    config = core_config(scenario)
    assert config["port"]["buffer_bytes"] == 800_000
    assert config["port"]["ecn_threshold_bytes"] == (80_000 if kind in ("dctcp", "nscc") else None)
    fields = config["transport"]
    assert (fields["ack_every_bytes"], fields["base_rtt_ps"]) == (1, None)
    assert fields["max_window"] == fields["initial_window"] == {"bdp": 1.5}
    # 15 us + 6 * 800 kB at 800 Gbps, which are 8 us; TCP has a least RTO instead.
    assert fields["rto_ps"] == (10**9 if kind == "dctcp" else 63_000_000)


def test_rtt_and_bdp_of_the_papers_fabric() -> None:
    """Six links of 500 ns and 4158 B or 64 B at 10 ps a byte, there and back: 6,253.32 ns, in which 625,332 B pass."""
    here = derived(paper("nscc"))
    assert here.data_rtt_ps == 12 * 500 * NS + 6 * (41_580 + 640) == 6_253_320
    assert here.data_bdp_bytes == 625_332
    # Under one switch, and in one pod of two levels, other paths are the longest.
    assert derived(Scenario(fabric=LeafSpine(radix=8))).data_rtt_ps == 8 * 500 * NS + 4 * 42_220 == 4_168_880
    slow = Scenario(fabric=FatTree(host_link=Link(rate="400Gbps", latency="500ns")))
    assert derived(slow).data_rtt_ps == 12 * 500 * NS + (4 + 2 * 2) * 42_220
    assert derived(slow).data_bdp_bytes == round(derived(slow).data_rtt_ps / 20)  # a byte takes 20 ps


def test_nsccs_parameters_are_those_of_the_papers_fabric() -> None:
    """By hand from UEC's formulas: a = 625,332 / 150,000 = 4.16888; mss is the payload, 4096; MTU the frame, 4158."""
    fields = lowered(paper("nscc"))
    assert fields["network_rtt_ps"] == fields["target_ps"] == fields["adjust_ps"] == 6_253_320
    assert fields["proportional_bytes_per_us"] == pytest.approx(4 * 4096 * 4.16888 / 12)
    assert fields["proportional_bytes_per_us"] == pytest.approx(5_691.9, abs=0.05)
    assert (fields["fair_bytes"], fields["eta_bytes"]) == (85_379, 2_561)  # 5 and 0.15 * 4096 * 4.16888
    assert fields["fast_scale"] == pytest.approx(1.04222)
    assert fields["fast_below_ps"] == 1_000_000
    assert (fields["decrease_gain"], fields["least_factor"], fields["delay_gain"]) == (0.8, 0.5, 0.0125)
    assert fields["adjust_bytes"] == 8 * 4158 == 33_264
    assert fields["quick_adapt_above_ps"] == 4 * 6_253_320 == 25_013_280
    assert (fields["quick_adapt_shift"], fields["min_window_bytes"], fields["median_samples"]) == (3, 4158, 0)


def test_nsccs_target_is_lower_where_ports_trim() -> None:
    scenario = paper("nscc", "port.control_first=true", "port.trimming=arriving")
    fields = lowered(scenario)
    assert (fields["target_ps"], fields["network_rtt_ps"]) == (4_689_990, 6_253_320)
    assert fields["quick_adapt_above_ps"] == 18_759_960
    # Nothing else depends on it.
    other = lowered(paper("nscc"))
    assert {name for name in fields if fields[name] != other[name]} == {"target_ps", "quick_adapt_above_ps"}


def test_nscc_of_64_kib_packets() -> None:
    """RTT 6,000 + 6 * (655.98 + 0.64) ns = 9.93972 us, BDP 993,972 B, a = 6.62648; 10 and 100 packets a port."""
    scenario = paper("nscc", "frame.payload=64KiB")
    fields = lowered(scenario)
    assert fields["network_rtt_ps"] == 9_939_720
    assert fields["fast_scale"] == pytest.approx(0.25 * 6.62648)
    assert fields["fair_bytes"] == round(5 * 65_536 * 6.62648)
    assert core_config(scenario)["port"]["buffer_bytes"] == 6_559_800
    assert core_config(scenario)["port"]["ecn_threshold_bytes"] == 655_980
    assert fields["rto_ps"] == 15_000_000 + 6 * 6_559_800 * 10


def test_what_is_given_is_what_the_rest_follows_from() -> None:
    fields = lowered(paper("nscc", "transport.network_rtt=12us", "frame.gap=0B", "fabric.rate=100Gbps"))
    assert fields["fair_bytes"] == 5 * 4096  # the network that UEC tuned on: a is 1
    assert fields["fast_scale"] == 0.25
    assert fields["adjust_ps"] == fields["target_ps"] == 12_000_000
    assert lowered(paper("nscc", "transport.target=6us"))["quick_adapt_above_ps"] == 24_000_000
    assert lowered(paper("nscc", "transport.fair=1B"))["fair_bytes"] == 1
    assert lowered(paper("swift", "transport.base_target=3us"))["flow_scaling_ps"] == 15_000_000
    assert lowered(paper("swift"))["flow_scaling_ps"] == 5 * lowered(paper("swift"))["base_target_ps"] == 2_500_000
    assert lowered(paper("swift", "transport.flow_scaling=0us"))["flow_scaling_ps"] == 0


def test_rto_follows_the_buffer() -> None:
    assert lowered(paper("swift", "port.buffer=100kB"))["rto_ps"] == 15_000_000 + 6 * 1_000_000
    assert lowered(paper("swift", "port.buffer=infinite"))["rto_ps"] == 10_000_000_000
    assert lowered(paper("swift", "port.pfc={}"))["rto_ps"] == 10_000_000_000
    # Of 9 MB with alpha 0.5 a port can hold 3 MB, half of what is then free: 30 us.
    shared = lowered(paper("swift", "port.shared_buffer.size=9MB", "port.shared_buffer.alpha=0.5"))
    assert shared["rto_ps"] == 15_000_000 + 6 * 30_000_000
    assert lowered(paper("swift", "transport.rto=7us"))["rto_ps"] == 7_000_000


def test_windows_in_bdps_bytes_and_packets() -> None:
    assert lowered(paper("constant-window", "transport.window=2"))["max_window"] == {"bdp": 2.0}
    assert lowered(paper("constant-window", "transport.window=937998B"))["initial_window"] == {"bytes": 937_998}
    packets = paper("constant-window", "transport.window=300packets")
    assert lowered(packets)["max_window"] == lowered(packets)["initial_window"] == {"bytes": 300 * 4158}
    assert Dctcp(max_window="1 packet").max_window == PacketCount(1)
    mixed = lowered(paper("dctcp", "transport.initial_window=10packets", "transport.max_window=1.0"))
    assert (mixed["initial_window"], mixed["max_window"]) == ({"bytes": 41_580}, {"bdp": 1.0})


def test_base_rtts() -> None:
    assert lowered(paper("nscc", "transport.base_rtt=network"))["base_rtt_ps"] == 6_253_320
    assert lowered(paper("nscc", "transport.base_rtt=5us"))["base_rtt_ps"] == 5_000_000
    for text in ("network", "5us"):
        assert lowered(paper("nscc", f"transport.base_rtt={text}")).keys() == lowered(paper("nscc")).keys()


def test_acks() -> None:
    coalesced = paper("nscc", "transport.ack_every=16384B")
    assert lowered(coalesced)["ack_every_bytes"] == 16_384
    assert not coalesced.transport.acks_every_packet
    assert paper("nscc").transport.acks_every_packet


def test_what_follows_is_said_beside_it_and_reported() -> None:
    scenario = paper("nscc")
    text = scenario_to_toml(scenario)
    for line in (
        'target = "auto"  # here 6253320ps', "max_window = 1.5  # here 937998B", 'rto = "auto"  # here 63us',
        'initial_window = "auto"  # here 937998B', 'buffer = "auto"  # here 800kB', 'fair = "auto"  # here 85379B',
        'ecn_threshold = "auto"  # here 80kB', 'min_window = "auto"  # here 4158B',
    ):  # fmt: skip
        assert f"{line}\n" in text
    reported = scenario.transport.reported(derived(scenario))
    assert reported["max_window_bytes"] == reported["initial_window_bytes"] == 937_998
    assert (reported["base_rtt_ps"], reported["bdp_bytes"]) == (6_253_320, 625_332)
    assert reported["eta_bytes"] == 2_561
    packets = Scenario(transport=ConstantWindow(window="300packets"))
    assert packets.transport.reported(derived(packets))["max_window_bytes"] == 1_247_400


@pytest.mark.parametrize(
    ("transport", "text"),
    [
        (ConstantWindow(window="300packets"), "constant-window:window=300packets"),
        (Nscc(max_window=2.5, ack_every="16384B"), "nscc:ack_every=16KiB:max_window=2.5"),
        (Mswift(median_samples=16, flushes_on_decrease=True), "mswift:median_samples=16:flushes_on_decrease=true"),
        (Swift(base_rtt="network"), "swift:base_rtt=network"),
    ],
)
def test_short_texts(transport: Any, text: str) -> None:
    assert transport_text(transport) == text
    assert transport_from_text(text) == transport


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: ConstantWindow(window="300"), "window"),
        (lambda: ConstantWindow(window=300), "window"),  # 300 BDPs: packets were meant
        (lambda: ConstantWindow(window=True), "window"),
        (lambda: ConstantWindow(window="0packets"), "window"),
        (lambda: ConstantWindow(window="1.5packets"), "window"),
        (lambda: ConstantWindow(max_window=1.5), "max_window"),
        (lambda: Nscc(min_window=4158), "min_window"),
        (lambda: Nscc(least_factor=1.5), "least_factor"),
        (lambda: Dctcp(rto="auto"), "rto"),
        (lambda: Dctcp(counts_paths="yes"), "counts_paths"),
        (lambda: Mswift(median_samples=0), "median_samples"),
        (lambda: Swift(median_samples=3), "median_samples"),
        (lambda: Swift(base_rtt="host"), "base_rtt"),
        (lambda: Swift(ack_every=4), "ack_every"),
        (lambda: Swift(flow_scaling_from_packets=5, flow_scaling_to_packets=5), "flow_scaling_to_packets"),
    ],
)
def test_bad_values_name_their_field(build: Any, field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        build()
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("parts", "field", "says"),
    [
        ({"transport": ConstantWindow(window="4157B")}, "transport.window", "at least a data frame, 4158B"),
        ({"transport": ConstantWindow(window="1000000000000packets")}, "transport.window", "at most 1000TB"),
        ({"transport": Nscc(max_window=0.005)}, "transport.max_window", "0.005 is 3127B"),
        ({"transport": Nscc(initial_window=1.6)}, "transport.initial_window", "at most max_window, 1.5"),
        ({"transport": Swift(max_window="9packets", initial_window=1)}, "transport.initial_window", "9packets"),
        ({"measure": Measure(interval="1us", watched_messages=[0])}, "measure.watched_messages", "kind is paced"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(parts: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(ScenarioError, match=says) as caught:
        Scenario(**parts)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"watched_messages": [0]}, "none without an `interval`"),
        ({"watched_messages": [3, 3], "interval": "1us"}, "each message once"),
        ({"watched_messages": range(101), "interval": "1us"}, "at most 100"),
        ({"watched_messages": [-1], "interval": "1us"}, "an integer from 0"),
    ],
)
def test_watched_messages(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ScenarioError, match=says):
        Measure(**{**fields, "watched_messages": list(fields["watched_messages"])})


def test_every_scenario_there_was_is_as_it_was() -> None:
    """Paced hosts: no limit to buffers, and marks where the balancer reacts to them."""
    assert (Scenario().buffer_bytes, Scenario().ecn_threshold_bytes) == (None, None)
    assert Scenario(balancer=Reps()).ecn_threshold_bytes == 80_000
    assert isinstance(Scenario().transport, Paced)
    for kind in ("dcsim", "pfabric", "phost", "dcpim"):
        other = paper(kind, "balancer.kind=rps" if kind == "dcsim" else "balancer.kind=rsq")
        assert (other.buffer_bytes, other.ecn_threshold_bytes) == (None, None)
    assert paper("swift", "balancer=reps").ecn_threshold_bytes == 80_000
    assert paper("swift", "port.ecn_threshold=8kB").ecn_threshold_bytes == 8_000
    assert Scenario(transport=Nscc(), frame=Frame(payload=Bytes("9kB")), port=Port()).buffer_bytes == 100 * 9_062
