"""Who is next: hosts of dcSim take turns over their collectives, and within a collective over its flows."""

from __future__ import annotations

from collections.abc import Callable

from twin.workload import Flow


class Circle:
    """A list of collectives or flows, and whose turn it is."""

    def __init__(self) -> None:
        self.members: list[Flow] = []
        self.next = 0

    def turn(self, wants: Callable[[Flow], bool]) -> Flow | None:
        for step in range(len(self.members)):
            place = (self.next + step) % len(self.members)
            if wants(self.members[place]):
                self.next = place + 1
                return self.members[place]
        return None


class Turns:
    """Collectives stand in the order of their first flows."""

    def __init__(self, flows: list[Flow]) -> None:
        circles: dict[int, Circle] = {}
        for flow in flows:
            circles.setdefault(flow.collective, Circle()).members.append(flow)
        self.circles = list(circles.values())
        self.next = 0

    def turn(self, wants: Callable[[Flow], bool]) -> Flow | None:
        for step in range(len(self.circles)):
            place = (self.next + step) % len(self.circles)
            flow = self.circles[place].turn(wants)
            if flow:
                self.next = place + 1
                return flow
        return None
