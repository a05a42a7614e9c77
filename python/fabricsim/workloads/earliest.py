"""The earliest moment at which each message can start, given how long each takes at least."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from fabricsim.workloads.dependencies import Edges, Progress
from fabricsim.workloads.messages import ACKED, Messages

Times = NDArray[np.int64]


def earliest_starts(messages: Messages, release: Times, delivered: Times, acked: Times, signal_ps: int) -> Times:
    """Return each message's earliest start in ps, shape (messages,).

    `release` is the start it may not precede on its own account, `delivered` and `acked` the times from its start to
    its two events. A dependency acts at once within a host, a trigger and a dependency across hosts `signal_ps` later.
    If the given times are lower bounds, so are the returned ones: an earlier completion never delays anything.
    """
    if not messages.has_dependencies:
        return release
    progress = Progress(messages)
    dependents = Edges(messages.dep_on, len(messages))
    fires = Edges(messages.fire_message, len(messages))
    after = np.stack([delivered, acked])
    dep_delay = after[messages.dep_event, messages.dep_on] + signal_ps * _is_across_hosts(messages)
    fire_delay = (after[messages.fire_event, messages.fire_message] + signal_ps).tolist()
    dep_message: list[int] = messages.dep_message.tolist()
    fire_trigger: list[int] = messages.fire_trigger.tolist()
    delays: list[int] = dep_delay.tolist()
    start: list[int] = release.tolist()
    # Starts of messages (row) and activations of triggers (-1 - trigger), by time: multishot triggers take turns.
    agenda = [(start[row], row) for row, pending in enumerate(progress.pending) if not pending]
    heapq.heapify(agenda)

    def open_wait(row: int, at: int) -> None:
        start[row] = max(start[row], at)
        if progress.satisfy(row):
            heapq.heappush(agenda, (start[row], row))

    while agenda:
        now, entry = heapq.heappop(agenda)
        if entry >= 0:
            for edge in dependents[entry]:
                open_wait(dep_message[edge], now + delays[edge])
            for edge in fires[entry]:
                heapq.heappush(agenda, (now + fire_delay[edge], -1 - fire_trigger[edge]))
        else:
            for row in progress.activate(-1 - entry):
                open_wait(row, now)
    return np.array(start, np.int64)


def _is_across_hosts(messages: Messages) -> NDArray[np.bool_]:
    on = messages.dep_on
    seen_at = np.where(messages.dep_event == ACKED, messages.src[on], messages.dst[on])
    across: NDArray[np.bool_] = seen_at != messages.src[messages.dep_message]
    return across
