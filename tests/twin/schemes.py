# ruff: noqa: ARG002 - a scheme may leave unused what it is told
"""What every load balancer is told, and the schemes that choose without looking at anything.

All schemes are written as docs/explanation/balancers.md and the papers that it names describe them. A scheme has
`path`, asked at the host for every packet sent, `pick`, asked at a switch for every packet that has to go up, and more
to be told than to be asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from twin.streams import BALANCER, SALT, SPREADER, Stream, mix
from twin.tree import Link, Node
from twin.workload import DATA, Flow, Packet

if TYPE_CHECKING:
    from twin.ports import Port
    from twin.simulation import Run


@dataclass
class Decision:
    now: int
    switch: Node
    packet: Packet
    ingress: int
    """The down port that it came in through."""
    valid: list[int]
    """Uplinks through which the destination can be reached."""
    queues: list[int]
    """Bytes queued at each uplink."""


class Scheme:
    sample_every = 0
    """How often it samples its switches' ports; 0: never."""
    needs_cores = False

    def __init__(self, config: dict[str, Any], run: Run) -> None:
        self.config, self.run, self.tree = config, run, run.tree
        self.streams = {node: Stream(run.seed, BALANCER, node.number) for node in self.tree.nodes}
        self.spreaders = {node: Stream(run.seed, SPREADER, node.number) for node in self.tree.hosts}
        self.start()

    def start(self) -> None:
        """Draw the first state."""

    def path(self, host: Node, packet: Packet) -> Any:
        """What the host writes into a packet that it is about to send."""
        return 0

    def acked(self, host: Node, ack: Packet) -> None:
        """An ACK has come in."""

    def timed_out(self, flow: Flow, psn: int, path: Any) -> None:
        """The host has given up a packet, whose last copy took this path."""

    def pick(self, decision: Decision) -> int:
        raise NotImplementedError

    def forwards(self, switch: Node, packet: Packet, came: Link, to: Port) -> None:
        """A packet that came over a link is about to be handed to a port, up or down."""

    def sample(self, switches: list[Node], number: int) -> None:
        """It is time for this sample of these switches, all that run the scheme."""

    def sends_at_random(self, decision: Decision) -> bool:
        return decision.packet.kind != DATA and bool(self.config["acks"] == "random")

    def random(self, decision: Decision) -> int:
        return decision.valid[self.streams[decision.switch].below(len(decision.valid))]

    def cheapest(self, switch: Node, costs: dict[int, int]) -> int:
        """A random one of the ports of least cost."""
        least = min(costs.values())
        ties = sorted(port for port, cost in costs.items() if cost == least)
        return ties[0] if len(ties) == 1 else ties[self.streams[switch].below(len(ties))]


class Ecmp(Scheme):
    def start(self) -> None:
        is_shared = self.config.get("salts") == "shared"
        self.salts = {
            node: Stream(self.run.seed, SALT, 0 if is_shared else node.number).next() for node in self.tree.nodes
        }

    def pick(self, decision: Decision) -> int:
        packet, valid = decision.packet, decision.valid
        # A flow's number is the receiving host's: of the message for what travels back, else of its place among what
        # that host receives.
        flow = packet.flow.number if packet.travels_back else packet.flow.receive_number
        # Where hosts pin paths and other switches hash, they hash a byte for each of the two uplinks.
        path = packet.path if isinstance(packet.path, int) else packet.path[0] + (packet.path[1] << 8)
        seen = flow << 32 | path << 1 | packet.travels_back
        return valid[(mix(seen ^ self.salts[decision.switch]) >> 32) * len(valid) >> 32]


class Rsq(Scheme):
    def pick(self, decision: Decision) -> int:
        return self.random(decision)


class Flowlet(Scheme):
    def start(self) -> None:
        self.last: dict[tuple[Node, int, bool], tuple[int, int]] = {}

    def pick(self, decision: Decision) -> int:
        flow = (decision.switch, decision.packet.flow.row, decision.packet.travels_back)
        port, at = self.last.get(flow, (-1, 0))
        if port not in decision.valid or decision.now - at >= self.config["gap_ps"]:
            port = self.random(decision)
        self.last[flow] = (port, decision.now)
        return port


class SimpleRr(Scheme):
    def start(self) -> None:
        self.pointers: dict[Node, list[int]] = {}
        for node in self.tree.nodes:
            if node.tier and node.up:
                count = 1 if self.config["pointers"] == "per-switch" else len(node.down)
                self.pointers[node] = [self.streams[node].below(len(node.up)) for _ in range(count)]

    def pick(self, decision: Decision) -> int:
        if self.sends_at_random(decision):
            return self.random(decision)
        w, pointers = len(decision.switch.up), self.pointers[decision.switch]
        number = decision.ingress if self.config["pointers"] == "per-ingress" else 0
        port = min(decision.valid, key=lambda port: (port - pointers[number]) % w)
        pointers[number] = (port + 1) % w
        return port
