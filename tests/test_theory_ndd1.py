"""The N*D/D/1 queue: hand computation, simulated phases, the M/D/1 limit, the engine; its Gaussian approximation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from paper import Floats, Mean

from fabricsim import FatTree, InterPodPermutation, Paced, Run, Scenario, balancer_from_text, simulate
from fabricsim.errors import ScenarioError
from fabricsim.theory import gaussian_mean_packets, gaussian_tail, ndd1_distribution, ndd1_mean_packets, ndd1_tail

SYSTEMS = [(1, 1.0), (2, 2.0), (4, 4.0), (7, 8.0), (8, 8.0), (8, 8.3), (20, 25.5), (64, 64.0)]


def simulated_work(sources: int, period: float, rows: int, seed: int) -> Floats:
    """Work left at the end of a period that began with the queue of a whole period before, for random phases."""
    phases = np.sort(np.random.default_rng(seed).random((rows, sources)) * period, axis=1)
    work, before = np.zeros(rows), np.zeros(rows)
    for start in (0.0, period):
        for packet in range(sources):
            now = start + phases[:, packet]
            work, before = np.maximum(work - (now - before), 0) + 1, now
    return np.maximum(work - (2 * period - before), 0)


@pytest.mark.parametrize("period", [1.0, 1.5, 4.0])
def test_one_source_by_hand(period: float) -> None:
    """One packet is in the system for 1 of `period` packet times, and its work falls evenly from 1 to 0."""
    assert ndd1_distribution(1, period).tolist() == pytest.approx([1 - 1 / period, 1 / period])
    assert ndd1_tail([0, 0.25, 0.5, 1], 1, period).tolist() == pytest.approx(
        [1 / period, 0.75 / period, 0.5 / period, 0]
    )


@pytest.mark.parametrize("period", [2.0, 3.0, 7.5])
def test_two_sources_by_hand(period: float) -> None:
    """Two packets are there together while their service times would overlap: on average 1 * 1 / period of a period.

    The later comes `gap` after the earlier with density 2 / period for small gaps (either may be the earlier), and both
    are there for 1 - gap: (2 / period) * (1 / 2) in a period. Together they keep the server busy for 2.
    """
    both = 1 / period**2
    assert ndd1_distribution(2, period).tolist() == pytest.approx([1 - 2 / period, 2 / period - both, both])


@pytest.mark.parametrize(("sources", "period"), SYSTEMS)
def test_exact_agrees_with_simulated_phases(sources: int, period: float) -> None:
    work = simulated_work(sources, period, 100_000, seed=sources)
    packets = np.ceil(work - 1e-12)
    mean = Mean.of(packets)
    assert abs(mean.value - ndd1_mean_packets(sources, period)) <= 4 * mean.error + 1e-9
    assert mean.error < 0.01 * mean.value
    for x in (0.0, 0.5, 1.0, 1.7, 3.0, 5.2, 8.0):
        exact = ndd1_tail(x, sources, period)
        seen = Mean.of((work > x + 1e-12).astype(float))
        assert abs(seen.value - exact) <= 4 * math.sqrt(exact * (1 - exact) / work.size) + 1e-9


@pytest.mark.parametrize(("sources", "period"), SYSTEMS)
def test_laws_of_any_queue_with_unit_service(sources: int, period: float) -> None:
    """The server is busy for the load; packets exceed work by load / 2 on average; probabilities add up to 1."""
    distribution = ndd1_distribution(sources, period)
    assert distribution.sum() == pytest.approx(1)
    assert distribution.min() >= 0
    assert ndd1_tail(0, sources, period) == pytest.approx(sources / period)
    assert distribution @ np.arange(sources + 1) == pytest.approx(ndd1_mean_packets(sources, period))
    # Midpoints, between the kinks at whole numbers.
    work = ndd1_tail((np.arange(20 * sources) + 0.5) / 20, sources, period).sum() / 20
    assert ndd1_mean_packets(sources, period) == pytest.approx(work + sources / period / 2, rel=2e-3)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_many_sources_at_a_fixed_load_are_poisson(load: float) -> None:
    """M/D/1: load + load^2 / (2 (1 - load)), from below, for periodic sources are more regular."""
    poisson = load + load**2 / (2 * (1 - load))
    gaps = [poisson - ndd1_mean_packets(sources, sources / load) for sources in (16, 64, 256, 1024)]
    assert all(gap > 0 for gap in gaps)
    # The difference is of the order of 1 / sources in the end.
    assert 0.2 < gaps[3] / gaps[2] < 0.3


def test_the_queue_is_bounded_at_load_1_and_grows_as_the_root_of_sources() -> None:
    ratios = [gaussian_mean_packets(n, n) / ndd1_mean_packets(n, n) - 1 for n in (16, 64, 256, 1024)]
    # Above by a nearly constant part of a packet, so by half the fraction with four times the sources.
    assert ratios[0] < 0.08
    assert ratios[-1] < 0.01
    assert all(0.4 * earlier < later < 0.6 * earlier for earlier, later in pairwise(ratios))
    assert gaussian_mean_packets(10_000, 10_000) == pytest.approx(math.sqrt(math.pi * 10_000 / 8) + 0.5)


@pytest.mark.parametrize("slack", [0.0, 0.5, 2.0])
def test_gaussian_tail_agrees_with_exact_for_many_sources(slack: float) -> None:
    """Heavy load: D - N of the order of the root of N. The largest difference halves with four times the sources."""
    differences = []
    for sources in (100, 400, 1600):
        period = sources + slack * math.sqrt(sources)
        x = np.linspace(0.01, 2, 40) * math.sqrt(sources)
        differences.append(np.abs(gaussian_tail(x, sources, period) - ndd1_tail(x, sources, period)).max())
    assert differences[-1] < 0.05
    assert all(0.4 * earlier < later < 0.6 * earlier for earlier, later in pairwise(differences))


@pytest.mark.parametrize(("sources", "period"), [(7.3, 8.0), (60.0, 64.0), (15.0, 15.0), (5.0, 20.0)])
def test_gaussian_mean_is_the_integral_of_its_tail(sources: float, period: float) -> None:
    step = 1e-3
    x = (np.arange(int(12 * math.sqrt(sources) / step)) + 0.5) * step
    integral = gaussian_tail(x, sources, period).sum() * step
    assert gaussian_mean_packets(sources, period) == pytest.approx(integral + sources / period / 2, rel=1e-5)


def test_expected_numbers_of_sources_lie_between_whole_ones() -> None:
    load = 0.95
    means = [ndd1_mean_packets(n, n / load) for n in (7, 7.25, 7.5, 8)]
    assert means[1] == pytest.approx(0.75 * means[0] + 0.25 * means[3])
    assert means == sorted(means)


@pytest.mark.parametrize(
    ("sources", "period", "field"),
    [(0, 4.0, "sources"), (5, 4.0, "period"), (math.nan, 4.0, "sources"), (2, math.nan, "period")],
)
def test_overload_and_no_sources_are_refused(sources: float, period: float, field: str) -> None:
    for function in (ndd1_mean_packets, gaussian_mean_packets):
        with pytest.raises(ScenarioError) as caught:
            function(sources, period)
        assert caught.value.field == field
    with pytest.raises(ScenarioError, match="a whole number"):
        ndd1_tail(1.0, 2.5, 4.0)  # type: ignore[arg-type]


def test_edge_uplinks_of_drb_are_this_queue() -> None:
    """Appendix D. Data only, all flows northbound: each uplink has w sources of period w with uniform phases.

    The difference of two runs of one seed and different length leaves whole periods in the middle alone. A frame is in
    the queue until its last bit has left, without the gap after it.
    """
    w, per_frame = 4, 4158 * 41_780

    def integral(packets: int, seed: int) -> float:
        scenario = Scenario(
            fabric=FatTree(radix=2 * w),
            workload=InterPodPermutation(message=f"{4 * packets}KiB"),
            balancer=balancer_from_text("drb"),
            transport=Paced(acks="off"),
            run=Run(seed=seed, threads=1),
        )
        results = simulate(scenario)
        uplinks = results.ports.filter(results.ports["stage"] == "edge-agg")
        return float(uplinks["mean_queue_bytes"].to_numpy().mean()) * results.duration_ps / per_frame

    mean = Mean.of([(integral(320, seed) - integral(64, seed)) / 256 for seed in range(1, 31)])
    assert mean.error < 0.03
    assert abs(mean.value + 20 / 4178 - ndd1_mean_packets(w, w)) <= 4 * mean.error
