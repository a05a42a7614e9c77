"""`fabricsim study`: the papers' figures, or one's own, with what the paper claims held against what came out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from fabricsim.cli.options import WHOLE
from fabricsim.errors import ScenarioError

if TYPE_CHECKING:
    from fabricsim.study.files import StudyFile
    from fabricsim.study.run import StudyOutcome

# How many runs that went wrong are named for each study; the page has all.
_PROBLEMS = 5


def study(
    *names: Annotated[str, Parameter(help="Studies, such as ofan/fig04, or my_study.py; `all` for every one.")],
    tier: Annotated[str, Parameter(help="quick (seconds), medium (minutes) or full (the paper's size).")] = "quick",
    out: Annotated[
        Path, Parameter(help="Folder for tables, figures, pages, and rows/ with the measured row of every run.")
    ] = Path("study-out"),
    workers: Annotated[
        int | None, WHOLE, Parameter(help="Runs at a time; by default as many as the cores allow.")
    ] = None,
    strict: Annotated[bool, Parameter(negative=(), help="End with status 1 if a claim differs.")] = False,
    keep: Annotated[
        bool, Parameter(negative=(), help="Copy what a full run came to into studies/results/, and do --summary.")
    ] = False,
    list_: Annotated[
        bool, Parameter(name="--list", negative=(), show_default=False, help="List the studies and their runs.")
    ] = False,
    summary: Annotated[
        bool, Parameter(negative=(), help="Make the table in studies/README.md from studies/results/.")
    ] = False,
) -> int:
    """Run studies and judge the claims of the papers.

    Prints each claim with its verdict, and writes to OUT/STUDY: table.parquet and table.csv (one row a run),
    claims.json, figure.png and figure.pdf, index.html. The measured row of every run is kept in OUT/rows, for all
    studies and tiers: what was interrupted goes on where it stopped.

    Exit status: 0 done; 1 a run did not finish (or, with --strict, a claim differs); 2 bad input.

    For example:

        fabricsim study --list
        fabricsim study ofan/fig04 --tier medium
        fabricsim study all --tier quick
        fabricsim study my_study.py --out my-study
    """
    from fabricsim.study.files import find, load
    from fabricsim.study.run import ROWS
    from fabricsim.study.summary import check_keepable, write_summary
    from fabricsim.study.summary import keep as keep_results

    if workers is not None and workers < 1:
        raise ScenarioError("--workers", workers, "an integer of at least 1")
    if list_:
        if names:
            raise ScenarioError("--list", ", ".join(names), "no names beside it: it lists all studies")
        _show_list()
        return 0
    if summary and not names:
        _say_written(write_summary())
        return 0
    if not names:
        raise ScenarioError("", None, "names of studies (see `fabricsim study --list`), `all`, or a path to one")
    files = [load(name, path) for name, path in find(names)]
    for file in files:
        file.study.check_tier(tier, file.name)
        if keep:
            check_keepable(file, tier)
    for file in files:
        _make_folders(out, out / ROWS, out / file.name)
    outcomes = []
    for file in files:
        outcome, written = _run(file, tier, out, workers)
        outcomes.append(outcome)
        if keep:
            _say_written(keep_results(outcome, written))
    if keep or summary:
        _say_written(write_summary())
    if len(outcomes) > 1:
        _show_totals(outcomes)
    wrong = any(outcome.problems or (strict and outcome.count("differs")) for outcome in outcomes)
    return 1 if wrong else 0


def _make_folders(out: Path, *folders: Path) -> None:
    """Make the folders that a study writes to and try them out: what is wrong with --out must not end a long run."""
    from tempfile import TemporaryFile

    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=folder):
                pass
        except OSError as error:
            allowed = f"a folder that can be written to ({error.strerror}: {folder})"
            raise ScenarioError("--out", out, allowed) from None


def _run(file: StudyFile, tier: str, out: Path, workers: int | None) -> tuple[StudyOutcome, Path]:
    from fabricsim.cli.terminal import keep_matplotlib_home, say, show_table
    from fabricsim.study.run import run_study

    keep_matplotlib_home()
    began = time.perf_counter()
    outcome = run_study(file, tier, out, workers=workers, progress=True)
    written = out / file.name
    page = outcome.write(written)
    rows = [(one.outcome, one.says, one.paper, one.measured, one.why) for one in outcome.verdicts]
    title = f"{file.name} ({file.study.source}): {file.study.title}"
    show_table(title, ("verdict", "claim", "the paper", "measured", "why"), rows, numbers=False)
    runs = f"{outcome.runs_count:,} runs of the {tier} tier, {outcome.kept_count:,} of them kept from before"
    say(f"{file.name}: {runs}; {time.perf_counter() - began:.1f} s; open {page}")
    for problem in outcome.problems[:_PROBLEMS]:
        say(f"fabricsim: {file.name}, {problem}")
    if len(outcome.problems) > _PROBLEMS:
        say(f"fabricsim: {file.name}: and {len(outcome.problems) - _PROBLEMS} more runs that went wrong")
    return outcome, written


def _show_list() -> None:
    from fabricsim.cli.terminal import show_table
    from fabricsim.study.files import known_studies, load
    from fabricsim.study.form import TIERS

    rows = []
    for name, path in known_studies().items():
        study = load(name, path).study
        counts = (f"{sum(1 for _ in study.points(tier)):,}" if tier in study.tiers else "-" for tier in TIERS)
        rows.append((name, study.source, study.title, *counts))
    show_table("studies, and the runs of each tier", ("name", "source", "what it shows", *TIERS), rows, numbers=False)


def _show_totals(outcomes: list[StudyOutcome]) -> None:
    from fabricsim.cli.terminal import show_table

    kinds = ("reproduced", "differs", "not tested")
    rows = [(one.file.name, *(str(one.count(kind)) for kind in kinds), str(len(one.problems))) for one in outcomes]
    sums = (str(sum(int(row[place]) for row in rows)) for place in range(1, 5))
    show_table("all studies", ("study", *kinds, "runs gone wrong"), [*rows, ("together", *sums)])


def _say_written(place: Path) -> None:
    from fabricsim.cli.terminal import say

    say(f"written: {place}")
