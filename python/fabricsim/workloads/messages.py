"""`Messages`: what a run sends, as the arrays of the door (bindings/README.md), checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabricsim.errors import ScenarioError
from fabricsim.workloads import dependencies

if TYPE_CHECKING:
    from fabricsim.scenario import Scenario

DELIVERED, ACKED = 0, 1
"""Events: the receiver has everything; the sender has the last ACK."""

DTYPES: dict[str, type[np.unsignedinteger[Any]]] = {
    "src": np.uint32, "dst": np.uint32, "bytes": np.uint64, "start_ps": np.uint64, "rank": np.uint32,
    "collective": np.uint32,
    "dep_message": np.uint32, "dep_on": np.uint32, "dep_event": np.uint8,
    "trigger_count": np.uint32,
    "fire_trigger": np.uint32, "fire_message": np.uint32, "fire_event": np.uint8,
    "target_trigger": np.uint32, "target_message": np.uint32,
}  # fmt: skip
_GROUPS = (
    ("src", "dst", "bytes", "start_ps", "rank", "collective"),
    ("dep_message", "dep_on", "dep_event"),
    ("trigger_count",),
    ("fire_trigger", "fire_message", "fire_event"),
    ("target_trigger", "target_message"),
)
MOST_PACKETS = 2**32 - 1
"""Of one message: packets are numbered in 32 bits."""
LATEST_START_PS = 2**62 - 1
"""Latest `start_ps` that the core takes: sums of times stay within 64 bits."""


@dataclass(frozen=True)
class Places:
    """Says in errors where a message or a trigger stands: by default `dst[3]`, `trigger 0`."""

    message: Callable[[int, str], str] = lambda row, field: f"{field}[{row}]"
    trigger: Callable[[int], str] = lambda trigger: f"trigger {trigger}"
    name: Callable[[int], str] = lambda row: f"message {row}"
    where: str = ""


@dataclass(frozen=True, eq=False)
class Messages:
    """The messages of a run: one row a message, dependencies and triggers as edge lists.

    Make one with `Messages.from_arrays`, which checks it. Fields are NumPy arrays named and typed as at the door:
    src, dst (hosts), bytes (payload), start_ps (earliest start), rank (place in the sender's round robin among messages
    of the same start; ties by dst, then bytes), collective (number of the one it belongs to); dep_message waits for
    dep_event (0 delivered, 1 acked) of dep_on; a trigger fires after trigger_count activations (0: each activation
    starts its next target); fire_* activate it, target_* are started by it, in order.
    """

    src: NDArray[np.uint32]
    dst: NDArray[np.uint32]
    bytes: NDArray[np.uint64]
    start_ps: NDArray[np.uint64]
    rank: NDArray[np.uint32]
    collective: NDArray[np.uint32]
    dep_message: NDArray[np.uint32]
    dep_on: NDArray[np.uint32]
    dep_event: NDArray[np.uint8]
    trigger_count: NDArray[np.uint32]
    fire_trigger: NDArray[np.uint32]
    fire_message: NDArray[np.uint32]
    fire_event: NDArray[np.uint8]
    target_trigger: NDArray[np.uint32]
    target_message: NDArray[np.uint32]

    @classmethod
    def from_arrays(
        cls,
        src: ArrayLike,
        dst: ArrayLike,
        bytes: ArrayLike,
        *,
        hosts: int | None = None,
        places: Places | None = None,
        **others: ArrayLike,
    ) -> Messages:
        """Check arrays (or lists) and hold them as messages.

        Args:
            src: sending host of each message, shape (messages,).
            dst: receiving host, another one than `src`.
            bytes: payload; a single number stands for every message. 0 travels as one header-only frame.
            hosts: number of hosts of the fabric, to check host numbers against; None leaves that to `check_fits`.
            places: where messages and triggers stand, for errors; for readers of files.
            others: any other field of the class; start_ps, rank and collective default to 0 (a single number stands for
                every message), the edge lists to none.

        Raises:
            ScenarioError: a value is out of range, a message goes to its own sender, a message or a trigger can never
                start or fire (a cycle is named), or a trigger is certain to be activated more often than it takes.

        """
        places = places or Places()
        given: dict[str, ArrayLike] = {"src": src, "dst": dst, "bytes": bytes, **others}
        for name, value in given.items():
            if name not in DTYPES:
                raise ScenarioError(name, value, f"one of {', '.join(DTYPES)}", places.where)
        arrays = {name: _as_array(name, given.get(name, []), dtype, places) for name, dtype in DTYPES.items()}
        count = arrays["src"].size
        for name in ("bytes", "start_ps", "rank", "collective"):
            if name not in given or np.ndim(given[name]) == 0:
                arrays[name] = np.full(count, arrays[name] if name in given else 0, DTYPES[name])
        for group in _GROUPS:
            for name in group:
                if arrays[name].ndim != 1 or arrays[name].size != arrays[group[0]].size:
                    shape = f"shape ({arrays[group[0]].size},), as {group[0]}"
                    raise ScenarioError(name, f"shape {arrays[name].shape}", shape, places.where)
        messages = cls(**arrays)
        _check(messages, hosts, places)
        return messages

    def __len__(self) -> int:
        return int(self.src.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Messages):
            return NotImplemented
        return all(np.array_equal(array, getattr(other, name)) for name, array in self.to_door().items())

    __hash__ = None  # type: ignore[assignment]

    @property
    def has_dependencies(self) -> bool:
        """Whether any message waits for another one."""
        return bool(self.dep_message.size or self.target_message.size)

    def to_door(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, as the core takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def check_hosts(self, hosts: int, places: Places | None = None) -> None:
        """Raise `ScenarioError` if a message's host is not one of `hosts` hosts."""
        places = places or Places()
        for name in ("src", "dst"):
            array: NDArray[np.uint32] = getattr(self, name)
            for row in np.flatnonzero(array >= hosts)[:1]:
                field = places.message(int(row), name)
                raise ScenarioError(field, int(array[row]), f"a host from 0 to {hosts - 1}", places.where)

    def check_fits(self, scenario: Scenario, places: Places | None = None) -> None:
        """Check that a scenario can carry these messages.

        Raises `ScenarioError` if there are none, a host is not in its fabric, a message has more than 2^32 - 1 packets,
        or one waits for ACKs that the transport does not send.
        """
        places = places or Places()
        if not len(self):
            raise ScenarioError("workload", "no messages", "1 message or more", places.where)
        self.check_hosts(scenario.fabric.hosts_count, places)
        most = int(scenario.frame.payload) * MOST_PACKETS
        for row in np.flatnonzero(self.bytes > np.uint64(min(most, 2**64 - 1)))[:1]:
            allowed = f"at most {most} bytes, 2^32 - 1 packets"
            raise ScenarioError(places.message(int(row), "bytes"), int(self.bytes[row]), allowed, places.where)
        if not scenario.transport.acks_messages:
            waits = [*self.dep_message[self.dep_event == ACKED], *self.fire_message[self.fire_event == ACKED]]
            for row in waits[:1]:
                allowed = 'waiting for "delivered" only, since transport.acks is "off"'
                raise ScenarioError(places.message(int(row), "event"), "acked", allowed, places.where)


