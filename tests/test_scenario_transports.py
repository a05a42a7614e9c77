"""Transports as models: what is derived from the fabric, by hand; names at the door; presets; what goes together."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from scenario_draws import transports

from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    BALANCERS,
    TRANSPORTS,
    Bytes,
    Conga,
    Dcpim,
    Dcsim,
    Deployment,
    Drb,
    Ethereal,
    FatTree,
    Frame,
    LeafSpine,
    Link,
    Ofan,
    Paced,
    Pfabric,
    Phost,
    Port,
    Reps,
    Rps,
    Rsq,
    Scenario,
    SimpleRr,
    core_config,
    scenario_from_mapping,
    scenario_to_toml,
)
from fabricsim.scenario.derived import derived
from fabricsim.scenario.transports.short_text import transport_from_text, transport_text

DOOR = Path(__file__).parents[1] / "bindings" / "README.md"
PAPER = scenario_from_mapping({"preset": "dcsim-paper"})
OTHERS = (Pfabric(), Phost(), Dcpim())


def paper(**parts: Any) -> Scenario:
    """The dcSim paper's setting, with a balancer that goes with another transport."""
    if "transport" in parts and "balancer" not in parts and not isinstance(parts["transport"], Dcsim):
        parts["balancer"] = SimpleRr()
    return PAPER.replace(**parts)


def lowered(scenario: Scenario) -> dict[str, Any]:
    return dict(core_config(scenario)["transport"])


def discipline(scenario: Scenario) -> dict[str, Any]:
    return dict(core_config(scenario)["port"]["discipline"])


def names_at_the_door() -> dict[str, set[str]]:
    """The fields of each kind of transport as the contract lists them; what stands in round brackets is no field."""
    text = re.search(r"- `transport`.*?(?=\n- `|\n  Balancers)", DOOR.read_text(encoding="utf-8"), re.DOTALL)
    assert text
    others, family = text[0].split("\n  The window family")
    shared, kinds = re.sub(r"\(discipline [^()]*\)", "", family).split("\n", 1)
    shared, rest = shared.split("\n  `constant-window`")[0], f"\n  {kinds.strip()}"
    found = {kind: fields_in(fields) for kind, fields in entries(others)}
    of_all = fields_in(shared + rest.split("\n  `constant-window`", maxsplit=1)[0])
    for kind, fields in entries(rest.replace("; `mswift`:", "\n  `mswift`:")):
        found[kind] = fields_in(fields) | of_all | (found["swift"] if "the same and" in fields else set())
    return found


def entries(text: str) -> list[tuple[str, str]]:
    """Each kind with the text that lists its fields."""
    lines = re.split(r"\n  (?=`[a-z-]+`(?::| \())", text)[1:]
    parts = [re.sub(r"\([^()]*\)", "", line).partition(":") for line in lines]
    return [(kind.split("`")[1], fields) for kind, _, fields in parts]


def fields_in(text: str) -> set[str]:
    # Values are in kebab case or stand beside a bar.
    plain = re.sub(r"`[\w-]+`(?: \| `[\w-]+`)+", "", re.sub(r"\([^()]*\)", "", text))
    return set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", plain))


@pytest.mark.parametrize("kind", TRANSPORTS)
def test_the_core_gets_exactly_the_fields_of_the_contract(kind: str) -> None:
    model: Any = TRANSPORTS[kind]
    scenario = paper(transport=model())
    assert set(lowered(scenario)) - {"kind", "start_jitter"} == names_at_the_door()[kind]
    if kind == "dcsim":
        assert set(discipline(scenario)) - {"kind"} == {
            "queue_packets", "bucket_packets", "token_factor", "data_buffer_bytes",
        }  # fmt: skip
    else:
        assert discipline(scenario) == {"kind": model.discipline}


def test_every_transport_is_explained() -> None:
    page = (DOOR.parents[1] / "docs" / "explanation" / "transports.md").read_text(encoding="utf-8")
    assert re.findall(r"^## `([a-z-]+)`", page, flags=re.MULTILINE) == list(TRANSPORTS)


