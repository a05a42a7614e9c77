"""Messages given one by one: in the scenario, or in a .json, .npz or .parquet file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile

import numpy as np
from pydantic import ValidationError

from fabricsim.errors import ScenarioError, Unknown
from fabricsim.json_file import read_json
from fabricsim.scenario.part import nearest, scenario_error
from fabricsim.scenario.units import Duration
from fabricsim.scenario.workloads import Message, MessageList
from fabricsim.workloads.messages import ACKED, DELIVERED, DTYPES, Messages, Places

_EVENTS = {"delivered": DELIVERED, "acked": ACKED}
_COLUMNS = ("src", "dst", "bytes", "start_ps", "rank", "collective")


def from_models(listed: Sequence[Message], where: str = "") -> Messages:
    """Turn the messages of a `MessageList` into arrays; `after` refers to their ids.

    Raises `ScenarioError` for an id given twice, an unknown one, or a cycle.
    """
    rows: dict[str | int, int] = {}
    for row, message in enumerate(listed):
        if message.id is not None and rows.setdefault(message.id, row) != row:
            allowed = f"an id of its own (messages.{rows[message.id]} has it)"
            raise ScenarioError(f"messages.{row}.id", message.id, allowed, where)
    edges: list[tuple[int, int, int]] = []
    for row, message in enumerate(listed):
        for place, after in enumerate(message.after):
            if after.id not in rows:
                near = nearest(str(after.id), map(str, rows))
                field = f"messages.{row}.after.{place}.id"
                raise ScenarioError(field, Unknown(str(after.id), near), "the id of another message", where)
            edges.append((row, rows[after.id], _EVENTS[after.event]))
    dep_message, dep_on, dep_event = zip(*edges, strict=True) if edges else ((), (), ())
    places = Places(
        message=lambda row, field: f"messages.{row}.{field}",
        name=lambda row: f"messages.{row}" if listed[row].id is None else f"message {listed[row].id!r}",
        where=where,
    )
    return Messages.from_arrays(
        [message.src for message in listed],
        [message.dst for message in listed],
        np.array([int(message.bytes) for message in listed], np.uint64),
        places=places,
        start_ps=np.array([int(message.start) for message in listed], np.uint64),
        rank=[message.rank for message in listed],
        collective=[message.collective for message in listed],
        dep_message=dep_message,
        dep_on=dep_on,
        dep_event=dep_event,
    )


def read_messages(path: str | Path) -> Messages:
    """Read messages from a .json, .npz or .parquet file.

    .json: a list of messages as in a scenario's `[workload]`, or an object with that list as `messages`. .npz: arrays
    named as the arguments of `Messages.from_arrays`. .parquet: columns src, dst, bytes and optionally start_ps, rank,
    collective. Raises `ScenarioError` naming the file and what is wrong with it.
    """
    path = Path(path)
    readers = {".json": _from_json, ".npz": _from_npz, ".parquet": _from_parquet}
    if path.suffix not in readers:
        raise ScenarioError("workload.path", path, f"a file name that ends in one of {', '.join(readers)}")
    if "\0" in str(path):
        raise ScenarioError("workload.path", path, "a file name without NUL")
    try:
        return readers[path.suffix](path)
    except OSError as error:
        raise ScenarioError("workload.path", path, f"a readable file ({error.strerror or error})") from None


def write_messages(messages: Messages, path: str | Path) -> None:
    """Write messages to a .json, .npz or .parquet file, by its ending.

    Raises `ScenarioError` for another ending, and for what the format cannot say: only .npz holds triggers, .parquet no
    dependencies either.
    """
    path = Path(path)
    arrays = messages.to_door()
    if path.suffix not in (".json", ".npz", ".parquet"):
        raise ScenarioError("", path, "a file name that ends in .json, .npz or .parquet")
    if messages.target_message.size and path.suffix != ".npz":
        raise ScenarioError("", path, "a .npz file, since there are triggers")
    if messages.dep_message.size and path.suffix == ".parquet":
        raise ScenarioError("", path, "a .npz or .json file, since messages depend on one another")
    if path.suffix == ".npz":
        np.savez_compressed(path, allow_pickle=False, **arrays)
    elif path.suffix == ".json":
        path.write_text(json.dumps({"messages": _listed(messages)}, indent=1) + "\n", encoding="utf-8")
    else:
        import polars

        polars.DataFrame({name: arrays[name] for name in _COLUMNS}).write_parquet(path)


def _listed(messages: Messages) -> list[dict[str, Any]]:
    names = {event: name for name, event in _EVENTS.items()}
    columns = [getattr(messages, name).tolist() for name in _COLUMNS]
    listed: list[dict[str, Any]] = [
        {
            "id": row,
            "src": src,
            "dst": dst,
            "bytes": size,
            "start": str(Duration(start)),
            "rank": rank,
            "collective": of,
        }
        for row, (src, dst, size, start, rank, of) in enumerate(zip(*columns, strict=True))
    ]
    edges = zip(messages.dep_message.tolist(), messages.dep_on.tolist(), messages.dep_event.tolist(), strict=True)
    for row, on, event in edges:
        listed[row].setdefault("after", []).append({"id": on, "event": names[event]})
    return listed


def _from_json(path: Path) -> Messages:
    data = read_json(path, "workload.path")
    if isinstance(data, dict):
        for name in data:
            if name != "messages":
                raise ScenarioError(str(name), Unknown(str(name)), "messages", str(path))
        data = data.get("messages")
    if not isinstance(data, list):
        raise ScenarioError("messages", data, "a list of messages", str(path))
    try:
        listed = MessageList.model_validate({"messages": data}).messages
    except ValidationError as error:
        raise scenario_error(error, {"messages": data}, where=str(path)) from None
    return from_models(listed or (), str(path))


def _from_npz(path: Path) -> Messages:
    try:
        with path.open("rb") as raw:
            if not is_zipfile(raw):
                raise ScenarioError("workload.path", path, "a .npz file, as numpy.savez writes")
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
    except ScenarioError:
        raise
    # A broken archive fails in as many ways as there are layers; an array may claim any size.
    except (ValueError, EOFError, BadZipFile, zlib.error, NotImplementedError, MemoryError) as error:
        raise ScenarioError("workload.path", path, f"a .npz file ({error})") from None
    return _from_columns(arrays, DTYPES, path)


def _from_parquet(path: Path) -> Messages:
    import polars

    try:
        # Without glob it takes the name as it is, [ ] and * included.
        with path.open("rb") as file:
            table = polars.read_parquet(file, glob=False)
    except polars.exceptions.PolarsError as error:
        raise ScenarioError("workload.path", path, f"a .parquet file ({error})") from None
    for name in table.columns:
        if table[name].null_count():
            raise ScenarioError(name, None, "an integer in every row", str(path))
    return _from_columns({name: table[name].to_numpy() for name in table.columns}, _COLUMNS, path)


def _from_columns(arrays: dict[str, Any], known: Collection[str], path: Path) -> Messages:
    for name in arrays:
        if name not in known:
            raise ScenarioError(name, Unknown(name, nearest(name, known)), ", ".join(known), str(path))
    for name in ("src", "dst", "bytes"):
        if name not in arrays:
            raise ScenarioError(name, None, "a column of integers", str(path))
    return Messages.from_arrays(**arrays, places=Places(where=str(path)))
