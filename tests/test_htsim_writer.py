"""htsim's `.cm`, written: reading back changes nothing, and what the format cannot say is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricsim.errors import ScenarioError
from fabricsim.workloads import Messages, read_htsim, write_htsim


@st.composite
def some_messages(draw: st.DrawFn) -> tuple[int, Messages]:
    """Messages in the reader's own terms: ranks in the order of rows, waiting ones without a start, sorted edges."""
    hosts = draw(st.integers(2, 40))
    count = draw(st.integers(1, 12))
    src = draw(st.lists(st.integers(0, hosts - 1), min_size=count, max_size=count))
    shift = draw(st.lists(st.integers(1, hosts - 1), min_size=count, max_size=count))
    size = draw(st.lists(st.integers(0, 2**40), min_size=count, max_size=count))
    start = draw(st.lists(st.integers(0, 2**50), min_size=count, max_size=count))
    order = draw(st.permutations(range(count)))
    found = set()
    for place in range(1, count):
        before = st.tuples(st.sampled_from(order[:place]), st.sampled_from([0, 1]))
        for on, event in draw(st.sets(before, max_size=3)):
            found.add((order[place], on, event))
            start[order[place]] = 0
    columns = np.array(sorted(found), int).reshape(-1, 3).T
    edge_list = dict(zip(("dep_message", "dep_on", "dep_event"), columns, strict=True))
    rank = [src[:row].count(src[row]) for row in range(count)]
    dst = [(a + b) % hosts for a, b in zip(src, shift, strict=True)]
    return hosts, Messages.from_arrays(src, dst, size, start_ps=start, rank=rank, **edge_list)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some_messages(), st.sampled_from(["us", "ps"]))
def test_reading_back_gives_the_same(tmp_path: Path, given_messages: tuple[int, Messages], unit: str) -> None:
    hosts, messages = given_messages
    write_htsim(messages, tmp_path / "matrix.cm", hosts, unit)  # type: ignore[arg-type]
    assert read_htsim(tmp_path / "matrix.cm", unit) == (hosts, messages)  # type: ignore[arg-type]


def test_written_text(tmp_path: Path) -> None:
    messages = Messages.from_arrays(
        [0, 1, 0], [1, 2, 3], [7, 8, 9], start_ps=[1_500_000, 0, 0], dep_message=[1, 1], dep_on=[0, 2],
        dep_event=[0, 1], rank=[0, 0, 1],
    )  # fmt: skip
    write_htsim(messages, tmp_path / "matrix.cm", 16)
    assert (tmp_path / "matrix.cm").read_text() == (
        "Nodes 16\nConnections 3\nTriggers 1\n"
        "0->1 id 1 start 1.5 size 7 recv_done_trigger 1\n"
        "1->2 id 2 trigger 1 size 8\n"
        "0->3 id 3 start 0 size 9 send_done_trigger 1\n"
        "trigger id 1 barrier count 2\n"
    )


def test_rows_are_written_in_the_order_of_rank(tmp_path: Path) -> None:
    messages = Messages.from_arrays([0, 0, 0], [1, 2, 3], 5, rank=[2, 0, 1])
    write_htsim(messages, tmp_path / "matrix.cm", 4)
    assert read_htsim(tmp_path / "matrix.cm").messages.dst.tolist() == [2, 3, 1]


def test_what_the_format_cannot_say(tmp_path: Path) -> None:
    waiting = Messages.from_arrays([0, 1], [1, 0], 5, start_ps=[0, 7], dep_message=[1], dep_on=[0], dep_event=[0])
    with pytest.raises(ScenarioError, match=r"start_ps\[1\]: got 7; allowed: 0"):
        write_htsim(waiting, tmp_path / "matrix.cm", 2)
    with pytest.raises(ScenarioError, match=r"src\[1\]: got 1; allowed: a host from 0 to 0"):
        write_htsim(waiting, tmp_path / "matrix.cm", 1)
    turns = Messages.from_arrays(
        [0, 1, 2, 3], [1, 0, 0, 0], 5, trigger_count=[0], fire_trigger=[0, 0], fire_message=[0, 3], fire_event=[0, 0],
        target_trigger=[0, 0], target_message=[2, 1],
    )  # fmt: skip
    with pytest.raises(ScenarioError, match="targets of trigger 0 in the order of the rows"):
        write_htsim(turns, tmp_path / "matrix.cm", 4)
