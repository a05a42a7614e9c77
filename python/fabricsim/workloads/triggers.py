"""htsim's triggers as the door's dependencies, where those say the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads.dependencies import Edges
from fabricsim.workloads.messages import ACKED, Messages, Places

# 10^7 dependencies take about a gigabyte on their way.
_MOST_EDGES = 10**7


def lowered(messages: Messages, places: Places) -> Messages:
    """Return the same messages with as many triggers as possible turned into dependencies.

    Those are the triggers with one activator or one target (as many edges as before), and the barriers whose parties
    are all on one host: a dependency acts at once within a host, while a trigger always counts as acting across hosts.
    A trigger that starts nothing is dropped. `messages` must have been checked, as `Messages.from_arrays` does.
    Raises `ScenarioError`, naming the trigger as `places` does, for more than 10^7 dependencies.
    """
    triggers = messages.trigger_count.size
    fires, targets = Edges(messages.fire_trigger, triggers), Edges(messages.target_trigger, triggers)
    acked = messages.fire_event == ACKED
    fire_host = np.where(acked, messages.src[messages.fire_message], messages.dst[messages.fire_message])
    target_host = messages.src[messages.target_message]
    dependencies: list[NDArray[np.uint32]] = []
    kept: list[int] = []
    edges = 0
    for trigger in range(triggers):
        by, to = fires[trigger], targets[trigger]
        barrier = messages.trigger_count[trigger] > 0
        if not to:
            continue
        at_home = barrier and len({*fire_host[by].tolist(), *target_host[to].tolist()}) == 1
        if not (len(by) == 1 or (barrier and len(to) == 1) or at_home):
            kept.append(trigger)
            continue
        edges += len(by) * len(to)
        if edges > _MOST_EDGES:
            got = f"{len(by)} messages that {len(to)} others on the same host wait for, each for each"
            allowed = f"at most {_MOST_EDGES} pairs in all"
            raise ScenarioError(places.trigger(trigger), got, allowed, places.where)
        waiting = np.repeat(messages.target_message[to], len(by))
        awaited, event = messages.fire_message[by], messages.fire_event[by]
        dependencies.append(np.stack([waiting, np.tile(awaited, len(to)), np.tile(event, len(to))]))
    place = np.full(triggers, -1)
    place[kept] = np.arange(len(kept))
    fire_kept = place[messages.fire_trigger] >= 0
    target_kept = place[messages.target_trigger] >= 0
    arrays = messages.to_door()
    columns = np.concatenate([np.empty((3, 0), np.uint32), *dependencies], axis=1)
    columns = columns[:, np.lexsort(columns[::-1])]
    for name, column in zip(("dep_message", "dep_on", "dep_event"), columns, strict=True):
        arrays[name] = np.concatenate([arrays[name], column.astype(arrays[name].dtype)])
    arrays["trigger_count"] = messages.trigger_count[kept]
    for name, rows in (("fire", fire_kept), ("target", target_kept)):
        numbers = arrays[f"{name}_trigger"]
        arrays[f"{name}_trigger"] = place[numbers[rows]].astype(numbers.dtype)
        arrays[f"{name}_message"] = arrays[f"{name}_message"][rows]
    arrays["fire_event"] = messages.fire_event[fire_kept]
    return Messages(**arrays)
