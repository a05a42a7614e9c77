"""Messages at random, in collectives: whom hosts with loss recovery send how much, when, and after what."""

from __future__ import annotations

import random
from typing import Any

from twin.draws import COLUMNS, tell_apart
from twin.tree import Tree


def draw_collectives(
    draw: random.Random, config: dict[str, Any], most_packets: int, *, scatters: bool
) -> dict[str, list[int]]:
    """One to three collectives, of which some begin later; above `most_packets` packets only if messages are more.

    `scatters`: whether the messages of a collective begin apart, too.
    """
    hosts = len(Tree(config["fabric"]).hosts)
    messages: dict[str, list[int]] = {name: [] for name in COLUMNS}
    for collective in range(draw.choice((1, 1, 2, 3))):
        start = draw.choice((0, 0, 7, draw.randint(0, 10**6), draw.randint(0, 10**7)))
        pairs = draw_pairs(draw, hosts)
        most = max(1, most_packets // len(pairs))
        for src, dst in pairs:
            messages["src"].append(src)
            messages["dst"].append(dst)
            messages["bytes"].append(draw_size(draw, most, config["frame"]["payload_bytes"]))
            apart = draw.choice((0, 0, 1, draw.randint(0, 10**6))) if scatters else 0
            messages["start_ps"].append(start + apart)
            messages["rank"].append(draw.randint(0, 9))
            messages["collective"].append(collective)
    rows = len(messages["src"])
    if draw.random() < 0.4:
        for _ in range(draw.randint(1, min(rows, 20))):
            on, dependent = sorted((draw.randrange(rows), draw.randrange(rows)))
            if on != dependent:
                messages["dep_message"].append(dependent)
                messages["dep_on"].append(on)
                messages["dep_event"].append(draw.randint(0, 1))
        tell_apart(messages)
    return messages


def draw_pairs(draw: random.Random, hosts: int) -> list[tuple[int, int]]:
    """One flow, an all-to-all, a permutation or an incast among some of the hosts."""
    members = draw.sample(range(hosts), min(hosts, draw.choice((2, 3, 4, 8, 16))))
    pattern = draw.choice(("one", "all-to-all", "all-to-all", "permutation", "incast"))
    if pattern == "one":
        return [(members[0], members[1])]
    if pattern == "incast":
        return [(member, members[0]) for member in members[1:]]
    if pattern == "permutation":
        return list(zip(members, members[1:] + members[:1], strict=True))
    return [(a, b) for a in members[:6] for b in members[:6] if a != b]


def draw_size(draw: random.Random, most_packets: int, payload: int) -> int:
    if draw.random() < 0.1:
        return draw.choice((0, 1, payload - 1, payload, payload + 1))
    return draw.randint(1, most_packets) * payload - draw.choice((0, 0, 1, payload // 3))
