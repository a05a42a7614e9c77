"""Reads flow traces of the dcPIM simulator: `id start_s x x size_packets x x src dst`, a flow a line."""

from __future__ import annotations

from decimal import Decimal, DecimalException
from pathlib import Path

import numpy as np

from fabricsim.errors import ScenarioError
from fabricsim.workloads.messages import LATEST_START_PS, MOST_PACKETS, Messages, Places
from fabricsim.workloads.ranks import ranks_in_order

_COLUMNS = 9
_FIRST_S = 1
"""What its time begins at."""


def read_dcpim_trace(path: str | Path, payload_bytes: int, hosts: int | None = None) -> Messages:
    """Read a trace; its sizes count packets, which are taken for `payload_bytes` each.

    Starts count from 1.0 s, where that simulator begins, and are rounded to the picosecond. A host visits flows of the
    same start in the order of their lines. `hosts`: how many the fabric has, to check against. Raises `ScenarioError`
    as `FILE:LINE: field: got ...; allowed: ...`.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScenarioError("workload.path", path, f"a readable file ({error.strerror})") from None
    except ValueError:  # no UTF-8, or a NUL in the path
        raise ScenarioError("workload.path", path, "a text file") from None
    lines: list[int] = []
    rows: list[tuple[int, int, int, int]] = []
    for line, raw in enumerate(text.split("\n"), start=1):
        words = raw.split()
        if not words:
            continue
        place = f"{path}:{line}"
        if len(words) != _COLUMNS:
            raise ScenarioError(place, f"{len(words)} columns", "id, start_s, x, x, size_packets, x, x, src, dst")
        packets = _whole(words[4], f"{place}: size_packets", 1, MOST_PACKETS)
        src, dst = (
            _whole(words[column], f"{place}: {name}", 0, 2**32 - 1) for column, name in ((7, "src"), (8, "dst"))
        )
        rows.append((_start_ps(words[1], place), packets * payload_bytes, src, dst))
        lines.append(line)
    if not rows:
        raise ScenarioError(str(path), "no lines", "a flow a line, as of dcPIM's simulator")
    start, size, src_, dst_ = (np.array(column, np.uint64) for column in zip(*rows, strict=True))
    places = Places(message=lambda row, field: f"{path}:{lines[row]}: {field}")
    return Messages.from_arrays(src_, dst_, size, start_ps=start, rank=ranks_in_order(src_), hosts=hosts, places=places)


def _start_ps(word: str, place: str) -> int:
    try:
        start = (Decimal(word) - _FIRST_S) * 10**12
        if 0 <= start <= LATEST_START_PS:
            return round(start)
    except DecimalException:  # no number, or none that could be
        pass
    raise ScenarioError(f"{place}: start_s", word, f"a time in seconds from {_FIRST_S}, where the simulator begins")


def _whole(word: str, place: str, least: int, most: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 20) or not least <= int(word) <= most:
        raise ScenarioError(place, word, f"a whole number from {least} to {most}")
    return int(word)
