"""A run: switches, waits between messages and links that change, driven by one heap of events."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from twin.arbiter import Arbiter
from twin.catalogue import SCHEMES
from twin.control_first import ControlFirst
from twin.dcsim import COUNTS as DCSIM_COUNTS
from twin.dcsim import DcsimHost
from twin.events import BACKGROUND, CHANGE, READY, SAMPLE, SIGNAL
from twin.holding import HoldingPort
from twin.hosts import Host
from twin.pfc import Pfc
from twin.ports import Port
from twin.schemes import Decision, Scheme
from twin.series import Series
from twin.streams import TIE, Stream
from twin.tree import Link, Node, Tree
from twin.window_host import COUNTS as WINDOW_COUNTS
from twin.window_host import DCTCP_COUNTS, WindowHost
from twin.workload import NEVER, Flow, Outcome, Packet, Trigger, read_flows


class Run:
    def __init__(self, config: dict[str, Any], messages: dict[str, Any]) -> None:
        self.config, self.seed, self.now = config, config["seed"], 0
        self.events: list[Any] = []
        self.open_events = 0
        self.serial = count()
        self.tree = Tree(config["fabric"])
        self.acks = config["transport"].get("acks", "per-packet") == "per-packet"
        self.finds_timeouts = self.acks and config["transport"]["kind"] == "paced"
        """Whether hosts that send nothing again leave it to schemes to find out what is overdue."""
        self.full_frame = config["frame"]["header_bytes"] + config["frame"]["payload_bytes"]
        self.signal_ps = min(link.latency_ps for link in self.tree.links)
        self.tie_salts = {link: Stream(self.seed, TIE, link.number).next() for link in self.tree.links}
        self.ports = {link: kind_of_port(config, link)(self, link) for link in self.tree.links}
        self.pfc = Pfc(self) if config["port"]["pfc"] else None
        self.trace: list[tuple[int, int, int, int, int]] = []
        self.unroutable: dict[str, int] = defaultdict(int)
        self.counts: dict[str, int] = dict.fromkeys(COUNTS[config["transport"]["kind"]], 0)
        self.flows = read_flows(messages, config["frame"], self.tree)
        self.sent_by: dict[Node, list[Flow]] = defaultdict(list)
        for flow in sorted(self.flows, key=lambda flow: flow.number):
            self.sent_by[flow.src].append(flow)
        self.connect(messages)
        self.deploy(config)
        self.plan_changes(config["fabric"])
        host = HOSTS[config["transport"]["kind"]]
        self.hosts = {node: host(self, node, self.sent_by[node]) for node in self.tree.hosts}
        self.series = Series(self)

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

    def deploy(self, config: dict[str, Any]) -> None:
        """`scheme` is that of the hosts and of every switch that runs no other."""
        self.scheme: Scheme = SCHEMES[config["balancer"]["kind"]](config["balancer"], self)
        schemes = [self.scheme]
        self.scheme_of = {node: self.scheme for node in self.tree.nodes if node.tier}
        for deployment in config["deployments"]:
            scheme = SCHEMES[deployment["balancer"]["kind"]](deployment["balancer"], self)
            schemes.append(scheme)
            self.scheme_of |= {self.tree.node(name): scheme for name in deployment["switches"]}
        for scheme in schemes:
            if scheme.needs_cores:
                self.scheme_of |= dict.fromkeys(self.tree.cores, scheme)
        for scheme in schemes:
            switches = [node for node, own in self.scheme_of.items() if own is scheme]
            if scheme.sample_every and switches:
                self.at(scheme.sample_every, SAMPLE, (), partial(self.sample, scheme, switches, 1))

    def sample(self, scheme: Scheme, switches: list[Node], number: int) -> None:
        scheme.sample(switches, number)
        again_at = (number + 1) * scheme.sample_every
        self.at(again_at, SAMPLE, (), partial(self.sample, scheme, switches, number + 1))

    def plan_changes(self, fabric: dict[str, Any]) -> None:
        for event in fabric["link_events"]:
            for link in self.tree.both_directions(event["link"]):
                is_up = event["state"] == "up"
                self.at(event["at_ps"], CHANGE, (), partial(self.change_link, link, is_up))
                converged_at = event["at_ps"] + fabric["reconvergence_delay_ps"]
                self.at(converged_at, CHANGE, (), partial(self.tree.converge, link, is_up))

    def change_link(self, link: Link, is_up: bool) -> None:
        link.works = is_up
        if not is_up:
            self.ports[link].fail()

    def at(self, when: int, step: int, order: tuple[int, ...], do: Callable[[], None]) -> list[Any]:
        self.open_events += step not in BACKGROUND
        entry = [when, step, order, next(self.serial), do]
        heapq.heappush(self.events, entry)
        return entry

    @staticmethod
    def forget(entry: list[Any] | None) -> None:
        if entry:
            entry[-1] = lambda: None

    def arrive(self, link: Link, packet: Packet) -> None:
        self.trace.append((self.now, link.number, packet.flow.row, packet.psn, packet.kind))
        node = link.target
        if node.tier == 0:
            self.hosts[node].receive(packet)
            return
        scheme = self.scheme_of[node]
        egress = node.way_down(packet.to)
        if egress is None:
            valid = self.tree.valid_uplinks(node, packet.to)
            if not valid:
                self.unroutable[f"unroutable_{packet.name}_count"] += 1
                return
            queues = [self.ports[up].queued_bytes for up in node.up]
            ingress = node.down.index(link.back)
            egress = node.up[scheme.pick(Decision(self.now, node, packet, ingress, valid, queues))]
        scheme.forwards(node, packet, link, self.ports[egress])
        if self.pfc is None or self.pfc.admits(link, packet, self.ports[egress]):
            self.ports[egress].put(packet)

    def has_left(self, packet: Packet) -> None:
        """A switch has sent or lost a packet."""
        if self.pfc:
            self.pfc.has_left(packet)

    def ports_of(self, node: Node) -> list[Port]:
        return [self.ports[link] for link in node.down + node.up]

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

    def live(self, until: float) -> Outcome:
        while self.open_events and self.events[0][0] < until:
            self.now, step, _, _, do = heapq.heappop(self.events)
            self.open_events -= step not in BACKGROUND
            do()
        finished_at = max(flow.last_acked_at if self.acks else flow.last_delivered_at for flow in self.flows)
        status = "done" if finished_at < NEVER else "stuck"
        if finished_at == NEVER and self.config["time_limit_ps"] <= until < math.inf:
            status = "time-limit"
        if until < math.inf:
            self.now = int(until)
            for port in self.ports.values():
                port.count_pause()
                # Ports that decide what starts when it starts have counted nothing in advance but that.
                if status == "time-limit" or not isinstance(port, HoldingPort):
                    port.cut()
        self.series.end()
        tallies = [self.ports[link].tally for link in self.tree.links]
        names = [*PORT_COLUMNS, *(LANE_COLUMNS if self.config["port"]["discipline"]["kind"] == "dcsim" else ())]
        return Outcome(
            status,
            sorted(self.trace, key=lambda row: (row[0], row[1], row[4], row[2], row[3])),
            {name: [getattr(flow, attribute) for flow in self.flows] for name, attribute in FLOW_COLUMNS.items()},
            {name: [tally[name] for tally in tallies] for name in names},
            {name: self.unroutable[name] for name in ("unroutable_data_count", "unroutable_control_count")},
            self.counts,
            finished_at,
            dict(self.series.rows),
            dict(self.series.windows),
        )


FLOW_COLUMNS = {
    "packets_count": "packets",
    "started_at_ps": "started_at",
    "first_delivered_at_ps": "first_delivered_at",
    "last_delivered_at_ps": "last_delivered_at",
    "last_acked_at_ps": "last_acked_at",
    "delivered_packets_count": "delivered",
    "acked_packets_count": "acked",
    "retransmitted_packets_count": "retransmitted",
    "reordered_packets_count": "reordered",
    "delay_ps": "delay",
}
PORT_COLUMNS = (
    *("data_bytes", "control_bytes", "data_frames_count", "control_frames_count"),
    *("max_queue_bytes", "queue_byte_ps"),
    *("dropped_data_count", "dropped_control_count", "marked_count", "lost_data_count", "lost_control_count"),
    *("trimmed_count", "paused_ps"),
)


LANE_COLUMNS = [
    *(f"{lane}_frames_count" for lane in ("sim", "sim_ack", "data_ack")),
    *(f"dropped_{lane}_count" for lane in ("sim", "sim_ack", "data_ack")),
    *(f"max_waiting_{lane}_packets" for lane in ("sim", "sim_ack", "data_ack", "data")),
]


def kind_of_port(config: dict[str, Any], link: Link) -> type[Port]:
    discipline = config["port"]["discipline"]["kind"]
    if discipline == "dcsim":
        return Arbiter
    holds = discipline == "control-first" or config["port"]["pfc"]
    return ControlFirst if holds and link.source.tier else Port


WINDOWED = ("constant-window", "nscc", "swift", "mswift")
HOSTS: dict[str, type[Host] | type[DcsimHost] | type[WindowHost]] = {"paced": Host, "dcsim": DcsimHost}
HOSTS |= dict.fromkeys((*WINDOWED, "dctcp"), WindowHost)
COUNTS: dict[str, tuple[str, ...]] = {"paced": (), "dcsim": DCSIM_COUNTS, "dctcp": DCTCP_COUNTS}
COUNTS |= dict.fromkeys(WINDOWED, WINDOW_COUNTS)


def run(config: dict[str, Any], messages: dict[str, Any], until: float = math.inf) -> Outcome:
    """Run what `fabricsim._core.run` would run (its contract: bindings/README.md).

    `until`: the end of the run, where hosts may have something to do when all is done; the core ends with a window.
    """
    return Run(config, messages).live(until)
