"""dcSim's token bucket: Eqs. 1 and 2 by hand, and Theorem 1 against a port simulated packet by packet."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fabricsim.theory import sim_rate_bps, sims_and_datas_utilisation_fraction, token_interval_ps

RATE = 800 * 10**9


@pytest.mark.parametrize(
    ("data", "gap", "interval"),
    [(9000, 0, "91344"), (1500, 0, "16344"), (9000, 20, "91964")],
)
def test_interval_by_hand(data: int, gap: int, interval: str) -> None:
    """9134.4, 1634.4 and 9196.4 bytes at 100 bytes a ns; with the gap 9020 + 2.1 * 84."""
    assert token_interval_ps(RATE, data, 64, gap_bytes=gap) == Fraction(interval)


@pytest.mark.parametrize("data", [1500, 4096, 9000])
def test_rates_are_those_of_equations_1_and_2(data: int) -> None:
    alpha = data / 64
    assert sim_rate_bps(RATE, data, 64, token_factor=1) == pytest.approx(RATE / (alpha + 1), rel=1e-12)
    assert sim_rate_bps(RATE, data, 64) == pytest.approx(RATE / (alpha + 2.1), rel=1e-12)


def test_equation_2_leaves_room_for_all_four_kinds() -> None:
    """Sims, Sim-Acks, a Data-Ack for 16 Datas, and Datas at the Sims' packet rate take at most C, and nearly all."""
    sims = sim_rate_bps(RATE, 9000, 64)
    total = sims * (1 + 1 + 1 / 16 + 9000 / 64)
    assert 0.999 * RATE < total <= RATE


def _port(token_factor: Fraction, data: int, small: int, sends: int) -> tuple[Fraction, list[str]]:
    """Return the busy share and the order of a port that always has both Sims and as many Datas as Sims have passed."""
    interval = data + token_factor * small
    now = busy = next_token = Fraction(0)
    passed, order = 0, ""
    for _ in range(sends):
        if now < next_token and not passed:
            now = next_token
        if now >= next_token:
            next_token, passed, kind, size = next_token + interval, passed + 1, "S", small
        else:
            passed, kind, size = passed - 1, "D", data
        order += kind
        now, busy = now + size, busy + size
    return busy / now, list(order)


@pytest.mark.parametrize("small", [64, 500])
@pytest.mark.parametrize("factor", ["1", "2.1", "5"])
def test_theorem_1(small: int, factor: str) -> None:
    busy, order = _port(Fraction(factor), 9000, small, sends=4000)
    expected = sims_and_datas_utilisation_fraction(9000, small, float(factor))
    assert float(busy) == pytest.approx(expected, rel=1e-3)
    assert order == ["S", "D"] * 2000
    assert expected == 1 if factor == "1" else expected < 1


def test_more_tokens_than_theorem_1_grants_fill_the_port_with_sims() -> None:
    assert sims_and_datas_utilisation_fraction(9000, 500, 0.5) == 1
    busy, order = _port(Fraction("0.5"), 9000, 500, sends=4000)
    assert busy == 1
    # In the time of 9250 bytes one token comes, and leaves 8750 for Datas.
    assert order.count("D") / order.count("S") == pytest.approx(8750 / 9000, rel=1e-2)
