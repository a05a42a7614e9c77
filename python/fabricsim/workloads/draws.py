"""Random draws of workloads and fabrics: one stream a purpose, the same on any machine and with any NumPy.

A stream is PCG64 seeded with SeedSequence(run seed, spawn_key=(purpose,)). Only the generator's raw 64-bit words are
used: NumPy guarantees those (NEP 19), but not what `Generator.permutation` and the like make of them.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

_LOG_2 = 0.6931471805599453


class Purpose(IntEnum):
    """What a stream is for; the numbers are part of what a seed means, so they never change."""

    PERMUTATION = 1
    INTER_POD_PERMUTATION = 2
    ALL_TO_ALL_ORDER = 3
    INCAST_SENDERS = 4
    ALL_TO_ALL_V = 5
    COLLECTIVE_SIZES = 6
    COLLECTIVE_HOSTS = 7
    POISSON_GAPS = 8
    POISSON_HOSTS = 9
    POISSON_SIZES = 10
    # Of the fabric, apart from the workloads' so that either list can grow.
    LINK_FAILURES = 101
    DEPLOYMENT = 102


class Draws:
    """The stream of one purpose of a run."""

    def __init__(self, seed: int, purpose: Purpose) -> None:
        self._generator = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(int(purpose),)))

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` words, uniform over 0 to 2^64 - 1."""
        return self._generator.random_raw(count)

    def uniforms(self, count: int) -> NDArray[np.float64]:
        """Return `count` numbers, uniform over the multiples of 2^-53 from 0 to below 1."""
        return (self.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, bound: int, count: int) -> NDArray[np.int64]:
        """Return `count` integers, uniform over 0 to bound - 1 to within 2^-53; `bound` at most 2^32."""
        return np.floor(self.uniforms(count) * bound).astype(np.int64)

    def exponentials(self, count: int) -> NDArray[np.float64]:
        """Return `count` exponentially distributed numbers of mean 1."""
        return -_logarithm(1 - self.uniforms(count))

    def orders(self, rows: int, length: int) -> NDArray[np.int64]:
        """Return `rows` independent, uniformly random permutations of 0 to length - 1, shape (rows, length)."""
        return np.argsort(self.words(rows * length).reshape(rows, length), axis=1, kind="stable")

    def order(self, length: int) -> NDArray[np.int64]:
        """Return a uniformly random permutation of 0 to length - 1."""
        return np.argsort(self.words(length), kind="stable")


def _logarithm(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms of numbers from 2^-53 to 1, within 2 units of the last place or so.

    NumPy's own differ in the last place from machine to machine; sums, products and quotients do not.
    """
    mantissa, exponent = np.frexp(numbers)
    is_low = mantissa < 0.5**0.5
    mantissa, exponent = np.where(is_low, 2 * mantissa, mantissa), exponent - is_low
    ratio = (mantissa - 1) / (mantissa + 1)
    square = ratio * ratio
    # log m = 2 artanh r = 2 (r + r^3/3 + r^5/5 + ...); |r| < 0.172, so the term after r^21 is below 2^-60.
    series = np.zeros_like(ratio)
    for power in range(21, 0, -2):
        series = series * square + 1 / power
    return np.asarray(exponent * _LOG_2 + 2 * ratio * series)
