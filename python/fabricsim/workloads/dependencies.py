"""Who waits for whom: everything must be able to start, and each trigger to fire.

Whether a message can start does not depend on times: a completion only ever adds activations, in any order. So a plain
work list decides it, in time linear in the messages and edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError

if TYPE_CHECKING:
    from fabricsim.workloads.messages import Messages, Places


class Edges:
    """An edge list by its source: `edges[source]` are the edges' numbers, in their order."""

    def __init__(self, sources: NDArray[np.uint32], count: int) -> None:
        self._order: list[int] = np.argsort(sources, kind="stable").tolist()
        self._ends: list[int] = np.cumsum(np.bincount(sources, minlength=count)).tolist()

    def __getitem__(self, source: int) -> list[int]:
        return self._order[self._ends[source - 1] if source else 0 : self._ends[source]]


class Progress:
    """What is still waited for, while messages complete one by one. Times are the caller's."""

    def __init__(self, messages: Messages) -> None:
        count, triggers = len(messages), messages.trigger_count.size
        pending = np.bincount(messages.dep_message, minlength=count)
        pending += np.bincount(messages.target_message, minlength=count)
        self.pending: list[int] = pending.tolist()
        self._missing: list[int] = messages.trigger_count.tolist()
        self._next_target = [0] * triggers
        self._targets = Edges(messages.target_trigger, triggers)
        self._target_message: list[int] = messages.target_message.tolist()

    def satisfy(self, message: int) -> bool:
        """Note that one thing `message` waited for has happened; return whether it can start now."""
        self.pending[message] -= 1
        return self.pending[message] == 0

    def activate(self, trigger: int) -> Iterator[int]:
        """Activate a trigger once and yield the messages that it starts by that."""
        targets = self._targets[trigger]
        if self._missing[trigger]:
            self._missing[trigger] -= 1
            if self._missing[trigger]:
                return
        else:
            reached = self._next_target[trigger]
            self._next_target[trigger] += 1
            targets = targets[reached : reached + 1]
        yield from (self._target_message[edge] for edge in targets)


def check_triggers(messages: Messages, places: Places) -> None:
    """Raise `ScenarioError` if some trigger never fires, or is certain to get more activations than it takes."""
    triggers = messages.trigger_count.size
    fires = np.bincount(messages.fire_trigger, minlength=triggers)
    targets = np.bincount(messages.target_trigger, minlength=triggers)
    needed = messages.trigger_count.astype(np.int64)
    for trigger in np.flatnonzero((needed > 0) & (fires > needed))[:1]:
        allowed = f"{needed[trigger]}; each message that names it activates it once"
        raise ScenarioError(places.trigger(int(trigger)), f"{fires[trigger]} activations", allowed, places.where)
    starved = (targets > 0) & (fires < np.where(needed > 0, needed, targets))
    for trigger in np.flatnonzero(starved)[:1]:
        need = needed[trigger] or targets[trigger]
        allowed = f"{need} (with fewer, what it starts would wait for ever)"
        raise ScenarioError(places.trigger(int(trigger)), f"{fires[trigger]} activations", allowed, places.where)
    repeated = np.flatnonzero(np.bincount(messages.target_message, minlength=len(messages)) > 1)
    for message in repeated[:1]:
        which = messages.target_trigger[messages.target_message == message].tolist()
        field = places.message(int(message), "trigger")
        raise ScenarioError(field, f"{len(which)} triggers", "one trigger a message", places.where)


def check_starts(messages: Messages, places: Places) -> None:
    """Raise `ScenarioError` naming one cycle if some message can never start. Triggers must have been checked."""
    if not messages.has_dependencies:
        return
    progress = Progress(messages)
    dependents = Edges(messages.dep_on, len(messages))
    fires = Edges(messages.fire_message, len(messages))
    dep_message: list[int] = messages.dep_message.tolist()
    fire_trigger: list[int] = messages.fire_trigger.tolist()
    ready = [message for message, pending in enumerate(progress.pending) if not pending]
    started = 0
    while ready:
        done = ready.pop()
        started += 1
        ready += [dep_message[edge] for edge in dependents[done] if progress.satisfy(dep_message[edge])]
        for edge in fires[done]:
            ready += [target for target in progress.activate(fire_trigger[edge]) if progress.satisfy(target)]
    if started < len(messages):
        cycle = _cycle(messages, np.array(progress.pending) > 0)
        shown = " waits for ".join(map(places.name, (*cycle, cycle[0])))
        trigger = messages.target_trigger[messages.target_message == cycle[0]].tolist()
        field = places.trigger(trigger[0]) if trigger else places.message(cycle[0], "after")
        raise ScenarioError(field, f"a cycle: {shown}", "no cycles, so that every message can start", places.where)


def _cycle(messages: Messages, stuck: NDArray[np.bool_]) -> list[int]:
    """Return messages each of which waits for the next one and the last for the first; `stuck` never start."""
    waits = Edges(messages.dep_message, len(messages))
    activators = Edges(messages.fire_trigger, messages.trigger_count.size)
    trigger_of = dict(zip(messages.target_message.tolist(), messages.target_trigger.tolist(), strict=True))
    path: list[int] = []
    place: dict[int, int] = {}
    message = int(np.flatnonzero(stuck)[0])
    while message not in place:
        place[message] = len(path)
        path.append(message)
        before = [int(messages.dep_on[edge]) for edge in waits[message]]
        if message in trigger_of:
            before += [int(messages.fire_message[edge]) for edge in activators[trigger_of[message]]]
        message = next(other for other in before if stuck[other])
    return path[place[message] :]
