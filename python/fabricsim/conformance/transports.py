"""What a transport has to bring about: everything delivered, whatever is lost on the way, and counted right."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from fabricsim.conformance.cases import AWKWARD_SIZES, PAYLOAD_BYTES, DoesNotApply, Lab, to_everywhere
from fabricsim.conformance.receptions import delivered_once, receptions
from fabricsim.conformance.sound import Fault
from fabricsim.frame_times import paths
from fabricsim.scenario import Bytes, Duration, FatTree, Frame, LeafSpine, LinkEvent, Paced, Port
from fabricsim.scenario.losses import Loss, PacketKind
from fabricsim.workloads import Messages

if TYPE_CHECKING:
    from fabricsim.results import Results

_TREES = (FatTree(radix=4), LeafSpine(radix=6))
_SMALL = Port(buffer=Bytes("45kB"))
"""Ten data frames, and dcSim's small packets."""


def everything_once(lab: Lab) -> str:
    """Messages of no byte, of one, and of about one payload; with and without short last frames."""
    packets = 0
    for fabric in _TREES:
        for frame in (Frame(), Frame(last_frame="short")):
            packets += delivered_once(lab.run(fabric, to_everywhere(fabric), frame=frame))
    return f"messages of {', '.join(map(str, AWKWARD_SIZES))} bytes, {packets:,} packets"


