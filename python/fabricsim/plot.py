"""Figures for papers (matplotlib), in one style; pure functions of tables, so that a figure never runs a simulation.

The tables are a comparison's: `table` (one row a balancer or transport, named in a column `balancer` or `transport`),
`runs` (one row a run), `fct` (see `fabricsim.compare`), or a study's (one row a run).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fabricsim.balancer_style import colours, display_name, style

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "STYLE", "cct_increase", "cdf", "colours", "comparison", "curves", "display_name", "fct_cdf", "leave_empty",
    "log_ticks", "max_queue", "panels", "save", "stages", "style", "svg",
]  # fmt: skip

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
    "svg.hashsalt": "fabricsim",  # else every drawing names its parts anew
    "savefig.dpi": 200,
}

# Nothing of when and where a figure was made, so that the same figure is the same file.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    ".svg": {"Date": None, "Creator": None},
}


def stages(table: pl.DataFrame) -> list[str]:
    """Return the stages of switches' ports that `table` holds, in a packet's order, such as `edge-agg`."""
    ending = "_max_packets_mean"
    names = [name.removesuffix(ending).replace("_", "-") for name in table.columns if name.endswith(ending)]
    return [name for name in names if not name.startswith("host-")]


def cdf(fct: pl.DataFrame, name: str) -> tuple[list[float], list[float]]:
    """Flow completion times (us) under one name over all its runs, ascending, and the share of flows done by then.

    The last share is that of the flows that were delivered: 1 if all were.
    """
    import polars as pl

    times = fct.filter(pl.col(_by(fct)) == name)["fct_us"]
    done = times.drop_nulls().sort().to_list()
    return done, [(place + 1) / len(times) for place in range(len(done))]


def cct_increase(table: pl.DataFrame, runs: pl.DataFrame) -> Figure:
    """CCT increase over the lower bound in percent: a bar with its SEM for each name, and a dot for each run."""
    return _single(lambda axes: _draw_cct_increase(axes, table, runs), width=4.5)


def max_queue(table: pl.DataFrame) -> Figure:
    """Draw the largest queue of each stage in data frames, mean over runs with SEM; logarithmic."""
    return _single(lambda axes: _draw_max_queue(axes, table), width=6.0, legend=True)


def fct_cdf(fct: pl.DataFrame) -> Figure:
    """Distribution of flow completion times, all runs of a name together."""
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
            figure.savefig(file, bbox_inches="tight", metadata=_METADATA[file.suffix])
    return files


def svg(figure: Figure) -> str:
    """Return the figure as SVG, to be put into a page."""
    from io import StringIO

    import matplotlib as mpl

    text = StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", bbox_inches="tight", metadata=_METADATA[".svg"])
    return text.getvalue()[text.getvalue().index("<svg") :]


@contextmanager
def panels(
    count: int | tuple[int, int], inches: tuple[float, float] = (4.2, 3.2)
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Give a figure of `count` panels side by side, or (rows, columns), to draw in; one legend is put under all."""
    rows, columns = (1, count) if isinstance(count, int) else count
    with _figure(inches[0] * columns, inches[1] * rows) as figure:
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        yield figure, axes
        drawn = [axis.get_legend_handles_labels() for axis in axes]
        entries = {name: handle for handles, names in drawn for handle, name in zip(handles, names, strict=True)}
        if entries:
            # Of points with errors the line is enough.
            handles = [handle[0] if isinstance(handle, tuple) else handle for handle in entries.values()]
            width = max(len(name) for name in entries) * 0.07 + 0.45
            fitting = max(2, min(len(entries), int(figure.get_figwidth() / width)))
            figure.legend(
                handles, entries, loc="outside lower center", ncols=fitting, columnspacing=1.2, handlelength=1.6
            )


def log_ticks(axes: Axes, values: Iterable[float], texts: Mapping[float, str] | None = None) -> None:
    """Make the x axis logarithmic, with ticks at `values` and nowhere else.

    `texts` say what stands at them; by default the numbers. A text that would touch the one before is left out.
    """
    from math import log

    ticks = sorted(set(values))
    axes.set_xscale("log")
    columns = axes.get_gridspec().ncols  # type: ignore[union-attr]
    letter = 0.075 / (0.8 * axes.get_figure(root=True).get_figwidth() / columns)  # type: ignore[union-attr]
    names: list[str] = []
    free_from = float("-inf")
    for value in ticks:
        place = log(value / ticks[0]) / (log(ticks[-1] / ticks[0]) or 1)
        name = (texts or {}).get(value, f"{value:,g}")
        half = (len(name) + 0.5) * letter / 2
        names.append(name if place - half >= free_from else "")
        free_from = place + half if names[-1] else free_from
    axes.set_xticks(ticks, names)
    axes.set_xticks([], minor=True)


def leave_empty(axes: Axes, why: str) -> None:
    """Say in a panel why there is nothing to see, and take its numbers away, which would mean nothing."""
    axes.tick_params(which="both", bottom=False, left=False, labelbottom=False, labelleft=False)
    axes.grid(visible=False)
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center")


