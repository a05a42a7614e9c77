"""Messages as flows, and what a run hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from twin.tree import Node, Tree

NEVER = 2**64 - 1
DATA, ACK = 0, 1
RECEIVED, ACKED = 0, 1


@dataclass(eq=False)
class Flow:
    row: int
    src: Node
    dst: Node
    packets: int
    last_frame: int
    ready_at: int
    number: int = 0
    receive_number: int = 0
    waits: int = 0
    sent: int = 0
    delivered: int = 0
    acked: int = 0
    started_at: int = NEVER
    first_delivered_at: int = NEVER
    last_delivered_at: int = NEVER
    last_acked_at: int = NEVER


@dataclass
class Packet:
    flow: Flow
    psn: int
    kind: int
    to: Node
    size: int
    path: Any


@dataclass
class Trigger:
    count: int
    activations: int = 0
    targets: list[Flow] = field(default_factory=list)


@dataclass
class Outcome:
    """`trace` rows: (at, link, message row, psn, kind), sorted. `flows` and `ports`: columns named as at the door."""

    status: str
    trace: list[tuple[int, int, int, int, int]]
    flows: dict[str, list[int]]
    ports: dict[str, list[int]]


def read_flows(messages: dict[str, Any], frame: dict[str, Any], tree: Tree) -> list[Flow]:
    """The flows in the order of the rows, numbered as the core numbers them: by sender and by what they are."""
    names = ("src", "start_ps", "rank", "dst", "bytes")
    rows = list(zip(*(map(int, messages[name]) for name in names), strict=True))
    payload = frame["payload_bytes"]
    flows = []
    for row, (src, start, _, dst, size) in enumerate(rows):
        packets = max(1, -(-size // payload))
        rest = size - (packets - 1) * payload
        last = payload if frame["last_frame"] == "full" and size else rest
        flows.append(Flow(row, tree.hosts[src], tree.hosts[dst], packets, frame["header_bytes"] + last, start))
    for number, row in enumerate(sorted(range(len(rows)), key=rows.__getitem__)):
        flows[row].number = number
    for number, flow in enumerate(sorted(flows, key=lambda flow: (flow.dst.number, flow.number))):
        flow.receive_number = number
    return flows
