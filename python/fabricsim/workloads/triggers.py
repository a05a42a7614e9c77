"""htsim's triggers as the door's dependencies, where those say the same."""

from __future__ import annotations

import numpy as np

from fabricsim.workloads.dependencies import Edges
from fabricsim.workloads.messages import ACKED, Messages


def lowered(messages: Messages) -> Messages:
    """Return the same messages with as many triggers as possible turned into dependencies.

    Those are the triggers with one activator or one target (as many edges as before), and the barriers whose parties
    are all on one host: a dependency acts at once within a host, while a trigger always counts as acting across hosts.
    A trigger that starts nothing is dropped. `messages` must have been checked, as `Messages.from_arrays` does.
    """
    triggers = messages.trigger_count.size
    fires, targets = Edges(messages.fire_trigger, triggers), Edges(messages.target_trigger, triggers)
    acked = messages.fire_event == ACKED
    fire_host = np.where(acked, messages.src[messages.fire_message], messages.dst[messages.fire_message])
    target_host = messages.src[messages.target_message]
    dependencies: list[tuple[int, int, int]] = []
    kept: list[int] = []
    for trigger in range(triggers):
        by, to = fires[trigger], targets[trigger]
        hosts = {*fire_host[by].tolist(), *target_host[to].tolist()}
        barrier = messages.trigger_count[trigger] > 0
        if not to:
            continue
        if len(by) == 1 or (barrier and (len(to) == 1 or len(hosts) == 1)):
            dependencies += [
                (int(messages.target_message[target]), int(messages.fire_message[fire]), int(messages.fire_event[fire]))
                for target in to
                for fire in by
            ]
        else:
            kept.append(trigger)
    place = np.full(triggers, -1)
    place[kept] = np.arange(len(kept))
    fire_kept = place[messages.fire_trigger] >= 0
    target_kept = place[messages.target_trigger] >= 0
    arrays = messages.to_door()
    columns = np.array(sorted(dependencies), np.int64).reshape(-1, 3).T
    for name, column in zip(("dep_message", "dep_on", "dep_event"), columns, strict=True):
        arrays[name] = np.concatenate([arrays[name], column.astype(arrays[name].dtype)])
    arrays["trigger_count"] = messages.trigger_count[kept]
    for name, rows in (("fire", fire_kept), ("target", target_kept)):
        numbers = arrays[f"{name}_trigger"]
        arrays[f"{name}_trigger"] = place[numbers[rows]].astype(numbers.dtype)
        arrays[f"{name}_message"] = arrays[f"{name}_message"][rows]
    arrays["fire_event"] = messages.fire_event[fire_kept]
    return Messages(**arrays)
