"""How queues grow with the message size m, data only: the theorems of the Ofan paper (section 3.3, appendices B, C)."""

from __future__ import annotations

import numpy as np
import pytest
from paper import DATA_FRAME_BYTES, FRAME_AND_GAP_PS, Floats, Mean, Outcome, Record, data_only_run, show

SIZES = (64, 128, 256, 512, 1024)
SEEDS = range(1, 13)
RADIX = 8
W, HOSTS = RADIX // 2, RADIX**3 // 4


def outcomes(balancer: str, packets: int, *, northbound: bool = False) -> list[Outcome]:
    return [data_only_run(balancer, packets, seed, northbound=northbound, radix=RADIX) for seed in SEEDS]


def slope(queues: Floats) -> Mean:
    """Exponent of m: least squares on the logarithms of the mean over seeds (rows), with its jackknife error."""

    def fit(rows: Floats) -> float:
        return float(np.polyfit(np.log(SIZES), np.log(rows.mean(axis=0)), 1)[0])

    count = len(queues)
    without = np.array([fit(np.delete(queues, row, axis=0)) for row in range(count)])
    return Mean(fit(queues), float(np.sqrt((count - 1) * without.var())))


@pytest.mark.parametrize(
    ("balancer", "northbound", "low", "high"),
    [
        ("jsq", True, 0.95, 1.05),
        ("jsq", False, 0.95, 1.05),
        ("simple-rr", True, 0.95, 1.05),
        ("simple-rr", False, 0.95, 1.05),
        ("rsq", False, 0.4, 0.6),
        ("rps", False, 0.4, 0.6),
        ("ofan", False, -0.15, 0.15),
        ("pofan:2", False, -0.15, 0.15),
        ("drb", False, -0.15, 0.15),
    ],
)
def test_growth_of_the_largest_queue(
    balancer: str, northbound: bool, low: float, high: float, record_property: Record
) -> None:
    """Linear, square root or none at all (Table 1), with two standard errors inside the interval."""
    columns = [[run.largest_queue for run in outcomes(balancer, m, northbound=northbound)] for m in SIZES]
    queues = np.array(columns, np.float64).T
    exponent = slope(queues)
    where = "inter-pod" if northbound else "random"
    measured = f"{exponent}, queues {queues.mean(axis=0).round(1).tolist()}"
    show(record_property, f"slope of {balancer}, {where} permutation", measured, f"{low} to {high}")
    assert low <= exponent.value - 2 * exponent.error
    assert exponent.value + 2 * exponent.error <= high


@pytest.mark.parametrize("balancer", ["jsq", "simple-rr"])
def test_uplinks_stay_empty_when_all_hosts_send_north(balancer: str, record_property: Record) -> None:
    """Appendix C, step 5: every packet is sent on arrival, so no uplink of any run ever holds more than that one."""
    for stage in ("edge-agg", "agg-core"):
        runs = [run for m in SIZES for run in outcomes(balancer, m, northbound=True)]
        largest = {run.largest_bytes[stage] for run in runs}
        show(record_property, f"largest queue of {balancer}, {stage}, bytes", largest, f"{DATA_FRAME_BYTES}, one frame")
        assert largest == {DATA_FRAME_BYTES}


@pytest.mark.parametrize("packets", SIZES)
@pytest.mark.parametrize("balancer", ["rsq", "rps"])
def test_random_spraying_fills_edge_uplinks_as_theorem_1_says(
    balancer: str, packets: int, record_property: Record
) -> None:
    """Appendix B: an edge uplink's average over the m packet times of sending is at least (2/15) sqrt(m) packets.

    The theorem asks for a uniformly random derangement, data only, at line rate, in a three-level fat tree with w >= 2,
    and speaks of the expectation over all of it; here the mean over seeds and uplinks, less four standard errors. Above
    it says 4 sqrt(m) + 1 at any time, by Doob's inequality.
    """
    mean = Mean.of([run.mean_queue["edge-agg"] for run in outcomes(balancer, packets)])
    low, high = 2 / 15 * packets**0.5, 4 * packets**0.5 + 1
    show(record_property, f"mean edge uplink queue of {balancer}, m = {packets}", mean, f"{low:.2f} to {high:.2f}")
    assert low < mean.value - 4 * mean.error
    assert mean.value + 4 * mean.error < high


def test_theorem_1_where_it_is_tightest(record_property: Record) -> None:
    """w = 2: only there are the chance of no internal traffic 13/15 and the variance t/2, as the constant assumes."""
    mean = Mean.of([data_only_run("rsq", 256, seed, radix=4).mean_queue["edge-agg"] for seed in range(1, 61)])
    least = 2 / 15 * 16
    show(record_property, "mean edge uplink queue of rsq, k = 4, m = 256", mean, f"> {least:.2f}")
    assert mean.value - 4 * mean.error > least


@pytest.mark.parametrize("packets", SIZES)
@pytest.mark.parametrize("balancer", ["jsq", "simple-rr"])
def test_sticky_flows_fill_downlinks_as_theorem_2_says(balancer: str, packets: int, record_property: Record) -> None:
    """Appendix C, equation 13: the average over all 5n queues of switches is at least (3/40) [...] m.

    Its proof counts the n links from aggregation to edge only, so their average is at least five times that.
    """
    northbound = 1 - W * (W - 1) / (HOSTS - 1)
    safe = (1 - 2 * 200 / FRAME_AND_GAP_PS) ** (W - 1) if balancer == "jsq" else 1
    p = northbound * safe
    least = 3 / 40 * ((1 - p / W) ** W - (1 - p)) * packets
    runs = outcomes(balancer, packets)
    for where, factor, values in (
        ("all queues", 1, [run.all_queues_mean for run in runs]),
        ("agg-edge", 5, [run.mean_queue["agg-edge"] for run in runs]),
    ):
        mean = Mean.of(values)
        what = f"mean queue of {balancer}, {where}, m = {packets}"
        show(record_property, what, mean, f"> {factor * least:.2f}")
        assert factor * least < mean.value - 4 * mean.error
