"""RTT_max and the lone flow: the paper's example, sums by hand, the theorem's other form."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from fabricsim.theory import lone_flow_ps, rtt_max_ps

RATE = 800 * 10**9
RTT_P = 12 * 650_000
PAPER = {"hops": 6, "propagation_rtt_ps": RTT_P, "rate_bps": RATE, "small_bytes": 64, "queue_packets": 12}


def test_the_papers_example() -> None:
    """Section 2.5: alpha is taken as 23 whole, so L = 23 * 64; 7.8 us + 12 * (12 * 16.064 + 14.72 + 0.64) ns."""
    found = rtt_max_ps(data_bytes=23 * 64, **PAPER)
    assert found == 10_297_536
    assert found / 1e6 == pytest.approx(10.3, abs=0.05)
    assert found / RTT_P == pytest.approx(1.32, abs=0.005)


def test_jumbo_frames_by_hand() -> None:
    """7.8 us + 12 * (12 * 91.344 + 90 + 0.64) ns = 22.041216 us."""
    assert rtt_max_ps(data_bytes=9000, **PAPER) == 22_041_216


@pytest.mark.parametrize("data", [1500, 4096, 9000])
@pytest.mark.parametrize("hops", [2, 4, 6])
@pytest.mark.parametrize(("queue", "factor"), [(12, 2.1), (1, 1.0), (0, 2.1), (7, 3.25)])
def test_the_theorems_other_form(data: int, hops: int, queue: int, factor: float) -> None:
    """RTT_p + (2 H l/C) ((B+1) alpha + factor B + 1)."""
    alpha, small_ps = Fraction(data, 64), Fraction(64 * 8 * 10**12, 10**11)
    exact = RTT_P + 2 * hops * small_ps * ((queue + 1) * alpha + Fraction(str(factor)) * queue + 1)
    assert rtt_max_ps(hops, RTT_P, 10**11, data, 64, queue_packets=queue, token_factor=factor) == math.ceil(exact)


def test_rounds_up() -> None:
    """2 * (9 + 3) bytes at 7 Tb/s take 27.43 ps: 2 hops, nothing queued."""
    assert rtt_max_ps(1, 100, 7 * 10**12, 9, 3, queue_packets=0) == 128


def test_a_gap_lengthens_every_frame() -> None:
    """A gap of g is a Data of L + g and a small packet of l + g."""
    assert rtt_max_ps(data_bytes=9000, gap_bytes=20, **PAPER) == rtt_max_ps(
        data_bytes=9020, **{**PAPER, "small_bytes": 84}
    )


@pytest.mark.parametrize(("packets", "expected"), [(1, 26_481_216), (87, 34_336_800)])
def test_lone_flow_by_hand(packets: int, expected: int) -> None:
    """22.041216 us + (n-1) * 91.344 ns + 3.9 us + 6 * 90 ns; for 87 packets (1 BDP) 7.855584 us more."""
    assert lone_flow_ps(packets, data_bytes=9000, **PAPER) == expected


def test_the_last_gap_delays_nothing() -> None:
    without = lone_flow_ps(1, data_bytes=9000, **PAPER) - rtt_max_ps(data_bytes=9000, **PAPER)
    with_gap = lone_flow_ps(1, data_bytes=9000, gap_bytes=20, **PAPER) - rtt_max_ps(
        data_bytes=9000, gap_bytes=20, **PAPER
    )
    assert without == with_gap == 4_440_000
