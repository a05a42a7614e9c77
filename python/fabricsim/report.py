"""A comparison as one HTML page that needs no network: table, interactive figures, scenario, version."""

from __future__ import annotations

from html import escape
from math import log10
from typing import TYPE_CHECKING

from fabricsim import html_page, plot, readable
from fabricsim.deployment import deployment_text

if TYPE_CHECKING:
    import plotly.graph_objects as go  # type: ignore[import-untyped]
    import polars as pl

    from fabricsim.compare import Comparison

# Buttons for a picture and for the whole view; zoom and pan need none.
CONFIG = {"responsive": True, "displaylogo": False, "modeBarButtons": [["toImage", "resetScale2d"]]}

# A run's columns that the page lists; those of `WHERE_VARIED` only if the runs differ in them.
WHERE_VARIED = ("transport", "load", "links_down_count")
RUN_COLUMNS = (
    "transport", "balancer", "seed", "status", "load", "links_down_count", "cct_acked_us", "cct_delivered_us",
    "bound_us", "cct_increase_fraction", "max_queue_packets", "utilisation_fraction", "wall_s", "result_hash",
)  # fmt: skip

_TITLES = {"balancer": "Load balancers", "transport": "Transports"}


def comparison_page(comparison: Comparison) -> str:
    """Return the whole page as text, with all its JavaScript inside (about 5 MB)."""
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    table = comparison.table
    figures: dict[str, go.Figure] = {}
    if table["cct_increase_fraction_mean"].is_not_null().any():
        figures["Collective completion time"] = cct_figure(table, comparison.runs)
    if table["max_queue_packets_mean"].is_not_null().any():
        figures["Largest queue of each stage"] = queue_figure(table)
    if comparison.fct["fct_us"].is_not_null().any():
        figures["Flow completion times"] = fct_figure(comparison.fct)
    drawn = "".join(f"<h2>{escape(title)}</h2>{_embed(figure)}" for title, figure in figures.items())
    body = (
        html_page.scrolled(_means_table(table, comparison.cct))
        + html_page.problems(comparison.problems)
        + "<p>Mean ± standard error of the mean over the runs. A queue counts whole data frames, the one being sent "
        "included.</p>"
        + drawn
        + html_page.folded(
            "The scenario, every default written out", html_page.json(comparison.base, _varied(comparison))
        )
        + html_page.folded("Every run", html_page.scrolled(_runs_table(comparison.runs)))
    )
    return html_page.page(
        f"{_TITLES[comparison.by]} compared on {comparison.base.fabric.hosts_count:,} hosts",
        _what(comparison),
        body,
        f"Made by fabricsim {comparison.runs['version'][0]}.",
        script=f"<script>{get_plotlyjs()}</script>",
    )


def cct_figure(table: pl.DataFrame, runs: pl.DataFrame) -> go.Figure:
    """CCT increase over the lower bound: bars with SEM, a dot for each run."""
    import plotly.graph_objects as go
    import polars as pl

    names = table[table.columns[0]].to_list()
    bars = go.Bar(
        x=names,
        y=_percent(table["cct_increase_fraction_mean"]),
        error_y={"array": _percent(table["cct_increase_fraction_sem"])},
        marker_color=[plot.colours(names)[name] for name in names],
        hovertemplate="%{x}: %{y:.2f} % ± %{error_y.array:.2f}<extra></extra>",
        name="mean",
    )
    done = runs.filter(pl.col("cct_increase_fraction").is_not_null())
    dots = go.Scatter(
        x=done[table.columns[0]].to_list(),
        y=_percent(done["cct_increase_fraction"]),
        customdata=done["seed"].to_list(),
        mode="markers",
        marker={"color": "#333333", "size": 6, "line": {"color": "white", "width": 1}},
        hovertemplate="%{x}, seed %{customdata}: %{y:.2f} %<extra></extra>",
        name="runs",
    )
    return _styled(go.Figure([bars, dots]), y="CCT increase over the bound (%)", legend=False)


