"""Whether packets arrive, and which way: over fabrics of many shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim.conformance.cases import AWKWARD_SIZES, Lab, few, to_everywhere
from fabricsim.conformance.journeys import journeys
from fabricsim.conformance.sound import arrives_once, keeps_order, sound, takes_shortest_paths
from fabricsim.scenario import FatTree, Frame, LeafSpine, Paced

if TYPE_CHECKING:
    from fabricsim.results import Results

_TREES = (FatTree(radix=4), FatTree(radix=6), LeafSpine(radix=6))


def everything_once(lab: Lab) -> str:
    """Messages of no byte, of one, and of about one payload; with and without short last frames and ACKs."""
    packets = 0
    for fabric in _TREES:
        for parts in ({}, {"frame": Frame(last_frame="short")}, {"transport": Paced(acks="off")}):
            results = lab.run(fabric, to_everywhere(fabric), **parts)
            arrives_once(results, journeys(results))
            packets += int(results.flows["packets_count"].sum())
    return f"messages of {', '.join(map(str, AWKWARD_SIZES))} bytes, {packets:,} packets"


def shortest_paths(lab: Lab) -> str:
    """Link after link from the source to the goal, and over none too many."""
    hops = 0
    for fabric in _TREES:
        results = lab.run(fabric)
        takes_shortest_paths(results, journeys(results))
        hops += _receptions(results)
    return f"{hops:,} packet-hops"


def links_in_order(lab: Lab) -> str:
    """By the trace, in runs long enough for queues."""
    hops = 0
    for fabric in _TREES:
        results = lab.run(fabric, packets=60)
        keeps_order(journeys(results))
        hops += _receptions(results)
    return f"{hops:,} packet-hops"


def one_uplink(lab: Lab) -> str:
    """Two hosts and nothing to choose; and two uplinks, of which an oversubscribed tree leaves one."""
    return _all_sound(lab, LeafSpine(radix=2), FatTree(radix=2), FatTree(radix=4, edge_oversubscription=2))


def most_uplinks(lab: Lab) -> str:
    """8,192 hosts under leaves of 64 uplinks, of which eight send."""
    fabric = LeafSpine(radix=128)
    results = lab.run(fabric, few(fabric, senders=8, packets=70))
    sound(results)
    return f"{_receptions(results):,} packet-hops"


def two_levels(lab: Lab) -> str:
    """Leaves of 2 and of 4 uplinks."""
    return _all_sound(lab, LeafSpine(radix=4), LeafSpine(radix=8))


def odd_radices(lab: Lab) -> str:
    """Also pipes of a switch that do not divide its ports: 4 of 5 and of 6."""
    return _all_sound(lab, FatTree(radix=6), FatTree(radix=10), FatTree(radix=12), LeafSpine(radix=10))


def oversubscription(lab: Lab) -> str:
    """At the edge, at the aggregation, at both, and in a leaf-spine tree."""
    return _all_sound(
        lab,
        FatTree(radix=8, edge_oversubscription=2),
        FatTree(radix=8, agg_oversubscription=4),
        FatTree(radix=8, edge_oversubscription=4, agg_oversubscription=2),
        LeafSpine(radix=12, oversubscription=3),
    )


def _all_sound(lab: Lab, *fabrics: FatTree | LeafSpine) -> str:
    hops = 0
    for fabric in fabrics:
        results = lab.run(fabric, packets=10)
        sound(results)
        hops += _receptions(results)
    return f"{len(fabrics)} fabrics, {hops:,} packet-hops"


def _receptions(results: Results) -> int:
    return int(results.totals["packet_hops_count"])