def test_the_preset_is_section_4_of_the_dcsim_paper() -> None:
    fabric = PAPER.fabric
    assert list(fabric.nodes_count.values()) == [128, 32, 32, 16]
    here = derived(PAPER)
    # 12 hops of 200 ns wire and 450 ns switch; 780,000 bytes in 7.8 us at 800 Gbps are 86.67 packets.
    assert here.propagation_rtt_ps == 12 * (200_000 + 450_000) == 7_800_000
    assert here.bdp_packets == 87
    assert (here.hops, here.frame_ps) == (6, 90_000)
    # (9,000 + 2.1 * 64) B / 800 Gbps
    assert here.token_interval_ps(2.1) == 91_344
    assert int(PAPER.port.buffer) == 500_000
    assert discipline(PAPER) == {
        "kind": "dcsim", "queue_packets": 12, "bucket_packets": 12, "token_factor": 2.1,
        "data_buffer_bytes": 500_000 - 3 * 12 * 64,
    }  # fmt: skip
    assert core_config(PAPER)["port"]["ecn_threshold_bytes"] is None
    assert int(PAPER.workload.message) == 174 * 9000
    assert core_config(PAPER)["balancer"] == {"kind": "rps", "entropies": 65_536, "salts": "per-switch"}


def test_rtt_max_is_theorem_2_of_the_dcsim_paper() -> None:
    # In ns: 7,800 + 12 * (12 * 91.344 + 90 + 0.64), which is the paper's 2.83 RTT_p at 9 KB.
    assert lowered(PAPER)["rtt_max_ps"] == 7_800_000 + 12 * (12 * 91_344 + 90_000 + 640) == 22_041_216
    # The paper's example takes 1,500 / 64 as 23: frames of 23 * 64 B give its 10.3 us, 1.32 RTT_p.
    example = lowered(PAPER.replace(frame=PAPER.frame.replace(payload=Bytes(23 * 64))))
    assert example["rtt_max_ps"] == 10_297_536
    # Links of two rates count by their own: the hosts' 2 of 6 at 400 Gbps wait twice as long.
    slow = PAPER.fabric.replace(host_link=Link(rate="400Gbps", latency="650ns"))
    per_hop = 12 * 91_344 + 90_640
    assert lowered(PAPER.replace(fabric=slow))["rtt_max_ps"] == 7_800_000 + 2 * (4 + 2 * 2) * per_hop


def test_what_else_dcsim_derives() -> None:
    auto = lowered(PAPER)
    assert auto["wait_ps"] == auto["rtt_max_ps"]
    assert auto["data_timeout_ps"] == 10 * auto["rtt_max_ps"]
    assert auto["ack_interval_ps"] == 3 * 7_800_000
    assert auto["direct_below_packets"] == 0
    assert lowered(paper(transport=Dcsim(small_flows="direct")))["direct_below_packets"] == 87
    assert lowered(paper(transport=Dcsim(small_flows="direct", direct_below_packets=86)))["direct_below_packets"] == 86
    assert lowered(paper(transport=Dcsim(wait_fraction=0)))["wait_ps"] == 0
    given = lowered(paper(transport=Dcsim(wait_fraction=0.5, rtt_max="15.45us")))
    assert (given["rtt_max_ps"], given["wait_ps"], given["data_timeout_ps"]) == (15_450_000, 7_725_000, 154_500_000)


@pytest.mark.parametrize(
    ("frames", "queue"),
    [(28, 12), (14, 6), (7, 3), (Fraction(250_000, 9000), 12), (2, 1), ("infinite", 12), (10**6, 12)],
)
def test_small_buffers_shrink_dcsims_queues_in_proportion(frames: Any, queue: int) -> None:
    buffer = "infinite" if frames == "infinite" else Bytes(int(frames * 9000))
    small = PAPER.replace(port=Port(buffer=buffer))
    assert (discipline(small)["queue_packets"], discipline(small)["bucket_packets"]) == (queue, queue)
    left = None if buffer == "infinite" else int(buffer) - 3 * queue * 64
    assert discipline(small)["data_buffer_bytes"] == left
    # RTT_max follows, and the whole queues stay where they are asked for.
    assert lowered(small)["rtt_max_ps"] == 7_800_000 + 12 * (queue * 91_344 + 90_640)
    whole = small.replace(transport=Dcsim(scale_queues=False, bucket_packets=2))
    assert (discipline(whole)["queue_packets"], discipline(whole)["bucket_packets"]) == (12, 2)


