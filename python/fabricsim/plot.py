"""Figures for papers (matplotlib), in one style; pure functions of tables, so that a figure never runs a simulation.

The tables are a comparison's: `table` (one row a balancer), `runs` (one row a run), `fct` (see `fabricsim.compare`).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, apart for every kind of colour vision; from the eighth on, Tol's muted ones.
PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F",
    "#332288", "#999933", "#882255", "#44AA99", "#DDCC77",
)  # fmt: skip

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E0E0E0",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
    "errorbar.capsize": 2.5,
    "pdf.fonttype": 42,  # TrueType: editable text, and accepted by publishers
    "savefig.dpi": 200,
}


def colours(balancers: list[str]) -> dict[str, str]:
    """Give each balancer a colour balancer by its place; after twelve they repeat."""
    return {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(balancers)}


def stages(table: pl.DataFrame) -> list[str]:
    """Return the stages of switches' ports that `table` holds, in a packet's order, such as `edge-agg`."""
    ending = "_max_packets_mean"
    names = [name.removesuffix(ending).replace("_", "-") for name in table.columns if name.endswith(ending)]
    return [name for name in names if not name.startswith("host-")]


def cdf(fct: pl.DataFrame, balancer: str) -> tuple[list[float], list[float]]:
    """Flow completion times (us) of one balancer over all its runs, ascending, and the share of flows done by then."""
    import polars as pl

    times = fct.filter(pl.col("balancer") == balancer)["fct_us"].sort().to_list()
    return times, [(place + 1) / len(times) for place in range(len(times))]


def cct_increase(table: pl.DataFrame, runs: pl.DataFrame) -> Figure:
    """CCT increase over the lower bound in percent: a bar with its SEM for each balancer, and a dot for each run."""
    return _single(lambda axes: _draw_cct_increase(axes, table, runs), width=4.5)


def max_queue(table: pl.DataFrame) -> Figure:
    """Draw the largest queue of each stage in data frames, mean over runs with SEM; logarithmic."""
    return _single(lambda axes: _draw_max_queue(axes, table), width=6.0, legend=True)


def fct_cdf(fct: pl.DataFrame) -> Figure:
    """Distribution of flow completion times, all runs of a balancer together."""
    return _single(lambda axes: _draw_fct_cdf(axes, fct), width=4.5, legend=True)


def comparison(table: pl.DataFrame, runs: pl.DataFrame, fct: pl.DataFrame) -> Figure:
    """Draw the three figures of a comparison side by side."""
    with _figure(12.0) as figure:
        left, middle, right = figure.subplots(1, 3, width_ratios=(3, 4, 3))
        _draw_cct_increase(left, table, runs)
        _draw_max_queue(middle, table)
        _draw_fct_cdf(right, fct)
        _legend(figure, middle)
    return figure


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem.png` and `stem.pdf`; returns the two files."""
    import matplotlib as mpl

    files = [stem.with_suffix(".png"), stem.with_suffix(".pdf")]
    with mpl.rc_context(STYLE):
        for file in files:
            figure.savefig(file, bbox_inches="tight")
    return files


def _draw_cct_increase(axes: Axes, table: pl.DataFrame, runs: pl.DataFrame) -> None:
    import polars as pl

    names = table["balancer"].to_list()
    means = [_percent(value) for value in table["cct_increase_fraction_mean"]]
    errors = [_percent(value) for value in table["cct_increase_fraction_sem"]]
    axes.bar(names, means, yerr=errors, color=[colours(names)[name] for name in names], width=0.7)
    for place, name in enumerate(names):
        dots = runs.filter(pl.col("balancer") == name)["cct_increase_fraction"].drop_nulls() * 100
        axes.scatter([place + 0.2] * len(dots), dots.to_list(), s=7, color="black", alpha=0.4, linewidths=0, zorder=3)
    axes.set_ylabel("CCT increase over the bound (%)")
    axes.set_title("Collective completion time (mean, SEM; dots: runs)")
    axes.grid(visible=False, axis="x")
    if len(names) > 4:
        for name in axes.get_xticklabels():
            name.set(rotation=30, ha="right", rotation_mode="anchor")
    if not any(value is not None for value in table["cct_increase_fraction_mean"]):
        _say(axes, "no run finished")


def _draw_max_queue(axes: Axes, table: pl.DataFrame) -> None:
    names = table["balancer"].to_list()
    width = 0.8 / max(len(names), 1)
    where = stages(table)
    for place, row in enumerate(table.iter_rows(named=True)):
        heights = [_value(row[_column(stage, "mean")]) for stage in where]
        errors = [_value(row[_column(stage, "sem")]) for stage in where]
        at = [x + (place - (len(names) - 1) / 2) * width for x in range(len(where))]
        axes.bar(at, heights, width * 0.9, yerr=errors, color=colours(names)[row["balancer"]], label=row["balancer"])
    axes.set_xticks(range(len(where)), [stage.replace("-", "→") for stage in where])
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    # Below one frame, so that a queue of one frame is a bar that can be seen.
    # At least to ten, so that the axis has two numbers.
    axes.set_ylim(bottom=0.5, top=max(10, axes.get_ylim()[1]))
    axes.set_ylabel("largest queue (data frames)")
    axes.set_title("Largest queue of each stage (mean, SEM)")
    axes.grid(visible=False, axis="x")
    if not any(table[_column(stage, "mean")].is_not_null().any() for stage in where):
        _say(axes, "queues were not measured")


def _draw_fct_cdf(axes: Axes, fct: pl.DataFrame) -> None:
    names = fct["balancer"].unique(maintain_order=True).to_list()
    for name in names:
        times, shares = cdf(fct, name)
        axes.step(times, shares, where="post", color=colours(names)[name], label=name)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("flow completion time (µs)")
    axes.set_ylabel("share of flows")
    axes.set_title("Flow completion times (all runs)")
    if fct.is_empty():
        _say(axes, "no flow finished")


def _legend(figure: Figure, axes: Axes) -> None:
    """Put the legend of `axes` under the figure, where it covers nothing; one serves all panels of a figure."""
    columns = max(4, int(figure.get_figwidth()))
    drawn = axes.get_legend_handles_labels()
    figure.legend(*drawn, loc="outside lower center", ncols=columns, columnspacing=1.2, handlelength=1)


def _say(axes: Axes, text: str) -> None:
    """Say why there is nothing to see."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center")


def _single(draw: Any, width: float, *, legend: bool = False) -> Figure:
    with _figure(width) as figure:
        axes = figure.subplots()
        draw(axes)
        if legend:
            _legend(figure, axes)
    return figure


@contextmanager
def _figure(width: float) -> Iterator[Figure]:
    """Make a figure of its own, without pyplot: no global state, no display, safe in threads."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        yield Figure(figsize=(width, 3.4), layout="constrained")


def _column(stage: str, statistic: str) -> str:
    return f"{stage.replace('-', '_')}_max_packets_{statistic}"


def _value(value: float | None) -> float:
    """Say null as NaN, which matplotlib leaves out."""
    return float("nan") if value is None else value


def _percent(fraction: float | None) -> float:
    return _value(fraction) * 100
