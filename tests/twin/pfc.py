"""Priority flow control (IEEE 802.1Qbb): switches pause whoever sends them more than they can pass on."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from twin.events import PAUSE
from twin.ports import Port
from twin.tree import Link
from twin.workload import Packet

if TYPE_CHECKING:
    from twin.simulation import Run


class Pfc:
    """What has come in by each link and has not left the switch. Where control goes first it does not count."""

    def __init__(self, run: Run) -> None:
        self.run, self.limits = run, run.config["port"]["pfc"]
        self.counts_control = run.config["port"]["discipline"]["kind"] == "fifo"
        self.held: dict[Link, set[Packet]] = defaultdict(set)
        self.came_by: dict[Packet, Link] = {}
        self.paused: set[Link] = set()

    def held_bytes(self, link: Link) -> int:
        return sum(packet.size for packet in self.held[link])

    def admits(self, link: Link, packet: Packet, port: Port) -> bool:
        """Of a packet that came by a link and is about to be handed to a port; what a dead one loses does not count."""
        if not port.link.works or (packet.name == "control" and not self.counts_control):
            return True
        if self.held_bytes(link) + packet.size > self.limits["xoff_bytes"] + self.limits["headroom_bytes"]:
            port.tally[f"dropped_{packet.name}_count"] += 1
            return False
        self.held[link].add(packet)
        self.came_by[packet] = link
        if self.held_bytes(link) > self.limits["xoff_bytes"] and link not in self.paused:
            self.paused.add(link)
            self.tell(link, True)
        return True

    def has_left(self, packet: Packet) -> None:
        link = self.came_by.pop(packet, None)
        if link:
            self.held[link].remove(packet)
            if self.held_bytes(link) <= self.limits["xon_bytes"] and link in self.paused:
                self.paused.remove(link)
                self.tell(link, False)

    def tell(self, link: Link, is_paused: bool) -> None:
        """The port at the other end, as soon as a pause frame would have got there."""
        delay = link.back.time_ps(self.run.config["frame"]["ack_bytes"]) + link.back.latency_ps
        self.run.at(self.run.now + delay, PAUSE, (), partial(self.run.ports[link].pause, is_paused))
