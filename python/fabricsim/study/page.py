"""The page of a study: its claims and their verdicts, the figure, the numbers behind it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from fabricsim import html_page

if TYPE_CHECKING:
    from fabricsim.study.claims import Verdict
    from fabricsim.study.run import StudyOutcome

_CLASSES = {"reproduced": "reproduced", "differs": "differs", "not tested": "untested"}
_MOST_ROWS = 1000


def study_page(outcome: StudyOutcome, figure: str) -> str:
    """Return the whole page as text; `figure` is SVG."""
    study = outcome.file.study
    table = outcome.table
    runs = "1 run" if outcome.runs_count == 1 else f"{outcome.runs_count:,} runs"
    what = (
        f"{study.source}. The {outcome.tier} tier: {runs}; "
        f"{_claims_count(outcome.count('reproduced'))} reproduced, {outcome.count('differs')} "
        f"{'differs' if outcome.count('differs') == 1 else 'differ'}, {outcome.count('not tested')} not tested."
    )
    shown = "" if table.height <= _MOST_ROWS else f", the first {_MOST_ROWS:,} of {table.height:,}"
    body = (
        (_claims(outcome.verdicts) if outcome.verdicts else "")
        + html_page.problems(outcome.problems)
        + f'<h2>Figure</h2><div class="drawing" style="max-width: {_width_rem(outcome)}rem">{figure}</div>'
        + html_page.folded(f"Every run{shown}", html_page.scrolled(html_page.values_table(table.head(_MOST_ROWS))))
        + html_page.folded("The values of every axis", _axes(outcome))
        + html_page.folded("The scenario that the axes vary, every default written out", html_page.json(study.base))
    )
    return html_page.page(study.title, what, body, "Made by fabricsim.")


def _claims_count(count: int) -> str:
    return "1 claim" if count == 1 else f"{count} claims"


def _width_rem(outcome: StudyOutcome) -> float:
    """Return how wide the figure is shown at most: as much larger than on paper as the page's text is."""
    panels = outcome.file.study.panels
    columns = panels if isinstance(panels, int) else panels[1]
    return round(columns * outcome.file.study.panel_inches[0] * 8, 1)


def _claims(verdicts: tuple[Verdict, ...]) -> str:
    rows = [
        (
            f'<span class="{_CLASSES[one.outcome]}">{one.outcome}</span>',
            *map(escape, (one.says, one.where, one.paper, one.measured, one.why)),
        )
        for one in verdicts
    ]
    headings = ("verdict", "claim", "where", "the paper", "measured", "why")
    return f'<h2>What the paper says</h2><div class="claims scroll">{html_page.table(headings, rows)}</div>'


def _axes(outcome: StudyOutcome) -> str:
    study = outcome.file.study
    labels = {axis: [] for axis in study.grid}  # type: dict[str, list[str]]
    for point in study.points(outcome.tier):
        for axis, label in point.labels.items():
            if str(label) not in labels[axis]:
                labels[axis].append(str(label))
    rows = ((escape(axis), escape(study.grid[axis] or ""), escape(", ".join(labels[axis]))) for axis in study.grid)
    return html_page.scrolled(html_page.table(("axis", "field", "values"), rows))
