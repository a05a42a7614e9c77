"""Balancers as models: short texts, names at the door, marks where a scheme reacts to them."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from scenario_draws import balancers

from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    BALANCERS,
    Ar,
    Balancer,
    Bytes,
    Choice,
    Drill,
    Ethereal,
    Flowlet,
    Frame,
    Ofan,
    Pofan,
    Port,
    Reps,
    Rsq,
    Scenario,
    balancer_from_text,
    balancer_text,
    core_config,
    scenario_from_mapping,
    scenario_to_toml,
)

DOOR = Path(__file__).parents[1] / "bindings" / "README.md"


def names_at_the_door() -> dict[str, set[str]]:
    """The fields of each kind as the contract lists them, `the same` written out."""
    text = DOOR.read_text(encoding="utf-8")
    section = re.search(r"- `balancer`, by kind.*?:\n(.*?)\n- `deployments`", text, re.DOTALL)
    assert section
    found: dict[str, set[str]] = {}
    before: set[str] = set()
    for entry in re.split(r";\s+(?=`)", re.sub(r"\([^)]*\)", "", section.group(1)).strip().rstrip(".")):
        kind, _, fields = entry.partition(":")
        known = set(BALANCERS[kind.strip("` ")].model_fields) if kind.strip("` ") in BALANCERS else set()
        assert known, entry
        # Names of fields are snake case; what a field accepts stands beside it, in kebab case or in another word.
        named = {name for name in re.findall(r"`(\w+)`", fields) if any(name.startswith(one) for one in known)}
        found[kind.strip("` ")] = before = named | (before if "the same" in fields else set())
    return found


def test_the_core_gets_exactly_the_fields_of_the_contract() -> None:
    lowered = {kind: set(model().lowered()) - {"kind"} for kind, model in BALANCERS.items()}
    assert lowered == names_at_the_door()


@pytest.mark.parametrize(
    ("text", "balancer"),
    [
        ("ofan", Ofan()),
        (" POFAN:1 ", Pofan(ports_per_pipe=1)),
        ("pofan", Pofan(ports_per_pipe=4)),
        ("choice:3", Choice(ports_sampled=3)),
        ("drill:2:1", Drill()),
        ("drill:1:4", Drill(ports_sampled=1, ports_remembered=4)),
        ("drill:1:ports_remembered=4", Drill(ports_sampled=1, ports_remembered=4)),
        ("flowlet:gap=1us", Flowlet(gap="1us")),
        ("ar:level_fractions=0.01+0.02+0.5:acks=as-data", Ar(level_fractions=(0.01, 0.02, 0.5), acks="as-data")),
        ("reps:freezing=off:entropies=4096", Reps(freezing="off", entropies=4096)),
        ("pofan:2:port_order=identity", Pofan(ports_per_pipe=2, port_order="identity")),
        ("ethereal:split=packets", Ethereal(split="packets")),
    ],
)
def test_short_texts(text: str, balancer: Balancer) -> None:
    assert balancer_from_text(text) == balancer


@pytest.mark.parametrize(
    ("balancer", "text"),
    [
        (Ofan(), "ofan"),
        (Choice(), "choice"),
        (Drill(), "drill"),
        (Pofan(), "pofan:4"),
        (Drill(ports_remembered=2), "drill:2:2"),
        (Drill(ports_sampled=3), "drill:3"),
        (Pofan(port_order="identity"), "pofan:4:port_order=identity"),
        (Ar(level_fractions=(0.25, 0.5, 1)), "ar:level_fractions=0.25+0.5+1.0"),
        (Flowlet(gap="2us"), "flowlet:gap=2us"),
    ],
)
def test_labels_name_what_is_not_at_its_default(balancer: Any, text: str) -> None:
    assert balancer_text(balancer) == text


@given(balancers)
@settings(max_examples=200, deadline=None)
def test_a_label_is_read_back_as_its_balancer(balancer: Any) -> None:
    text = balancer_text(balancer)
    assert balancer_from_text(text) == balancer
    assert "," not in text  # which separates balancers on the command line
    assert "/" not in text  # which a folder's name cannot have


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rsq:4", 'balancer: got "rsq:4"; allowed: "rsq" alone'),
        ("choice:", 'allowed: "choice" alone or "choice:PORTS_SAMPLED" or "choice:FIELD=VALUE" of ports_sampled'),
        ("choice:2:3", 'balancer: got "choice:2:3"'),
        ("choice:2:ports_sampled=2", 'balancer: got "choice:2:ports_sampled=2"'),
        ("choice:=2", 'balancer: got "choice:=2"'),
        ("choice:two", 'balancer.ports_sampled: got "two"; allowed: an integer from 1 to 64'),
        ("flowlet:gapp=1us", 'balancer.gapp: got the unknown name "gapp" (did you mean "gap"?)'),
        ("flowlet:gap=500", "balancer.gap: got 500; allowed: a duration as a text with a unit"),
        ("ar:level_fractions=0.1", "allowed: a list of 3 ascending numbers from 0 to 1"),
        ("ar:level_fractions=0.1+0.1+0.2", "allowed: a list of 3 ascending numbers from 0 to 1"),
        ("ar:level_fractions=0.1+0.2+nan", "allowed: a list of 3 ascending numbers from 0 to 1"),
        ("ar:level_fractions=0.1+0.2+1.5", "allowed: a list of 3 ascending numbers from 0 to 1"),
        ("ar:level_fractions=0.1+x+0.2", "allowed: a list of 3 ascending numbers from 0 to 1"),
        ("ofan:first_pointer=shortest", 'allowed: "random" or "least-queued"'),
    ],
)
def test_bad_short_texts(text: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        balancer_from_text(text, "--balancers")
    assert says in str(caught.value)
    assert caught.value.where == "--balancers"


def test_only_a_start_at_the_shortest_queue_has_a_reset() -> None:
    assert Ofan().lowered() == {"kind": "ofan", "port_order": "xor", "idle_reset_ps": None}
    assert Ofan(idle_reset="5us").lowered()["idle_reset_ps"] is None
    # Twice the RTT of the paper's section 6: six links each way of 0.5 us, and 0.25 us of transmission.
    assert Pofan(first_pointer="least-queued").lowered()["idle_reset_ps"] == 2 * (12 * 500_000 + 250_000)


def test_marks_are_made_where_someone_reacts_to_them() -> None:
    assert core_config(Scenario())["port"]["ecn_threshold_bytes"] is None
    assert core_config(Scenario(balancer=Reps()))["port"]["ecn_threshold_bytes"] == 80_000
    assert (
        core_config(Scenario(balancer=Reps(), port=Port(ecn_threshold="none")))["port"]["ecn_threshold_bytes"] is None
    )
    assert core_config(Scenario(port=Port(ecn_threshold="7kB")))["port"]["ecn_threshold_bytes"] == 7_000
    # Ofan section 6: 10 packets where they are of 64 KB.
    large = Scenario(balancer=Reps(), frame=Frame(payload="64KiB"))
    assert large.ecn_threshold_bytes == 10 * (65_536 + 62)
    preset = scenario_from_mapping({"preset": "ofan-paper"}, ["balancer=reps"])
    assert preset.ecn_threshold_bytes == 80_000


@pytest.mark.parametrize(("balancer", "meaning"), [(Reps(), "80kB"), (Rsq(), "none")])
def test_a_dump_says_what_auto_comes_to(balancer: Any, meaning: str) -> None:
    text = scenario_to_toml(Scenario(balancer=balancer))
    assert f'ecn_threshold = "auto"  # here {meaning}\n' in text
    assert 'buffer = "auto"  # here infinite\n' in text
    assert "# here" not in scenario_to_toml(Scenario(port=Port(buffer="infinite", ecn_threshold=Bytes("8kB"))))