def test_what_the_others_derive() -> None:
    windows = lowered(paper(transport=Pfabric()))
    assert (windows["initial_window_packets"], windows["max_window_packets"]) == (87, 90)
    # An idle fabric takes a data frame 6 * 90 ns and its ACK 6 * 0.64 ns beside 7.8 us of latency.
    assert windows["rto_ps"] == 3 * (7_800_000 + 540_000 + 3_840)
    assert lowered(paper(transport=Pfabric(initial_window_packets=200)))["max_window_packets"] == 200
    assert lowered(paper(transport=Pfabric(max_window_packets=50)))["initial_window_packets"] == 50
    tokens = lowered(paper(transport=Phost()))
    assert (tokens["free_tokens"], tokens["window_packets"]) == (87, 87)
    assert tokens["window_timeout_ps"] == 3 * 87 * 90_000
    assert tokens["resend_timeout_ps"] == 89 * 90_000
    assert (tokens["token_lifetime_ps"], tokens["retry_ps"]) == (135_000, 78_000_000)
    matching = lowered(paper(transport=Dcpim()))
    # Control packets of 64 B take 12 * 0.64 ns beside the latency: the 40 B of the dcPIM simulator give its 7.8048 us.
    assert matching["round_ps"] == round(1.3 * (7_800_000 + 7_680))
    forty = paper(transport=Dcpim(), frame=PAPER.frame.replace(ack="40B"))
    assert derived(forty).control_rtt_ps == 7_804_800
    assert (matching["short_packets"], matching["window_packets"]) == (87, 87)
    assert (matching["resend_timeout_ps"], matching["retry_ps"]) == (87 * 90_000, 78_000_000)


def test_on_two_levels_the_longest_path_has_four_links() -> None:
    here = derived(Scenario(fabric=LeafSpine(radix=8)))
    assert (here.hops, here.propagation_rtt_ps) == (4, 8 * 500_000)
    assert here.bdp_packets == -(-400_000 // 4158)  # 4 us at 800 Gbps
    assert here.frame_ps == 41_780  # with the gap of 20 B


def test_what_auto_comes_to_stands_beside_it() -> None:
    text = scenario_to_toml(PAPER)
    assert 'rtt_max = "auto"  # here 22041216ps\n' in text
    assert 'direct_below_packets = "auto"  # here 87\n' in text
    assert '"auto"  # here 87\n' not in scenario_to_toml(paper(transport=Phost(free_tokens=86, window_packets=174)))


def test_who_acknowledges_what() -> None:
    assert {kind: model().acks_every_packet for kind, model in TRANSPORTS.items()} == {
        "paced": True, "dcsim": False, "pfabric": True, "phost": False, "dcpim": False,
        "constant-window": True, "dctcp": True, "nscc": True, "swift": True, "mswift": True,
    }  # fmt: skip
    assert [kind for kind, model in TRANSPORTS.items() if model.has_load] == ["paced"]
    silent = Paced(acks="off")
    assert not silent.acks_every_packet
    assert not silent.acks_messages
    assert all(transport.acks_messages for transport in OTHERS)


@pytest.mark.parametrize("balancer", [model() for model in BALANCERS.values()], ids=lambda balancer: balancer.kind)
def test_each_transport_takes_the_balancers_that_leave_its_packets_alone(balancer: Any) -> None:
    on_switches = balancer.where == "switch" and balancer.kind != "conga"
    for transport in (Paced(), Dcsim(), *OTHERS):
        goes = {"paced": True, "dcsim": balancer.kind in ("rps", "drb")}.get(transport.kind, on_switches)
        if goes:
            assert paper(transport=transport, balancer=balancer).balancer == balancer
        else:
            with pytest.raises(ScenarioError, match=f"one of .* where transport.kind is {transport.kind}") as caught:
                paper(transport=transport, balancer=balancer)
            assert (caught.value.field, caught.value.value) == ("balancer.kind", balancer.kind)


def test_deployments_beside_other_transports() -> None:
    mixed = Deployment(balancer=Ofan())
    assert paper(transport=Dcpim(), balancer=Rsq(), deployment=mixed).deployment == mixed
    for transport, balancer, deployed in ((Dcsim(), Drb(), Ofan()), (Phost(), Rsq(), Conga())):
        with pytest.raises(ScenarioError, match=rf"^deployment\.balancer\.kind: .*{transport.kind}"):
            paper(transport=transport, balancer=balancer, deployment=Deployment(balancer=deployed))


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (
            {"port": Port(ecn_threshold="80kB")},
            r"port.ecn_threshold: got \"80kB\"; allowed: \"auto\" or \"none\" where",
        ),
        (
            {"port": Port(buffer="9kB")},
            r"port.buffer: got \"9kB\"; allowed: at least 9192B, or \"infinite\": a data frame",
        ),
        ({"balancer": Reps()}, "balancer.kind"),
        ({"balancer": Ethereal()}, "balancer.kind"),
        ({"transport": Dcsim(), "balancer": Ofan()}, "one of rps, drb where transport.kind is dcsim"),
    ],
)
def test_what_does_not_go_together_is_refused(parts: dict[str, Any], says: str) -> None:
    with pytest.raises(ScenarioError, match=says):
        PAPER.replace(**parts)


