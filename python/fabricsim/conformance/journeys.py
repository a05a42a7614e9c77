"""The way of every packet through a traced run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from fabricsim.results import Results

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Journeys:
    """The receptions of a run, packet by packet and each packet's in order of time; arrays, one entry a reception.

    `flow`, `psn`, `is_ack`, `at_ps`, `link`: as in the trace (`link` is a row of ports). `sender`, `receiver`: nodes at
    the ends of the link. `source`, `goal`: hosts that the packet comes from and goes to. `is_first`, `is_last`: whether
    the reception is its packet's first or last. Nodes are numbers, hosts their own.
    """

    flow: Ints
    psn: Ints
    is_ack: Bools
    at_ps: Ints
    link: Ints
    sender: Ints
    receiver: Ints
    source: Ints
    goal: Ints
    is_first: Bools
    is_last: Bools

    def words(self, reception: Any) -> str:
        """Name the packet of a reception."""
        kind = "ACK" if self.is_ack[reception] else "packet"
        return f"{kind} {self.psn[reception]} of flow {self.flow[reception]}"


def journeys(results: Results) -> Journeys:
    """Return the journeys of a run that was traced (`measure.trace`)."""
    trace = results.trace
    assert trace is not None, "the suite traces what it reads"
    unsorted = [trace[name].to_numpy().astype(np.int64) for name in ("at_ps", "psn", "flow", "link")]
    was_ack = (trace["kind"] == "ack").to_numpy()
    order = np.lexsort((unsorted[0], unsorted[1], was_ack, unsorted[2]))
    at_ps, psn, flow, link = (column[order] for column in unsorted)
    is_ack = was_ack[order]
    is_first = np.ones(flow.size, np.bool_)
    is_first[1:] = (np.diff(flow) != 0) | (np.diff(psn) != 0) | (is_ack[1:] != is_ack[:-1])
    is_last = np.ones(flow.size, np.bool_)
    is_last[:-1] = is_first[1:]
    sender, receiver = (_numbers(results, end)[link] for end in ("from", "to"))
    src, dst = (results.flows[name].to_numpy().astype(np.int64)[flow] for name in ("src", "dst"))
    source, goal = np.where(is_ack, dst, src), np.where(is_ack, src, dst)
    return Journeys(flow, psn, is_ack, at_ps, link, sender, receiver, source, goal, is_first, is_last)


def _numbers(results: Results, end: str) -> Ints:
    """Return the node at one end of each row of ports; hosts by their own numbers, switches by numbers after them."""
    nodes: dict[str, int] = {}
    for tier, count in results.scenario.fabric.nodes_count.items():
        first = len(nodes)
        nodes |= {f"{tier}-{number}": first + number for number in range(count)}
    column: pl.Series = results.ports[end]
    return np.array([nodes[name] for name in column.to_list()], np.int64)
