"""Packet size: the optima against the models' minima on a grid, closed forms, and how they scale."""

from __future__ import annotations

import numpy as np
import pytest

from fabricsim.theory import (
    cct_us,
    fit_exponent,
    optimal_payload_bytes,
    optimal_spraying_payload_bytes,
    spraying_cct_us,
)

MIB = 2**20
GRID = np.geomspace(200, 200_000, 20_001)


@pytest.mark.parametrize(("mib", "payload"), [(0.5, 2073), (1, 2932), (4, 5865)])
def test_optimum_of_theorem_6(mib: float, payload: int) -> None:
    """sqrt(82 * D / 10) by hand."""
    assert round(optimal_payload_bytes(mib * MIB)) == payload


@pytest.mark.parametrize("message", [0.5 * MIB, 4 * MIB, 100e6])
@pytest.mark.parametrize(("queue", "header"), [(10, 82), (3, 82), (40, 150)])
def test_the_optimum_is_the_models_minimum(message: float, queue: float, header: float) -> None:
    best = optimal_payload_bytes(message, queue, header)
    times = cct_us(GRID, message, queue, header_bytes=header)
    assert best == pytest.approx(GRID[times.argmin()], rel=1e-3)
    # There, P (D/(P-H) + alpha) = (sqrt(D) + sqrt(alpha H))^2.
    least = (message**0.5 + (queue * header) ** 0.5) ** 2 / 100e3 + 6.0
    assert cct_us(best, message, queue, header_bytes=header) == pytest.approx(least)
    assert times.min() >= least * (1 - 1e-12)


def test_model_by_hand() -> None:
    """1 MiB in 256 packets of 4178 bytes and gap, and ten of them in queues, at 100 bytes a ns; then 6 us."""
    assert cct_us(4096, MIB) == pytest.approx(266 * 4178 / 100e3 + 6)
    assert cct_us(4096, MIB, rate_gbps=400, rtt_us=1) == pytest.approx(266 * 4178 / 50e3 + 1)
    assert spraying_cct_us(4096, MIB, 2) == pytest.approx((256 + 2 * 16) * 4178 / 100e3 + 6)


@pytest.mark.parametrize("message", [0.5 * MIB, 4 * MIB, 100e6])
@pytest.mark.parametrize("coefficient", [0.5, 3.0])
def test_the_spraying_optimum_is_that_models_minimum(message: float, coefficient: float) -> None:
    times = spraying_cct_us(GRID, message, coefficient)
    assert optimal_spraying_payload_bytes(message, coefficient) == pytest.approx(GRID[times.argmin()], rel=2e-3)


def test_optima_scale_as_the_square_and_the_cube_root() -> None:
    messages = np.geomspace(1e9, 1e12, 7)
    bounded = fit_exponent(messages, [optimal_payload_bytes(size) for size in messages])
    spraying = fit_exponent(messages, [optimal_spraying_payload_bytes(size, 2.0) for size in messages])
    assert bounded.value == pytest.approx(1 / 2)
    assert spraying.value == pytest.approx(1 / 3, abs=0.005)
    size = messages[-1]
    assert optimal_spraying_payload_bytes(size, 2.0) == pytest.approx(82 ** (2 / 3) * size ** (1 / 3), rel=0.01)
