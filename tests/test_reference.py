"""The reference page of results names every column and field that there is, and none that there is not."""

import re
from pathlib import Path

import pytest

from fabricsim import Dcsim, FatTree, Measure, Permutation, Results, Rps, Scenario, simulate

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "results.md"


@pytest.fixture(scope="module")
def results() -> Results:
    return simulate(
        Scenario(fabric=FatTree(radix=4), workload=Permutation(message="4KiB"), measure=Measure(trace=True))
    )


@pytest.fixture(scope="module")
def of_dcsim(results: Results) -> Results:
    measure = Measure(interval="1us", watched_port="edge-0/host-0")
    return simulate(results.scenario.replace(transport=Dcsim(), balancer=Rps(), measure=measure))


def documented(section: str) -> set[str]:
    """Names in the first column of the section's table, or in its text where it has no table."""
    text = PAGE.read_text().split(f"\n## {section}:", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE)
    return set(re.findall(r"`(\w+)`", " ".join(rows)))


def test_flows(results: Results) -> None:
    assert documented("flows") == set(results.flows.columns)


def test_ports(results: Results) -> None:
    assert documented("ports") == set(results.ports.columns)


def test_trace(results: Results) -> None:
    assert results.trace is not None
    assert documented("trace") == set(results.trace.columns)


def test_lanes(results: Results, of_dcsim: Results) -> None:
    assert of_dcsim.ports.columns[: len(results.ports.columns)] == results.ports.columns
    added = of_dcsim.ports.columns[len(results.ports.columns) :]
    assert documented("lanes") - {"control_frames_count"} == set(added)


def test_series(of_dcsim: Results) -> None:
    assert of_dcsim.series is not None
    assert documented("series") == set(of_dcsim.series.columns)


def test_summary(results: Results) -> None:
    assert documented("summary") == results.summary.keys()
