"""Message lists: what is accepted, what is refused and how, and that files give back what was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabricsim.errors import ScenarioError
from fabricsim.scenario import FatTree, MessageList, Paced, Scenario
from fabricsim.workloads import Messages, build, read_messages, write_messages

FABRIC = FatTree(radix=4)


def listed(*messages: dict[str, Any]) -> Messages:
    workload = MessageList.model_validate({"messages": [{"src": 0, "dst": 1, "bytes": 1, **m} for m in messages]})
    return build(Scenario(fabric=FABRIC, workload=workload))


def test_messages_become_arrays() -> None:
    messages = listed(
        {"id": "a", "bytes": "5GB", "start": "1.5us"},
        {
            "src": 2,
            "dst": 0,
            "bytes": 0,
            "rank": 3,
            "collective": 4,
            "after": [{"id": "a"}, {"id": 7, "event": "acked"}],
        },
        {"id": 7},
    )
    assert messages.src.tolist() == [0, 2, 0]
    assert messages.bytes.tolist() == [5_000_000_000, 0, 1]
    assert messages.start_ps.tolist() == [1_500_000, 0, 0]
    assert messages.rank.tolist() == [0, 3, 0]
    assert messages.collective.tolist() == [0, 4, 0]
    edges = zip(messages.dep_message.tolist(), messages.dep_on.tolist(), messages.dep_event.tolist(), strict=True)
    assert list(edges) == [(1, 0, 0), (1, 2, 1)]
    assert {name: array.dtype.name for name, array in messages.to_door().items()} == {
        "src": "uint32", "dst": "uint32", "bytes": "uint64", "start_ps": "uint64", "rank": "uint32",
        "collective": "uint32",
        "dep_message": "uint32", "dep_on": "uint32", "dep_event": "uint8", "trigger_count": "uint32",
        "fire_trigger": "uint32", "fire_message": "uint32", "fire_event": "uint8",
        "target_trigger": "uint32", "target_message": "uint32",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([{"dst": 16}], "messages.0.dst: got 16; allowed: a host from 0 to 15"),
        ([{}, {"src": 99}], "messages.1.src: got 99; allowed: a host from 0 to 15"),
        ([{"dst": 0}], "messages.0.dst: got 0; allowed: a host other than src 0"),
        ([{"bytes": 2**32 * 4096}], "messages.0.bytes: got 17592186044416; allowed: at most"),
        ([{"id": "a"}, {"id": "a"}], 'messages.1.id: got "a"; allowed: an id of its own (messages.0 has it)'),
        (
            [{"after": [{"id": "b"}]}],
            'messages.0.after.0.id: got the unknown name "b"; allowed: the id of another message',
        ),
        (
            [{"id": "first"}, {"after": [{"id": "frist"}]}],
            'messages.1.after.0.id: got the unknown name "frist" (did you mean "first"?)',
        ),
        ([{"id": "a", "after": [{"id": "a"}]}], "messages.0.after: got \"a cycle: message 'a' waits for message 'a'\""),
        (
            [{}, {"id": 1, "after": [{"id": 2}]}, {"id": 2, "after": [{"id": 1}]}],
            "a cycle: message 1 waits for message 2 waits for message 1",
        ),
        ([{"start": "5000000s"}], "start_ps: got 5000000000000000000"),
        ([], 'workload: got "no messages"; allowed: 1 message or more'),
    ],
)
def test_message_list_that_cannot_run(messages: list[dict[str, Any]], error: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        listed(*messages)
    assert error in str(caught.value)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({"src": -1}, "messages.0.src: got -1"),
        ({"src": 1.5}, "messages.0.src: got 1.5"),
        ({"bytes": -1}, "messages.0.bytes: got -1"),
        ({"bytes": "1"}, 'messages.0.bytes: got "1"'),
        ({"bytes": "100kb"}, 'messages.0.bytes: got "100kb"'),
        ({"start": 5}, "messages.0.start: got 5"),
        ({"start": "-1ns"}, 'messages.0.start: got "-1ns"'),
        ({"after": [{"id": "a", "event": "sent"}]}, 'messages.0.after.0.event: got "sent"'),
        ({"size": 5}, 'messages.0.size: got the unknown name "size"'),
        ({"id": True}, "messages.0.id: got true; allowed: a text or an integer (MessageList)"),
        ({"id": 1.0}, "messages.0.id: got 1.0; allowed: a text or an integer (MessageList)"),
        ({"after": [{"id": False}]}, "messages.0.after.0.id: got false; allowed: a text or an integer (MessageList)"),
        ({"after": [{"id": None}]}, "messages.0.after.0.id: got nothing; allowed: a text or an integer (MessageList)"),
    ],
)
def test_message_that_is_malformed(message: dict[str, Any], error: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        MessageList(messages=[{"src": 0, "dst": 1, "bytes": 1, **message}])  # type: ignore[arg-type]
    assert error in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "error"),
    [
        ({"src": [0, 1]}, "dst: got \"shape (1,)\"; allowed: shape (2,), as src"),
        ({"src": [[0]], "dst": [[1]]}, 'src: got "shape (1, 1)"'),
        ({"src": [-1]}, "src[0]: got -1; allowed: an integer from 0 to 4294967295"),
        ({"src": [0.5]}, 'src: got "float64"; allowed: integers'),
        ({"bytes": [2**64]}, "bytes: got"),
        ({"bytes": [-5]}, "bytes[0]: got -5"),
        ({"rank": [1, 2]}, "rank: got"),
        ({"collective": [1, 2]}, "collective: got"),
        ({"collective": [2**32]}, "collective[0]: got 4294967296; allowed: an integer from 0 to 4294967295"),
        ({"weight": [1]}, "weight: got [1]; allowed: one of src, dst"),
        ({"dep_message": [0]}, "dep_on: got"),
        ({"dep_message": [0], "dep_on": [1], "dep_event": [0]}, "dep_on[0]: got 1; allowed: a message from 0 to 0"),
        ({"dep_message": [0], "dep_on": [0], "dep_event": [2]}, "dep_event[0]: got 2; allowed: 0 (delivered) or 1"),
        ({"dep_message": [0], "dep_on": [0], "dep_event": [0]}, "after[0]: got \"a cycle: message 0 waits for"),
        ({"target_trigger": [0], "target_message": [0]}, "target_trigger[0]: got 0; allowed: nothing: there is not"),
        (
            {"trigger_count": [1], "target_trigger": [0], "target_message": [0]},
            'trigger 0: got "0 activations"; allowed: 1',
        ),
        (
            {"trigger_count": [1], "fire_trigger": [0, 0], "fire_message": [0, 0], "fire_event": [0, 1]},
            'trigger 0: got "2 activations"; allowed: 1',
        ),
        (
            {
                "trigger_count": [1], "fire_trigger": [0], "fire_message": [0], "fire_event": [0],
                "target_trigger": [0], "target_message": [0],
            },
            'trigger 0: got "a cycle: message 0 waits for message 0"',
        ),
    ],
)  # fmt: skip
def test_arrays_that_are_wrong(arrays: dict[str, Any], error: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Messages.from_arrays(**{"src": [0], "dst": [1], "bytes": [4096], **arrays})
    assert error in str(caught.value)


def test_waiting_for_acks_that_nobody_sends() -> None:
    workload = MessageList.model_validate(
        {
            "messages": [
                {"src": 0, "dst": 1, "bytes": 1, "id": "a"},
                {"src": 0, "dst": 1, "bytes": 1, "after": [{"id": "a", "event": "acked"}]},
            ]
        }
    )
    scenario = Scenario(fabric=FABRIC, workload=workload, transport=Paced(acks="off"))
    with pytest.raises(ScenarioError, match=r'messages\.1\.event: got "acked"; allowed: waiting for "delivered" only'):
        build(scenario)


def test_a_long_chain_is_checked_in_linear_time() -> None:
    count = 200_000
    rows = np.arange(count)
    chain = {"dep_message": rows[1:], "dep_on": rows[:-1], "dep_event": np.zeros(count - 1, int)}
    messages = Messages.from_arrays(np.zeros(count, int), np.ones(count, int), 1, **chain)
    assert len(messages) == count
    closed = {
        "dep_message": np.append(rows[1:], 0), "dep_on": np.append(rows[:-1], count - 1), "dep_event": 0 * rows
    }  # fmt: skip
    with pytest.raises(ScenarioError, match="a cycle"):
        Messages.from_arrays(np.zeros(count, int), np.ones(count, int), 1, **closed)


@pytest.mark.parametrize("ending", ["json", "npz", "parquet"])
def test_files_give_back_what_was_written(tmp_path: Path, ending: str) -> None:
    edges: dict[str, Any] = {}
    if ending != "parquet":
        edges |= {"dep_message": [1, 2, 2], "dep_on": [0, 0, 1], "dep_event": [1, 0, 1]}
    if ending == "npz":
        edges |= {
            "trigger_count": [0], "fire_trigger": [0], "fire_message": [0], "fire_event": [0],
            "target_trigger": [0], "target_message": [3],
        }  # fmt: skip
    messages = Messages.from_arrays(
        [0, 1, 2, 3],
        [1, 2, 3, 0],
        [0, 1, 5 * 10**9, 7],
        start_ps=[5, 0, 1234567, 0],
        rank=[0, 1, 2, 3],
        collective=[7, 0, 7, 1],
        **edges,
    )
    path = tmp_path / f"messages.{ending}"
    write_messages(messages, path)
    assert read_messages(path) == messages
    if ending == "parquet":
        with pytest.raises(ScenarioError, match="since messages depend"):
            write_messages(listed({"id": 1}, {"after": [{"id": 1}]}), path)


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("a.json", "{", "allowed: a JSON file"),
        ("a.json", '{"flows": []}', 'flows: got the unknown name "flows"; allowed: messages'),
        ("a.json", '{"messages": 3}', "messages: got 3; allowed: a list of messages"),
        ("a.json", json.dumps([{"src": 0, "dst": 1}]), "messages.0.bytes: got nothing"),
        ("a.json", json.dumps([{"src": 0, "dst": 1, "bytes": "1MB/s"}]), "messages.0.bytes: got"),
        ("a.npz", "nonsense", "a .npz file"),
        ("a.parquet", "nonsense", "a .parquet file"),
        ("a.csv", "src,dst", "a file name that ends in one of .json, .npz, .parquet"),
    ],
)
def test_file_that_is_malformed(tmp_path: Path, name: str, text: str, error: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        read_messages(path)
    assert error in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_file() -> None:
    with pytest.raises(ScenarioError, match=r"workload\.path: got .*no\.json.*No such file"):
        read_messages("no.json")