def queue_figure(table: pl.DataFrame) -> go.Figure:
    """Largest queue of each stage in data frames, mean with SEM; the hover tells the largest of all runs."""
    import plotly.graph_objects as go

    names = table[table.columns[0]].to_list()
    stages = plot.stages(table)
    columns = [f"{stage.replace('-', '_')}_max_packets" for stage in stages]
    largest = max((value for column in columns for value in table[f"{column}_max"].drop_nulls()), default=1)
    figure = go.Figure()
    for name, row in zip(names, table.iter_rows(named=True), strict=True):
        figure.add_bar(
            x=[stage.replace("-", "→<br>") for stage in stages],
            y=[row[f"{column}_mean"] for column in columns],
            error_y={"array": [row[f"{column}_sem"] for column in columns]},
            customdata=[row[f"{column}_max"] for column in columns],
            marker_color=plot.colours(names)[name],
            name=name,
            hovertemplate="%{x}: %{y:.1f} ± %{error_y.array:.1f}, most %{customdata}",
        )
    figure = _styled(figure, y="largest queue (data frames)")
    # From half a frame, so that a queue of one frame is a bar that can be seen; at least to ten, for two numbers.
    return figure.update_yaxes(type="log", dtick=1, range=[log10(0.5), log10(max(largest, 9)) + 0.1])


def fct_figure(fct: pl.DataFrame) -> go.Figure:
    """Distribution of flow completion times, all runs of a name together; at most 1,000 points a line.

    A line ends at the share of flows that were delivered.
    """
    import plotly.graph_objects as go

    names = fct[fct.columns[0]].unique(maintain_order=True).to_list()
    figure = go.Figure()
    for name in names:
        times, shares = plot.cdf(fct, name)
        kept = sorted({len(times) * point // 1000 for point in range(1000)} | {len(times) - 1}) if times else []
        figure.add_scatter(
            x=[times[place] for place in kept],
            y=[shares[place] for place in kept],
            mode="lines",
            line={"shape": "hv", "color": plot.colours(names)[name]},
            name=name,
            hovertemplate="%{y:.1%} of flows by %{x:.2f} µs",
        )
    return _styled(figure, x="flow completion time (µs)", y="share of flows").update_yaxes(range=[0, 1.01])


def _styled(figure: go.Figure, x: str = "", y: str = "", legend: bool = True) -> go.Figure:
    return figure.update_layout(
        template="plotly_white",
        height=420,
        margin={"l": 60, "r": 10, "t": 35, "b": 40},
        xaxis_title=x,
        yaxis_title=y,
        showlegend=legend,
        # Under the plot: beside it, it would leave a phone no room.
        legend={"orientation": "h", "y": -0.25 if x else -0.12, "yanchor": "top"},
        font={"size": 13},
    )


def _embed(figure: go.Figure) -> str:
    html = figure.to_html(full_html=False, include_plotlyjs=False, config=CONFIG)
    return f'<div class="figure">{html}</div>'


def _what(comparison: Comparison) -> str:
    base, runs = comparison.base, comparison.runs
    seeds = runs["seed"].unique().sort().to_list()
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds ({seeds[0]} to {seeds[-1]})"
    bounds = runs["bound_us"].drop_nulls().unique().sort().to_list()
    bound = " to ".join(f"{bound:.3f}" for bound in dict.fromkeys([*bounds[:1], *bounds[-1:]]))
    mixed = deployment_text(base.deployment)
    transport = f", transport {base.transport.kind}" if comparison.by == "balancer" else ""
    return (
        f"Workload {base.workload.kind} on a {base.fabric.kind} of {base.fabric.hosts_count:,} hosts{transport}; "
        f"{which}, the same for every {comparison.by}. "
        + (f"Mixed deployment: beside each of them, {mixed}. " if mixed else "")
        + (f"Lower bound of the completion time: {bound} µs." if bound else "")
    )


def _varied(comparison: Comparison) -> tuple[str, ...]:
    """Return the fields of the base scenario that the runs do not share."""
    seeds = ("run.seed",) if comparison.runs["seed"].n_unique() > 1 else ()
    return (*(("balancer",) if comparison.by == "balancer" else ("transport", "balancer")), *seeds)


def _means_table(table: pl.DataFrame, cct: str) -> str:
    names = table[table.columns[0]].to_list()
    body = [
        (
            f'<span class="swatch" style="background:{plot.colours(names)[first]}"></span>{escape(first)}',
            *map(escape, rest),
        )
        for first, *rest in readable.rows(table, cct)
    ]
    return html_page.table(readable.headings(table), body)


def _runs_table(runs: pl.DataFrame) -> str:
    shown = [name for name in RUN_COLUMNS if name not in WHERE_VARIED or runs[name].n_unique() > 1]
    return html_page.values_table(runs.select(shown))


def _percent(fractions: pl.Series) -> list[float | None]:
    return (fractions * 100).to_list()
