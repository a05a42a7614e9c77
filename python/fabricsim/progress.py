"""Progress bars on standard error, and only when that is a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def run_bar() -> Iterator[Callable[[int, int, int], None]]:
    """Show a bar for one run; yields the function for the core to call."""
    with _bar() as bar:
        task = bar.add_task("simulating", total=None, count="")

        def tick(simulated_ps: int, finished: int, total: int) -> None:
            reached = f"simulated {simulated_ps / 1e6:,.1f} µs"
            bar.update(
                task, completed=finished, total=total, description=reached, count=f"{finished:,} of {total:,} flows"
            )

        yield tick


@contextmanager
def many_bar(runs: int, what: str = "simulating") -> Iterator[Callable[[int, float], None]]:
    """Show a bar for several runs, with `what` before it; yields a function of (run's place, share of it done)."""
    with _bar() as bar:
        task = bar.add_task(what, total=runs, count=f"0 of {runs} runs")
        shares = [0.0] * runs

        def report(place: int, share: float) -> None:
            shares[place] = share
            bar.update(task, completed=sum(shares), count=f"{sum(share >= 1 for share in shares)} of {runs} runs")

        yield report
