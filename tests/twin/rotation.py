# ruff: noqa: ARG002 - Ofan has one pipe, whatever it is told
"""Ofan and POfan: a pointer for each destination and size class, which rotates over the uplinks in its own order."""

from __future__ import annotations

from itertools import count

from twin.schemes import Decision, Scheme
from twin.streams import BALANCER, Stream
from twin.tree import Node

Pointer = tuple[Node, int, int, int]


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
        self.pointer: dict[Pointer, int] = {}
        self.last_used: dict[Pointer, int] = {}
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

    def pick(self, decision: Decision) -> int:
        switch, packet, idle_reset = decision.switch, decision.packet, self.config["idle_reset_ps"]
        if switch in self.tree.edges:
            destination, destinations = self.tree.edge_of(packet.to).index, len(self.tree.edges)
        else:
            destination, destinations = self.tree.pod_of(packet.to), self.tree.pods
        is_control = packet.name == "control"
        pointer = (switch, self.pipe(switch, decision.ingress), destination, is_control)
        order = list(range(len(switch.up)))
        if idle_reset is None and self.config["port_order"] == "xor":
            order = port_order(self.basis[len(switch.up)], destination + destinations * is_control)
        if idle_reset is not None:
            if pointer not in self.last_used or decision.now - self.last_used[pointer] >= idle_reset:
                queues = {port: decision.queues[port] for port in decision.valid}
                self.pointer[pointer] = self.cheapest(switch, queues)
            self.last_used[pointer] = decision.now
        while True:
            port = order[self.pointer[pointer]]
            self.pointer[pointer] = (self.pointer[pointer] + 1) % len(order)
            if port in decision.valid:
                return port


class Ofan(Pofan):
    def pipe(self, switch: Node, ingress: int) -> int:
        return 0
