"""The N*D/D/1 queue: N periodic sources with random phases into one server of fixed speed.

Every source sends one packet each `period`, at a phase uniform over the period and independent of the others. Times are
in packet times (a packet and the gap after it on the link), so the load is sources / period. It is at most 1, and 1 is
allowed: no more than N packets ever come in a period, so the queue stays bounded. The Ofan paper models DRB, Ofan and
POfan with it (section 3.4; appendices D, F and H).

Two quantities, related by E[packets] = E[work] + load/2:

* *work*: packet times until the queue would be empty, counting what is left of the packet in service;
* *packets*: the number in the system, the packet in service counted whole until its last bit has left. This is what the
  results' `mean_queue_packets` measures, but for the gap after the last bit.

Sources: Roberts, Mocci, Virtamo, *Broadband Network Traffic* (Springer, 1996), the Ofan paper's reference 76 (exact);
Addie and Zukerman, IEEE Trans. Communications 42(12), its reference 2 (Gaussian input).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabricsim.errors import ScenarioError

Floats = NDArray[np.float64]


def ndd1_tail(work: ArrayLike, sources: int, period: float) -> Any:
    """Return the probability that the work exceeds `work` packet times; exact. A number or an array, as `work` is.

    With n sources in the last n - x packet times the work exceeds x at least since then; the sum takes the last such
    moment, and the ballot theorem gives the chance that the other sources left the queue empty before it:

        P(work > x) = sum over x < n <= N of C(N,n) u^n (1-u)^(N-n) (D-N+x)/(D-n+x),  u = (n-x)/D

    Sources: a whole number, at least 1; `period` at least `sources`, else a `ScenarioError`.
    """
    _check(sources, period)
    if int(sources) != sources:
        raise ScenarioError("sources", sources, "a whole number (expectations: ndd1_mean_packets)")
    given = np.asarray(work, np.float64)
    found = np.array([_tail(float(x), int(sources), float(period)) for x in given.ravel()])
    return found.reshape(given.shape) if given.ndim else float(found[0])


def _tail(x: float, sources: int, period: float) -> float:
    if x < 0 or x >= sources:
        return float(x < 0)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, sources + 1)))])
    n = np.arange(math.floor(x) + 1, sources + 1)
    rest = sources - n
    fraction = (n - x) / period
    logs = log_factorial[sources] - log_factorial[n] - log_factorial[rest] + n * np.log(fraction)
    # The last term (no source left) has neither a power of 1 - u nor a ballot factor; both may be 0/0 there.
    some = rest > 0
    with np.errstate(divide="ignore"):
        logs[some] += rest[some] * np.log1p(-fraction[some])
        logs[some] += np.log(period - sources + x) - np.log(period - n[some] + x)
    return float(np.exp(logs).sum())


def ndd1_distribution(sources: int, period: float) -> Floats:
    """Return the exact probabilities of 0, 1, ..., `sources` packets in the system at a random moment."""
    tails = ndd1_tail(np.arange(-1, sources + 1), sources, period)
    return np.asarray(-np.diff(tails))


def ndd1_mean_packets(sources: float, period: float) -> float:
    """Return the exact mean number of packets in the system.

    `sources` may be an expected number (appendix D); the mean is then interpolated between the two whole numbers around
    it, at the same load.
    """
    _check(sources, period)
    load, below = sources / period, math.floor(sources)
    part = sources - below
    mean = _mean(below, load)
    return mean + part * (_mean(below + 1, load) - mean) if part else mean


def _mean(sources: int, load: float) -> float:
    # Rounding must not push a load of 1 above it.
    period = max(sources / load, float(sources))
    return float(ndd1_tail(np.arange(sources), sources, period).sum())


def gaussian_tail(work: ArrayLike, sources: float, period: float) -> Any:
    """Return the probability that the work exceeds `work` packet times when the input is taken as Gaussian.

    For many sources near load 1. What N sources send within t, less what is served, has mean -(1 - load) t and variance
    load t (1 - t/D): a Brownian bridge over the period, and the work is its maximum, so that exactly

        P(work > x) = exp(-2 x (x + D - N) / N)

    which in x is the density of a normal of mean -(D - N)/2 and variance N/4, cut at 0: the drift and the truncated
    normal of appendices D and F. `sources` may be an expected number.
    """
    _check(sources, period)
    x = np.maximum(np.asarray(work, np.float64), 0)
    found = np.exp(-2 * x * (x + period - sources) / sources)
    return found if found.ndim else float(found)


def gaussian_mean_packets(sources: float, period: float) -> float:
    """Return the mean number of packets in the system when the input is taken as Gaussian.

    The integral of `gaussian_tail`, sqrt(pi N / 8) at load 1, plus load/2 to count packets instead of work.
    """
    from scipy.special import erfcx  # type: ignore[import-untyped]

    _check(sources, period)
    slack = (period - sources) / math.sqrt(2 * sources)
    return math.sqrt(math.pi * sources / 8) * float(erfcx(slack)) + sources / period / 2


def _check(sources: float, period: float) -> None:
    if not 1 <= sources < math.inf:
        raise ScenarioError("sources", sources, "a finite number, at least 1")
    if not sources <= period < math.inf:
        raise ScenarioError("period", period, f"packet times, at least one a source ({sources}): a load of at most 1")
