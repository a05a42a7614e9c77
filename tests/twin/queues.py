"""Schemes that look at the queues of their switch: JSQ, CHOICE, DRILL, AR."""

from __future__ import annotations

import math

from twin.schemes import Decision, Scheme
from twin.streams import Stream
from twin.tree import Node


class Jsq(Scheme):
    def pick(self, decision: Decision) -> int:
        if self.sends_at_random(decision):
            return self.random(decision)
        return self.cheapest(decision.switch, {port: decision.queues[port] for port in decision.valid})


def drawn(ports: list[int], count: int, stream: Stream) -> list[int]:
    """So many of the ports, all such sets alike (Floyd's algorithm; Bentley, CACM 1987)."""
    places: set[int] = set()
    for last in range(len(ports) - min(count, len(ports)), len(ports)):
        place = stream.below(last + 1)
        places.add(last if place in places else place)
    return [ports[place] for place in places]


class Choice(Scheme):
    def pick(self, decision: Decision) -> int:
        ports = drawn(decision.valid, self.config["ports_sampled"], self.streams[decision.switch])
        return self.cheapest(decision.switch, {port: decision.queues[port] for port in ports})


class Drill(Scheme):
    def start(self) -> None:
        self.remembered: dict[Node, list[int]] = {
            switch: drawn(list(range(len(switch.up))), self.config["ports_remembered"], self.streams[switch])
            for switch in self.tree.edges + self.tree.aggs
        }

    def pick(self, decision: Decision) -> int:
        switch = decision.switch
        ports = set(drawn(decision.valid, self.config["ports_sampled"], self.streams[switch]))
        ports |= set(self.remembered[switch]) & set(decision.valid)
        best = self.cheapest(switch, {port: decision.queues[port] for port in ports})
        # The best are remembered: of equal ones first the one that was taken, then by number.
        ranked = sorted(ports, key=lambda port: (decision.queues[port], port != best, port))
        self.remembered[switch] = ranked[: self.config["ports_remembered"]]
        return best


class Ar(Scheme):
    def start(self) -> None:
        buffer = self.config["nominal_buffer_bytes"]
        self.levels_from = [math.floor(fraction * buffer + 0.5) for fraction in self.config["level_fractions"]]
        self.seen: dict[tuple[Node, int], tuple[int, int]] = {}

    def level(self, decision: Decision, port: int) -> int:
        """Read anew when it is older than the refresh interval."""
        level, until = self.seen.get((decision.switch, port), (0, 0))
        if decision.now >= until:
            level = sum(decision.queues[port] >= start for start in self.levels_from)
            self.seen[decision.switch, port] = (level, decision.now + self.config["refresh_ps"])
        return level

    def pick(self, decision: Decision) -> int:
        if self.sends_at_random(decision):
            return self.random(decision)
        return self.cheapest(decision.switch, {port: self.level(decision, port) for port in decision.valid})
