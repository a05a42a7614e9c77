"""dcSim's token bucket: how fast Sims may pass a port, so that the Datas which follow them find room.

dcSim section 2.3, Eqs. 1 and 2. L is a Data and l a small packet (Sim, Sim-Ack, Data-Ack), both as they are on the
wire; alpha = L/l; C is the port's rate. One token lets one Sim pass. With a gap between frames each takes its gap too.
"""

from __future__ import annotations

from fractions import Fraction

TOKEN_FACTOR = 2.1
"""Small packets that Eq. 2 sets aside for each Data: one Sim, one Sim-Ack, 1/16 of a Data-Ack, rounded up."""


def token_interval_ps(
    rate_bps: int, data_bytes: int, small_bytes: int, token_factor: float = TOKEN_FACTOR, gap_bytes: int = 0
) -> Fraction:
    """Return the time between two tokens in ps, exact: delta = (L + 2.1 l)/C (section 2.5, from Eq. 2).

    `token_factor` 1 is Eq. 1, for one switch without ACKs. It is read as the decimal number that it prints as.
    """
    small = Fraction(repr(float(token_factor))) * (small_bytes + gap_bytes)
    return (data_bytes + gap_bytes + small) * 8 * 10**12 / rate_bps


def sim_rate_bps(
    rate_bps: int, data_bytes: int, small_bytes: int, token_factor: float = TOKEN_FACTOR, gap_bytes: int = 0
) -> float:
    """Return the bit rate of Sims, C/(alpha + 2.1) (Eq. 2), or C/(alpha + 1) with a `token_factor` of 1 (Eq. 1).

    Gaps are not counted in the rate; they make it lower.
    """
    return float(
        small_bytes * 8 * 10**12 / token_interval_ps(rate_bps, data_bytes, small_bytes, token_factor, gap_bytes)
    )


def sims_and_datas_utilisation_fraction(
    data_bytes: int, small_bytes: int, token_factor: float = TOKEN_FACTOR, gap_bytes: int = 0
) -> float:
    """Return which part of the time Sims and Datas keep one switch's port busy: (alpha + 1)/(alpha + token factor).

    Theorem 1, whose setting this is: flows without end, no ACKs. At a factor of 1 the port is never idle, and each Sim
    is followed by one Data. Below 1 it is never idle either, but fewer Datas leave than Sims pass. Gaps count as busy.
    """
    # A rate cancels out.
    used = token_interval_ps(1, data_bytes, small_bytes, 1, gap_bytes)
    return float(min(Fraction(1), used / token_interval_ps(1, data_bytes, small_bytes, token_factor, gap_bytes)))
