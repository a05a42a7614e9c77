"""A host whose flows send under windows: its NIC, and its receiving side (Ofan sections 6.5 and 6.7, appendix A)."""

from __future__ import annotations

from collections import defaultdict, deque
from functools import partial
from typing import TYPE_CHECKING

from twin.events import SEND
from twin.new_reno import NewReno
from twin.selective_repeat import SelectiveRepeat
from twin.streams import FIRST_FLOW, JITTER, Stream
from twin.window_sender import Sender
from twin.workload import ACK, ACKED, DATA, DATA_ACK, NACK, RECEIVED, TRIMMED, Flow, Packet, Said

if TYPE_CHECKING:
    from twin.simulation import Run
    from twin.tree import Node

COUNTS = ("duplicates_count", "data_timeouts_count", "acks_sent_count", "nacks_sent_count")
DCTCP_COUNTS = (*COUNTS, "fast_retransmits_count")


class WindowHost:
    def __init__(self, run: Run, node: Node, flows: list[Flow]) -> None:
        self.run, self.node, self.port = run, node, run.ports[node.up[0]]
        self.port.when_free = self.wake
        sender = NewReno if run.config["transport"]["kind"] == "dctcp" else SelectiveRepeat
        self.senders: dict[Flow, Sender] = {flow: sender(run, flow, partial(self.may_send, flow)) for flow in flows}
        self.begun: set[Flow] = set()
        self.turns: deque[Flow] = deque()
        """Flows that may send; one that may not any more gives its turn away."""
        self.first_turn = Stream(run.seed, FIRST_FLOW, node.number).below(max(len(flows), 1))
        self.answers: deque[Packet] = deque()
        self.sent_data_last = False
        self.pauses_hold_answers = run.config["port"]["discipline"]["kind"] == "fifo"
        self.ack_every: int = run.config["transport"]["ack_every_bytes"]
        self.arrived: dict[Flow, list[int]] = defaultdict(list)
        self.largest: dict[Flow, int] = defaultdict(int)
        self.owed_bytes: dict[Flow, int] = defaultdict(int)
        """Bytes of data since the last ACK."""
        self.received_at: dict[Flow, int] = defaultdict(int)
        frame_ps = self.port.link.time_ps(run.full_frame) + self.port.link.time_ps(run.config["frame"]["gap_bytes"])
        jitter = Stream(run.seed, JITTER, node.number).below(frame_ps)
        for flow in flows:
            flow.ready_at += jitter if run.config["transport"]["start_jitter"] == "uniform" else 0
            if flow.waits == 0:
                run.when_ready(flow)

    def wake(self) -> None:
        self.run.at(self.run.now, SEND, (), self.send)

    def is_ready(self, flow: Flow) -> None:
        self.begun.add(flow)
        self.may_send(flow)

    def may_send(self, flow: Flow) -> None:
        """A flow may have become able to send."""
        if flow in self.begun and flow not in self.turns and self.senders[flow].next() is not None:
            self.turns.append(flow)
        self.wake()

    # The NIC

    def send(self) -> None:
        """Data and ACKs take turns when both wait."""
        if not self.port.is_free:
            return
        may_answer = bool(self.answers) and not (self.port.is_paused and self.pauses_hold_answers)
        is_answers_turn = may_answer and self.sent_data_last
        has_sent = not is_answers_turn and not self.port.is_paused and self.send_data()
        if may_answer and not has_sent:
            self.send_answer()

    def send_data(self) -> bool:
        """Whether a flow may send. Flows send one frame a turn."""
        if self.turns and self.first_turn:
            self.turns.rotate(-(self.first_turn % len(self.turns)))
            self.first_turn = 0
        while self.turns:
            flow = self.turns.popleft()
            psn = self.senders[flow].next()
            if psn is not None:
                self.send_packet(flow, psn)
                return True
        return False

    def send_packet(self, flow: Flow, psn: int) -> None:
        sender, now = self.senders[flow], self.run.now
        packet = Packet(flow, psn, DATA, flow.dst, flow.sizes[psn], is_first=psn == sender.first_new)
        packet.path = self.run.scheme.path(self.node, packet)
        sender.send(psn, packet.path)
        flow.started_at = min(flow.started_at, now)
        if packet.is_first:
            flow.first_sent[psn] = now
        else:
            flow.retransmitted += 1
        may_go_on = sender.next() is not None
        packet.asks = not may_go_on or not packet.is_first
        if may_go_on:
            self.turns.append(flow)
        self.sent_data_last = True
        self.port.put(packet)

    def send_answer(self) -> None:
        answer = self.answers.popleft()
        answer.path = self.run.scheme.path(self.node, answer)
        self.run.counts["nacks_sent_count" if answer.kind == NACK else "acks_sent_count"] += 1
        self.sent_data_last = False
        self.port.put(answer)

    # What arrives

    def receive(self, packet: Packet) -> None:
        if packet.kind == DATA:
            self.receive_data(packet)
        elif packet.kind == TRIMMED:
            has_it = packet.psn in self.arrived[packet.flow]
            self.answer(packet, DATA_ACK if has_it else NACK)
        elif not self.senders[packet.flow].is_complete:
            self.receive_answer(packet)
        self.wake()

    def receive_data(self, packet: Packet) -> None:
        flow, psn, now = packet.flow, packet.psn, self.run.now
        flow.reordered += psn < self.largest[flow]
        self.largest[flow] = max(self.largest[flow], psn)
        is_new = psn not in self.arrived[flow]
        if is_new:
            self.arrived[flow].append(psn)
            self.received_at[flow] += now
            flow.delivered += 1
            flow.first_delivered_at = min(flow.first_delivered_at, now)
        else:
            self.run.counts["duplicates_count"] += 1
        is_complete = is_new and flow.delivered == flow.packets
        self.acknowledge(packet, is_new, is_complete)
        if is_complete:
            flow.last_delivered_at = now
            flow.delay = self.received_at[flow] - sum(flow.first_sent.values())
            self.run.happened(flow, RECEIVED, self.node)

    def acknowledge(self, packet: Packet, is_new: bool, is_complete: bool) -> None:
        """After so many bytes, or at once."""
        flow = packet.flow
        self.owed_bytes[flow] += packet.size
        is_urgent = packet.is_marked or packet.asks or not is_new or is_complete or flow.delivered == 1
        if is_urgent or self.owed_bytes[flow] >= self.ack_every:
            self.owed_bytes[flow] = 0
            self.answer(packet, ACK if is_new else DATA_ACK)

    def answer(self, packet: Packet, kind: int) -> None:
        """ACKs are numbered by how much has arrived, NACKs as their packets."""
        flow, arrived = packet.flow, tuple(self.arrived[packet.flow])
        number = packet.psn if kind == NACK else len(arrived)
        answer = Packet(flow, number, kind, flow.src, self.run.config["frame"]["ack_bytes"], echo=packet.path)
        answer.said = Said(arrived, packet.psn if kind == ACK else None, packet.is_first)
        answer.is_marked = packet.is_marked and packet.kind == DATA
        self.answers.append(answer)

    def receive_answer(self, packet: Packet) -> None:
        flow, sender = packet.flow, self.senders[packet.flow]
        if packet.kind == NACK:
            sender.receive_nack(packet.psn)
        else:
            # Of what was sent more than once it is not known which path has proved good.
            if packet.answers is not None and len(sender.sent_at[packet.answers]) == 1:
                self.run.scheme.acked(self.node, packet)
            sender.receive_ack(packet)
            flow.acked = len(sender.known)
        if sender.is_complete:
            flow.last_acked_at = self.run.now
            self.run.happened(flow, ACKED, self.node)
        else:
            self.may_send(flow)