def test_the_least_buffer_of_dcsim_holds_one_data_frame() -> None:
    least = PAPER.replace(port=Port(buffer="9192B"))  # with queues of 1 packet: 3 * 64 B
    assert discipline(least)["data_buffer_bytes"] == 9000


@pytest.mark.parametrize("transport", OTHERS, ids=lambda transport: transport.kind)
def test_other_ports_do_not_mark_either(transport: Any) -> None:
    assert core_config(paper(transport=transport))["port"]["ecn_threshold_bytes"] is None
    with pytest.raises(ScenarioError, match=r"port\.ecn_threshold"):
        paper(transport=transport, port=Port(ecn_threshold="80kB"))


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Dcsim(queue_packets=0), "queue_packets"),
        (lambda: Dcsim(wait_fraction=1.1), "wait_fraction"),
        (lambda: Dcsim(rtt_max=10), "rtt_max"),
        (lambda: Dcsim(small_flows=True), "small_flows"),
        (lambda: Pfabric(initial_window_packets=20, max_window_packets=10), "max_window_packets"),
        (lambda: Pfabric(nic_backpressure=1), "nic_backpressure"),
        (lambda: Phost(free_tokens=-1), "free_tokens"),
        (lambda: Dcpim(rounds=0), "rounds"),
        (lambda: Dcpim(beta=0.9), "beta"),
        (lambda: Dcpim(load=1.0), "load"),
    ],
)
def test_bad_values_name_their_field(build: Any, field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        build()
    assert caught.value.field == field


def test_a_frame_without_header_carries_empty_messages_as_a_control_frame() -> None:
    assert Frame(header="0B", ack="64B").empty_bytes == 64
    assert Frame(header="62B", ack="64B").empty_bytes == 62


def test_both_spraying_kinds_can_polarise_and_turn_by_ingress() -> None:
    shared = core_config(PAPER.replace(balancer=Rps(salts="shared")))["balancer"]
    assert shared["salts"] == "shared"
    turns = core_config(paper(transport=Phost(), balancer=SimpleRr(pointers="per-ingress")))["balancer"]
    assert turns == {"kind": "simple-rr", "acks": "as-data", "pointers": "per-ingress"}
    assert core_config(Scenario(fabric=FatTree(radix=4), balancer=SimpleRr()))["balancer"]["pointers"] == "per-switch"


@given(transports)
@settings(max_examples=100, deadline=None)
def test_a_label_is_read_back_as_its_transport(transport: Any) -> None:
    text = transport_text(transport)
    assert transport_from_text(text) == transport
    assert not set(",/") & set(text)  # which separate transports, and a transport from its balancer
