"""HTML pages that need no network: the frame of a page, and the pieces that all of them are made of."""

from __future__ import annotations

from html import escape
from string import Template
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from fabricsim.scenario import Scenario


def page(title: str, what: str, body: str, origin: str, script: str = "") -> str:
    """Return a whole page. `title`, `what` (a paragraph) and `origin` (who made it) are texts, the others are HTML."""
    from importlib.resources import files

    template = Template(files("fabricsim").joinpath("report.html").read_text(encoding="utf-8"))
    origin = f"{origin} Nothing on this page is loaded from a network."
    return template.substitute(title=escape(title), what=escape(what), body=body, origin=escape(origin), script=script)


def table(headings: Iterable[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells are HTML."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in body)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def values_table(values: pl.DataFrame) -> str:
    """Return a table of values, six digits of each real number."""
    return table(values.columns, ([escape(_text(value)) for value in row] for row in values.iter_rows()))


def scrolled(html: str) -> str:
    """Let what is too wide scroll sideways by itself."""
    return f'<div class="scroll">{html}</div>'


def folded(summary: str, html: str) -> str:
    """Hide a part until its summary, a text, is clicked."""
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"


def json(scenario: Scenario, varied: Iterable[str] = ()) -> str:
    """Return a scenario with every default written out; of the fields `varied`, such as "run.seed", that they are."""
    from json import dumps

    fields = scenario.model_dump(mode="json")
    for name in varied:
        *parts, last = name.split(".")
        table = fields
        for part in parts:
            table = table[part]
        table[last] = "varied"
    return f"<pre>{escape(dumps(fields, indent=2, ensure_ascii=False))}</pre>"


def problems(texts: Sequence[str]) -> str:
    """Return what went wrong in which run, folded; nothing if nothing did."""
    if not texts:
        return ""
    what = "1 run went wrong" if len(texts) == 1 else f"{len(texts)} runs went wrong"
    return folded(what, f'<div class="problems">{escape(chr(10).join(texts))}</div>')


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
