"""Messages as flows, and what a run hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from twin.tree import Node, Tree

NEVER = 2**64 - 1
DATA, ACK, SIM, SIM_ACK, DATA_ACK = range(5)
TRIMMED, NACK = 11, 12
RECEIVED, ACKED = 0, 1


@dataclass(eq=False)
class Flow:
    row: int
    src: Node
    dst: Node
    bytes: int
    sizes: list[int]
    """Size of each frame."""
    ready_at: int
    collective: int
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
    retransmitted: int = 0
    reordered: int = 0
    delay: int = NEVER
    first_sent: dict[int, int] = field(default_factory=dict)
    """When each packet was first sent, where packets are sent again."""

    @property
    def packets(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Said:
    """What an ACK of a host with windows says."""

    arrived: tuple[int, ...]
    """All packets of the flow that had arrived, in that order."""
    answered: int | None
    """The packet that it answers, unless that had arrived before."""
    was_first: bool
    """Whether that packet had not been sent before."""


@dataclass(eq=False)
class Packet:
    flow: Flow
    psn: int
    kind: int
    to: Node
    size: int
    path: Any = None
    """What its host, or a switch, has written into it to steer it."""
    is_marked: bool = False
    """Congestion experienced; in an ACK, by its data packet."""
    echo: Any = None
    """In an ACK, the path of its data packet; in a Data-Ack, the Datas that it acknowledges."""
    is_first: bool = True
    """Whether it is data that has not been sent before."""
    is_direct: bool = False
    """Whether it is data for which no Sim was sent."""
    asks: bool = False
    """Whether it is data of a window that asks for an ACK at once."""
    said: Said | None = None
    """What it says, if it is an ACK of a host with windows."""

    @property
    def name(self) -> str:
        return "control" if self.kind else "data"

    @property
    def answers(self) -> int | None:
        """Of an ACK, the data packet that it answers."""
        return self.said.answered if self.said else self.psn

    @property
    def travels_back(self) -> bool:
        """From the receiver of its flow to the sender."""
        return self.kind in (ACK, SIM_ACK, DATA_ACK, NACK)

    @property
    def sender(self) -> Node:
        return self.flow.dst if self.travels_back else self.flow.src


@dataclass
class Trigger:
    count: int
    activations: int = 0
    targets: list[Flow] = field(default_factory=list)


@dataclass
class Outcome:
    """`trace` rows: (at, link, message row, psn, kind), sorted. Columns and totals are named as at the door.

    `finished_at`: when the last message was complete, if all are.
    """

    status: str
    trace: list[tuple[int, int, int, int, int]]
    flows: dict[str, list[int]]
    ports: dict[str, list[int]]
    totals: dict[str, int]
    transport: dict[str, int]
    finished_at: int
    series: dict[str, list[int]]
    windows: dict[str, list[int]]


def read_flows(messages: dict[str, Any], frame: dict[str, Any], tree: Tree) -> list[Flow]:
    """The flows in the order of the rows, numbered as the core numbers them: by sender and by what they are."""
    names = ("src", "start_ps", "rank", "dst", "bytes", "collective")
    rows = list(zip(*(map(int, messages[name]) for name in names), strict=True))
    payload, header = frame["payload_bytes"], frame["header_bytes"]
    flows = []
    for row, (src, start, _, dst, size, collective) in enumerate(rows):
        packets = max(1, -(-size // payload))
        rest = size - (packets - 1) * payload
        last = payload if frame["last_frame"] == "full" and size else rest
        # Of nothing, where frames have no header, a frame of the size of an ACK is sent.
        sizes = [header + payload] * (packets - 1) + [header + last or frame["ack_bytes"]]
        flows.append(Flow(row, tree.hosts[src], tree.hosts[dst], size, sizes, start, collective))
    for number, row in enumerate(sorted(range(len(rows)), key=rows.__getitem__)):
        flows[row].number = number
    for number, flow in enumerate(sorted(flows, key=lambda flow: (flow.dst.number, flow.number))):
        flow.receive_number = number
    return flows
