"""Ports, switches and hosts, driven by one heap of events."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from twin.schemes import SCHEMES
from twin.streams import FIRST_FLOW, JITTER, TIE, Stream, mix
from twin.tree import Link, Node, Tree
from twin.workload import ACK, ACKED, DATA, RECEIVED, Flow, Outcome, Packet, Trigger, read_flows

# At one instant: a frame that leaves is gone when another arrives; what arrives is known to what is sent.
LEAVE, ARRIVE, SIGNAL, READY, SEND = range(5)


class Port:
    """The FIFO and the transmitter that feed one link."""

    def __init__(self, run: Run, link: Link) -> None:
        self.run, self.link = run, link
        is_switch = link.source.tier > 0
        self.buffer = run.config["port"]["buffer_bytes"] if is_switch else None
        self.threshold = run.config["port"]["ecn_threshold_bytes"] if is_switch else None
        self.waiting: deque[Packet] = deque()
        self.is_free = True
        self.when_free: Callable[[], None] = lambda: None
        self.queued_bytes = self.changed_at = 0
        self.tally: dict[str, int] = defaultdict(int)

    def change(self, size: int) -> None:
        elapsed, self.changed_at = self.run.now - self.changed_at, self.run.now
        self.tally["queue_byte_ps"] += self.queued_bytes * elapsed
        self.queued_bytes += size
        self.tally["max_queue_bytes"] = max(self.tally["max_queue_bytes"], self.queued_bytes)

    def put(self, packet: Packet) -> None:
        if self.buffer is not None and self.queued_bytes + packet.size > self.buffer:
            self.tally["dropped_control_count" if packet.kind else "dropped_data_count"] += 1
            return
        self.change(packet.size)
        self.waiting.append(packet)
        if self.is_free:
            self.serve()

    def serve(self) -> None:
        packet = self.waiting.popleft()
        self.is_free = False
        self.run.at(self.run.now + self.link.time_ps(packet.size), LEAVE, (), lambda: self.leave(packet))

    def leave(self, packet: Packet) -> None:
        if self.threshold is not None and self.queued_bytes > self.threshold and packet.kind == DATA:
            self.tally["marked_count"] += 1
        self.change(-packet.size)
        kind = "control" if packet.kind else "data"
        self.tally[f"{kind}_frames_count"] += 1
        self.tally[f"{kind}_bytes"] += packet.size
        arrival = self.run.now + self.link.latency_ps
        rank = mix(arrival ^ self.run.tie_salts[self.link.back]) >> 48
        self.run.at(arrival, ARRIVE, (rank, self.link.back.number), lambda: self.run.arrive(self.link, packet))
        self.run.at(self.run.now + self.link.time_ps(self.run.config["frame"]["gap_bytes"]), LEAVE, (), self.gap_over)

    def gap_over(self) -> None:
        self.is_free = True
        if self.waiting:
            self.serve()
        else:
            self.when_free()


class Host:
    """Paced source, receiver and NIC ("Hosts" in docs/explanation/model.md)."""

    def __init__(self, run: Run, node: Node, flows: list[Flow]) -> None:
        self.run, self.node, self.port = run, node, run.ports[node.up[0]]
        self.port.when_free = self.wake
        self.live: deque[Flow] = deque()
        self.acks: deque[tuple[Flow, int]] = deque()
        self.next_data_at, self.sent_data_last = 0, False
        self.first_turn = Stream(run.seed, FIRST_FLOW, node.number).below(max(len(flows), 1))
        jitter = Stream(run.seed, JITTER, node.number).below(self.interval(run.full_frame))
        for flow in flows:
            flow.ready_at += jitter if run.config["transport"]["start_jitter"] == "uniform" else 0
            if flow.waits == 0:
                run.when_ready(flow)

    def interval(self, size: int) -> int:
        occupied = self.port.link.time_ps(size) + self.port.link.time_ps(self.run.config["frame"]["gap_bytes"])
        load: float = self.run.config["transport"]["load"]
        return math.floor(occupied / load + 0.5)

    def wake(self) -> None:
        self.run.at(self.run.now, SEND, (), self.send)

    def is_ready(self, flow: Flow) -> None:
        self.live.append(flow)
        self.wake()

    def receive(self, packet: Packet) -> None:
        flow = packet.flow
        if packet.kind == DATA:
            flow.delivered += 1
            flow.first_delivered_at = min(flow.first_delivered_at, self.run.now)
            if self.run.acks:
                self.acks.append((flow, packet.psn))
            if flow.delivered == flow.packets:
                flow.last_delivered_at = self.run.now
                self.run.happened(flow, RECEIVED, self.node)
        else:
            flow.acked += 1
            if flow.acked == flow.packets:
                flow.last_acked_at = self.run.now
                self.run.happened(flow, ACKED, self.node)
        self.wake()

    def send(self) -> None:
        has_data = bool(self.live) and self.next_data_at <= self.run.now
        if not self.port.is_free or not (has_data or self.acks):
            return
        if self.live and self.first_turn:
            self.live.rotate(-(self.first_turn % len(self.live)))
            self.first_turn = 0
        if has_data and not (self.acks and self.sent_data_last):
            self.send_data()
        else:
            flow, psn = self.acks.popleft()
            self.hand_over(flow, psn, ACK, flow.src, self.run.config["frame"]["ack_bytes"])

    def send_data(self) -> None:
        flow = self.live.popleft()
        psn, flow.sent = flow.sent, flow.sent + 1
        flow.started_at = min(flow.started_at, self.run.now)
        size = flow.last_frame if flow.sent == flow.packets else self.run.full_frame
        if flow.sent < flow.packets:
            self.live.append(flow)
        self.next_data_at = self.run.now + self.interval(size)
        self.run.at(self.next_data_at, SEND, (), self.send)
        self.hand_over(flow, psn, DATA, flow.dst, size)

    def hand_over(self, flow: Flow, psn: int, kind: int, to: Node, size: int) -> None:
        self.sent_data_last = kind == DATA
        self.port.put(Packet(flow, psn, kind, to, size, self.run.scheme.path(self.node, to, kind)))


class Run:
    def __init__(self, config: dict[str, Any], messages: dict[str, Any]) -> None:
        self.config, self.seed, self.now = config, config["seed"], 0
        self.events: list[Any] = []
        self.serial = count()
        self.tree = Tree(config["fabric"])
        self.acks = config["transport"]["acks"] == "per-packet"
        self.full_frame = config["frame"]["header_bytes"] + config["frame"]["payload_bytes"]
        self.signal_ps = min(link.latency_ps for link in self.tree.links)
        self.tie_salts = {link: Stream(self.seed, TIE, link.number).next() for link in self.tree.links}
        self.scheme = SCHEMES[config["balancer"]["kind"]](config["balancer"], self.tree, self.seed)
        self.ports = {link: Port(self, link) for link in self.tree.links}
        self.trace: list[tuple[int, int, int, int, int]] = []
        self.flows = read_flows(messages, config["frame"], self.tree)
        self.connect(messages)
        sent_by = defaultdict(list)
        for flow in sorted(self.flows, key=lambda flow: flow.number):
            sent_by[flow.src].append(flow)
        self.hosts = {node: Host(self, node, sent_by[node]) for node in self.tree.hosts}

    def connect(self, messages: dict[str, Any]) -> None:
        self.dependents: dict[tuple[int, int], list[Flow]] = defaultdict(list)
        self.fires: dict[tuple[int, int], list[Trigger]] = defaultdict(list)
        self.triggers = [Trigger(int(needed)) for needed in messages["trigger_count"]]
        for row, on, event in zip(messages["dep_message"], messages["dep_on"], messages["dep_event"], strict=True):
            self.flows[row].waits += 1
            self.dependents[int(on), int(event)].append(self.flows[row])
        fires = zip(messages["fire_trigger"], messages["fire_message"], messages["fire_event"], strict=True)
        for trigger, row, event in fires:
            self.fires[int(row), int(event)].append(self.triggers[trigger])
        for trigger, row in zip(messages["target_trigger"], messages["target_message"], strict=True):
            self.flows[row].waits += 1
            self.triggers[trigger].targets.append(self.flows[row])

    def at(self, when: int, step: int, order: tuple[int, ...], do: Callable[[], None]) -> None:
        heapq.heappush(self.events, (when, step, order, next(self.serial), do))

    def arrive(self, link: Link, packet: Packet) -> None:
        self.trace.append((self.now, link.number, packet.flow.row, packet.psn, packet.kind))
        node = link.target
        if node.tier == 0:
            self.hosts[node].receive(packet)
            return
        egress = [down for down in node.down if packet.to in down.target.hosts_below]
        if not egress:
            queues = [self.ports[up].queued_bytes for up in node.up]
            ingress = node.down.index(link.back)
            egress = [node.up[self.scheme.pick(node, packet, ingress, node.valid_uplinks(packet.to), queues)]]
        self.ports[egress[0]].put(packet)

    def happened(self, flow: Flow, event: int, seen_by: Node) -> None:
        for dependent in self.dependents[flow.row, event]:
            if dependent.src is seen_by:
                self.release(dependent)
            else:
                self.at(self.now + self.signal_ps, SIGNAL, (), partial(self.release, dependent))
        for trigger in self.fires[flow.row, event]:
            self.at(self.now + self.signal_ps, SIGNAL, (), partial(self.activate, trigger))

    def activate(self, trigger: Trigger) -> None:
        trigger.activations += 1
        if trigger.count == 0:
            started = trigger.targets[trigger.activations - 1 : trigger.activations]
        else:
            started = trigger.targets if trigger.activations == trigger.count else []
        for flow in started:
            self.release(flow)

    def release(self, flow: Flow) -> None:
        flow.waits -= 1
        flow.ready_at = max(flow.ready_at, self.now)
        if flow.waits == 0:
            self.when_ready(flow)

    def when_ready(self, flow: Flow) -> None:
        self.at(flow.ready_at, READY, (flow.number,), lambda: self.hosts[flow.src].is_ready(flow))

    def live(self) -> Outcome:
        while self.events:
            self.now, _, _, _, do = heapq.heappop(self.events)
            do()
        is_done = all((flow.acked if self.acks else flow.delivered) == flow.packets for flow in self.flows)
        tallies = [self.ports[link].tally for link in self.tree.links]
        return Outcome(
            "done" if is_done else "stuck",
            sorted(self.trace, key=lambda row: (row[0], row[1], row[4], row[2], row[3])),
            {name: [getattr(flow, attribute) for flow in self.flows] for name, attribute in FLOW_COLUMNS.items()},
            {name: [tally[name] for tally in tallies] for name in PORT_COLUMNS},
        )


FLOW_COLUMNS = {
    "packets_count": "packets",
    "started_at_ps": "started_at",
    "first_delivered_at_ps": "first_delivered_at",
    "last_delivered_at_ps": "last_delivered_at",
    "last_acked_at_ps": "last_acked_at",
    "delivered_packets_count": "delivered",
    "acked_packets_count": "acked",
}
PORT_COLUMNS = (
    *("data_bytes", "control_bytes", "data_frames_count", "control_frames_count"),
    *("max_queue_bytes", "queue_byte_ps"),
    *("dropped_data_count", "dropped_control_count", "marked_count"),
)


def run(config: dict[str, Any], messages: dict[str, Any]) -> Outcome:
    """Run what `fabricsim._core.run` would run (its contract: bindings/README.md)."""
    return Run(config, messages).live()
