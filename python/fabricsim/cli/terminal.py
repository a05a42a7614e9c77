"""What the command line says: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def say(text: str) -> None:
    """Print a line for the person at the terminal, kept out of standard output, which may be piped."""
    print(text, file=sys.stderr)


def show_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> None:
    """Print a table on standard output, and a blank line; with `numbers` every column but the first to the right.

    Few lines and no frame, so that a comparison fits 80 columns; what does not fit is folded, never cut.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if numbers and place else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    # What is shown may hold brackets and colons of its own.
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        # A pipe or a file has no width to keep to: one line a row.
        console.width = 200
    # Printed as text: rich would end the process by itself when the reader of a pipe leaves.
    with console.capture() as text:
        console.print(title, style="bold")
        console.print()
        console.print(table)
    print("\n".join(line.rstrip() for line in text.get().splitlines()), end="\n\n")


def keep_matplotlib_home() -> None:
    """Keep the font list that matplotlib writes inside the virtual environment, out of the user's home."""
    if sys.prefix != sys.base_prefix:
        os.environ.setdefault("MPLCONFIGDIR", str(Path(sys.prefix) / "cache" / "matplotlib"))
