"""Distributions of message sizes, given by knots of their cumulative distribution."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError

_LARGEST_BYTES = 2**53
"""Beyond it sizes between knots would not be exact."""


@dataclass(frozen=True, eq=False)
class SizeDistribution:
    """Sizes in bytes: a fraction `fraction[0]` is `size[0]` long, the rest is uniform between each knot and the next.

    Whole bytes, rounded up, so that P(size <= s) is the distribution given at every whole s.
    """

    size: NDArray[np.int64]
    fraction: NDArray[np.float64]

    @property
    def mean_bytes(self) -> float:
        """Mean size; whole bytes between a and b are uniform over a + 1 to b, on average (a + b + 1) / 2."""
        low, high = self.size[:-1], self.size[1:]
        middle = (low + high + (high > low)) / 2
        return float(self.fraction[0] * self.size[0] + np.sum(np.diff(self.fraction) * middle))

    def of_uniforms(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the sizes at which the distribution reaches numbers from 0 to below 1."""
        knot = np.searchsorted(self.fraction, uniforms, side="right")
        below = np.maximum(knot - 1, 0)
        width = self.fraction[knot] - self.fraction[below]
        share = np.where(knot > 0, (uniforms - self.fraction[below]) / np.where(width > 0, width, 1), 0)
        more = np.ceil(share * (self.size[knot] - self.size[below])).astype(np.int64)
        return np.asarray(np.where(knot > 0, self.size[below] + more, self.size[0]))


def built_in(name: str) -> SizeDistribution:
    """Return a distribution of `fabricsim/workloads/sizes`, such as "web-search"."""
    return read_sizes(Path(__file__).parent / "sizes" / f"{name}.cdf")


def read_sizes(path: str | Path, unit_bytes: int = 1) -> SizeDistribution:
    """Read a distribution: a line for each knot, `size fraction` or `size anything fraction`; `#` begins a comment.

    Sizes are whole numbers of `unit_bytes`; neither they nor fractions fall, and the last fraction is 1. Raises
    `ScenarioError` as `FILE:LINE: field: got ...; allowed: ...`.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScenarioError("workload.path", path, f"a readable file ({error.strerror})") from None
    except ValueError:  # no UTF-8, or a NUL in the path
        raise ScenarioError("workload.path", path, "a text file") from None
    return _parsed(text, str(path), unit_bytes)


def _parsed(text: str, path: str, unit_bytes: int) -> SizeDistribution:
    sizes: list[int] = []
    fractions: list[float] = []
    place = path
    for line, raw in enumerate(text.split("\n"), start=1):
        words = raw.partition("#")[0].split()
        if not words:
            continue
        place = f"{path}:{line}"
        if len(words) not in (2, 3):
            raise ScenarioError(place, " ".join(words), "a size and a fraction, or a size, anything and a fraction")
        size, fraction = words[0], _fraction(words[-1])
        most, least = _LARGEST_BYTES // unit_bytes, sizes[-1] // unit_bytes if sizes else 0
        if not (size.isascii() and size.isdigit() and len(size) < 20) or not least <= int(size) <= most:
            raise ScenarioError(f"{place}: size", size, f"a whole number from {least} to {most}")
        lowest = fractions[-1] if fractions else 0.0
        if fraction is None or not lowest <= fraction <= 1:
            hint = " (not in percent)" if fraction is not None and fraction > 1 else ""
            raise ScenarioError(f"{place}: fraction", words[-1], f"a number from {lowest:g} to 1{hint}")
        sizes.append(int(size) * unit_bytes)
        fractions.append(fraction)
    if not fractions or fractions[-1] != 1:
        got = fractions[-1] if fractions else "no lines"
        raise ScenarioError(f"{place}: fraction" if fractions else path, got, "1 on the last line")
    if not sizes[-1]:
        raise ScenarioError(f"{place}: size", 0, "a last size of 1 or more")
    return SizeDistribution(np.array(sizes, np.int64), np.array(fractions, np.float64))


def _fraction(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
