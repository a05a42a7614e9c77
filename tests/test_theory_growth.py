"""Growth laws: their constants against hand computation, enumeration and random permutations; the fit against noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from paper import Mean
from scipy.stats import binom

from fabricsim.errors import ScenarioError
from fabricsim.scenario import BALANCERS, FatTree
from fabricsim.theory import (
    PROVEN_GROWTH,
    edge_uplink_most_packets,
    fit_exponent,
    northbound_probability,
    pointer_ratio,
    safe_probability,
    spraying_least_mean_packets,
    sticky_least_mean_packets,
    sticky_probability,
)

RADIXES = range(4, 129, 2)


def test_northbound_probability_is_at_least_13_of_15() -> None:
    """Equation 9: 1 - w(w-1)/(2w^3-1), least at w = 2."""
    chances = [northbound_probability(k) for k in RADIXES]
    assert chances[0] == pytest.approx(13 / 15)
    assert min(chances) == chances[0]
    assert chances == sorted(chances)
    assert northbound_probability(12) == pytest.approx(1 - 30 / 431)


@pytest.mark.parametrize("radix", [4, 8])
def test_northbound_probability_is_below_that_of_random_permutations(radix: int) -> None:
    generator = np.random.default_rng(radix)
    half, hosts = radix // 2, FatTree(radix=radix).hosts_count
    edge = np.arange(hosts) // half
    fractions = []
    while len(fractions) < 2000:
        order = generator.permutation(hosts)
        if not np.any(order == np.arange(hosts)):
            internal = (edge == edge[order]).reshape(-1, half)
            fractions.append(1 - internal.any(axis=1).mean())
    mean = Mean.of(fractions)
    assert mean.error < 0.01
    assert northbound_probability(radix) - 4 * mean.error <= mean.value <= northbound_probability(radix) + 0.1


def test_safe_probability_by_hand() -> None:
    """Two gaps of 20 bytes in a period of 4178, for each of w - 1 others: 0.953 at k = 12."""
    assert safe_probability(12) == pytest.approx((4138 / 4178) ** 5)
    assert round(safe_probability(12), 3) == 0.953
    assert safe_probability(12, frame_bytes=80, gap_bytes=10) == pytest.approx((7 / 9) ** 5)


@pytest.mark.parametrize("radix", [4, 8, 12, 64])
@pytest.mark.parametrize("balancer", ["simple-rr", "jsq"])
def test_sticky_constant_is_the_expected_number_of_flows_too_many(balancer: str, radix: int) -> None:
    """Appendix C: (1 / 5n) (m / 2) (3 / 4) times n E[(Y - 1)+], Y ~ Bin(w, p / w), summed here over Y."""
    half, chance = radix // 2, sticky_probability(balancer, radix)
    too_many = sum((y - 1) * binom.pmf(y, half, chance / half) for y in range(2, half + 1))
    assert too_many > 0
    least = sticky_least_mean_packets(balancer, radix, 1000)
    assert least == pytest.approx(1000 * too_many * 3 / 4 / 2 / 5)
    assert sticky_least_mean_packets(balancer, radix, 2000) == pytest.approx(2 * least)


def test_sticky_probabilities() -> None:
    assert sticky_probability("simple-rr", 8) == northbound_probability(8)
    assert sticky_probability("jsq", 8) == pytest.approx(northbound_probability(8) * safe_probability(8))
    with pytest.raises(ScenarioError, match="simple-rr or jsq"):
        sticky_probability("rsq", 8)


def test_spraying_law_is_the_integral_of_the_proof() -> None:
    """Appendix B: (1 / 5m) times the integral of sqrt(x) from 0 to m."""
    for packets in (1, 256, 1000):
        x = (np.arange(100_000) + 0.5) * packets / 100_000
        assert spraying_least_mean_packets(packets) == pytest.approx(np.sqrt(x).mean() / 5, rel=1e-6)


def test_edge_uplink_bounds_at_the_papers_radix() -> None:
    assert {kind: edge_uplink_most_packets(kind, 12) for kind in ("drb", "ofan", "pofan", "ethereal", "jsq")} == {
        "drb": 7,
        "ofan": 7,
        "pofan": 7,
        "ethereal": 37,
        "jsq": 1,
    }
    with pytest.raises(ScenarioError, match="one with a proven bound"):
        edge_uplink_most_packets("rsq", 12)


def test_pointer_ratio_exceeds_a_quarter_of_the_radix_and_grows() -> None:
    ratios = [pointer_ratio(k) for k in RADIXES]
    assert pointer_ratio(16) == pytest.approx(64 / 15)
    assert all(ratio > k / 4 for k, ratio in zip(RADIXES, ratios, strict=True))
    assert ratios == sorted(ratios)


def test_growth_is_proven_for_balancers_that_exist() -> None:
    assert PROVEN_GROWTH.keys() - BALANCERS.keys() <= {"ethereal"}
    assert {kind for kind, growth in PROVEN_GROWTH.items() if growth.down == 1} == {"simple-rr", "jsq"}


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 1 / 3, 1.0, 2.0])
def test_fit_finds_an_exact_power_law(exponent: float) -> None:
    sizes = np.array([64, 128, 512, 1024])
    found = fit_exponent(sizes, 3.7 * sizes**exponent)
    assert found.value == pytest.approx(exponent, abs=1e-12)
    assert found.error < 1e-7
    assert found.low <= found.value <= found.high


def test_fit_by_hand() -> None:
    """Logarithms (0, 0), (1, 1), (2, 0): slope 0, residuals -1/3, 2/3, -1/3, variance 2/3, so error sqrt(2/3 / 2)."""
    found = fit_exponent([1, math.e, math.e**2], [1, math.e, 1])
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.error == pytest.approx(math.sqrt(1 / 3))
    # Student's t with one degree of freedom is Cauchy: its 97.5 % quantile is tan(0.475 pi).
    assert found.high == pytest.approx(math.tan(0.475 * math.pi) * math.sqrt(1 / 3))


def test_the_interval_holds_the_exponent_in_95_of_100_cases() -> None:
    generator = np.random.default_rng(7)
    sizes = np.array([64, 128, 256, 512, 1024])
    fits = [fit_exponent(sizes, sizes**0.5 * np.exp(generator.normal(0, 0.3, 5))) for _ in range(1500)]
    inside = Mean.of([float(fit.low <= 0.5 <= fit.high) for fit in fits])
    assert abs(inside.value - 0.95) <= 4 * inside.error
    assert inside.error < 0.01


@pytest.mark.parametrize(
    ("sizes", "values", "field"),
    [
        ([1, 2], [1, 2], "values"),
        ([1, 2, 3], [1, 2], "values"),
        ([1, 2, 0], [1, 2, 3], "sizes"),
        ([1, 2, 3], [1, 2, math.inf], "values"),
        ([2, 2, 2], [1, 2, 3], "sizes"),
    ],
)
def test_what_has_no_exponent_is_refused(sizes: list[float], values: list[float], field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        fit_exponent(sizes, values)
    assert caught.value.field == field
