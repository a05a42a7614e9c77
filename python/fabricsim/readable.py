"""A comparison's table as a person reads it: rounded texts, the same on the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

# With a new line where a heading is wider than what stands under it, so that the table fits 80 columns.
_HEADINGS = (
    "CCT\n(µs)", "over\nbound (%)", "max queue\n(frames)", "max of\nall runs", "util.\n(%)", "s a\nrun",
)  # fmt: skip


def headings(table: pl.DataFrame) -> tuple[str, ...]:
    """Return the headings over `rows`; how many runs are unfinished stands there only where some are."""
    return (table.columns[0], *_HEADINGS, *(["unfinished\nruns"] if _some_unfinished(table) else []))


def rows(table: pl.DataFrame, cct: str = "cct_acked_us") -> list[tuple[str, ...]]:
    """One tuple of texts a balancer or transport: means ± standard errors; of queues also the largest of all runs.

    `cct`: the completion time that is shown (`Comparison.cct`).
    """
    unfinished = _some_unfinished(table)
    return [_row(row, table.columns[0], cct, unfinished) for row in table.iter_rows(named=True)]


def _some_unfinished(table: pl.DataFrame) -> bool:
    return bool(table["unfinished_runs_count"].sum())


def _row(row: dict[str, Any], name: str, cct: str, unfinished: bool) -> tuple[str, ...]:
    largest = row["max_queue_packets_max"]
    return (
        row[name],
        _mean_sem(row, cct, 3),
        _mean_sem(row, "cct_increase_fraction", 2, 100),
        _mean_sem(row, "max_queue_packets", 1),
        "-" if largest is None else f"{largest:,}",
        _mean_sem(row, "utilisation_fraction", 1, 100),
        f"{row['wall_s_mean']:.2f}",
        *([f"{row['unfinished_runs_count']} of {row['runs_count']}"] if unfinished else []),
    )


def _mean_sem(row: dict[str, Any], name: str, digits: int, scale: float = 1) -> str:
    mean, sem = row[f"{name}_mean"], row[f"{name}_sem"]
    if mean is None:
        return "-"
    return f"{mean * scale:,.{digits}f}" + ("" if sem is None else f" ± {sem * scale:,.{digits}f}")
