"""Metrics of tables made by hand: losses, collectives, means over packets, correlation over the lag."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fabricsim import metrics
from fabricsim.errors import ScenarioError


def test_loss_counts_what_hosts_dropped_as_sent() -> None:
    columns = {f"{what}_{kind}_count": [0, 0] for what in ("dropped", "lost") for kind in ("data", "control")}
    ports = pl.DataFrame(
        {"stage": ["host-edge", "edge-host"], "data_frames_count": [6, 5], "control_frames_count": [0, 0], **columns}
    ).with_columns(dropped_data_count=pl.Series([2, 1]))
    assert metrics.loss_fraction(ports) == {"data": 3 / 8, "control": None}


def test_collectives_have_a_cct_each() -> None:
    flows = pl.DataFrame(
        {
            "collective": [1, 0, 1, 0],
            "packets_count": [1, 1, 2, 1],
            "delivered_packets_count": [1, 1, 2, 1],
            "start_ps": [5, 0, 3, 2],
            "last_delivered_ps": [10, 40, 9, 30],
        }
    )
    assert metrics.collective_cct(flows).rows() == [(0, 2, 40), (1, 2, 7)]
    assert metrics.collective_cct_mean_ps(flows) == 23.5
    short = flows.with_columns(delivered_packets_count=pl.Series([1, 1, 1, 1]))
    assert metrics.collective_cct(short)["cct_delivered_ps"].to_list() == [40, None]
    assert metrics.collective_cct_mean_ps(short) is None


def test_a_mean_over_packets_weighs_flows_by_them() -> None:
    flows = pl.DataFrame({"packets_count": [1, 3, 9], "delay_mean_us": [2.0, 6.0, None]})
    assert metrics.packet_mean(flows, "delay_mean_us") == 5
    assert metrics.packet_mean(flows[2:], "delay_mean_us") is None


def test_cross_correlation_finds_the_lag() -> None:
    """A series and itself four intervals later; at other lags as NumPy's corrcoef of the parts that both have."""
    draw = np.random.default_rng(1)
    sims = draw.normal(size=400)
    datas = np.concatenate([draw.normal(size=4), 3 * sims[:-4] + 7])
    found = metrics.cross_correlation(sims, datas, 9)
    assert found.shape == (10,)
    assert found[4] == pytest.approx(1)
    for lag in range(10):
        assert found[lag] == pytest.approx(np.corrcoef(sims[: 400 - lag], datas[lag:])[0, 1])
    assert np.isnan(metrics.cross_correlation(np.ones(5), np.arange(5), 3)).all()
    for first, second, lag in ((sims, datas[:-1], 3), (sims, datas, 399), (sims, datas, -1)):
        with pytest.raises(ScenarioError):
            metrics.cross_correlation(first, second, lag)
