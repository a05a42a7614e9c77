"""What transports with windows have to bring about besides: with few ACKs, with ports that cut packets or pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabricsim.conformance.cases import PAYLOAD_BYTES, DoesNotApply, Lab
from fabricsim.conformance.receptions import delivered_once
from fabricsim.conformance.sound import Fault
from fabricsim.scenario import Bytes, FatTree, LeafSpine, Pfc, Port
from fabricsim.scenario.losses import Loss
from fabricsim.scenario.transports.window import WindowPart
from fabricsim.workloads import Messages

if TYPE_CHECKING:
    from fabricsim.results import Results

_TREES = (FatTree(radix=4), LeafSpine(radix=6))


def few_acks(lab: Lab) -> str:
    """Ask for an ACK for two data frames, for four, and for more than a window; nothing is lost, so nobody may wait."""
    transport, acks, packets = _with_window(lab), 0, 0
    for fabric in _TREES:
        for every in ("4159B", "16384B", "10MB"):
            results = lab.run(fabric, packets=300, transport=transport.replace(ack_every=Bytes(every)))
            packets += delivered_once(results)
            acks += _counted(results, "acks_sent_count")
            if waited := _counted(results, "data_timeouts_count"):
                raise Fault(f"with an ACK every {every} and no losses, {waited} packets timed out")
    # A window that is always full asks for each.
    if acks > packets:
        raise Fault(f"{acks} ACKs for {packets} packets are not few")
    return f"{acks:,} ACKs for {packets:,} packets"


def trimming(lab: Lab) -> str:
    """All send to one, ports cut what exceeds five frames; then links lose some headers too, and NACKs for them."""
    transport = _with_window(lab)
    port = Port(buffer=Bytes("21kB"), control_first=True, trimming="random")
    senders = np.arange(1, 16)
    messages = Messages.from_arrays(senders, np.zeros_like(senders), 20 * PAYLOAD_BYTES + senders)
    cut = 0
    for kinds in ((), ("trimmed",), ("nack",), ("trimmed", "nack", "data", "ack")):
        losses = tuple(Loss(packet=kind, probability=0.05) for kind in kinds)  # type: ignore[arg-type]
        results = lab.run(FatTree(radix=4, losses=losses), messages, port=port, transport=transport)
        _drops_no_data(results, "ports that trim")
        delivered_once(results)
        cut += int(results.ports["trimmed_count"].sum())
    if not cut:
        raise Fault("no packet was cut to its header")
    return f"{cut:,} packets cut"


def pauses(lab: Lab) -> str:
    """All hosts send to all, and once more to host 0; switches pause each other at each data frame that waits."""
    transport = _with_window(lab)
    paused_us = 0.0
    for fabric in _TREES:
        hosts = np.arange(fabric.hosts_count)
        src, dst = (one.ravel() for one in np.meshgrid(hosts, hosts))
        apart = src != dst
        src, dst = np.concatenate([src[apart], hosts[1:]]), np.concatenate([dst[apart], np.zeros_like(hosts[1:])])
        for control_first in (False, True):
            port = Port(pfc=Pfc(xoff=Bytes("4kB"), xon=Bytes("0B")), control_first=control_first)
            messages = Messages.from_arrays(src, dst, 10 * PAYLOAD_BYTES)
            results = lab.run(fabric, messages, port=port, transport=transport)
            _drops_no_data(results, "lossless ports")
            delivered_once(results)
            paused_us += float(results.summary["paused_us"])
    if not paused_us:
        raise Fault("no port was paused")
    return f"ports paused for {paused_us:,.0f} us in all"


def _with_window(lab: Lab) -> WindowPart:
    if not isinstance(lab.transport, WindowPart):
        raise DoesNotApply("for transports with windows")
    return lab.transport


def _counted(results: Results, name: str) -> int:
    return int(results.summary["transport_counts"][name])


def _drops_no_data(results: Results, ports: str) -> None:
    if dropped := int(results.ports["dropped_data_count"].sum()):
        raise Fault(f"{ports} dropped {dropped} data frames")
