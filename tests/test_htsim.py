"""htsim's `.cm`: what is read, what is refused and on which line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabricsim.errors import ScenarioError
from fabricsim.scenario import FatTree, Htsim, Scenario
from fabricsim.workloads import HtsimFile, Messages, build, read_htsim, write_htsim

DATA = Path(__file__).parent / "data"
TWO_FLOWS = "Nodes 16\nConnections 2\n0->5 id 1 start 0 size 100000\n3->9 id 2 start 0 size 100000\n"


def edges(messages: Messages) -> list[tuple[int, int, int]]:
    columns = (messages.dep_message, messages.dep_on, messages.dep_event)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def read(tmp_path: Path, text: str, **options: str) -> HtsimFile:
    path = tmp_path / "matrix.cm"
    path.write_bytes(text.encode())
    return read_htsim(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        TWO_FLOWS,
        TWO_FLOWS.replace("\n", "\r\n"),
        TWO_FLOWS.replace(" ", "\t"),
        TWO_FLOWS.replace(" ", "   "),
        TWO_FLOWS.replace("\n", "  \n"),
        TWO_FLOWS.removesuffix("\n"),
        "\ufeff" + TWO_FLOWS,
        "# head\n\n" + TWO_FLOWS.replace("3->9", "# body\n\n3->9").replace("Nodes 16", "Nodes 16 # hosts"),
        TWO_FLOWS.replace("Nodes 16\nConnections 2", "Connections 2\nFailures 0\nTriggers 0\nNodes 16"),
        TWO_FLOWS.replace(" id 1", "").replace(" id 2", ""),
        TWO_FLOWS.replace("id 1 start 0 size 100000", "size 100000 start 0.000000 id 1"),
    ],
)
def test_layout_does_not_matter(tmp_path: Path, text: str) -> None:
    hosts, messages = read(tmp_path, text)
    assert hosts == 16
    assert messages == Messages.from_arrays([0, 3], [5, 9], 100_000)


@pytest.mark.parametrize(("size", "expected"), [("5000000000", 5_000_000_000), ("2147483648", 2**31), ("0", 0)])
def test_sizes_that_htsim_cannot_hold(tmp_path: Path, size: str, expected: int) -> None:
    messages = read(tmp_path, TWO_FLOWS.replace("100000\n3", f"{size}\n3")).messages
    assert messages.bytes.tolist() == [expected, 100_000]


@pytest.mark.parametrize(
    ("start", "unit", "start_ps"),
    [("100", "us", 100_000_000), ("1.5", "us", 1_500_000), ("0.000001", "us", 1), ("2000000", "ps", 2_000_000)],
)
def test_starts_are_exact(tmp_path: Path, start: str, unit: str, start_ps: int) -> None:
    text = TWO_FLOWS.replace("id 2 start 0", f"id 2 start {start}")
    assert read(tmp_path, text, start_unit=unit).messages.start_ps.tolist() == [0, start_ps]


def test_order_of_lines_is_the_visiting_order(tmp_path: Path) -> None:
    text = "Nodes 4\nConnections 3\n0->3 start 0 size 1\n1->2 start 0 size 1\n0->2 start 0 size 1\n"
    assert read(tmp_path, text).messages.rank.tolist() == [0, 0, 1]


def test_triggers_of_the_example() -> None:
    hosts, messages = read_htsim(DATA / "barrier.cm")
    assert hosts == 16
    assert messages.bytes.tolist() == [100_000, 100_000, 5_000_000_000, 1, 4096, 0]
    assert messages.start_ps.tolist() == [0, 1_500_000, 0, 0, 0, 0]
    # The barrier is all on host 4 and becomes dependencies on reception; the multishot stays a trigger.
    assert edges(messages) == [(2, 0, 0), (2, 1, 0)]
    assert messages.trigger_count.tolist() == [0]
    assert messages.fire_message.tolist() == [3, 4]
    assert messages.fire_event.tolist() == [1, 1]
    assert messages.target_message.tolist() == [4, 5]


def trigger_file(kind: str, *, sources: int = 1, targets: int = 1, word: str = "send_done_trigger") -> str:
    flows = [f"{i}->{i + 1} id {i + 1} start 0 size 1 {word} 9" for i in range(sources)]
    flows += [f"{8 + i}->0 id {20 + i} trigger 9 size 1" for i in range(targets)]
    return "\n".join([f"Nodes 16\nConnections {len(flows)}\nTriggers 1", *flows, f"trigger id 9 {kind}", ""])


@pytest.mark.parametrize(
    ("kind", "flows", "word", "expected"),
    [
        ("oneshot", (1, 1), "send_done_trigger", [(1, 0, 1)]),
        ("oneshot", (1, 2), "recv_done_trigger", [(1, 0, 0), (2, 0, 0)]),
        ("oneshot count 1", (1, 1), "send_done_trigger", [(1, 0, 1)]),
        ("barrier count 2", (2, 1), "send_done_trigger", [(2, 0, 1), (2, 1, 1)]),
        ("multishot", (1, 1), "send_done_trigger", [(1, 0, 1)]),
    ],
)
def test_triggers_that_are_dependencies(
    tmp_path: Path, kind: str, flows: tuple[int, int], word: str, expected: list[tuple[int, int, int]]
) -> None:
    messages = read(tmp_path, trigger_file(kind, sources=flows[0], targets=flows[1], word=word)).messages
    assert edges(messages) == expected
    assert messages.trigger_count.size == messages.fire_message.size == messages.target_message.size == 0


def test_barrier_across_hosts_stays_a_trigger(tmp_path: Path) -> None:
    messages = read(tmp_path, trigger_file("barrier count 2", sources=2, targets=3)).messages
    assert edges(messages) == []
    assert messages.trigger_count.tolist() == [2]
    assert messages.fire_message.tolist() == [0, 1]
    assert messages.target_message.tolist() == [2, 3, 4]


def test_multishot_may_feed_itself(tmp_path: Path) -> None:
    """The second flow, started by the first activation, gives the second activation: no cycle."""
    text = (
        "Nodes 16\nConnections 3\nTriggers 1\n0->5 id 1 start 0 size 1 send_done_trigger 1\n"
        "3->9 id 2 trigger 1 size 1 send_done_trigger 1\n4->10 id 3 trigger 1 size 1\ntrigger id 1 multishot\n"
    )
    assert read(tmp_path, text).messages.trigger_count.tolist() == [0]


def flow(line: str) -> str:
    return f"Nodes 16\nConnections 1\n{line}\n"


HEAD = "Nodes 16\nConnections 2\nTriggers 1\n"
SENDS = "0->1 id 1 start 0 size 1 send_done_trigger 9\n"

MALFORMED = [
    ("", r"^matrix.cm: got \"no lines\""),
    ("# only a comment\n", r"^matrix.cm: got \"no lines\""),
    ("hello world\n", r':1: line: got "hello"; allowed: a line that begins with Nodes'),
    ("nodes 16\n", r':1: line: got "nodes"'),
    ("Nodes\n", r":1: Nodes: got nothing; allowed: one number"),
    ("Nodes 16 17\n", r':1: Nodes: got "16 17"; allowed: one number'),
    ("Nodes 0\n", r':1: Nodes: got "0"; allowed: a whole number, from 1'),
    ("Nodes x\n", r':1: Nodes: got "x"'),
    ("Nodes 16\nNodes 16\n", r":2: Nodes: got \"a second one\""),
    ("Connections 0\n", r"^matrix.cm: Nodes: got nothing"),
    ("Nodes 16\n0->1 start 0 size 1\n", r"^matrix.cm: Connections: got nothing"),
    ("Nodes 16\nConnections 2\n0->1 start 0 size 1\n", r":2: Connections: got 2; allowed: 1, as many"),
    ("Nodes 16\nConnections 0\n0->1 start 0 size 1\n", r":2: Connections: got 0; allowed: 1, as many"),
    ("Nodes 16\nConnections 0\nTriggers 1\n", r":3: Triggers: got 1; allowed: 0, as many"),
    ("Nodes 16\nConnections 0\ntrigger id 1 oneshot\n", r"Triggers: got 0; allowed: 1, as many"),
    ("Nodes 16\nConnections 0\nFailures 1\n", r":3: Failures: got 1; allowed: 0: set fabric.links_down"),
    (flow("failure switch_type AGG switch_id 0 link_id 0"), r":3: failure: got .* allowed: no failure lines"),
    (flow("0->1 start 0 size 1\nNodes 16"), r':4: line: got "Nodes"; allowed: a line that begins with SRC->DST'),
    (flow("200->5 start 0 size 1"), r":3: src: got 200; allowed: a host from 0 to 15"),
    (flow("0->16 start 0 size 1"), r":3: dst: got 16; allowed: a host from 0 to 15"),
    (flow("0->-3 start 0 size 1"), r':3: dst: got "-3"; allowed: a host number'),
    (flow("-1->3 start 0 size 1"), r':3: src: got "-1"; allowed: a host number'),
    (flow("->3 start 0 size 1"), r":3: src: got nothing; allowed: a host number"),
    (flow("0-> 3 start 0 size 1"), r":3: dst: got nothing; allowed: a host number"),
    (flow("5->5 start 0 size 1"), r":3: dst: got 5; allowed: a host other than src 5"),
    (flow("0->1 start 0"), r":3: size: got nothing; allowed: size and a number of bytes"),
    (flow("0->1 start 0 size"), r":3: size: got nothing; allowed: a whole number of bytes"),
    (flow("0->1 start 0 size 1MB"), r':3: size: got "1MB"; allowed: a whole number of bytes, without a unit'),
    (flow("0->1 start 0 size 1e6"), r':3: size: got "1e6"'),
    (flow("0->1 start 0 size -1"), r':3: size: got "-1"'),
    (flow("0->1 start 0 size 9223372036854775808"), r':3: size: got "9223372036854775808"'),
    (flow("0->1 start 0 size 1 size 2"), r':3: size: got "2"; allowed: one value a flow'),
    (flow("0->1 size 1"), r":3: start: got nothing; allowed: start and a time, or trigger"),
    (flow("0->1 start -4 size 1"), r':3: start: got "-4"; allowed: a number of 0 or more'),
    (flow("0->1 start nan size 1"), r':3: start: got "nan"'),
    (flow("0->1 start . size 1"), r':3: start: got "\."'),
    (flow("0->1 start 0.0000001 size 1"), r':3: start: got "0.0000001"; allowed: a whole number of picoseconds'),
    (flow("0->1 start 5000000000000 size 1"), r":3: start: got .* at most 4611686018427387903"),
    (flow("0->1 id 0 start 0 size 1"), r':3: id: got "0"; allowed: a whole number, from 1'),
    (flow("0->1 id x start 0 size 1"), r':3: id: got "x"'),
    (flow("0->1 id 1_0 start 0 size 1"), r':3: id: got "1_0"'),
    (flow("0->1 start 0 size 1 colour red"), r':3: keyword: got "colour"; allowed: id, start, size'),
    (flow("0->1 start 0 size 1 prio 3"), r":3: prio: .*no pull queue"),
    (flow("0->1 id 1 msg 1 start 0 size 1"), r":3: msg: .*connections are not reused"),
    (flow("0->1 start 0 size 1 addon"), r":3: addon: "),
    (flow("0->1 start 0 size 1 send_done_trigger 4"), r":3: send_done_trigger: got 4; allowed: the id of a trigger"),
    (flow("0->1 id 1 trigger 4 size 1"), r":3: trigger: got 4; allowed: the id of a trigger line"),
    (flow("0->1 trigger 4 size 1"), r":3: id: got nothing; allowed: an id, since the flow is started by a trigger"),
    (flow("0->1 id 1 trigger 4 start 5 size 1"), r":3: start: got \"start and trigger 4\"; allowed: either"),
    (TWO_FLOWS.replace("id 2", "id 1"), r":4: id: got 1; allowed: an id of its own \(line 3 has it\)"),
    (trigger_file("twoshot"), r':6: keyword: got "twoshot"; allowed: id N, one of oneshot'),
    (trigger_file("oneshot barrier"), r':6: keyword: got "barrier"'),
    (trigger_file(""), r":6: trigger 9: got nothing; allowed: oneshot, multishot or barrier"),
    (trigger_file("barrier"), r":6: count: got nothing; allowed: count and a number"),
    (trigger_file("barrier count 0"), r':6: count: got "0"'),
    (trigger_file("multishot count 2"), r":6: count: got 2; allowed: no count on a multishot"),
    (trigger_file("oneshot count 2"), r":6: count: got 2; allowed: no count on a oneshot"),
    (HEAD.replace("Triggers 1", "Triggers 2") + SENDS + "2->3 id 2 trigger 9 size 1\n" + 2 * "trigger id 9 oneshot\n",
     r":7: trigger id: got 9; allowed: an id of its own \(line 6 has it\)"),
    ("Nodes 4\nConnections 0\nTriggers 1\ntrigger oneshot\n", r":4: trigger id: got nothing"),
    ("Nodes 4\nConnections 0\nTriggers 1\ntrigger id 0 oneshot\n", r':4: trigger id: got "0"'),
    (trigger_file("oneshot", sources=0), r':5: trigger 9: got "0 activations"; allowed: 1'),
    (trigger_file("oneshot", sources=2), r':7: trigger 9: got "2 activations"; allowed: 1;'),
    (trigger_file("barrier count 3", sources=2), r':7: trigger 9: got "2 activations"; allowed: 3'),
    (trigger_file("barrier count 2", sources=3), r':8: trigger 9: got "3 activations"; allowed: 2;'),
    (trigger_file("multishot", sources=1, targets=2), r':7: trigger 9: got "1 activations"; allowed: 2'),
    (HEAD.replace("2", "1", 1) + "2->3 id 2 trigger 9 size 1 send_done_trigger 9\ntrigger id 9 oneshot\n",
     r':5: trigger 9: got "a cycle: the flow of line 4 waits for the flow of line 4"'),
    (HEAD.replace("Triggers 1", "Triggers 2")
     + "0->1 id 1 trigger 8 size 1 recv_done_trigger 9\n2->3 id 2 trigger 9 size 1 send_done_trigger 8\n"
     + "trigger id 8 oneshot\ntrigger id 9 oneshot\n",
     r":6: trigger 8: got \"a cycle: the flow of line 4 waits for the flow of line 5 waits for"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "error"), MALFORMED)
def test_malformed_file(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, text)
    message = str(caught.value).replace(str(tmp_path / "matrix.cm"), "matrix.cm")
    assert re.search(error, message), message
    assert "\n" not in message


def test_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "matrix.cm").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="a text file"):
        read_htsim(tmp_path / "matrix.cm")
    with pytest.raises(ScenarioError, match="No such file"):
        read_htsim(tmp_path / "other.cm")
    with pytest.raises(ScenarioError, match="directory"):
        read_htsim(tmp_path)


def test_hosts_must_be_the_fabrics() -> None:
    workload = Htsim(path=DATA / "barrier.cm")
    assert len(build(Scenario(fabric=FatTree(radix=4), workload=workload))) == 6
    with pytest.raises(ScenarioError, match="Nodes: got 16; allowed: 54, the hosts of the scenario's fabric"):
        build(Scenario(fabric=FatTree(radix=6), workload=workload))


def test_triggers_are_read_back(tmp_path: Path) -> None:
    for text in (DATA / "barrier.cm").read_text(), trigger_file("barrier count 3", sources=3, targets=2):
        file = read(tmp_path, text)
        write_htsim(file.messages, tmp_path / "again.cm", file.hosts)
        assert read_htsim(tmp_path / "again.cm") == file
