"""Links by name: how a scenario says which are down or slower or change in mid-run, and the check that they exist."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal, Protocol

from pydantic import BeforeValidator, Field

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Between
from fabricsim.scenario.units import Duration, Rate

LEAST_RATE = Rate("1Mbps")
LinkRate = Annotated[Rate, Between(LEAST_RATE, Rate("100Tbps"))]
LinkLatency = Annotated[Duration, Between(Duration("1ps"), Duration("1s"))]


def _pair(ends: object) -> object:
    if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(isinstance(end, str) for end in ends):
        raise refusal(ends, 'two node names, such as ["edge-0", "agg-0"]')
    return tuple(ends)


LinkEnds = Annotated[tuple[str, str], BeforeValidator(_pair)]
"""Two neighbours, such as `("edge-0", "agg-3")`; in either order, kept with the lower tier first."""

_NODE = re.compile(r"([a-z][a-z-]*)-(0|[1-9][0-9]{0,9})")
_ALIASES = {"tor": ("edge", "leaf"), "aggregation": ("agg",), "fabric": ("agg",), "super-spine": ("core",)}


class Link(Part):
    """Rate and latency of one tier's links, the same in both directions."""

    rate: LinkRate = Field(description="Bit/s in each direction.")
    latency: LinkLatency = Field(
        description="Propagation, plus the fixed processing time of the switch that the link enters. Not zero: "
        "the smallest latency of the fabric is the engine's window."
    )


class DegradedLink(Part):
    """A link that is slower than its tier from the start, in both directions."""

    link: LinkEnds = Field(description='The two ends, such as ["agg-3", "core-18"].')
    rate: LinkRate = Field(description="Bit/s in each direction; at most the rate of its tier.")


class LinkEvent(Part):
    """A link that goes down or comes up in mid-run, in both directions."""

    at: Annotated[Duration, Between(Duration("0ps"), Duration("9000000s"))] = Field(
        description="Moment of the event, from the start of the run."
    )
    link: LinkEnds = Field(description='The two ends, such as ["edge-0", "agg-1"].')
    state: Literal["down", "up"] = Field(
        description="down: what has not left the two ports is lost, and so is what is sent into them until it is up."
    )


class Wiring(Protocol):
    """What the check of a link list needs of a fabric."""

    @property
    def nodes_count(self) -> Mapping[str, int]:
        """Nodes of each tier, lowest tier first."""

    def link_between(self, lower: tuple[str, int], upper: tuple[str, int]) -> Link | None:
        """Return the link's kind, or None when the two nodes are no neighbours."""


def checked_switch(fabric: Wiring, name: str, field: str) -> str:
    """Return a switch's own name, of the tiers that choose uplinks; refuse unknown ones, hosts and the top tier."""
    tiers = list(fabric.nodes_count)[1:-1]
    tier, number = _node(fabric, name, field)
    if tier not in tiers:
        raise refusal(name, f"a switch that has uplinks: {' or '.join(f'{one}-N' for one in tiers)}", field)
    return f"{tier}-{number}"


def directed_link(fabric: Wiring, text: str, field: str) -> tuple[str, str]:
    """Return the two ends of `from/to`, such as edge-3/host-12, under their own names; refuse what is no link."""
    ends = text.split("/")
    if len(ends) != 2:
        raise refusal(text, 'two neighbours as "from/to", such as "host-0/edge-0"', field)
    start, end = (_node(fabric, name, field) for name in ends)
    _checked_ends(fabric, (ends[0], ends[1]), field)
    return f"{start[0]}-{start[1]}", f"{end[0]}-{end[1]}"


def _checked_ends(fabric: Wiring, ends: LinkEnds, field: str) -> tuple[LinkEnds, Link]:
    """Return a link's ends under their own names, lower tier first, and its kind; refuse unknown ones."""
    tiers = list(fabric.nodes_count)
    nodes = [_node(fabric, name, field) for name in ends]
    lower, upper = sorted(nodes, key=lambda node: tiers.index(node[0]))
    link = fabric.link_between(lower, upper)
    if link is None:
        raise refusal(list(ends), f"two neighbours, such as {_neighbours(tiers)}", field)
    return (f"{lower[0]}-{lower[1]}", f"{upper[0]}-{upper[1]}"), link


