"""Times that no run can beat: the ideal completion of each flow, and lower bounds of a run's CCT.

All follow from the model alone ("Timing" in docs/explanation/model.md): a frame that starts on a link at s is whole
at the other end at s + size/rate + latency, and the next may start (size + gap)/rate after s, at a host no earlier than
that over the load. Links count at their tier's rate: links that are slower or down only make the bounds looser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabricsim.frame_times import Path, Times, paths
from fabricsim.offered_load import with_load
from fabricsim.scenario.derived import derived
from fabricsim.scenario.transports import Dcsim, Paced
from fabricsim.workloads.earliest import earliest_starts

if TYPE_CHECKING:
    from fabricsim.scenario import Scenario
    from fabricsim.workloads import Messages

_NEVER = np.iinfo(np.int64).max


def ideal_fct_ps(scenario: Scenario, messages: Messages) -> Times:
    """Return each flow's least time from its first data frame's start to its last one's arrival, shape (messages,).

    The flow is alone and its packets are spread as well as can be: its frames leave the host one pacing interval apart,
    and each stage of the path has to carry them, by one link or by several in parallel.
    """
    return _Flows(with_load(scenario, messages), messages).ideal


@dataclass(frozen=True, eq=False)
class Bounds:
    """All bounds of a run, which share their work; each is the result of the function of its name.

    `unloaded_ps`: time of a packet of each flow over the idle path, store and forward; the mean over its packets.
    """

    ideal_fct_ps: Times
    unloaded_ps: NDArray[np.float64]
    bound_ps: int
    least_cct_ps: int


def all_bounds(scenario: Scenario, messages: Messages, first_start_ps: int = 0) -> Bounds:
    """Return every bound that a run is held against.

    `first_start_ps`: when its first frame started, from which completion times count. It matters only where that is
    later than the workload and the jitter let hosts start: hosts that have to be matched first (dcPIM) may begin late.
    """
    scenario = with_load(scenario, messages)
    flows = _Flows(scenario, messages)
    if flows.is_permutation():
        bound = _permutation_ps(flows)
        least = bound - flows.paths[0].hops[0].gap_ps
        if scenario.transport.has_window:
            # Where windows, drops and timeouts move ACKs about, fewer may stand between the data of the last host.
            least = min(least, _naive_ps(flows, np.zeros(len(messages), np.int64), first_start_ps))
    else:
        bound = least = _naive_ps(flows, np.zeros(len(messages), np.int64), first_start_ps)
    wait = sim_wait_ps(scenario, messages.src, messages.dst, flows.packets)
    if wait.any():
        least = _naive_ps(flows, wait, first_start_ps)
    if splits_bytes(scenario):
        least = int(frameless_fct_ps(scenario, messages.src, messages.dst, messages.bytes).max(initial=0))
    return Bounds(flows.ideal, flows.unloaded, bound, least)


def bounds_cct_acked(scenario: Scenario) -> bool:
    """Whether the lower bound is of `cct_acked`: paced hosts that get an ACK a packet (Ofan Appendix A), and windows.

    Else it is of `cct_delivered`, and follows from the data frames alone.
    """
    transport = scenario.transport
    return transport.has_window or (isinstance(transport, Paced) and transport.acks_every_packet)


def _acks_take_turns(scenario: Scenario) -> bool:
    """Whether an ACK of each packet takes its turn with data at the hosts' ports (Ofan Appendix A).

    Where control frames go first, or an ACK is of several packets, only the last one is sure to cost time.
    """
    return bounds_cct_acked(scenario) and scenario.transport.acks_every_packet and not scenario.port.control_first


def sim_wait_ps(scenario: Scenario, src: NDArray[Any], dst: NDArray[Any], packets: NDArray[Any]) -> Times:
    """Return how long after its start a flow's first Data may leave at the earliest under dcSim; else 0.

    A Data is due RTT_max (or the fraction asked for) after its Sim started, by the host's own clock, and not before the
    Sim-Ack is back (dcSim section 2.4). Flows that are sent directly do not wait.
    """
    wait = np.zeros(len(src), np.int64)
    if not isinstance(scenario.transport, Dcsim):
        return wait
    lowered = scenario.transport.lowered(derived(scenario))
    due = int(lowered["wait_ps"] * (1 - lowered["clock_drift_ppm"] / 1e6))
    levels = scenario.fabric.hops(src, dst) // 2
    for level, path in enumerate(paths(scenario), start=1):
        wait[levels == level] = max(due, 2 * path.time_ps(int(scenario.frame.ack)))
    return np.where(packets < lowered["direct_below_packets"], 0, wait)


def splits_bytes(scenario: Scenario) -> bool:
    """Whether hosts send other frames than `frame` says: shorter ones, with which small messages beat their ideal."""
    return scenario.balancer.kind == "ethereal" and scenario.balancer.split == "bytes"


def frameless_fct_ps(scenario: Scenario, src: NDArray[Any], dst: NDArray[Any], size: NDArray[Any]) -> Times:
    """Return the time that payloads of `size` bytes need however they are divided: one link's time, and propagation."""
    link = scenario.fabric.tier_links()["host_link"]
    serial: Times = np.floor(size * (8e12 / int(link.rate))).astype(np.int64)
    propagation: Times = scenario.fabric.propagation_ps(src.astype(np.int64), dst.astype(np.int64))
    return serial + propagation


