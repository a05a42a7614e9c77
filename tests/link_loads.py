"""Loads of links by their ends, for the tests of rho_max; and permutations to load them with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabricsim import FatTree, LeafSpine
from fabricsim.theory import Reading, link_loads

Fabric = FatTree | LeafSpine
Ints = NDArray[np.int64]
Loads = dict[tuple[str, str], float]
READINGS: tuple[Reading, ...] = ("path", "hop", "lp")

# Every host of a 4-ary tree sends to the one of the same place two pods on.
SRC = np.arange(16)
DST = (SRC + 8) % 16


def loads_by_ends(fabric: Fabric, src: Ints, dst: Ints, reading: Reading, weights: list[float] | None = None) -> Loads:
    table = link_loads(fabric, src, dst, reading, weights)
    return {(a, b): load for a, b, load in table.select("from", "to", "load_fraction").iter_rows()}
