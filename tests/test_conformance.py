"""The conformance suite: every balancer passes it, and each of its questions can be failed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from doctored_core import (
    Config,
    Doctor,
    Output,
    Saboteur,
    doctor_outputs,
    draws_by_thread,
    draws_when_watched,
    sabotage_configs,
    seed_is_one,
)

import fabricsim
from fabricsim import BALANCERS, Dcsim, Ofan, balancer_from_text
from fabricsim.cli import main
from fabricsim.conformance import Finding, check
from fabricsim.conformance.suite import SUITE, find
from fabricsim.scenario.balancers import AnyBalancer

# Besides every kind: pipes of 5 ports of 6 (at radix 12), and parameters that make another scheme of a kind.
OTHERS = (
    "pofan:5", "pofan:1", "ofan:first_pointer=least-queued", "ecmp:salts=shared", "ethereal:split=packets",
    "drill:3:2", "reps:freezing=off",
)  # fmt: skip
PROVEN = {"simple-rr", "jsq", "drb", "ethereal", "ofan", "pofan"}


@pytest.mark.parametrize("text", [*BALANCERS, *OTHERS])
def test_every_balancer_conforms(text: str) -> None:
    report = check(balancer_from_text(text))
    assert report.failed == (), str(report)
    assert report.passed
    assert [finding.name for finding in report.findings] == [question.name for question in SUITE]
    aside = [finding.name for finding in report.findings if finding.outcome == "does not apply"]
    assert aside == ([] if text.partition(":")[0] in PROVEN else ["edge uplinks"])


def ends(output: Output, row: int) -> tuple[int, ...]:
    names = ("from_tier", "from_index", "to_tier", "to_index")
    return tuple(int(output["ports"][name][row]) for name in names)


def forget(output: Output, row: int) -> None:
    """Take a reception out of the trace."""
    output["trace"] = {name: np.delete(column, row) for name, column in output["trace"].items()}


def last_data_reception(output: Output) -> int:
    into_host = output["ports"]["to_tier"][output["trace"]["link"]] == 0
    return int(np.flatnonzero(into_host & (output["trace"]["kind"] == 0))[-1])


def never_arrives(_config: Config, output: Output) -> None:
    forget(output, last_data_reception(output))


def arrives_twice(_config: Config, output: Output) -> None:
    row = last_data_reception(output)
    for name, column in output["trace"].items():
        output["trace"][name] = np.append(column, column[row] + (1000 if name == "at_ps" else 0))


def is_not_counted(_config: Config, output: Output) -> None:
    output["flows"]["acked_packets_count"][0] -= 1


def is_cut_too_small(_config: Config, output: Output) -> None:
    output["flows"]["packets_count"][0] += 1


def loses_a_byte(_config: Config, output: Output) -> None:
    row = int(np.flatnonzero((output["ports"]["to_tier"] == 0) & (output["ports"]["data_bytes"] > 0))[0])
    output["ports"]["data_bytes"][row] -= 1


def leaps(_config: Config, output: Output) -> None:
    """A packet that comes to one switch goes on from its neighbour."""
    trace, ports = output["trace"], output["ports"]
    row = int(np.flatnonzero(ports["from_tier"][trace["link"]] == 3)[0])
    link = int(trace["link"][row])
    into = ends(output, link)[2:]
    trace["link"][row] = next(
        other for other in range(len(ports["from_tier"])) if ends(output, other)[2:] == into and other != link
    )


def goes_a_long_way(_config: Config, output: Output) -> None:
    """Up, down and up again under one switch, then down at last."""
    trace, ports = output["trace"], output["ports"]
    row = last_data_reception(output)
    flow, psn, link = (int(trace[name][row]) for name in ("flow", "psn", "link"))
    edge = int(ports["from_index"][link])
    rows = range(len(ports["from_tier"]))
    up = next(one for one in rows if ends(output, one)[:2] == (1, edge) and ends(output, one)[2] > 1)
    down = next(one for one in rows if ends(output, one) == ends(output, up)[2:] + ends(output, up)[:2])
    at = int(trace["at_ps"][row])
    detour = {"at_ps": [at - 2, at - 1], "link": [up, down], "flow": [flow] * 2, "psn": [psn] * 2, "kind": [0, 0]}
    output["trace"] = {name: np.append(column, detour[name]).astype(column.dtype) for name, column in trace.items()}


def overtakes(_config: Config, output: Output) -> None:
    """Two packets that came to a core one after the other leave it the other way round."""
    trace, ports = output["trace"], output["ports"]
    from_core = np.flatnonzero(ports["from_tier"][trace["link"]] == 3)
    link = int(trace["link"][from_core[0]])
    first, second = (int(row) for row in from_core[trace["link"][from_core] == link][:2])
    trace["at_ps"][[first, second]] = trace["at_ps"][[second, first]]


def dead_rows(config: Config, output: Output) -> list[int]:
    tiers = {"edge": 1, "leaf": 1, "agg": 2, "core": 3, "spine": 3}
    named = [[part for name in link for part in name.split("-")] for link in config["fabric"]["links_down"]]
    dead = [(tiers[a], int(i), tiers[b], int(j)) for a, i, b, j in named]
    return [row for row in range(len(output["ports"]["from_tier"])) if ends(output, row) in dead]


def uses_a_dead_link(config: Config, output: Output) -> None:
    output["ports"]["control_frames_count"][dead_rows(config, output)[0]] = 1


def loses_on_a_dead_link(config: Config, output: Output) -> None:
    output["ports"]["lost_data_count"][dead_rows(config, output)[0]] = 1


def knows_no_route(_config: Config, output: Output) -> None:
    output["totals"]["unroutable_data_count"] += 1


def forgets_a_loss(_config: Config, output: Output) -> None:
    losing = int(np.argmax(output["ports"]["lost_data_count"]))
    output["ports"]["lost_data_count"][losing] -= 1


def takes_a_loss_for_no_route(config: Config, output: Output) -> None:
    forgets_a_loss(config, output)
    knows_no_route(config, output)


def never_ends(_config: Config, output: Output) -> None:
    output["status"] = "time-limit"


def sends_too_little(_config: Config, output: Output) -> None:
    output["ports"]["data_frames_count"][output["ports"]["from_tier"] == 0] -= 1


def delivers_no_later_message(_config: Config, output: Output) -> None:
    late = output["flows"]["started_at_ps"] > 50_000_000
    last = int(np.flatnonzero(late)[0])
    other = int(np.flatnonzero(~late & (output["flows"]["delivered_packets_count"] < 200))[0])
    output["flows"]["delivered_packets_count"][last] -= 1
    output["flows"]["delivered_packets_count"][other] += 1


def crosses_a_dead_link(config: Config, output: Output) -> None:
    """The first reception over the link that died is put off to when it was down."""
    trace, event = output["trace"], config["fabric"]["link_events"][0]
    assert event["state"] == "down"
    dead = dead_rows({"fabric": {"links_down": [event["link"]]}}, output)
    trace["at_ps"][int(np.flatnonzero(trace["link"] == dead[0])[-1])] = event["at_ps"] + 1_500_000


def refuses_64(config: Config) -> None:
    if config["fabric"].get("spines") == 64:
        raise ValueError("balancer: got 64 uplinks; allowed: 63")


def counter() -> Callable[[Config], None]:
    seeds = iter(range(1000))

    def another_seed(config: Config) -> None:
        config["seed"] = next(seeds)

    return another_seed


def reroutes_late(config: Config) -> None:
    if config["fabric"]["link_events"]:
        config["fabric"]["reconvergence_delay_ps"] = 2_000_000


def never_fails(config: Config) -> None:
    config["fabric"]["link_events"] = []


def sprays(config: Config) -> None:
    config["balancer"] = balancer_from_text("rsq").lowered()


def keeps_a_flow_together(config: Config) -> None:
    config["balancer"] = balancer_from_text("ecmp").lowered()


# What to do to every output of the core, or to every configuration on its way there; and what is then found.
DOCTORED: list[tuple[str, Doctor, str]] = [
    ("delivery", never_arrives, r"data \d+ of flow \d+ arrived 0 times"),
    ("delivery", arrives_twice, r"data \d+ of flow \d+ arrived 2 times"),
    ("delivery", is_not_counted, r"flow 0: 0 of 1 ack packets counted"),
    ("delivery", is_cut_too_small, r"a message of 0 bytes was cut into 2 packets instead of 1"),
    ("delivery", loses_a_byte, r"host-\d+ received \d+ bytes of data frames instead of \d+"),
    ("paths", leaps, r"packet \d+ of flow \d+ leaves a node that it never reached"),
    ("paths", never_arrives, r"packet \d+ of flow \d+ does not go from its source to its goal"),
    ("paths", goes_a_long_way, r"packet \d+ of flow \d+ takes \d links instead of \d"),
    ("order", overtakes, r"packet \d+ of flow \d+ is overtaken on a link"),
    *((name, never_arrives, "arrived 0 times") for name in ("one uplink", "64 uplinks", "two levels", "odd radices")),
    ("two levels", overtakes, "is overtaken on a link"),
    ("oversubscription", goes_a_long_way, r"takes \d links instead of \d"),
    ("dead links", uses_a_dead_link, r"the dead link \S+ to \S+ carried 1 frames"),
    ("dead links", loses_on_a_dead_link, "1 frames were lost on dead links and 0 had no route"),
    ("dead links", knows_no_route, "0 frames were lost on dead links and 1 had no route"),
    ("link events", forgets_a_loss, r"of \d+ data frames \d+ arrived, 0 were dropped, \d+ lost on dead links"),
    ("link events", never_ends, "had not come to its end"),
    ("link events", sends_too_little, r"hosts sent \d+ data frames instead of \d+"),
    ("link events", delivers_no_later_message, "54 us after the repair was not delivered whole"),
    ("link events", crosses_a_dead_link, "frames left over edge-0/agg-0 while it was down"),
    ("rerouting", forgets_a_loss, r"of \d+ data frames \d+ arrived"),
    ("rerouting", knows_no_route, "and 1 without a route"),
    ("rerouting", takes_a_loss_for_no_route, "1 frames had no route, though their switch had other uplinks"),
]
SABOTAGED: list[tuple[str, Saboteur, str]] = [
    ("64 uplinks", refuses_64, "balancer: got 64 uplinks; allowed: 63"),
    ("link events", never_fails, "a switch without uplinks lost nothing"),
    ("rerouting", reroutes_late, r"edge-0 sent into the dead link to agg-0: \d+ bytes of frames lost there"),
    ("seed", seed_is_one, "seeds 1, 2 and 3 give the same result"),
    ("seed", counter(), "a second run with the same seed gives other flows"),
    ("threads", draws_by_thread, "a run on 2 threads gives other flows"),
    ("measures", draws_when_watched, "changes when messages are delivered"),
    ("edge uplinks", sprays, r"an edge uplink of a tree of radix \d held \d+ packets; proven: at most \d"),
    ("edge uplinks", keeps_a_flow_together, r"held \d+ packets; proven: at most 3"),
]


def ask(name: str, balancer: AnyBalancer | None = None) -> Finding:
    return find(next(question for question in SUITE if question.name == name), balancer or Ofan())


@pytest.mark.parametrize(("name", "doctor", "reason"), DOCTORED, ids=lambda value: getattr(value, "__name__", value))
def test_a_core_that_errs_is_found_out(name: str, doctor: Doctor, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(name).outcome == "pass"
    doctor_outputs(monkeypatch, doctor)
    finding = ask(name)
    assert finding.outcome == "fail"
    assert re.search(reason, finding.reason), finding.reason


@pytest.mark.parametrize(("name", "saboteur", "reason"), SABOTAGED, ids=lambda value: getattr(value, "__name__", value))
def test_a_balancer_that_errs_is_found_out(
    name: str, saboteur: Saboteur, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage_configs(monkeypatch, saboteur)
    finding = ask(name)
    assert finding.outcome == "fail"
    assert re.search(reason, finding.reason), finding.reason


def test_hasty_timeouts_void_the_proof_of_edge_uplinks() -> None:
    (question,) = (one for one in SUITE if one.name == "edge uplinks")
    assert find(question, balancer_from_text("ethereal:rto=1ns")).outcome == "does not apply"
    assert find(question, balancer_from_text("ethereal")).outcome == "pass"


def test_every_question_can_be_failed() -> None:
    assert {name for name, *_ in (*DOCTORED, *SABOTAGED)} == {question.name for question in SUITE}


def test_only_schemes_are_checked() -> None:
    assert fabricsim.check is check
    for wrong in ("ofan", Ofan, Dcsim, None):
        with pytest.raises(TypeError, match=r"scheme: got .*; allowed: an instance of a balancer or a transport"):
            check(wrong)  # type: ignore[arg-type]


def test_progress_names_what_is_looked_for() -> None:
    asked: list[str] = []
    report = check(Ofan(), asked.append)
    assert asked == [finding.name for finding in report.findings]
    assert report.count("pass") == len(asked)
    assert str(report).splitlines()[0].startswith("ofan, delivery: pass (")


def test_the_command_shows_findings_and_ends_with_their_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fabricsim import _core

    assert main(["check", "pofan:5"]) == 0
    printed = capsys.readouterr().out
    assert "pofan:5: 15 passed, 0 failed" in printed
    assert all(question.name in printed for question in SUITE)
    for wrong, says in ((["check"], "list balancers"), (["check", "ofan", "ofn"], 'did you mean "ofan"')):
        assert main(wrong) == 2
        assert says in capsys.readouterr().err
    real = _core.run

    def run(config: str, messages: object, progress: object) -> object:
        changed = json.loads(config)
        refuses_64(changed)
        return real(config, messages, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "run", run)
    assert main(["check", "ofan", "ecmp"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert sum("got 64 uplinks" in line for line in lines) == 2
    assert any(line.split()[:3] == ["ecmp", "13", "passed,"] for line in lines)
