"""Times of frames in the bounds: to the nearest picosecond, and the same as the core's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from door import configure, fat_tree, link, messages, run

from fabricsim import Messages
from fabricsim.bounds import ideal_fct_ps
from fabricsim.frame_times import Hop, paths
from fabricsim.scenario import Dcsim, FatTree, Frame, Paced, Rps, Scenario

LARGEST_FRAME = 2**18 - 1
RATES_GBPS = (100, 200, 300, 350, 400, 700, 800, 1100, 1600)


def exact_ps(size: int, rate_bps: int) -> int:
    return int(Fraction(8 * 10**12 * size, rate_bps) + Fraction(1, 2))


@pytest.mark.parametrize("rate_gbps", RATES_GBPS)
def test_every_frame_takes_its_time_to_the_nearest_picosecond(rate_gbps: int) -> None:
    hop = Hop(rate_gbps * 10**9, 0, 1, 20)
    sizes = [*range(1, 5000), *range(5000, LARGEST_FRAME, 97), 182_410, LARGEST_FRAME]
    wanted = [exact_ps(size, hop.rate_bps) for size in sizes]
    assert hop.time_ps(np.array(sizes)).tolist() == wanted
    assert [hop.time_ps(size) for size in sizes] == wanted


@pytest.mark.parametrize("rate_bps", [37_300_000_000, 106 * 10**9, 999_999_999_989])
def test_at_any_rate_a_frame_is_right_to_0_54_picoseconds(rate_bps: int) -> None:
    sizes = [*range(1, LARGEST_FRAME, 97), LARGEST_FRAME]
    times = Hop(rate_bps, 0, 1, 20).time_ps(np.array(sizes)).tolist()
    exact = [Fraction(8 * 10**12 * size, rate_bps) for size in sizes]
    worst = max(abs(time - wanted) for time, wanted in zip(times, exact, strict=True))
    assert worst <= Fraction(1, 2) + Fraction(LARGEST_FRAME, 2**23) < 0.54


def test_nothing_overflows_on_the_slowest_link() -> None:
    assert Hop(10**6, 0, 1, 0).time_ps(np.array([LARGEST_FRAME])).tolist() == [8 * 10**6 * LARGEST_FRAME]


@pytest.mark.parametrize("rate_bps", [350 * 10**9, 37_300_000_000, 999_999_999_989, 1_000_003])
def test_the_core_counts_alike(rate_bps: int) -> None:
    """Also at rates at which 22 bits after the point leave some large frames a picosecond off."""
    hop = Hop(rate_bps, 500_000, 1, 20)
    for size in (63, 4158, 16_390, 182_410, LARGEST_FRAME):
        cable: dict[str, Any] = {**link(), "rate_bps": rate_bps}
        frame = {"payload_bytes": 1, "header_bytes": size - 1}
        config = configure(fat_tree(4, cable), frame=frame, transport={"acks": "off", "start_jitter": "none"})
        output = run(config, messages([0], [1], 1))
        assert output["flows"]["last_delivered_at_ps"].tolist() == [2 * (hop.time_ps(size) + 500_000)], size


@pytest.mark.parametrize(("header", "size"), [("0B", 64), ("62B", 62)])
def test_a_message_of_nothing_takes_the_time_of_its_one_frame(header: str, size: int) -> None:
    scenario = Scenario(fabric=FatTree(radix=4), frame=Frame(header=header, ack="64B"))
    empty = Messages.from_arrays([0], [15], [0])
    assert ideal_fct_ps(scenario, empty).tolist() == [6 * (exact_ps(size, 800 * 10**9) + 500_000)]


def test_hosts_that_do_not_pace_may_send_at_line_rate() -> None:
    paced = Scenario(fabric=FatTree(radix=4), balancer=Rps(), transport=Paced(load=0.5))
    assert {path.interval_ps(4158) for path in paths(paced)} == {2 * 41_780}
    assert {path.interval_ps(4158) for path in paths(paced.replace(transport=Dcsim()))} == {41_780}
