"""What all studies came to: the committed results of full runs, and the table in studies/README.md made from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim.errors import ScenarioError
from fabricsim.study.files import known_studies, load, studies_folder
from fabricsim.study.form import TIERS
from fabricsim.study.run import CLAIMS, FIGURE, TABLE

if TYPE_CHECKING:
    from fabricsim.study.files import StudyFile
    from fabricsim.study.run import StudyOutcome

RESULTS = "results"
BEGIN, END = "<!-- made by `fabricsim study --summary`: -->", "<!-- end of what it made -->"


def check_keepable(file: StudyFile, tier: str) -> None:
    """Raise `ScenarioError` for another tier than the full one, or a study from outside the checkout."""
    if tier != TIERS[-1]:
        raise ScenarioError("--keep", tier, f"the {TIERS[-1]} tier only")
    if file.name not in known_studies():
        raise ScenarioError("--keep", file.path, f"a study in {studies_folder()}")


def keep(outcome: StudyOutcome, written: Path) -> Path:
    """Copy table, claims and figure of a full run from the folder `written` to studies/results/NAME; returns that.

    Raises `ScenarioError` as `check_keepable` does.
    """
    check_keepable(outcome.file, outcome.tier)
    place = studies_folder() / RESULTS / outcome.file.name
    place.mkdir(parents=True, exist_ok=True)
    for name in (TABLE, CLAIMS, FIGURE):
        shutil.copyfile(written / name, place / name)
    return place


def write_summary() -> Path:
    """Make the table in studies/README.md anew; returns that file."""
    readme = studies_folder() / "README.md"
    readme.write_text(with_summary(readme.read_text(encoding="utf-8")), encoding="utf-8")
    return readme


def with_summary(readme: str) -> str:
    """Return the text of studies/README.md with the table between its two marks made from the committed results.

    Raises `ScenarioError` if a mark is missing.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ScenarioError("", None, f"the lines {BEGIN} and {END}", "studies/README.md")
    return f"{before}{BEGIN}\n\n{_table()}\n{END}{after}"


def _table() -> str:
    rows = [
        "| study | what is drawn | reproduced | differs | not tested |",
        "|---|---|---|---|---|",
        *(_row(name, path) for name, path in known_studies().items()),
    ]
    return "\n".join(rows) + "\n"


def _row(name: str, path: Path) -> str:
    place = Path(RESULTS) / name
    file = studies_folder() / place / CLAIMS
    if not file.is_file():
        study = load(name, path).study
        return _line(f"{name} ({study.source})", study.title, "", "", "not run at the full tier")
    results = json.loads(file.read_text(encoding="utf-8"))
    by_outcome: dict[str, list[dict[str, Any]]] = {"reproduced": [], "differs": [], "not tested": []}
    for claim in results["claims"]:
        by_outcome[claim["outcome"]].append(claim)
    differs = "; ".join(
        f"{one['says']}: {one['measured']}, the paper {one['paper']} ({one['why']})" for one in by_outcome["differs"]
    )
    untested = "; ".join(f"{one['says']} ({one['why']})" for one in by_outcome["not tested"])
    title = f"[{name}]({place.as_posix()}/{FIGURE}) ({results['source']})"
    return _line(title, results["title"], str(len(by_outcome["reproduced"])), differs or "0", untested or "0")


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