def _neighbours(tiers: list[str]) -> str:
    return " or ".join(f'["{a}-0", "{b}-0"]' for a, b in pairwise(tiers))


def _node(fabric: Wiring, name: str, field: str) -> tuple[str, int]:
    counts = fabric.nodes_count
    match = _NODE.fullmatch(name.strip().lower())
    tier, number = match.groups() if match else ("", "0")
    tier = next((known for known in _ALIASES.get(tier, ()) if known in counts), tier)
    if tier not in counts:
        raise refusal(name, "a node: " + ", ".join(f"{t}-0 to {t}-{n - 1}" for t, n in counts.items()), field)
    if int(number) >= counts[tier]:
        raise refusal(name, f"{tier}-0 to {tier}-{counts[tier] - 1}", field)
    return tier, int(number)


def _between_switches(fabric: Wiring, ends: LinkEnds, field: str) -> LinkEnds:
    named, _ = _checked_ends(fabric, ends, field)
    if named[0].startswith("host-"):
        raise refusal(list(ends), "links between switches (a host without its only link is no host)", field)
    return named


def check_link_lists(
    fabric: Wiring, down: tuple[LinkEnds, ...], degraded: tuple[DegradedLink, ...]
) -> tuple[tuple[LinkEnds, ...], tuple[DegradedLink, ...]]:
    """Return both lists with every link under its own name; refuse unknown, repeated, host-side and faster links."""
    seen: dict[LinkEnds, str] = {}
    down_named: list[LinkEnds] = []
    degraded_named: list[DegradedLink] = []

    def once(ends: LinkEnds, field: str) -> None:
        if ends in seen:
            raise refusal(list(ends), f"each link once in both lists together (it is {seen[ends]} too)", field)
        seen[ends] = field

    for row, ends in enumerate(down):
        field = f"links_down.{row}"
        named = _between_switches(fabric, ends, field)
        once(named, field)
        down_named.append(named)
    for row, slower in enumerate(degraded):
        field = f"links_degraded.{row}"
        named, link = _checked_ends(fabric, slower.link, f"{field}.link")
        once(named, f"{field}.link")
        if slower.rate > link.rate:
            raise refusal(str(slower.rate), f"at most the rate of its tier, {link.rate}", f"{field}.rate")
        degraded_named.append(DegradedLink(link=named, rate=slower.rate))
    return tuple(down_named), tuple(degraded_named)


def check_link_events(
    fabric: Wiring, down: tuple[LinkEnds, ...], events: tuple[LinkEvent, ...]
) -> tuple[LinkEvent, ...]:
    """Return the events with every link under its own name; refuse unknown and host-side links, and no changes.

    `down`: the links that are down from the start, by their own names. In the order of time every event has to change
    its link's state, so that a link goes down and comes up by turns.
    """
    named: list[LinkEvent] = []
    for row, event in enumerate(events):
        link = _between_switches(fabric, event.link, f"link_events.{row}.link")
        named.append(LinkEvent(at=event.at, link=link, state=event.state))
    state = dict.fromkeys(down, "down")
    changed_at: dict[LinkEnds, Duration] = {}
    for row, event in sorted(enumerate(named), key=lambda numbered: numbered[1].at):
        if event.link in changed_at and changed_at[event.link] == event.at:
            raise refusal(str(event.at), "one event of a link at a time", f"link_events.{row}.at")
        if state.get(event.link, "up") == event.state:
            other = {"down": "up", "up": "down"}[event.state]
            raise refusal(event.state, f'"{other}" (the link is {event.state} already)', f"link_events.{row}.state")
        state[event.link], changed_at[event.link] = event.state, event.at
    return tuple(named)