def long_messages(lab: Lab) -> str:
    """Four times what is under way on the longest path; two messages a host, one of which starts later."""
    packets = 0
    for fabric in _TREES:
        hosts = np.arange(fabric.hosts_count)
        messages = Messages.from_arrays(
            np.tile(hosts, 2),
            (np.tile(hosts, 2) + np.repeat([hosts.size // 2, 1], hosts.size)) % hosts.size,
            600 * PAYLOAD_BYTES,
            start_ps=np.repeat([0, 5_000_000], hosts.size),
        )
        packets += delivered_once(lab.run(fabric, messages))
    return f"{packets:,} packets"


def losses(lab: Lab) -> str:
    """One kind of packet after the other, and all of them."""
    _needs_recovery(lab)
    lost = {"data": 0, "control": 0}
    kinds: tuple[PacketKind, ...] = get_args(PacketKind)
    for chosen, probability in (*(((kind,), 0.05) for kind in kinds), (kinds, 0.02)):
        fabric = FatTree(radix=4, losses=tuple(Loss(packet=kind, probability=probability) for kind in chosen))
        for messages in (None, to_everywhere(fabric)):
            results = lab.run(fabric, messages, packets=60)
            delivered_once(results)
            for kind in lost:
                lost[kind] += int(results.ports[f"lost_{kind}_count"].sum())
    for kind, frames in lost.items():
        if not frames:
            raise Fault(f"no {kind} frame was lost")
    return f"{lost['data']:,} data and {lost['control']:,} control frames lost, of {len(kinds)} kinds"


def full_buffers(lab: Lab) -> str:
    """Ports that hold ten data frames, and more to send than they hold."""
    _needs_recovery(lab)
    dropped = 0
    for fabric in (FatTree(radix=4), FatTree(radix=4, edge_oversubscription=2)):
        results = lab.run(fabric, packets=200, port=_SMALL)
        delivered_once(results)
        dropped += sum(int(results.ports[f"dropped_{kind}_count"].sum()) for kind in ("data", "control"))
    return f"{dropped:,} frames dropped"


def incast(lab: Lab) -> str:
    """All other hosts send to host 0: as much as ports hold, where what they drop is sent again."""
    fabric = FatTree(radix=4)
    senders = np.arange(1, fabric.hosts_count)
    messages = Messages.from_arrays(senders, np.zeros_like(senders), 64 * PAYLOAD_BYTES)
    results = lab.run(fabric, messages, port=Port() if isinstance(lab.transport, Paced) else _SMALL)
    delivered_once(results)
    return f"{senders.size} senders, {results.summary['cct_delivered_us']:.1f} us"


def link_events(lab: Lab) -> str:
    """Kill an uplink and a link to a core with all that is in them, and repair them later."""
    _needs_recovery(lab)
    # One early, one when transports that ask first are sending too.
    dies_at = {("edge-0", "agg-0"): "3us", ("agg-2", "core-1"): "20us"}
    events = tuple(
        LinkEvent(at=Duration(at), link=link, state=state)  # type: ignore[arg-type]
        for link, down_at in dies_at.items()
        for at, state in ((down_at, "down"), ("80us", "up"))
    )
    fabric = FatTree(radix=4, link_events=events, reconvergence_delay=Duration("2us"))
    results = lab.run(fabric, packets=200)
    delivered_once(results)
    lost = sum(results.summary["lost_count"].values())
    if not lost:
        raise Fault("links that died lost nothing")
    return f"{lost:,} frames lost"


def chains(lab: Lab) -> str:
    """Of three hosts: each message starts once the one before is delivered or, where senders learn it, acknowledged."""
    steps = np.arange(9)
    src, dst = np.array([0, 5, 10])[steps % 3], np.array([5, 10, 0])[steps % 3]
    events = steps[:-1] % 2 if lab.transport.acks_messages else np.zeros(8, np.int64)
    messages = Messages.from_arrays(
        src, dst, 3 * PAYLOAD_BYTES, dep_message=steps[1:], dep_on=steps[:-1], dep_event=events
    )
    results = lab.run(FatTree(radix=4), messages)
    delivered_once(results)
    start, delivered, acked = (
        results.flows[f"{name}_ps"].to_numpy() for name in ("start", "last_delivered", "last_acked")
    )
    over = np.where(events == 1, acked[:-1], delivered[:-1])
    if (start[1:] < over).any():
        row = int(np.argmax(start[1:] < over)) + 1
        raise Fault(f"flow {row} starts at {start[row]} ps, before the one it waits for is over at {over[row - 1]} ps")
    return f"{steps.size} messages one after the other"


def counts(lab: Lab) -> str:
    """Compare them with the trace of a run that loses nothing."""
    results = lab.run(FatTree(radix=4), packets=120)
    delivered_once(results)
    flows, left, came = results.flows, receptions(results, "from"), receptions(results, "to")
    sent = np.bincount(left.flow, minlength=flows.height)
    most = (flows["packets_count"] + flows["retransmitted_packets_count"]).to_numpy()
    if (sent > most).any():
        row = int(np.argmax(sent > most))
        raise Fault(f"flow {row}: {sent[row]} packets left its host, and {most[row]} were counted")
    for row in range(flows.height):
        psn = came.psn[came.flow == row]
        behind = int((psn[1:] < np.maximum.accumulate(psn)[:-1]).sum())
        if (told := flows["reordered_packets_count"][row]) is not None and behind != told:
            raise Fault(f"flow {row}: {behind} packets came after a later one, and {told} were counted")
    if isinstance(lab.transport, Paced):
        return "retransmissions; paced hosts are not asked for reordering and delay"
    _has_right_delays(results)
    return f"{flows['reordered_packets_count'].sum():,} reordered, {results.summary['delay_mean_us']:.2f} us a packet"


def _has_right_delays(results: Results) -> None:
    flows = results.flows
    places = np.concatenate([[0], np.cumsum(flows["packets_count"].to_numpy().astype(np.int64))])
    link = paths(results.scenario)[0].hops[0]
    at_host = link.time_ps(results.scenario.frame.data_bytes) + link.latency_ps
    delays = receptions(results, "to").first(places) - (receptions(results, "from").first(places) - at_host)
    seen, told = np.add.reduceat(delays, places[:-1]), flows["delay_ps"].to_numpy()
    if (seen != told).any():
        row = int(np.argmax(seen != told))
        raise Fault(f"flow {row}: its packets were under way for {seen[row]} ps in all, and {told[row]} were counted")


def _needs_recovery(lab: Lab) -> None:
    if isinstance(lab.transport, Paced):
        raise DoesNotApply("paced hosts send nothing again")
