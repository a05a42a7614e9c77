"""What holds whenever a transport is done: every packet of every message is there, and counted once.

It is read from the trace of what hosts received, by other means than the core's own counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fabricsim.checks import check as hold_to_physics
from fabricsim.conformance.sound import Fault, packets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fabricsim.results import Results

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Receptions:
    """Data packets received over one end of their way, in order of time; arrays, one entry a reception."""

    flow: Ints
    psn: Ints
    at_ps: Ints

    def first(self, places: Ints) -> Ints:
        """Return when each packet, at its place in a row of all flows' packets, first came; -1 if it never did."""
        times = np.full(int(places[-1]), -1, np.int64)
        # Backwards, so that the earliest is written last.
        times[(places[self.flow] + self.psn)[::-1]] = self.at_ps[::-1]
        return times


def receptions(results: Results, end: str) -> Receptions:
    """Return receptions over the links that leave hosts (`end` is "from") or lead to them ("to")."""
    trace = results.trace
    assert trace is not None, "the suite traces what it reads"
    host = results.ports[end].str.starts_with("host-").to_numpy()
    data = trace.filter(pl.col("kind") == "data").sort("at_ps", maintain_order=True)
    data = data.filter(pl.Series(host[data["link"].to_numpy()]))
    return Receptions(*(data[name].to_numpy().astype(np.int64) for name in ("flow", "psn", "at_ps")))


def delivered_once(results: Results) -> int:
    """Hold a run to all of this; returns how many packets there were. Raises `Fault`."""
    status, flows = results.summary["status"], results.flows
    if status != "done":
        missing = int((flows["packets_count"] - flows["delivered_packets_count"]).cast(pl.Int64).sum())
        raise Fault(f"the run ended as {status}, with {missing} packets not delivered")
    packets = packets_of(results)
    for kind in ("delivered", "acked") if results.scenario.transport.acks_messages else ("delivered",):
        counted = flows[f"{kind}_packets_count"].to_numpy()
        if (counted != packets).any():
            row = int(np.argmax(counted != packets))
            raise Fault(f"flow {row}: {counted[row]} of {packets[row]} packets counted as {kind}")
    came, places = receptions(results, "to"), np.concatenate([[0], np.cumsum(packets)])
    if (came.psn >= packets[came.flow]).any():
        raise Fault("a packet arrived that its message does not have")
    first = came.first(places)
    if (first < 0).any():
        place = int(np.argmax(first < 0))
        row = int(np.searchsorted(places, place, side="right")) - 1
        raise Fault(f"packet {place - places[row]} of flow {row} never arrived")
    again = came.psn.size - first.size
    counted = results.summary["transport_counts"].get("duplicates_count", 0)
    if again != counted:
        raise Fault(f"{again} packets came again, and {counted} were counted")
    ends = {"first_delivered_ps": np.minimum, "last_delivered_ps": np.maximum}
    for column, extreme in ends.items():
        seen = extreme.reduceat(first, places[:-1])
        told = flows[column].to_numpy()
        if (seen != told).any():
            row = int(np.argmax(seen != told))
            raise Fault(f"flow {row}: {column} is {told[row]}, and the trace has {seen[row]}")
    hold_to_physics(results)
    return int(first.size)
