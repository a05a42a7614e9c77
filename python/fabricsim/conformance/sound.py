"""What holds for every traced run: each packet arrives once, on a shortest path, and links keep their order.

It is read from the trace and the tables, by other means than the core's own counts where there are any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabricsim.bounds import splits_bytes
from fabricsim.checks import check as hold_to_physics
from fabricsim.conformance.journeys import journeys

if TYPE_CHECKING:
    from fabricsim.conformance.journeys import Ints, Journeys
    from fabricsim.results import Results


class Fault(Exception):  # noqa: N818 - of the balancer, not of the suite
    """What a balancer, or the simulator under it, does wrong; in one line."""


def sound(results: Results) -> None:
    """Hold a run in which nothing may be lost to all of the below, and to physics; raise `Fault` else."""
    way = journeys(results)
    arrives_once(results, way)
    takes_shortest_paths(results, way)
    keeps_order(way)
    hold_to_physics(results)


def arrives_once(results: Results, way: Journeys) -> None:
    """Every data packet reaches its receiver once, every ACK its sender, and with them every byte."""
    flows, scenario = results.flows, results.scenario
    packets = packets_of(results)
    for kind in ("data", "ack") if scenario.transport.acks_every_packet else ("data",):
        there = (way.receiver == way.goal) & (way.is_ack == (kind == "ack"))
        flow, psn = way.flow[there], way.psn[there]
        places = np.concatenate([[0], np.cumsum(packets)])
        if (psn >= packets[flow]).any():
            raise Fault(f"a {kind} packet arrived that its message does not have")
        times = np.bincount(places[flow] + psn, minlength=int(places[-1]))
        if (times != 1).any():
            place = int(np.argmax(times != 1))
            row = int(np.searchsorted(places, place, side="right")) - 1
            raise Fault(f"{kind} {place - places[row]} of flow {row} arrived {times[place]} times")
        counted = flows["delivered_packets_count" if kind == "data" else "acked_packets_count"].to_numpy()
        if (counted != packets).any():
            row = int(np.argmax(counted != packets))
            raise Fault(f"flow {row}: {counted[row]} of {packets[row]} {kind} packets counted")
    if scenario.frame.last_frame == "short":
        _carries_every_byte(results)


def packets_of(results: Results) -> Ints:
    """Return how many packets each message was cut into; raise `Fault` if that is not what its bytes need."""
    packets: Ints = results.flows["packets_count"].to_numpy().astype(np.int64)
    size = results.flows["message_bytes"].to_numpy().astype(np.int64)
    cut = np.maximum(1, -(-size // int(results.scenario.frame.payload)))
    # Subflows of equal bytes each end with a short packet of their own: more packets than the message by itself.
    wrong = packets < cut if splits_bytes(results.scenario) else packets != cut
    if wrong.any():
        row = int(np.argmax(wrong))
        raise Fault(f"a message of {size[row]} bytes was cut into {packets[row]} packets instead of {cut[row]}")
    return packets


def _carries_every_byte(results: Results) -> None:
    """Into each receiver's link go its messages' bytes and a header a packet, no more and no less."""
    import polars as pl

    header = int(results.scenario.frame.header)
    due = results.flows.group_by("dst").agg(
        due=pl.col("message_bytes").cast(pl.Int64).sum() + header * pl.col("packets_count").cast(pl.Int64).sum()
    )
    due = due.select(pl.concat_str(pl.lit("host-"), pl.col("dst").cast(pl.String)).alias("to"), "due")
    came = results.ports.filter(pl.col("to").str.starts_with("host-")).join(due, on="to", how="left")
    came = came.with_columns(pl.col("due").fill_null(0)).filter(pl.col("data_bytes").cast(pl.Int64) != pl.col("due"))
    for row in came.head(1).to_dicts():
        raise Fault(f"{row['to']} received {row['data_bytes']} bytes of data frames instead of {row['due']}")


def takes_shortest_paths(results: Results, way: Journeys) -> None:
    """Every packet goes from its source to its goal, link after link, over as many links as the shortest path has."""
    leaps = ~way.is_first[1:] & (way.sender[1:] != way.receiver[:-1])
    if leaps.any():
        raise Fault(f"{way.words(np.argmax(leaps))} leaves a node that it never reached")
    strays = (way.is_first & (way.sender != way.source)) | (way.is_last & (way.receiver != way.goal))
    if strays.any():
        raise Fault(f"{way.words(np.argmax(strays))} does not go from its source to its goal")
    firsts = np.flatnonzero(way.is_first)
    links = np.diff(np.append(firsts, way.flow.size))
    shortest = results.scenario.fabric.hops(way.source[firsts], way.goal[firsts])
    if (links != shortest).any():
        longer = int(np.argmax(links != shortest))
        raise Fault(f"{way.words(firsts[longer])} takes {links[longer]} links instead of {shortest[longer]}")


def keeps_order(way: Journeys) -> None:
    """Of what leaves a node over a link, the first to have come is the first; at hosts there is nothing to keep."""
    onward = np.flatnonzero(~way.is_first)
    link, at_ps, came_ps = way.link[onward], way.at_ps[onward], way.at_ps[onward - 1]
    order = np.lexsort((at_ps, link))
    overtakes = (np.diff(link[order]) == 0) & (np.diff(came_ps[order]) < 0)
    if overtakes.any():
        place = order[1:][np.argmax(overtakes)]
        raise Fault(f"{way.words(onward[place])} is overtaken on a link")


def conserves(results: Results, way: Journeys) -> None:
    """Once nothing is left to happen: frames sent = delivered + dropped + lost on dead links + without a route."""
    import polars as pl

    if results.summary["status"] == "time-limit":
        raise Fault("the run had not come to its end by its time limit")
    hosts = results.ports.filter(pl.col("from").str.starts_with("host-"))
    packets = int(results.flows["packets_count"].sum())
    delivered = int(results.flows["delivered_packets_count"].sum())
    due = {"data": packets, "control": delivered if results.scenario.transport.acks_every_packet else 0}
    for kind, frames in due.items():
        sent = int(hosts[f"{kind}_frames_count"].sum())
        if sent != frames:
            raise Fault(f"hosts sent {sent} {kind} frames instead of {frames}")
        arrived = int(((way.receiver == way.goal) & (way.is_ack == (kind == "control"))).sum())
        dropped = int(results.ports[f"dropped_{kind}_count"].sum())
        lost = int(results.ports[f"lost_{kind}_count"].sum())
        unroutable = int(results.totals[f"unroutable_{kind}_count"])
        if sent != arrived + dropped + lost + unroutable:
            raise Fault(
                f"of {sent} {kind} frames {arrived} arrived, {dropped} were dropped, {lost} lost on dead links "
                f"and {unroutable} without a route"
            )
