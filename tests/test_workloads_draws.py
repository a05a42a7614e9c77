"""Draws: logarithms against the library's, integers and exponentials against their distributions."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import chisquare, kstest

from fabricsim.workloads.draws import Draws, Purpose

SIGNIFICANCE = 1e-3


def test_integers_are_equally_likely() -> None:
    drawn = Draws(1, Purpose.ALL_TO_ALL_V).below(7, 7000)
    assert chisquare(np.bincount(drawn, minlength=7)).pvalue > SIGNIFICANCE
    largest = 2**32
    assert Draws(1, Purpose.ALL_TO_ALL_V).below(largest, 10_000).max() < largest


def test_exponentials_are_exponential() -> None:
    drawn = Draws(2, Purpose.POISSON_GAPS).exponentials(20_000)
    assert kstest(drawn, "expon").pvalue > SIGNIFICANCE


def test_exponentials_are_logarithms_of_the_stream() -> None:
    """The stream's raw words are guaranteed, so these are the same on every machine."""
    words = Draws(3, Purpose.POISSON_GAPS).words(1000).tolist()
    expected = [-math.log(1 - (word >> 11) * 2.0**-53) for word in words]
    np.testing.assert_allclose(Draws(3, Purpose.POISSON_GAPS).exponentials(1000), expected, rtol=1e-15, atol=1e-16)


def test_exponentials_of_extreme_uniforms() -> None:
    class Extremes(Draws):
        def uniforms(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
            assert count == 4
            return np.array([0.0, 2.0**-53, 0.5, 1 - 2.0**-53])

    expected = [0.0, 2.0**-53, math.log(2), 53 * math.log(2)]
    np.testing.assert_allclose(Extremes(1, Purpose.POISSON_GAPS).exponentials(4), expected, rtol=1e-15)


def test_draws_go_on_where_they_were() -> None:
    whole, parts = Draws(4, Purpose.POISSON_GAPS), Draws(4, Purpose.POISSON_GAPS)
    joined = np.concatenate([parts.exponentials(3), parts.exponentials(4)])
    np.testing.assert_array_equal(whole.exponentials(7), joined)
