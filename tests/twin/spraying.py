# ruff: noqa: ARG002 - a scheme may leave unused what it is told
"""Schemes in which hosts steer: RPS, REPS, DRB, Ethereal. Switches hash what hosts wrote, or do as it says."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from twin.schemes import Decision, Ecmp, Scheme
from twin.tree import Node
from twin.workload import DATA, Flow, Packet


class Rps(Ecmp):
    def path(self, host: Node, packet: Packet) -> int:
        return self.spreaders[host].below(self.config["entropies"])


class UnderWay:
    """When each packet of a flow that is neither acknowledged nor given up was sent, and how."""

    def __init__(self, rto_ps: float) -> None:
        self.rto_ps = rto_ps
        self.packets: dict[int, tuple[int, Any]] = {}

    def sent(self, psn: int, now: int, path: Any) -> None:
        self.packets[psn] = (now, path)

    def acked(self, psn: int | None) -> None:
        if psn in self.packets:
            del self.packets[psn]

    def timed_out(self, now: int) -> list[tuple[int, Any, float]]:
        """(psn, path, moment) of what has timed out since one looked last; it is given up."""
        lost = [(psn, path, at + self.rto_ps) for psn, (at, path) in self.packets.items() if at + self.rto_ps <= now]
        for psn, _, _ in lost:
            del self.packets[psn]
        return sorted(lost)


@dataclass
class Recycler:
    """What one flow remembers: a ring of [value, whether it waits to be sent again]."""

    under_way: UnderWay
    slots: list[list[Any]]
    head: int = 0
    stored: int = 0
    explore: int = 0
    frozen_until: float | None = None
    replay: int = 0


class Reps(Rps):
    """If hosts send nothing again, timeouts are noticed when the flow next sends or hears an ACK."""

    def start(self) -> None:
        super().start()
        self.freezes = self.config["freezing"] == "on-timeout"
        rto_ps = self.config["rto_ps"] if self.freezes and self.run.finds_timeouts else math.inf
        self.flows = {flow: Recycler(UnderWay(rto_ps), self.empty_slots()) for flow in self.run.flows}

    def empty_slots(self) -> list[list[Any]]:
        return [[0, False] for _ in range(self.config["slots"])]

    def path(self, host: Node, packet: Packet) -> int:
        if packet.kind != DATA:
            return super().path(host, packet)
        flow = self.flows[packet.flow]
        self.look_for_timeouts(flow)
        value = self.recycled(flow)
        if value is None:
            value = super().path(host, packet)
        flow.under_way.sent(packet.psn, self.run.now, value)
        return value

    def acked(self, host: Node, ack: Packet) -> None:
        flow = self.flows[ack.flow]
        self.look_for_timeouts(flow)
        flow.under_way.acked(ack.answers)
        if flow.frozen_until is not None and self.run.now > flow.frozen_until:
            flow.slots = self.empty_slots()
            flow.head, flow.stored, flow.frozen_until = 0, 0, None
            flow.explore = self.config["explore_packets"]
        if not ack.is_marked:
            flow.slots[flow.head] = [ack.echo, True]
            flow.head = (flow.head + 1) % len(flow.slots)
            flow.stored = min(flow.stored + 1, len(flow.slots))

    def look_for_timeouts(self, flow: Recycler) -> None:
        for _, _, at in flow.under_way.timed_out(self.run.now):
            self.freeze(flow, at)

    def timed_out(self, flow: Flow, psn: int, path: Any) -> None:
        if self.freezes:
            self.freeze(self.flows[flow], self.run.now)

    def freeze(self, flow: Recycler, at: int | float) -> None:
        if flow.frozen_until is None and flow.explore == 0:
            flow.frozen_until = at + self.config["freeze_ps"]

    @staticmethod
    def recycled(flow: Recycler) -> int | None:
        if flow.explore:
            flow.explore -= 1
            return None
        if flow.frozen_until is not None:
            if not flow.stored:
                return None
            slot = flow.slots[flow.replay % flow.stored]
            flow.replay = (flow.replay + 1) % flow.stored
        else:
            oldest_first = flow.slots[flow.head :] + flow.slots[: flow.head]
            waiting = [slot for slot in oldest_first if slot[1]]
            if not waiting:
                return None
            slot = waiting[0]
        slot[1] = False
        value: int = slot[0]
        return value


class Pinned(Scheme):
    """A path is (uplink of the edge switch, uplink of the aggregation switch); the next valid one where that is not."""

    def pick(self, decision: Decision) -> int:
        wanted: int = decision.packet.path[0 if decision.switch in self.tree.edges else 1]
        w = len(decision.switch.up)
        return min(decision.valid, key=lambda port: (port - wanted) % w)

    def paths(self, host: Node, to: Node) -> list[tuple[int, int]]:
        """In the order of their numbers: successive ones alternate the aggregation switch."""
        edge = self.tree.edge_of(host)
        if edge is self.tree.edge_of(to):
            return [(0, 0)]
        leaves_pod = bool(self.tree.aggs) and self.tree.pod_of(host) != self.tree.pod_of(to)
        w, cores = len(edge.up), len(edge.up[0].target.up) if leaves_pod else 1
        return [(i % w, i // w) for i in range(w * cores)]


class Drb(Pinned):
    def start(self) -> None:
        self.pointer: dict[tuple[Node, Node, bool], int] = {}

    def path(self, host: Node, packet: Packet) -> tuple[int, int]:
        """Without a path that works, the last that was tried."""
        waypoints = self.paths(host, packet.to)
        if len(waypoints) == 1 and self.tree.edge_of(host) is self.tree.edge_of(packet.to):
            return waypoints[0]
        key = (host, packet.to, packet.travels_back)
        if key not in self.pointer:
            self.pointer[key] = self.spreaders[host].below(len(waypoints))
        for _ in waypoints:
            waypoint = waypoints[self.pointer[key]]
            self.pointer[key] = (self.pointer[key] + 1) % len(waypoints)
            if self.works(host, packet.to, waypoint):
                break
        return waypoint

    def works(self, host: Node, to: Node, waypoint: tuple[int, int]) -> bool:
        links = [self.tree.edge_of(host).up[waypoint[0]]]
        if self.tree.aggs and self.tree.pod_of(host) != self.tree.pod_of(to):
            links.append(links[0].target.up[waypoint[1]])
        return all(link.is_routed for link in links) and links[-1].target.can_reach(to)


@dataclass
class Divided:
    """A flow's subflows: packet number i belongs to subflow i mod their count."""

    under_way: UnderWay
    all_paths: list[tuple[int, int]]
    paths: list[tuple[int, int]] = field(default_factory=list)


