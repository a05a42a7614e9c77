"""DLB and SGLB: quality bands of links, and of paths by adverts that travel as messages do."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import partial
from typing import Any

from twin.events import ADVERT
from twin.ports import Port
from twin.schemes import Decision, Scheme
from twin.tree import Link, Node

QUEUE_BANDS_FROM = (0.0125, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3)


ALL = 2**32
"""Shares are integers, in 2^-32 of all, and what comes of them is rounded down."""


def power(share: int, exponent: int) -> int:
    """By repeated squaring, in whose order the engine rounds too."""
    result = ALL
    while exponent:
        if exponent % 2:
            result = result * share // ALL
        exponent //= 2
        share = share * share // ALL
    return result


class Quality:
    """Cost of one link, 0 (best) to 7: mean of a band of its load and one of its queue."""

    def __init__(self, config: dict[str, Any], port: Port) -> None:
        self.config, self.port = config, port
        self.average = self.sent_bytes = self.cost = 0
        self.keep = ALL - math.floor(config["load_gain"] * ALL + 0.5)
        buffer = config["nominal_buffer_bytes"]
        self.queue_bands_from = [math.floor(fraction * buffer + 0.5) for fraction in QUEUE_BANDS_FROM]

    def sample(self, elapsed_ps: int) -> None:
        """What was sent since the last sample counts as spread evenly over the intervals since then."""
        busy_ps = self.port.link.time_ps(self.port.sent_bytes - self.sent_bytes)
        share = min(busy_ps, elapsed_ps) * ALL // elapsed_ps
        keep = power(self.keep, elapsed_ps // self.config["sample_interval_ps"])
        self.average = self.average * keep // ALL + (ALL - keep) * share // ALL
        self.sent_bytes = self.port.sent_bytes
        load_band = min(7, self.average * 8 // ALL)
        queue_band = sum(self.port.queued_bytes >= start for start in self.queue_bands_from)
        self.cost = (load_band + queue_band + 1) // 2


class Dlb(Scheme):
    """A switch samples its uplinks when a packet has to go up and the last sample is an interval old."""

    def start(self) -> None:
        self.uplinks = {
            switch: [Quality(self.config, self.run.ports[up]) for up in switch.up] for switch in self.tree.nodes
        }
        self.sampled_at: dict[Node, int] = defaultdict(int)

    def pick(self, decision: Decision) -> int:
        switch = decision.switch
        elapsed = decision.now - self.sampled_at[switch]
        if elapsed >= self.config["sample_interval_ps"]:
            for uplink in self.uplinks[switch]:
                uplink.sample(elapsed)
            self.sampled_at[switch] = decision.now
        return self.cheapest(switch, {port: self.uplinks[switch][port].cost for port in decision.valid})


class Sglb(Scheme):
    """An advert is about a link down, or about (aggregation switch, pod): the best that the switch can do to get there.

    Nothing is known of what one has not heard of.
    """

    needs_cores = True

    def start(self) -> None:
        self.sample_every = self.config["sample_interval_ps"]
        self.advertise_every = self.config["advertise_interval_ps"] // self.sample_every
        links = [link for link in self.tree.links if link.source.tier]
        self.quality = {link: Quality(self.config, self.run.ports[link]) for link in links}
        self.said: dict[Any, int] = defaultdict(int)
        self.heard: dict[tuple[Node, Any], int] = defaultdict(int)

    def sample(self, switches: list[Node], number: int) -> None:
        for switch in switches:
            for link in switch.down + switch.up:
                self.quality[link].sample(self.sample_every)
        for switch in switches:
            for link in switch.down if switch.tier > 1 else []:
                self.advertise(number, link, self.quality[link].cost, self.listeners(switch, link))
            if switch in self.tree.aggs:
                below = [(down.target, down.latency_ps) for down in switch.down]
                for pod in range(self.tree.pods):
                    host = next(host for host in self.tree.hosts if self.tree.pod_of(host) == pod)
                    if host not in switch.hosts_below:
                        self.advertise(number, (switch, pod), self.best(switch, host), below)

    def best(self, agg: Node, host: Node) -> int:
        costs = [self.cost_above(agg, agg.up[c], host) for c in self.tree.valid_uplinks(agg, host)]
        return min(costs, default=7)

    def cost_above(self, agg: Node, up: Link, host: Node) -> int:
        return max(self.quality[up].cost, self.heard[agg, up.target.way_down(host)])

    def listeners(self, switch: Node, link: Link) -> list[tuple[Node, int]]:
        """Who hears of a link down, and how long that takes: one link latency a hop."""
        if switch in self.tree.cores:
            return [(down.target, down.latency_ps) for down in switch.down]
        own = {down.target for down in switch.down}
        relayed = 2 * switch.up[0].latency_ps + link.latency_ps
        return [(edge, link.latency_ps if edge in own else relayed) for edge in self.tree.edges]

    def advertise(self, number: int, about: Any, band: int, listeners: list[tuple[Node, int]]) -> None:
        """At the appointed times, and at once when it has changed by two bands."""
        is_due = number % self.advertise_every == 0 or abs(band - self.said[about]) >= 2
        if is_due and band != self.said[about]:
            self.said[about] = band
            for listener, delay in listeners:
                hear = partial(self.heard.__setitem__, (listener, about), band)
                self.run.at(self.run.now + delay, ADVERT, (), hear)

    def pick(self, decision: Decision) -> int:
        switch, to = decision.switch, decision.packet.to
        if switch in self.tree.aggs:
            costs = {port: self.cost_above(switch, switch.up[port], to) for port in decision.valid}
            return self.cheapest(switch, costs)
        costs = {}
        for port in decision.valid:
            next_hop = switch.up[port].target
            last_link = self.tree.edge_of(to).up[port].back
            beyond = self.heard[switch, (next_hop, self.tree.pod_of(to))]
            costs[port] = max(self.quality[switch.up[port]].cost, beyond, self.heard[switch, last_link])
        return self.cheapest(switch, costs)