def curves(
    axes: Axes,
    table: pl.DataFrame,
    x: str,
    y: str,
    *,
    by: str = "balancer",
    scale: float = 1,
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw the mean of `y` (times `scale`) against `x` with its SEM, a line for each value of `by` in its own style.

    `table` has a row a run. `names`: what the legend calls a value of `by`; by default a balancer's name in the paper.
    """
    import polars as pl

    from fabricsim.replication import means

    points = means(table.select(by, x, y).filter(pl.col(y).is_not_null()), [by, x])
    lines = [str(name) for name in points[by].unique(maintain_order=True)]
    points = points.with_columns(pl.col(by).cast(pl.String))
    for name in lines:
        line = points.filter(pl.col(by) == name).sort(x)
        axes.errorbar(
            line[x].to_list(),
            (line[f"{y}_mean"] * scale).to_list(),
            [_value(sem) * scale for sem in line[f"{y}_sem"]],
            label=(names or {}).get(name) or display_name(name),
            **{**style(name), "color": colours(lines)[name]},
        )


def _by(table: pl.DataFrame) -> str:
    """Return the column that says what is compared."""
    return "transport" if "transport" in table.columns else "balancer"


def _draw_cct_increase(axes: Axes, table: pl.DataFrame, runs: pl.DataFrame) -> None:
    import polars as pl

    names = table[_by(table)].to_list()
    means = [_percent(value) for value in table["cct_increase_fraction_mean"]]
    errors = [_percent(value) for value in table["cct_increase_fraction_sem"]]
    axes.bar(names, means, yerr=errors, color=[colours(names)[name] for name in names], width=0.7)
    for place, name in enumerate(names):
        dots = runs.filter(pl.col(_by(table)) == name)["cct_increase_fraction"].drop_nulls() * 100
        # With a white edge, so that they show on a black bar too.
        axes.scatter(
            [place + 0.2] * len(dots),
            dots.to_list(),
            s=13,
            color="#333333",
            edgecolors="white",
            linewidths=0.6,
            zorder=3,
        )
    axes.set_ylabel("CCT increase over the bound (%)")
    axes.set_title("Collective completion time (mean, SEM; dots: runs)")
    axes.grid(visible=False, axis="x")
    if len(names) > 4:
        for name in axes.get_xticklabels():
            name.set(rotation=30, ha="right", rotation_mode="anchor")
    if not any(value is not None for value in table["cct_increase_fraction_mean"]):
        leave_empty(axes, "no run finished")


def _draw_max_queue(axes: Axes, table: pl.DataFrame) -> None:
    names = table[_by(table)].to_list()
    width = 0.8 / max(len(names), 1)
    where = stages(table)
    for place, row in enumerate(table.iter_rows(named=True)):
        heights = [_value(row[_column(stage, "mean")]) for stage in where]
        errors = [_value(row[_column(stage, "sem")]) for stage in where]
        at = [x + (place - (len(names) - 1) / 2) * width for x in range(len(where))]
        axes.bar(at, heights, width * 0.9, yerr=errors, color=colours(names)[names[place]], label=names[place])
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
        leave_empty(axes, "queues were not measured")


def _draw_fct_cdf(axes: Axes, fct: pl.DataFrame) -> None:
    names = fct[_by(fct)].unique(maintain_order=True).to_list()
    for name in names:
        times, shares = cdf(fct, name)
        axes.step(times, shares, where="post", color=colours(names)[name], label=name)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("flow completion time (µs)")
    axes.set_ylabel("share of flows")
    unfinished = fct["fct_us"].null_count() > 0
    axes.set_title("Flow completion times (all runs" + ("; not all flows finished)" if unfinished else ")"))
    if not fct["fct_us"].is_not_null().any():
        leave_empty(axes, "no flow finished")


def _legend(figure: Figure, axes: Axes) -> None:
    """Put the legend of `axes` under the figure, where it covers nothing; one serves all panels of a figure."""
    columns = max(4, int(figure.get_figwidth()))
    drawn = axes.get_legend_handles_labels()
    figure.legend(*drawn, loc="outside lower center", ncols=columns, columnspacing=1.2, handlelength=1)


def _single(draw: Any, width: float, *, legend: bool = False) -> Figure:
    with _figure(width) as figure:
        axes = figure.subplots()
        draw(axes)
        if legend:
            _legend(figure, axes)
    return figure


@contextmanager
def _figure(width: float, height: float = 3.4) -> Iterator[Figure]:
    """Make a figure of its own, without pyplot: no global state, no display, safe in threads."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def _column(stage: str, statistic: str) -> str:
    return f"{stage.replace('-', '_')}_max_packets_{statistic}"


def _value(value: float | None) -> float:
    """Say null as NaN, which matplotlib leaves out."""
    return float("nan") if value is None else value


def _percent(fraction: float | None) -> float:
    return _value(fraction) * 100