def bound_ps(scenario: Scenario, messages: Messages) -> int:
    """Return the lower bound from which the CCT's increase counts, in ps.

    It bounds `cct_acked` or `cct_delivered`: `bounds_cct_acked` says which.
    For a permutation (each host that takes part sends one message and receives one, all of equally many whole packets,
    all at once, with ACKs, links of one rate): Ofan paper, Appendix A, as docs/explanation/measures.md writes it out.
    Else the naive bound: no flow beats its ideal, nothing starts before what it waits for, no host sends or receives
    faster than its link. The former lies up to one gap above what a run can reach: hold runs against `least_cct_ps`.
    """
    return all_bounds(scenario, messages).bound_ps


def least_cct_ps(scenario: Scenario, messages: Messages) -> int:
    """Return `bound_ps` less the gap that Appendix A counts too much (docs/explanation/measures.md).

    A run with a shorter CCT is an error of the simulator. Where hosts split bytes, all that is sure is that the payload
    has to pass a link: then it is the largest of `frameless_fct_ps`. Under dcSim every flow waits for `sim_wait_ps` in
    addition, which `bound_ps` leaves out so that transports are compared with one and the same bound.
    """
    return all_bounds(scenario, messages).least_cct_ps


class _Flows:
    """Frames and times of each message, as arrays of shape (messages,).

    `levels` that its path climbs; `whole` frames; size of a `short` last frame, or 0; `ideal` completion; `ack`: what
    the last ACK takes back; `to_last_link`: least time of a frame to the switch before the receiver; `sending` and
    `receiving`: how long it occupies its sender and its receiver; `after_sending`: least time from its sender's being
    free of it to its arrival; `unloaded` time of a packet over the idle path, on average.
    """

    def __init__(self, scenario: Scenario, messages: Messages) -> None:
        self.scenario, self.messages, self.paths = scenario, messages, paths(scenario)
        self.levels: Times = scenario.fabric.hops(messages.src, messages.dst) // 2
        payload, header = np.uint64(int(scenario.frame.payload)), np.uint64(int(scenario.frame.header))
        whole, rest = np.divmod(messages.bytes, payload)
        is_short = (messages.bytes == 0) | ((rest > 0) & (scenario.frame.last_frame == "short"))
        self.whole: Times = (whole + ((rest > 0) & ~is_short)).astype(np.int64)
        short = np.where(messages.bytes == 0, np.uint64(scenario.frame.empty_bytes), rest + header)
        self.short: Times = np.where(is_short, short, 0).astype(np.int64)
        self.packets: Times = self.whole + is_short
        self.unloaded = np.zeros(len(messages))
        names = ("ideal", "ack", "to_last_link", "sending", "receiving", "after_sending")
        columns = np.zeros((len(names), len(messages)), np.int64)
        for level, path in enumerate(self.paths, start=1):
            rows = np.flatnonzero(self.levels == level)
            if rows.size:
                columns[:, rows] = self._times(path, self.whole[rows], self.short[rows])
                in_all = self.whole[rows] * path.time_ps(int(scenario.frame.data_bytes)) + np.where(
                    is_short[rows], path.time_ps(self.short[rows]), 0
                )
                self.unloaded[rows] = in_all / self.packets[rows]
        self.ideal, self.ack, self.to_last_link, self.sending, self.receiving, self.after_sending = columns

    def _times(self, path: Path, whole: Times, short: Times) -> list[Times]:
        full, has_short = int(self.scenario.frame.data_bytes), short > 0
        last_link = path.hops[-1]
        interval = path.interval_ps(full)
        full_path, short_path = path.time_ps(full), path.time_ps(short)
        sent_before_short = whole * interval

        def least(of_whole: int, of_short: Times) -> Times:
            return np.minimum(np.where(whole > 0, of_whole, _NEVER), np.where(has_short, of_short, _NEVER))

        receiving = whole * last_link.occupancy_ps(full) + has_short * last_link.occupancy_ps(short)
        # The last whole frame waits at the host, and at each stage behind the others on its link.
        wait = (whole - 1) * interval
        for hop in path.hops:
            wait = np.maximum(wait, (-(-whole // hop.parallel) - 1) * hop.occupancy_ps(full))
        ideal = np.where(whole > 0, full_path + wait, 0)
        ideal = np.maximum(ideal, has_short * (sent_before_short + short_path))
        # The receiver's link carries every frame; a short one may overtake whole ones on other paths.
        reached = least(path.time_to_last_link_ps(full), sent_before_short + path.time_to_last_link_ps(short))
        ideal = np.maximum(ideal, reached + receiving - last_link.gap_ps + last_link.latency_ps)
        acks = bounds_cct_acked(self.scenario)
        return [
            ideal,
            np.full(whole.size, path.time_ps(int(self.scenario.frame.ack)) if acks else 0),
            reached,
            whole * interval + has_short * path.interval_ps(short),
            receiving,
            least(full_path - interval, short_path - path.interval_ps(short)),
        ]

    def is_permutation(self) -> bool:
        """Whether the assumptions of Appendix A hold."""
        messages = self.messages
        src, dst = np.sort(messages.src), np.sort(messages.dst)
        return bool(
            len(messages)
            and _acks_take_turns(self.scenario)
            and not messages.has_dependencies
            and len({hop.rate_bps for hop in self.paths[-1].hops}) == 1
            and np.array_equal(src, dst)
            and np.all(src[1:] != src[:-1])
            and np.all(messages.start_ps == messages.start_ps[0])
            and np.all(self.whole == self.whole[0])
            and not np.any(self.short)
        )


def _permutation_ps(flows: _Flows) -> int:
    """Ofan paper, Appendix A, for the farthest pair present.

    At loads below 1 data frames start one pacing interval apart where the ACKs between them do not take longer. The
    appendix's other constraint, that the ACKs left at the end need their time too, binds only where an ACK is longer
    than a data frame, and is left out.
    """
    full, ack = int(flows.scenario.frame.data_bytes), int(flows.scenario.frame.ack)
    path = flows.paths[int(flows.levels.max()) - 1]
    link, packets = path.hops[0], int(flows.whole[0])
    interval = path.interval_ps(full)
    # i1: data packets that a host sends before its first ACK.
    data_only = -(-(path.time_ps(full) - link.time_ps(full)) // interval) + 1
    if packets < data_only:
        return path.time_ps(full) + (packets - 1) * interval + path.time_ps(ack)
    interleaved = max(interval, link.occupancy_ps(full) + link.occupancy_ps(ack))
    last_data = path.time_ps(full) + (data_only - 1) * interval + (packets - data_only) * interleaved
    return last_data + link.gap_ps + path.time_ps(ack)


def _naive_ps(flows: _Flows, wait: Times, first_start_ps: int) -> int:
    """Return the naive bound; `wait`: of each flow, from its start to its first data frame's."""
    messages = flows.messages
    if not len(messages):
        return 0
    links = flows.paths[-1].hops
    # The run's clock starts with its first data frame, which jitter may hold back by almost a pacing interval.
    waiting = np.zeros(len(messages), bool)
    waiting[messages.dep_message] = waiting[messages.target_message] = True
    jittered = flows.scenario.transport.start_jitter == "uniform"
    jitter = flows.paths[0].interval_ps(int(flows.scenario.frame.data_bytes)) if jittered else 0
    clock = max(int(messages.start_ps[~waiting].min()) + jitter, first_start_ps)
    release = np.maximum(messages.start_ps.astype(np.int64) - clock, 0)
    signal = min(hop.latency_ps for hop in links)
    alone = wait + flows.ideal
    start = earliest_starts(messages, release, alone, alone + flows.ack, signal)
    begin = start + wait
    hosts = flows.scenario.fabric.hosts_count
    after_receiving = flows.ack + links[-1].latency_ps - links[-1].gap_ps
    return max(
        int((start + alone + flows.ack).max()),
        _busiest(messages.src, hosts, begin, flows.sending, flows.after_sending + flows.ack),
        _busiest(messages.dst, hosts, begin + flows.to_last_link, flows.receiving, after_receiving),
    )


def _busiest(host: NDArray[np.uint32], hosts: int, begin: Times, busy: Times, rest: Times) -> int:
    """Return the most, over hosts with messages, of the earliest `begin` + all `busy` + the least `rest`."""
    first, least, total = np.full(hosts, _NEVER), np.full(hosts, _NEVER), np.zeros(hosts, np.int64)
    np.minimum.at(first, host, begin)
    np.minimum.at(least, host, rest)
    np.add.at(total, host, busy)
    used = first < _NEVER
    return int((first[used] + total[used] + least[used]).max())