class Ethereal(Pinned):
    """If hosts send nothing again, timeouts are noticed when the flow next sends or hears an ACK."""

    def start(self) -> None:
        self.flows: dict[Flow, Divided] = {}
        for host in self.tree.hosts:
            groups: dict[tuple[Node, int], list[Flow]] = defaultdict(list)
            for flow in self.run.sent_by[host]:
                groups[self.tree.edge_of(flow.dst), flow.bytes].append(flow)
            begins: dict[tuple[Node, int], int] = {}
            for flow in self.run.sent_by[host]:
                group = (self.tree.edge_of(flow.dst), flow.bytes)
                paths = self.paths(host, flow.dst)
                if group not in begins:
                    begins[group] = self.spreaders[host].below(len(paths))
                self.divide(flow, groups[group], paths, begins[group])

    def divide(self, flow: Flow, group: list[Flow], paths: list[tuple[int, int]], begin: int) -> None:
        """Of f equal flows and s paths, s * floor(f / s) go whole; the r others are split by s / gcd(r, s)."""
        s, place = len(paths), group.index(flow)
        whole = len(group) // s * s
        if place < whole:
            count, offset = 1, place
        else:
            count = s // math.gcd(len(group) - whole, s)
            offset = (place - whole) * count
        count = min(count, max(flow.bytes, 1))
        turns = [paths[(begin + offset + i) % s] for i in range(count)]
        for last in range(count - 1, 0, -1):
            other = self.spreaders[flow.src].below(last + 1)
            turns[last], turns[other] = turns[other], turns[last]
        rto_ps = self.config["rto_ps"] if self.run.finds_timeouts else math.inf
        self.flows[flow] = Divided(UnderWay(rto_ps), paths, turns)
        if self.config["split"] == "bytes":
            flow.sizes = self.frames_of_subflows(flow.bytes, count)

    def frames_of_subflows(self, size: int, count: int) -> list[int]:
        """Frames of subflows of equal bytes, which take turns; a subflow's last frame carries what is left."""
        frame = self.run.config["frame"]
        rest = [size // count + (i < size % count) for i in range(count)]
        sizes = [frame["header_bytes"] or frame["ack_bytes"]] if size == 0 else []
        while any(rest):
            for i in range(count):
                payload = min(rest[i], frame["payload_bytes"])
                rest[i] -= payload
                sizes += [frame["header_bytes"] + payload] if payload else []
        return sizes

    def path(self, host: Node, packet: Packet) -> tuple[int, int]:
        if packet.kind != DATA:
            echo: tuple[int, int] = packet.echo
            return echo
        flow = self.flows[packet.flow]
        self.look_for_timeouts(host, flow)
        path = flow.paths[packet.psn % len(flow.paths)]
        flow.under_way.sent(packet.psn, self.run.now, path)
        return path

    def acked(self, host: Node, ack: Packet) -> None:
        flow = self.flows[ack.flow]
        self.look_for_timeouts(host, flow)
        flow.under_way.acked(ack.answers)

    def look_for_timeouts(self, host: Node, flow: Divided) -> None:
        for psn, lost, _ in flow.under_way.timed_out(self.run.now):
            self.leave(host, flow, psn, lost)

    def timed_out(self, flow: Flow, psn: int, path: Any) -> None:
        self.leave(flow.src, self.flows[flow], psn, path)

    def leave(self, host: Node, flow: Divided, psn: int, lost: tuple[int, int]) -> None:
        """The subflow moves to another path, unless it has moved since the packet was sent."""
        subflow = psn % len(flow.paths)
        others = [path for path in flow.all_paths if path != lost]
        if flow.paths[subflow] == lost and others:
            flow.paths[subflow] = others[self.spreaders[host].below(len(others))]
