"""The engine and its twin on one scenario."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from twin.draws import COLUMNS
from twin.simulation import run
from twin.tree import Tree
from twin.workload import Outcome


def compare(config: dict[str, Any], drawn: dict[str, list[int]]) -> Outcome | None:
    """Run both on one scenario; None when hosts are cut off and the engine has rightly refused."""
    from fabricsim import _core

    messages = {name: np.array(values, dtype=COLUMNS[name]) for name, values in drawn.items()}
    hosts = Tree(config["fabric"]).hosts
    pairs = [(hosts[src], hosts[dst]) for src, dst in zip(drawn["src"], drawn["dst"], strict=True)]
    if not all(src.can_reach(dst) and dst.can_reach(src) for src, dst in pairs):
        with pytest.raises(ValueError, match="down: "):
            _core.run(json.dumps(config), messages, None)
        return None
    got: Any = _core.run(json.dumps(config), messages, None)
    totals = got["totals"]
    # Hosts that repair losses have clocks running when all is done; the engine ends with the window.
    is_cut = config["transport"]["kind"] != "paced"
    wanted = run(config, drawn, totals["end_at_ps"] if is_cut else math.inf)
    assert got["status"] == wanted.status
    if is_cut and wanted.status == "done":
        assert totals["end_at_ps"] - totals["window_ps"] <= wanted.finished_at < totals["end_at_ps"]
    trace = list(zip(*(got["trace"][name].tolist() for name in ("at_ps", "link", "flow", "psn", "kind")), strict=True))
    first_apart = next((pair for pair in zip(trace, wanted.trace, strict=False) if pair[0] != pair[1]), None)
    assert first_apart is None, "first reception apart (engine, twin): (at, link, row, psn, kind)"
    assert len(trace) == len(wanted.trace) == totals["packet_hops_count"]
    for name, column in wanted.flows.items():
        assert got["flows"][name].tolist() == column, f"flows.{name}"
    for name, column in wanted.ports.items():
        is_measured = config["measure"]["queues"] or "queue" not in name
        # The door has the integral of the queue in floating point.
        values = [float(value) for value in column] if name == "queue_byte_ps" else column
        assert got["ports"][name].tolist() == (values if is_measured else [0] * len(column)), f"ports.{name}"
    for table, columns in {"series": wanted.series, "windows": wanted.windows}.items():
        for name, column in columns.items():
            assert got[table][name].tolist() == column, f"{table}.{name}"
    assert {name: totals[name] for name in wanted.totals} == wanted.totals
    assert {name: int(count) for name, count in got["transport"].items()} == wanted.transport
    return wanted
