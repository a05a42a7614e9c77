"""Means, errors and figures of comparisons, against the standard library's statistics and by counting what is drawn."""

from __future__ import annotations

import statistics
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from fabricsim import plot, readable, report
from fabricsim.compare import Comparison, _order_statistics, flat, label, summary_table
from fabricsim.contestants import of_transport, transport_contestant
from fabricsim.errors import ScenarioError
from fabricsim.scenario import Deployment, Ofan, Pofan, Rsq, Scenario, SimpleRr
from fabricsim.scenario.transports import Dcpim, Dcsim, Phost

STAGES = ("host-edge", "edge-agg", "agg-core", "core-agg", "agg-edge", "edge-host")
INCREASES = {"ofan": (0.02, 0.03, 0.025), "rsq": (0.1, 0.16, 0.11)}


def row(balancer: str, seed: int, increase: float | None, packets: int | None = 7) -> dict[str, Any]:
    stage = {"max_packets": packets, "mean_packets": 1.5, "overload_fraction": 0.1}
    summary = {
        "transport": "paced", "status": "done", "seed": seed, "deployment": None, "load": 1.0, "links_down_count": 0,
        "hosts": 432, "version": "1", "result_hash": "0", "threads": 1,
        "unfinished_count": int(increase is None), "cct_acked_us": increase and 17 * (1 + increase),
        "cct_delivered_us": increase and 14 * (1 + increase), "bound_us": 17.0, "cct_increase_fraction": increase,
        "max_queue_packets": packets, "utilisation_fraction": increase and 0.6, "wall_s": 0.1,
        "queues": dict.fromkeys(STAGES, stage), "drops_count": {"data": 0, "control": 0},
        "lost_count": {"dead_link": 0, "unroutable": 0},
        "loss_fraction": {"data": 0.0, "control": None}, "transport_counts": {},
    }  # fmt: skip
    return {"balancer": balancer, **flat(summary)}


def comparison(
    rows: list[dict[str, Any]],
    problems: tuple[str, ...] = (),
    base: Scenario = Scenario(),  # noqa: B008
) -> Comparison:
    runs = pl.DataFrame(rows).with_columns(pl.selectors.by_dtype(pl.Null).cast(pl.Float64))
    times = [(one["balancer"], one["seed"], time) for one in rows for time in (13.0, 14.0, 15.0)]
    fct = pl.DataFrame(times, schema=["balancer", "seed", "fct_us"], orient="row")
    return Comparison(base, runs, fct, problems)


@pytest.fixture
def two() -> Comparison:
    return comparison(
        [row(name, seed, value) for name, values in INCREASES.items() for seed, value in enumerate(values)]
    )


def test_means_and_errors(two: Comparison) -> None:
    for name, values in INCREASES.items():
        (of,) = two.table.filter(balancer=name).to_dicts()
        assert of["cct_increase_fraction_mean"] == pytest.approx(statistics.mean(values))
        assert of["cct_increase_fraction_sem"] == pytest.approx(statistics.stdev(values) / 3**0.5)
        assert of["runs_count"] == 3
    assert two.table["balancer"].to_list() == ["ofan", "rsq"]


def test_one_run_has_no_error_and_an_unfinished_one_no_part_in_the_mean() -> None:
    table = comparison([row("ofan", 1, 0.02), row("rsq", 1, 0.1), row("rsq", 2, None)]).table
    assert table["cct_increase_fraction_sem"].to_list() == [None, None]
    assert table["cct_increase_fraction_mean"].to_list() == [0.02, 0.1]
    assert table["unfinished_runs_count"].to_list() == [0, 1]


def test_the_largest_of_all_runs_is_kept() -> None:
    table = summary_table(pl.DataFrame([row("rsq", 1, 0.1, 40), row("rsq", 2, 0.1, 50)]))
    assert table["edge_agg_max_packets_max"].to_list() == [50]
    assert readable.rows(table)[0][3:5] == ("45.0 ± 5.0", "50")


def test_labels_are_the_short_form() -> None:
    assert [label(Ofan()), label(Pofan(ports_per_pipe=2))] == ["ofan", "pofan:2"]


def test_losses_and_what_a_transport_counts_have_columns_of_their_own() -> None:
    lost = {
        "queues": {}, "drops_count": {"data": 1}, "lost_count": {"dead_link": 3, "unroutable": 4},
        "loss_fraction": {"sim": 0.5}, "transport_counts": {"sims_sent_count": 6},
    }  # fmt: skip
    assert flat(lost) == {
        "drops_data_count": 1, "lost_dead_link_count": 3, "lost_unroutable_count": 4, "loss_sim_fraction": 0.5,
        "sims_sent_count": 6,
    }  # fmt: skip


def test_transports_are_named_with_the_balancer_that_is_not_their_usual_one() -> None:
    named = [of_transport(Dcsim()), of_transport(Dcpim(), SimpleRr()), of_transport(Phost(window_packets=9), Rsq())]
    assert [one.label for one in named] == ["dcsim", "dcpim/simple-rr", "phost:window_packets=9"]
    assert [one.parts["balancer"].kind for one in named] == ["rps", "simple-rr", "rsq"]
    for one in named:
        assert transport_contestant(one.label) == one
    with pytest.raises(ScenarioError, match="under dcsim: rps, drb"):
        transport_contestant("dcsim/ofan")


