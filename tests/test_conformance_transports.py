"""The conformance suite of transports: every transport passes it, and each of its questions can be failed."""

from __future__ import annotations

import re
from typing import Any

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

from fabricsim.cli import main
from fabricsim.conformance import Finding, check
from fabricsim.conformance.suite import TRANSPORT_SUITE, find
from fabricsim.scenario.transports import TRANSPORTS, Dcsim, Nscc, Pfabric, TransportPart
from fabricsim.scenario.transports.short_text import transport_from_text, transport_text

# Besides every kind: parameters that make another scheme of it.
OTHERS = (
    "dcsim:wait_fraction=0", "dcsim:wait_fraction=0.5:clock_drift_ppm=100:clock_drift=extreme",
    "dcsim:small_flows=direct", "dcsim:bucket_packets=1:queue_packets=2", "pfabric:nic_backpressure=true",
    "pfabric:probe_after_timeouts=2", "phost:free_tokens=0", "phost:window_packets=300", "dcpim:short_packets=0",
    "dcpim:channels=1:rounds=1", "constant-window:window=2packets", "nscc:ack_every=16384B:base_rtt=network",
    "nscc:median_samples=64", "dctcp:reduces_unmarked=false:counts_paths=false", "mswift:median_samples=1",
)  # fmt: skip


# Asked of transports with windows only.
OF_WINDOWS = ("few ACKs", "trimming", "pauses")


@pytest.mark.parametrize("text", [*TRANSPORTS, *OTHERS])
def test_every_transport_conforms(text: str) -> None:
    report = check(transport_from_text(text))
    assert report.failed == (), str(report)
    assert [finding.name for finding in report.findings] == [question.name for question in TRANSPORT_SUITE]
    aside = [finding.name for finding in report.findings if finding.outcome == "does not apply"]
    wanted = ["losses", "full buffers", "link events"] if text == "paced" else []
    assert aside == wanted + ([] if transport_from_text(text).has_window else list(OF_WINDOWS))


def data_into_hosts(output: Output) -> Any:
    """Rows of the trace in which data packets reach hosts."""
    into_host = output["ports"]["to_tier"][output["trace"]["link"]] == 0
    return np.flatnonzero(into_host & (output["trace"]["kind"] == 0))


def never_arrives(_config: Config, output: Output) -> None:
    last = data_into_hosts(output)[-1]
    output["trace"] = {name: np.delete(column, last) for name, column in output["trace"].items()}


def repeats(output: Output, row: int) -> None:
    for name, column in output["trace"].items():
        output["trace"][name] = np.append(column, column[row] + (1000 if name == "at_ps" else 0))


def comes_again(_config: Config, output: Output) -> None:
    repeats(output, data_into_hosts(output)[0])


def is_of_no_message(_config: Config, output: Output) -> None:
    output["trace"]["psn"][data_into_hosts(output)[-1]] = 10_000


def is_not_acknowledged(_config: Config, output: Output) -> None:
    output["flows"]["acked_packets_count"][-1] -= 1


def is_not_delivered(_config: Config, output: Output) -> None:
    output["flows"]["delivered_packets_count"][-1] -= 1


def tells_another_moment(_config: Config, output: Output) -> None:
    output["flows"]["last_delivered_at_ps"][0] += 1


def is_cut_too_small(_config: Config, output: Output) -> None:
    output["flows"]["packets_count"][0] += 1


def sends_out_of_nothing(_config: Config, output: Output) -> None:
    output["ports"]["data_frames_count"][output["ports"]["from_tier"] == 0] += 1


def gets_stuck(_config: Config, output: Output) -> None:
    output["status"] = "stuck"


def takes_too_long(_config: Config, output: Output) -> None:
    output["status"] = "time-limit"


def does_not_wait(_config: Config, output: Output) -> None:
    output["flows"]["started_at_ps"][4] = 1


def counts_one_behind_more(_config: Config, output: Output) -> None:
    output["flows"]["reordered_packets_count"][3] += 1


