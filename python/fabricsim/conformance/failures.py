"""Links that are down from the start, and links that die and are repaired in mid-run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from fabricsim.conformance.cases import PAYLOAD_BYTES, Lab
from fabricsim.conformance.journeys import journeys
from fabricsim.conformance.sound import Fault, conserves, sound
from fabricsim.scenario import Bytes, Duration, FatTree, LeafSpine, LinkEvent, Port
from fabricsim.workloads import Messages

if TYPE_CHECKING:
    from fabricsim.conformance.journeys import Journeys
    from fabricsim.results import Results

_BROKEN = (
    # A switch that keeps one uplink; dead links at both levels, also where a pair of pods has them on different cores.
    FatTree(radix=4, links_down=(("edge-0", "agg-0"), ("edge-3", "agg-2"), ("agg-4", "core-1"))),
    FatTree(
        radix=6,
        links_down=(("edge-0", "agg-0"), ("edge-3", "agg-4"), ("agg-2", "core-7"), ("agg-5", "core-6")),
    ),
    LeafSpine(radix=8, links_down=(("leaf-0", "spine-0"), ("leaf-1", "spine-3"), ("leaf-1", "spine-2"))),
)

_REPAIRED_US, _LATER_US = 6, 60
Event = tuple[int, tuple[str, str], Literal["down", "up"]]
"""When in us, which link, and what happens to it."""


def dead_links(lab: Lab) -> str:
    """Routing has converged: whoever chooses, chooses among what works."""
    dead = 0
    for fabric in _BROKEN:
        results = lab.run(fabric, packets=40)
        _keeps_clear(results)
        sound(results)
        dead += len(fabric.links_down)
    return f"{dead} links down in {len(_BROKEN)} fabrics"


def _keeps_clear(results: Results) -> None:
    lost = results.summary["lost_count"]
    if any(lost.values()):
        raise Fault(f"{lost['dead_link']} frames were lost on dead links and {lost['unroutable']} had no route")
    ends = [end for link in results.scenario.fabric.links_down for end in (link, link[::-1])]
    dead = results.ports.join(pl.DataFrame(ends, schema=["from", "to"], orient="row"), on=["from", "to"])
    frames = dead.with_columns(frames=pl.col("data_frames_count") + pl.col("control_frames_count"))
    for row in frames.filter(pl.col("frames") > 0).head(1).to_dicts():
        raise Fault(f"the dead link {row['from']} to {row['to']} carried {row['frames']} frames")


def link_events(lab: Lab) -> str:
    """All uplinks of a switch die one after the other and are repaired; messages that start later get through."""
    lost = 0
    for whole, first, second, port in (
        (FatTree(radix=4), ("edge-0", "agg-0"), ("edge-0", "agg-1"), Port()),
        (LeafSpine(radix=4), ("leaf-0", "spine-0"), ("leaf-0", "spine-1"), Port(buffer=Bytes("20kB"))),
    ):
        events: tuple[Event, ...] = (
            (3, first, "down"),
            (4, second, "down"),
            (_REPAIRED_US, first, "up"),
            (_REPAIRED_US, second, "up"),
        )
        results = lab.run(_with_events(whole, events, "500ns"), _two_rounds(whole), port=port)
        way = journeys(results)
        conserves(results, way)
        later = results.flows[whole.hosts_count :]
        if results.scenario.buffer_bytes is None and (later["delivered_packets_count"] < later["packets_count"]).any():
            raise Fault(f"a message that began {_LATER_US - _REPAIRED_US} us after the repair was not delivered whole")
        in_run = sum(results.summary["lost_count"].values())
        if in_run == 0:
            raise Fault("a switch without uplinks lost nothing")
        for link in (first, second):
            _carries_nothing_while_down(results, way, link)
        lost += in_run
    return f"{lost:,} frames lost, all of them counted"


def rerouting(lab: Lab) -> str:
    """With switches that know of a failure at once, an uplink loses no more than what it held at that moment."""
    lost = 0
    for whole, link in ((FatTree(radix=4), ("edge-0", "agg-0")), (LeafSpine(radix=8), ("leaf-0", "spine-1"))):
        results = lab.run(_with_events(whole, ((3, link, "down"),), "0ps"), _two_rounds(whole))
        conserves(results, journeys(results))
        if unroutable := results.summary["lost_count"]["unroutable"]:
            raise Fault(f"{unroutable} frames had no route, though their switch had other uplinks")
        row = results.ports.filter((pl.col("from") == link[0]) & (pl.col("to") == link[1])).to_dicts()[0]
        frame, ack = results.scenario.frame.data_bytes, int(results.scenario.frame.ack)
        lost_bytes = row["lost_data_count"] * frame + row["lost_control_count"] * ack
        if lost_bytes > row["max_queue_bytes"]:
            raise Fault(f"{link[0]} sent into the dead link to {link[1]}: {lost_bytes} bytes of frames lost there")
        lost += row["lost_data_count"] + row["lost_control_count"]
    return f"{lost:,} frames lost in the two uplinks that died, none sent into them later"


def _with_events(whole: FatTree | LeafSpine, events: Sequence[Event], delay: str) -> FatTree | LeafSpine:
    changes = tuple(LinkEvent(at=Duration(f"{at}us"), link=link, state=state) for at, link, state in events)
    return type(whole)(**{**dict(whole), "link_events": changes, "reconvergence_delay": Duration(delay)})


def _two_rounds(fabric: FatTree | LeafSpine) -> Messages:
    """Every host sends to one under another switch: a long message from the start, a short one long after."""
    hosts = np.arange(fabric.hosts_count)
    return Messages.from_arrays(
        np.tile(hosts, 2),
        np.tile((hosts + fabric.hosts_per_edge + 1) % hosts.size, 2),
        np.repeat([200, 8], hosts.size) * PAYLOAD_BYTES,
        start_ps=np.repeat([0, _LATER_US * 1_000_000], hosts.size),
    )


def _carries_nothing_while_down(results: Results, way: Journeys, link: tuple[str, str]) -> None:
    down_ps, up_ps = (int(event.at) for event in results.scenario.fabric.link_events if event.link == link)
    ends = pl.concat_list("from", "to")
    rows = results.ports.with_row_index("row").filter(ends.is_in([list(link), list(link[::-1])]))
    over = np.isin(way.link, rows["row"].to_numpy())
    latency_ps = round(1e3 * float(rows["latency_ns"].to_numpy()[0]))
    left_ps = way.at_ps - latency_ps
    if (over & (left_ps > down_ps) & (left_ps <= up_ps)).any():
        raise Fault(f"frames left over {link[0]}/{link[1]} while it was down")
