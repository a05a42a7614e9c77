"""Bounds of queues that are proven for a scheme, whatever the messages' size."""

from __future__ import annotations

import polars as pl

from fabricsim.conformance.cases import PAYLOAD_BYTES, DoesNotApply, Lab
from fabricsim.conformance.sound import Fault
from fabricsim.errors import ScenarioError
from fabricsim.scenario import Bytes, Ethereal, FatTree, InterPodPermutation, Measure, Paced, Permutation
from fabricsim.theory import edge_uplink_most_packets

_RADICES = (4, 6, 8)


def edge_uplinks(lab: Lab) -> str:
    """Compare the largest queue from an edge switch up, in data frames' worth of bytes, with `fabricsim.theory`."""
    kind = lab.balancer.kind
    try:
        bounds = {radix: edge_uplink_most_packets(kind, radix) for radix in _RADICES}
    except ScenarioError:
        raise DoesNotApply(f"nothing is proven of edge uplinks under {kind}") from None
    if isinstance(lab.balancer, Ethereal) and lab.balancer.rto < (least := _least_timeout_ps()):
        raise DoesNotApply(f"timeouts below {least // 1000} ns move subflows, of which the proof knows nothing")
    seen = []
    for radix, most in bounds.items():
        largest = 0
        for packets in (64, 256):
            size = Bytes(packets * PAYLOAD_BYTES)
            largest = max(largest, _largest(lab, radix, workload=InterPodPermutation(message=size), acks="off"))
            # A bound of one packet leaves no room for ACKs: it is proven without (Ofan appendix C, step 5).
            if most > 1:
                largest = max(largest, _largest(lab, radix, workload=Permutation(message=size), acks="per-packet"))
        if largest > most:
            raise Fault(f"an edge uplink of a tree of radix {radix} held {largest} packets; proven: at most {most}")
        seen.append(f"{largest} of {most}")
    return f"at most {', '.join(seen)} packets at radix {', '.join(map(str, _RADICES))}"


def _least_timeout_ps() -> int:
    """Return twice the time to the farthest host and back on wires alone: within it all frames of these runs are."""
    fabric = FatTree(radix=_RADICES[-1])
    return 4 * int(fabric.propagation_ps(0, fabric.hosts_count - 1))


def _largest(lab: Lab, radix: int, workload: Permutation | InterPodPermutation, acks: str) -> int:
    results = lab.run(
        FatTree(radix=radix),
        workload=workload,
        transport=Paced(acks=acks),  # type: ignore[arg-type]
        measure=Measure(queues=True),
    )
    edges = results.ports.filter(pl.col("stage") == "edge-agg")
    return int(edges["max_queue_packets"].to_numpy().max())