def counts_more_delay(_config: Config, output: Output) -> None:
    output["flows"]["delay_ps"][2] += 1


def sends_secretly(_config: Config, output: Output) -> None:
    of_hosts = output["ports"]["from_tier"][output["trace"]["link"]] == 0
    repeats(output, int(np.flatnonzero(of_hosts & (output["trace"]["kind"] == 0))[0]))


def has_other_intervals(config: Config, output: Output) -> None:
    if config["threads"] == 2:
        output["series"]["delivered_data_bytes"][0] += 1


def loads_other_links(config: Config, output: Output) -> None:
    if config["threads"] == 4:
        output["ports"]["max_queue_bytes"][0] += 1


def acknowledges_each(_config: Config, output: Output) -> None:
    output["transport"]["acks_sent_count"] *= 10


def waits_for_a_timeout(_config: Config, output: Output) -> None:
    output["transport"]["data_timeouts_count"] += 1


def drops(_config: Config, output: Output) -> None:
    output["ports"]["dropped_data_count"][-1] += 1


def loses_nothing(config: Config) -> None:
    config["fabric"]["losses"] = []


def loses_data_only(config: Config) -> None:
    config["fabric"]["losses"] = [loss for loss in config["fabric"]["losses"] if loss["packet"] == "data"]


def never_trims(config: Config) -> None:
    config["port"] |= {"buffer_bytes": None}
    config["port"]["discipline"] |= {"trimming": "off"}


def never_pauses(config: Config) -> None:
    config["port"]["pfc"] = None


def never_fails(config: Config) -> None:
    config["fabric"]["link_events"] = []


# What to do to every output of the core, or to every configuration on its way there; and what is then found.
DOCTORED: list[tuple[str, Doctor, str]] = [
    ("delivery", never_arrives, r"packet \d+ of flow \d+ never arrived"),
    ("delivery", comes_again, "1 packets came again, and 0 were counted"),
    ("delivery", is_of_no_message, "a packet arrived that its message does not have"),
    ("delivery", is_not_acknowledged, r"flow \d+: \d+ of \d+ packets counted as acked"),
    ("delivery", tells_another_moment, r"flow 0: last_delivered_ps is \d+, and the trace has \d+"),
    ("delivery", is_cut_too_small, "a message of 0 bytes was cut into 2 packets instead of 1"),
    ("delivery", sends_out_of_nothing, r"data frames: \d+ sent by hosts, of \d+ packets and 0 retransmissions"),
    ("long messages", takes_too_long, "the run ended as time-limit, with 0 packets not delivered"),
    ("losses", is_not_delivered, r"flow \d+: \d+ of 60 packets counted as delivered"),
    ("full buffers", gets_stuck, "the run ended as stuck"),
    ("incast", is_not_delivered, "flow 14: 63 of 64 packets counted as delivered"),
    ("link events", gets_stuck, "the run ended as stuck"),
    ("chains", does_not_wait, r"flow 4 starts at 1 ps, before the one it waits for is over at \d+ ps"),
    ("counts", counts_one_behind_more, r"flow 3: \d+ packets came after a later one, and \d+ were counted"),
    ("counts", counts_more_delay, r"flow 2: its packets were under way for \d+ ps in all, and \d+ were counted"),
    ("counts", sends_secretly, r"flow \d+: 121 packets left its host, and 120 were counted"),
    ("threads", has_other_intervals, "a run on 2 threads delivers or drops in other intervals"),
    ("threads", loads_other_links, "a run on 4 threads loads other links"),
]
DOCTORED_WINDOWS: list[tuple[str, Doctor, str]] = [
    ("few ACKs", acknowledges_each, r"\d+ ACKs for 30600 packets are not few"),
    ("few ACKs", waits_for_a_timeout, "with an ACK every 4159B and no losses, 1 packets timed out"),
    ("trimming", is_not_delivered, r"flow \d+: \d+ of \d+ packets counted as delivered"),
    ("trimming", drops, "ports that trim dropped 1 data frames"),
    ("pauses", drops, "lossless ports dropped 1 data frames"),
    ("pauses", gets_stuck, "the run ended as stuck"),
]
SABOTAGED: list[tuple[str, Saboteur, str]] = [
    ("losses", loses_nothing, "no data frame was lost"),
    ("losses", loses_data_only, "no control frame was lost"),
    ("link events", never_fails, "links that died lost nothing"),
    ("seed", seed_is_one, "seeds 1, 2 and 3 give the same result"),
    ("threads", draws_by_thread, "a run on 2 threads gives other flows"),
    ("measures", draws_when_watched, "changes when messages are delivered"),
]