def _as_array(name: str, value: ArrayLike, dtype: type[np.unsignedinteger[Any]], places: Places) -> NDArray[Any]:
    array = np.asarray(value)
    if array.size == 0:
        array = array.astype(dtype)
    if array.dtype == dtype:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "iu":
        # Integers too large for any NumPy type arrive as objects or floats.
        raise ScenarioError(
            name, value if array.ndim == 0 else str(array.dtype), f"integers ({dtype.__name__})", places.where
        )
    largest = int(np.iinfo(dtype).max)
    for place in np.flatnonzero(np.atleast_1d((array < 0) | (array > largest)))[:1]:
        got = int(np.atleast_1d(array)[place])
        field = f"{name}[{place}]" if name not in _GROUPS[0] else places.message(int(place), name)
        raise ScenarioError(field, got, f"an integer from 0 to {largest}", places.where)
    return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)


def _check(messages: Messages, hosts: int | None, places: Places) -> None:
    for row in np.flatnonzero(messages.src == messages.dst)[:1]:
        allowed = f"a host other than src {messages.src[row]}"
        raise ScenarioError(places.message(int(row), "dst"), int(messages.dst[row]), allowed, places.where)
    if hosts is not None:
        messages.check_hosts(hosts, places)
    for row in np.flatnonzero(messages.start_ps > LATEST_START_PS)[:1]:
        allowed = f"at most {LATEST_START_PS} ps"
        raise ScenarioError(places.message(int(row), "start_ps"), int(messages.start_ps[row]), allowed, places.where)
    for name in ("dep_message", "dep_on", "fire_message", "target_message"):
        _check_index(messages, name, len(messages), "a message", places)
    for name in ("fire_trigger", "target_trigger"):
        _check_index(messages, name, messages.trigger_count.size, "a trigger", places)
    for name in ("dep_event", "fire_event"):
        events: NDArray[np.uint8] = getattr(messages, name)
        for row in np.flatnonzero(events > ACKED)[:1]:
            raise ScenarioError(f"{name}[{row}]", int(events[row]), "0 (delivered) or 1 (acked)", places.where)
    dependencies.check_triggers(messages, places)
    dependencies.check_starts(messages, places)


def _check_index(messages: Messages, name: str, count: int, noun: str, places: Places) -> None:
    array: NDArray[np.uint32] = getattr(messages, name)
    for row in np.flatnonzero(array >= count)[:1]:
        allowed = f"{noun} from 0 to {count - 1}" if count else f"nothing: there is not {noun}"
        raise ScenarioError(f"{name}[{row}]", int(array[row]), allowed, places.where)
