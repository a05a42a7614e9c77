"""Writes htsim's connection matrices (`.cm`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads.htsim import StartUnit
from fabricsim.workloads.messages import ACKED, Messages

_DECIMALS = {"us": 6, "ps": 0}


def write_htsim(messages: Messages, path: str | Path, hosts: int, start_unit: StartUnit = "us") -> None:
    """Write messages as a `.cm` file for a fabric of `hosts` hosts.

    `read_htsim` gives the same messages back, but for the numbers of collectives, which the format does not have.

    A dependency becomes a oneshot, several of one message a barrier. Where a message feeds more than one trigger its
    line names them all, of which htsim keeps the last; htsim also truncates `start` to whole units and cannot read
    sizes of 2^31 and more. Rows are written by sender in the order of `rank` if theirs is another one. Raises
    `ScenarioError` for what the format cannot say: a start time, or a trigger besides dependencies, on a message that
    waits; multishot targets that take their turns in another order than that of the lines.
    """
    messages.check_hosts(hosts)
    rows = _in_order_of_rank(messages)
    triggers, fed, started = _triggers(messages, rows)
    lines = [f"Nodes {hosts}", f"Connections {len(messages)}"]
    if triggers:
        lines.append(f"Triggers {len(triggers)}")
    for number, row in enumerate(rows.tolist(), start=1):
        words = [f"{messages.src[row]}->{messages.dst[row]} id {number}"]
        if row in started:
            words.append(f"trigger {started[row]}")
        else:
            words.append(f"start {_decimal(int(messages.start_ps[row]), _DECIMALS[start_unit])}")
        words.append(f"size {messages.bytes[row]}")
        lines.append(" ".join([*words, *fed[row]]))
    lines += (f"trigger id {number} {kind}" for number, kind in enumerate(triggers, start=1))
    Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")


def _triggers(messages: Messages, rows: NDArray[np.int64]) -> tuple[list[str], dict[int, list[str]], dict[int, int]]:
    """Return each trigger's kind, the words that feed triggers by row, and the trigger that starts each waiting row."""
    kinds: list[str] = []
    fed: dict[int, list[str]] = defaultdict(list)
    started: dict[int, int] = {}

    def feed(row: int, event: int, trigger: int) -> None:
        fed[row].append(f"{'send' if event == ACKED else 'recv'}_done_trigger {trigger}")

    waits: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row, on, event in _rows(messages.dep_message, messages.dep_on, messages.dep_event):
        waits[row].append((on, event))
    single: dict[tuple[int, int], int] = {}
    for row, awaited in waits.items():
        known = single.get(awaited[0]) if len(awaited) == 1 else None
        if known is None:
            kinds.append("oneshot" if len(awaited) == 1 else f"barrier count {len(awaited)}")
            for on, event in awaited:
                feed(on, event, len(kinds))
            if len(awaited) == 1:
                single[awaited[0]] = len(kinds)
        started[row] = known or len(kinds)
    first = len(kinds) + 1
    kinds += (f"barrier count {count}" if count else "multishot" for count in messages.trigger_count.tolist())
    for trigger, row, event in _rows(messages.fire_trigger, messages.fire_message, messages.fire_event):
        feed(row, event, first + trigger)
    for trigger, row in _rows(messages.target_trigger, messages.target_message):
        if row in started:
            allowed = "a message without dependencies, as .cm has one or the other"
            raise ScenarioError("target_message", row, allowed)
        started[row] = first + trigger
    _check_turns(messages, rows)
    for row in started:
        if messages.start_ps[row]:
            allowed = "0, as a waiting flow of .cm has no start"
            raise ScenarioError(f"start_ps[{row}]", int(messages.start_ps[row]), allowed)
    return kinds, fed, started


def _check_turns(messages: Messages, rows: NDArray[np.int64]) -> None:
    """Raise unless the targets of each multishot trigger stand in the order of its turns."""
    line = np.empty_like(rows)
    line[rows] = np.arange(rows.size)
    last: dict[int, int] = {}
    for trigger, row in _rows(messages.target_trigger, messages.target_message):
        if messages.trigger_count[trigger] == 0 and line[row] < last.get(trigger, 0):
            raise ScenarioError("target_message", row, f"targets of trigger {trigger} in the order of the rows")
        last[trigger] = int(line[row])


def _rows(*columns: NDArray[Any]) -> Iterator[tuple[int, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


def _in_order_of_rank(messages: Messages) -> NDArray[np.int64]:
    """Return the rows as they are if each sender's ranks ascend, else by sender and rank (ties by dst, bytes)."""
    by_sender = np.argsort(messages.src, kind="stable")
    src, rank = messages.src[by_sender].astype(np.int64), messages.rank[by_sender].astype(np.int64)
    if np.all((np.diff(src) > 0) | (np.diff(rank) > 0)):
        return np.arange(len(messages))
    return np.lexsort((messages.bytes, messages.dst, messages.rank, messages.src))


def _decimal(number: int, decimals: int) -> str:
    whole, rest = divmod(number, 10**decimals)
    return f"{whole}.{rest:0{decimals}}".rstrip("0") if rest else str(whole)
