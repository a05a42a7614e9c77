"""Means, errors and paired differences, against NumPy and by hand."""

import math
import statistics

import numpy as np
import polars as pl
import pytest
from scipy import stats

from fabricsim.replication import Mean, differences, growth, mean, means, ratios

VALUES = {("ofan", 1): 2.0, ("ofan", 2): 3.0, ("ofan", 3): 7.0, ("drb", 1): 4.0, ("drb", 2): 9.0, ("drb", 3): 14.0}


@pytest.fixture
def table() -> pl.DataFrame:
    rows = [{"balancer": name, "seed": seed, "max_x": value} for (name, seed), value in VALUES.items()]
    return pl.DataFrame(rows)


def test_a_mean_is_that_of_numpy_and_its_error_that_of_scipy(table: pl.DataFrame) -> None:
    found = mean(table, "max_x", balancer="drb")
    values = np.array([4.0, 9.0, 14.0])
    assert (found.value, found.count) == (values.mean(), 3)
    assert found.sem == pytest.approx(stats.sem(values))
    assert f"{found:.1f}" == "9.0 ± 2.9"
    assert f"{found.percent:.0f}" == "900 ± 289"


def test_a_missing_value_has_no_part_and_one_run_has_no_error(table: pl.DataFrame) -> None:
    extra = pl.DataFrame({"balancer": ["drb", "rsq"], "seed": [4, 1], "max_x": [None, 5.0]})
    both = pl.concat([table, extra], how="vertical_relaxed")
    assert mean(both, "max_x", balancer="drb").value == 9
    alone = mean(both, "max_x", balancer="rsq")
    assert math.isnan(alone.sem)
    assert str(alone) == "5.00"
    assert alone.above(1) is None  # one run says nothing about its error
    assert alone.within(0, 100) is None
    with pytest.raises(LookupError, match="at least one run"):
        mean(both, "max_x", balancer="jsq")


def test_differences_and_ratios_are_of_the_same_seed(table: pl.DataFrame) -> None:
    first, second = {"balancer": "drb"}, {"balancer": "ofan"}
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    assert differences(shuffled, "max_x", first, second) == Mean.of([2.0, 6.0, 7.0])
    assert ratios(shuffled, "max_x", first, second) == Mean.of([2.0, 3.0, 2.0])
    # Unpaired, the error would be that of a sum of variances.
    assert ratios(table, "max_x", first, second).sem == pytest.approx(statistics.stdev([2, 3, 2]) / 3**0.5)


def test_a_seed_with_two_runs_is_no_pair(table: pl.DataFrame) -> None:
    with pytest.raises(LookupError, match="name the other axes"):
        differences(pl.concat([table, table]), "max_x", {"balancer": "drb"}, {"balancer": "ofan"})


def test_growth_is_the_slope_in_logarithms_at_a_point() -> None:
    sizes = np.repeat([2.0, 8.0, 32.0, 128.0], 2)
    rough = 5 * sizes**0.5 * np.tile([0.9, 1.1], 4)
    rows = [("rsq", size, value) for size, value in zip(sizes, rough, strict=True)] + [("ofan", 2.0, 1e9)]
    found = growth(pl.DataFrame(rows, ["balancer", "size", "queue"], orient="row"), "size", "queue", balancer="rsq")
    fit = stats.linregress(np.log(sizes), np.log(rough))
    assert (found.value, found.sem) == (pytest.approx(0.5), pytest.approx(fit.stderr))
    assert found.value == pytest.approx(fit.slope)
    assert found.count == 8


def test_verdicts_know_when_they_cannot_tell() -> None:
    assert Mean(1.0, 0.1, 5).above(0.5) is True
    assert Mean(1.0, 0.1, 5).above(1.5) is False
    assert Mean(1.0, 0.1, 5).above(0.9) is None
    assert Mean(1.0, 0.1, 5).within(0.5, 1.5) is True
    assert Mean(2.0, 0.1, 5).within(0.5, 1.5) is False
    assert Mean(1.0, 0.3, 5).within(0.5, 1.5) is None


def test_means_have_one_row_a_point(table: pl.DataFrame) -> None:
    found = means(table, ["balancer"])
    assert found.columns == ["balancer", "runs_count", "max_x_mean", "max_x_sem", "max_x_max"]
    assert found["balancer"].to_list() == ["ofan", "drb"]
    assert found.row(1)[1:] == (3, 9.0, pytest.approx(5 / 3**0.5), 14.0)
