"""Random draws of workloads and fabrics: one stream a purpose, the same on any machine and with any NumPy.

A stream is PCG64 seeded with SeedSequence(run seed, spawn_key=(purpose,)). Only the generator's raw 64-bit words are
used: NumPy guarantees those (NEP 19), but not what `Generator.permutation` and the like make of them.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Purpose(IntEnum):
    """What a stream is for; the numbers are part of what a seed means, so they never change."""

    PERMUTATION = 1
    INTER_POD_PERMUTATION = 2
    ALL_TO_ALL_ORDER = 3
    INCAST_SENDERS = 4
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

    def orders(self, rows: int, length: int) -> NDArray[np.int64]:
        """Return `rows` independent, uniformly random permutations of 0 to length - 1, shape (rows, length)."""
        return np.argsort(self.words(rows * length).reshape(rows, length), axis=1, kind="stable")

    def order(self, length: int) -> NDArray[np.int64]:
        """Return a uniformly random permutation of 0 to length - 1."""
        return np.argsort(self.words(length), kind="stable")