SABOTAGED_WINDOWS: list[tuple[str, Saboteur, str]] = [
    ("trimming", never_trims, "no packet was cut to its header"),
    ("pauses", never_pauses, "no port was paused"),
]


def ask(name: str, transport: TransportPart | None = None) -> Finding:
    return find(next(question for question in TRANSPORT_SUITE if question.name == name), transport or Dcsim())


@pytest.mark.parametrize(("name", "doctor", "reason"), DOCTORED, ids=lambda value: getattr(value, "__name__", value))
def test_a_core_that_errs_is_found_out(name: str, doctor: Doctor, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(name).outcome == "pass"
    doctor_outputs(monkeypatch, doctor)
    finding = ask(name)
    assert finding.outcome == "fail"
    assert re.search(reason, finding.reason), finding.reason


@pytest.mark.parametrize(("name", "saboteur", "reason"), SABOTAGED, ids=lambda value: getattr(value, "__name__", value))
def test_a_transport_that_errs_is_found_out(
    name: str, saboteur: Saboteur, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage_configs(monkeypatch, saboteur)
    finding = ask(name)
    assert finding.outcome == "fail"
    assert re.search(reason, finding.reason), finding.reason


@pytest.mark.parametrize(
    ("name", "doctor", "reason"), DOCTORED_WINDOWS, ids=lambda value: getattr(value, "__name__", value)
)
def test_so_it_is_with_windows(name: str, doctor: Doctor, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(name, Nscc()).outcome == "pass"
    doctor_outputs(monkeypatch, doctor)
    finding = ask(name, Nscc())
    assert finding.outcome == "fail"
    assert re.search(reason, finding.reason), finding.reason


@pytest.mark.parametrize(
    ("name", "saboteur", "reason"), SABOTAGED_WINDOWS, ids=lambda value: getattr(value, "__name__", value)
)
def test_ports_that_do_nothing_are_found_out(
    name: str, saboteur: Saboteur, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage_configs(monkeypatch, saboteur)
    finding = ask(name, Nscc())
    assert finding.outcome == "fail"
    assert re.search(reason, finding.reason), finding.reason


def test_every_question_can_be_failed() -> None:
    asked = (*DOCTORED, *SABOTAGED, *DOCTORED_WINDOWS, *SABOTAGED_WINDOWS)
    assert {name for name, *_ in asked} == {question.name for question in TRANSPORT_SUITE}


@pytest.mark.parametrize("text", [*TRANSPORTS, *OTHERS])
def test_short_texts_are_read_back(text: str) -> None:
    transport = transport_from_text(text)
    assert transport_from_text(transport_text(transport)) == transport
    assert transport.kind == text.partition(":")[0]


def test_the_command_takes_transports_and_balancers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "paced"]) == 0
    assert "paced: 8 passed, 0 failed, 6 did not apply" in capsys.readouterr().out
    assert main(["check", "paced", "ofan"]) == 0
    printed = capsys.readouterr().out
    assert "8 passed" in printed
    assert "15 passed" in printed
    assert main(["check", "dcsim:wait=3"]) == 2
    assert "transport.wait" in capsys.readouterr().err
    assert transport_from_text("pfabric:nic_backpressure=true") == Pfabric(nic_backpressure=True)
