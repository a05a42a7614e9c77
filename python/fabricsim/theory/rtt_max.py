"""dcSim's RTT_max: the longest time from the start of a Sim to the end of its Sim-Ack (Theorem 2, section 2.5)."""

from __future__ import annotations

import math
from fractions import Fraction

from fabricsim.theory.token_bucket import TOKEN_FACTOR, token_interval_ps


def rtt_max_ps(
    hops: int,
    propagation_rtt_ps: int,
    rate_bps: int,
    data_bytes: int,
    small_bytes: int,
    *,
    queue_packets: int,
    token_factor: float = TOKEN_FACTOR,
    gap_bytes: int = 0,
) -> int:
    """Return RTT_max in ps, rounded up: RTT_p + 2 H (B delta + L/C + l/C).

    At each of the H links there, a Sim waits for the `queue_packets` B before it, at one a token interval delta, and
    for a Data on the wire, and is sent itself; Theorem 2 grants its Sim-Ack the same on each of the H links back.

    Args:
        hops: H, links from one host to another; 6 between pods of a fat tree.
        propagation_rtt_ps: RTT_p, the latency of all 2 H links, processing in switches included, transmission not.
        rate_bps: C, of every link.
        data_bytes: L, a whole data frame.
        small_bytes: l, a Sim or Sim-Ack.
        queue_packets: B, packets that a queue of Sims holds.
        token_factor: as in `token_interval_ps`.
        gap_bytes: time between frames, as bytes; each frame takes its gap too.

    """
    delta = token_interval_ps(rate_bps, data_bytes, small_bytes, token_factor, gap_bytes)
    own = _time_ps(data_bytes + gap_bytes, rate_bps) + _time_ps(small_bytes + gap_bytes, rate_bps)
    return math.ceil(propagation_rtt_ps + 2 * hops * (queue_packets * delta + own))


def lone_flow_ps(
    packets: int,
    *,
    hops: int,
    propagation_rtt_ps: int,
    rate_bps: int,
    data_bytes: int,
    small_bytes: int,
    queue_packets: int,
    token_factor: float = TOKEN_FACTOR,
    gap_bytes: int = 0,
) -> int:
    """Return when the last packet of a flow arrives that is alone in the fabric: RTT_max + (n-1) delta + one way.

    In ps from the start of the first Sim, rounded up. The first Data leaves RTT_max after it, the others follow a token
    interval apart, and the last needs `hops` transmissions and half of `propagation_rtt_ps`. It neglects that a bucket
    full of tokens lets the first Sims pass without waiting, so that their Datas follow one another closer. Arguments
    as of `rtt_max_ps`.
    """
    delta = token_interval_ps(rate_bps, data_bytes, small_bytes, token_factor, gap_bytes)
    one_way = Fraction(propagation_rtt_ps, 2) + hops * _time_ps(data_bytes, rate_bps)
    wait = rtt_max_ps(
        hops,
        propagation_rtt_ps,
        rate_bps,
        data_bytes,
        small_bytes,
        queue_packets=queue_packets,
        token_factor=token_factor,
        gap_bytes=gap_bytes,
    )
    return math.ceil(wait + (packets - 1) * delta + one_way)


def _time_ps(size_bytes: int, rate_bps: int) -> Fraction:
    return Fraction(size_bytes * 8 * 10**12, rate_bps)
