"""A comparison's table as a person reads it: rounded texts, the same on the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

HEADINGS = ("balancer", "runs", "CCT (µs)", "over bound (%)", "largest queue (frames)", "utilisation (%)", "s a run")


def rows(table: pl.DataFrame) -> list[tuple[str, ...]]:
    """One tuple of texts a balancer, under `HEADINGS`: means ± standard errors; of queues also the largest of all."""
    return [_row(row) for row in table.iter_rows(named=True)]


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    unfinished = row["unfinished_runs_count"]
    cct = "cct_acked_us" if row["cct_acked_us_mean"] is not None else "cct_delivered_us"
    largest = row["max_queue_packets_max"]
    return (
        row["balancer"],
        str(row["runs_count"]) + (f" ({unfinished} unfinished)" if unfinished else ""),
        _mean_sem(row, cct, 3),
        _mean_sem(row, "cct_increase_fraction", 2, 100),
        _mean_sem(row, "max_queue_packets", 1) + ("" if largest is None else f", most {largest}"),
        _mean_sem(row, "utilisation_fraction", 1, 100),
        f"{row['wall_s_mean']:.2f}",
    )


def _mean_sem(row: dict[str, Any], name: str, digits: int, scale: float = 1) -> str:
    mean, sem = row[f"{name}_mean"], row[f"{name}_sem"]
    if mean is None:
        return "-"
    return f"{mean * scale:,.{digits}f}" + ("" if sem is None else f" ± {sem * scale:,.{digits}f}")