def test_a_comparison_of_transports_is_by_transport() -> None:
    rows = [
        {"transport": name, **{key: value for key, value in row(over, 1, increase).items() if key != "transport"}}
        for name, over, increase in (("dcsim", "rps", 0.5), ("dcpim/simple-rr", "simple-rr", 0.7))
    ]
    runs = pl.DataFrame(rows)
    fct = pl.DataFrame({"transport": ["dcsim", "dcpim/simple-rr"], "seed": [1, 1], "fct_us": [13.0, 14.0]})
    found = Comparison(Scenario(), runs, fct, by="transport")
    assert found.table.columns[0] == "transport"
    assert readable.headings(found.table)[0] == "transport"
    # Their bound is of the last delivery, whatever the base scenario's transport.
    assert [texts[:2] for texts in readable.rows(found.table, found.cct)] == [
        ("dcsim", "21.000"), ("dcpim/simple-rr", "23.800"),
    ]  # fmt: skip
    bars, _, lines = plot.comparison(found.table, runs, fct).axes
    assert [text.get_text() for text in bars.get_xticklabels()] == ["dcsim", "dcpim/simple-rr"]
    assert [line.get_label() for line in lines.lines] == ["dcsim", "dcpim/simple-rr"]
    page = report.comparison_page(found)
    assert "Transports compared on" in page
    assert "the same for every transport" in page
    assert "&quot;transport&quot;: &quot;varied&quot;" in page


def test_figures_draw_every_bar_dot_and_line(two: Comparison) -> None:
    figure = plot.comparison(two.table, two.runs, two.fct)
    bars, queues, lines = figure.axes
    heights = [bar.get_height() for bar in bars.containers[1]]
    assert heights == pytest.approx([100 * statistics.mean(values) for values in INCREASES.values()])
    assert sum(len(dots.get_offsets()) for dots in bars.collections if hasattr(dots, "get_sizes")) == 6
    assert [text.get_text() for text in queues.get_xticklabels()] == [
        "edge→agg", "agg→core", "core→agg", "agg→edge", "edge→host",
    ]  # fmt: skip
    assert [line.get_label() for line in lines.lines] == ["ofan", "rsq"]


def test_a_distribution_ends_at_one() -> None:
    fct = pl.DataFrame({"balancer": ["a"] * 4, "fct_us": [3.0, 1.0, 2.0, 2.0]})
    assert plot.cdf(fct, "a") == ([1.0, 2.0, 2.0, 3.0], [0.25, 0.5, 0.75, 1.0])


def test_a_distribution_ends_at_the_share_of_flows_that_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """By counting: 94 of 100 flows finish, also where the run is thinned to 11 of its order statistics."""
    flows = pl.DataFrame({"fct_us": [float(99 - place) if place >= 6 else None for place in range(100)]})
    for points, share in ((2000, 0.94), (11, 10 / 11)):
        monkeypatch.setattr("fabricsim.compare.FCT_POINTS", points)
        kept = _order_statistics(SimpleNamespace(flows=flows))  # type: ignore[arg-type]
        assert len(kept) == min(points, 100)
        times, shares = plot.cdf(pl.DataFrame({"balancer": "a", "fct_us": kept}), "a")
        assert (times[0], shares[-1]) == (0.0, pytest.approx(share))
        assert times == sorted(times)
    figure = plot.fct_cdf(pl.DataFrame({"balancer": "a", "fct_us": kept}))
    assert "not all flows finished" in figure.axes[0].get_title(loc="left")


def test_a_panel_without_a_finished_run_has_no_numbers() -> None:
    nothing = comparison([row("ofan", 1, None)])
    (axes,) = plot.cct_increase(nothing.table, nothing.runs).axes
    assert [text.get_text() for text in axes.texts] == ["no run finished"]
    assert not any(tick.label1.get_visible() for tick in (*axes.xaxis.get_major_ticks(), *axes.yaxis.get_major_ticks()))


def test_the_page_says_what_is_varied_and_what_else_runs() -> None:
    mixed = Scenario(deployment=Deployment(balancer=Pofan(ports_per_pipe=4), placement="all-edge"))
    rows = [row("ofan", seed, 0.02) for seed in (1, 2)]
    page = report.comparison_page(comparison(rows, base=mixed))
    assert "&quot;balancer&quot;: &quot;varied&quot;" in page
    assert "&quot;seed&quot;: &quot;varied&quot;" in page
    assert "pofan:4 on all-edge" in page
    assert "<th>load</th>" not in page
    rows[1]["load"] = 0.75
    page = report.comparison_page(comparison(rows))
    assert "<th>load</th>" in page
    assert "<td>0.75</td>" in page
    assert "Mixed deployment" not in page


def test_the_page_needs_no_network_and_trusts_no_text() -> None:
    page = report.comparison_page(comparison([row("ofan", 1, 0.02)], ("ofan, seed 1: <script>alert(1)</script>",)))
    own = page.replace(page[page.index("<script>") : page.index("</head>")], "")
    assert "<script>alert" not in page
    assert "http://" not in own
    assert "https://" not in own
    assert "1 run went wrong" in page
    assert page.count("Plotly.newPlot(") - page[: page.index("</head>")].count("Plotly.newPlot(") == 3


def test_what_was_not_measured_is_not_drawn_on_the_page(tmp_path: Path) -> None:
    nothing = comparison([row("ofan", 1, None, None)])
    page = report.comparison_page(nothing)
    assert "Largest queue of each stage" not in page
    assert "Collective completion time" not in page
    assert all(file.stat().st_size > 0 for file in nothing.write(tmp_path / "out"))
