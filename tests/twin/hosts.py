"""Paced source, receiver and NIC ("Hosts" in docs/explanation/model.md)."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

from twin.events import SEND
from twin.streams import FIRST_FLOW, JITTER, Stream
from twin.workload import ACK, ACKED, DATA, RECEIVED, Flow, Packet

if TYPE_CHECKING:
    from twin.simulation import Run
    from twin.tree import Node


class Host:
    def __init__(self, run: Run, node: Node, flows: list[Flow]) -> None:
        self.run, self.node, self.port = run, node, run.ports[node.up[0]]
        self.port.when_free = self.wake
        self.live: deque[Flow] = deque()
        self.to_acknowledge: deque[Packet] = deque()
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
                self.to_acknowledge.append(packet)
            if flow.delivered == flow.packets:
                flow.last_delivered_at = self.run.now
                self.run.happened(flow, RECEIVED, self.node)
        else:
            self.run.scheme.acked(self.node, packet)
            flow.acked += 1
            if flow.acked == flow.packets:
                flow.last_acked_at = self.run.now
                self.run.happened(flow, ACKED, self.node)
        self.wake()

    def send(self) -> None:
        has_data = bool(self.live) and self.next_data_at <= self.run.now
        if not self.port.is_free or not (has_data or self.to_acknowledge):
            return
        if self.live and self.first_turn:
            self.live.rotate(-(self.first_turn % len(self.live)))
            self.first_turn = 0
        if has_data and not (self.to_acknowledge and self.sent_data_last):
            self.send_data()
        else:
            self.send_ack()

    def send_data(self) -> None:
        flow = self.live.popleft()
        psn, flow.sent = flow.sent, flow.sent + 1
        flow.started_at = min(flow.started_at, self.run.now)
        if flow.sent < flow.packets:
            self.live.append(flow)
        self.next_data_at = self.run.now + self.interval(flow.sizes[psn])
        self.run.at(self.next_data_at, SEND, (), self.send)
        self.hand_over(Packet(flow, psn, DATA, flow.dst, flow.sizes[psn]))

    def send_ack(self) -> None:
        """The ACK carries back what its data packet has met, and which path it took."""
        data = self.to_acknowledge.popleft()
        ack = Packet(data.flow, data.psn, ACK, data.flow.src, self.run.config["frame"]["ack_bytes"])
        ack.is_marked, ack.echo = data.is_marked, data.path
        self.hand_over(ack)

    def hand_over(self, packet: Packet) -> None:
        self.sent_data_last = packet.kind == DATA
        packet.path = self.run.scheme.path(self.node, packet)
        self.port.put(packet)
