# ruff: noqa: ARG002 - a scheme may leave unused what it is told
"""Load balancers as docs/explanation/balancers.md and the papers it names describe them.

A scheme has `path`, asked at the host for every packet sent, and `pick`, asked at a switch for every packet that has to
go up; `valid` are the switch's uplinks through which the destination can be reached, and `queues[i]` the bytes queued
at its uplink i.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from twin.streams import BALANCER, SALT, SPREADER, Stream, mix
from twin.tree import Node, Tree

if TYPE_CHECKING:
    from twin.workload import Packet


class Scheme:
    def __init__(self, config: dict[str, Any], tree: Tree, seed: int) -> None:
        self.tree, self.config = tree, config
        self.streams = {node: Stream(seed, BALANCER, node.number) for node in tree.nodes}
        self.spreaders = {node: Stream(seed, SPREADER, node.number) for node in tree.hosts}
        self.salts = {node: Stream(seed, SALT, node.number).next() for node in tree.nodes}
        self.start()

    def start(self) -> None:
        """Draw the first state."""

    def path(self, host: Node, to: Node, kind: int) -> Any:
        return 0

    def pick(self, switch: Node, packet: Packet, ingress: int, valid: list[int], queues: list[int]) -> int:
        raise NotImplementedError


class Ecmp(Scheme):
    def pick(self, switch: Node, packet: Packet, ingress: int, valid: list[int], queues: list[int]) -> int:
        # A flow's number is the receiving host's: of the message for ACKs, of its place among receptions for data.
        flow = packet.flow.number if packet.kind else packet.flow.receive_number
        seen = flow << 32 | packet.path << 1 | packet.kind
        return valid[(mix(seen ^ self.salts[switch]) >> 32) * len(valid) >> 32]


class Rps(Ecmp):
    def path(self, host: Node, to: Node, kind: int) -> int:
        return self.spreaders[host].next() >> 48


class Rsq(Scheme):
    def pick(self, switch: Node, packet: Packet, ingress: int, valid: list[int], queues: list[int]) -> int:
        return valid[self.streams[switch].below(len(valid))]


class Jsq(Scheme):
    def pick(self, switch: Node, packet: Packet, ingress: int, valid: list[int], queues: list[int]) -> int:
        least = min(queues[port] for port in valid)
        shortest = [port for port in valid if queues[port] == least]
        return shortest[0] if len(shortest) == 1 else shortest[self.streams[switch].below(len(shortest))]


class SimpleRr(Scheme):
    def start(self) -> None:
        self.pointer = {
            node: self.streams[node].below(len(node.up)) for node in self.tree.nodes if node.tier and node.up
        }

    def pick(self, switch: Node, packet: Packet, ingress: int, valid: list[int], queues: list[int]) -> int:
        w = len(switch.up)
        port = min(valid, key=lambda port: (port - self.pointer[switch]) % w)
        self.pointer[switch] = (port + 1) % w
        return port


class Drb(Scheme):
    """The path is the waypoint: (uplink of the edge switch, uplink of the aggregation switch)."""

    def start(self) -> None:
        self.pointer: dict[tuple[Node, Node, int], int] = {}

    def path(self, host: Node, to: Node, kind: int) -> tuple[int, int]:
        edge = self.tree.edge_of(host)
        if edge is self.tree.edge_of(to):
            return (0, 0)
        w = len(edge.up)
        same_pod = self.tree.pod_of(host) == self.tree.pod_of(to)
        cores = 1 if same_pod or not self.tree.aggs else len(edge.up[0].target.up)
        waypoints = [(i % w, i // w) for i in range(w * cores)]
        key = (host, to, kind)
        if key not in self.pointer:
            self.pointer[key] = self.spreaders[host].below(len(waypoints))
        for i in count(self.pointer[key]):
            j, c = waypoints[i % len(waypoints)]
            links = [edge.up[j]] + ([] if same_pod or not self.tree.aggs else [edge.up[j].target.up[c]])
            if all(link.works for link in links) and links[-1].target.can_reach(to):
                self.pointer[key] = i + 1
                return (j, c)
        raise AssertionError("unreachable")

    def pick(self, switch: Node, packet: Packet, ingress: int, valid: list[int], queues: list[int]) -> int:
        port: int = packet.path[0 if switch in self.tree.edges else 1]
        return port


def port_order(basis: list[int], pointer_id: int) -> list[int]:
    """Section 4.2: pi(i) = (x(P[i], id1) + id2) mod w."""
    w = len(basis)
    b = next(b for b in count() if 2**b >= w)
    id1, id2 = pointer_id % 2**b, pointer_id // 2**b

    def x(v: int, u: int) -> int:
        return v ^ u if v ^ u < w else v

    return [(x(value, id1) + id2) % w for value in basis]


def _cyclic_orders(basis: list[int], ids: list[int]) -> int:
    """How many of these orders differ by more than a rotation."""
    orders = [port_order(basis, i) for i in ids]
    return len({tuple(order[order.index(0) :] + order[: order.index(0)]) for order in orders})


def port_basis(w: int) -> list[int]:
    """Section 4.2: P, the first of a fixed series of random permutations to give enough cyclic orders."""
    stream = Stream(0, BALANCER, w)
    b = next(b for b in count() if 2**b >= w)
    while True:
        basis = list(range(w))
        for last in range(w - 1, 0, -1):
            other = stream.below(last + 1)
            basis[last], basis[other] = basis[other], basis[last]
        additions = [id2 * 2**b for id2 in range(w)]
        enough = w <= 3 or _cyclic_orders(basis, additions) == w
        if enough and (w != 6 or _cyclic_orders(basis, list(range(w * 2**b))) == 30):
            return basis


class Pofan(Scheme):
    def start(self) -> None:
        self.pointer: dict[tuple[Node, int, int, int], int] = {}
        self.basis = {w: port_basis(w) for w in {len(node.up) for node in self.tree.edges + self.tree.aggs}}
        for switch in self.tree.edges + self.tree.aggs:
            w = len(switch.up)
            for pipe in range(self.pipe(switch, len(switch.down) - 1) + 1):
                for destination in self.drawn_destinations(switch):
                    data = self.streams[switch].below(w)
                    if destination is not None:
                        self.pointer[switch, pipe, destination, 0] = data
                        self.pointer[switch, pipe, destination, 1] = (data + w // 2) % w

    def pipe(self, switch: Node, ingress: int) -> int:
        return int(ingress // self.config["ports_per_pipe"])

    def drawn_destinations(self, switch: Node) -> list[int | None]:
        """Order of the draws: pods, or edge switches with each pod's filled up to a power of two (None)."""
        if switch in self.tree.aggs:
            return list(range(self.tree.pods))
        edges = self.tree.edges_per_pod
        padded = next(2**b for b in count() if 2**b >= edges)
        return [pod * edges + e if e < edges else None for pod in range(self.tree.pods) for e in range(padded)]

    def pick(self, switch: Node, packet: Packet, ingress: int, valid: list[int], queues: list[int]) -> int:
        if switch in self.tree.edges:
            destination, destinations = self.tree.edge_of(packet.to).index, len(self.tree.edges)
        else:
            destination, destinations = self.tree.pod_of(packet.to), self.tree.pods
        order = port_order(self.basis[len(switch.up)], destination + destinations * packet.kind)
        pointer = (switch, self.pipe(switch, ingress), destination, packet.kind)
        while True:
            port = order[self.pointer[pointer]]
            self.pointer[pointer] = (self.pointer[pointer] + 1) % len(order)
            if port in valid:
                return port


class Ofan(Pofan):
    def pipe(self, switch: Node, ingress: int) -> int:
        return 0


SCHEMES: dict[str, type[Scheme]] = {
    "ecmp": Ecmp,
    "simple-rr": SimpleRr,
    "jsq": Jsq,
    "rsq": Rsq,
    "rps": Rps,
    "drb": Drb,
    "ofan": Ofan,
    "pofan": Pofan,
}
