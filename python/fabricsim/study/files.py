"""Study files: where they are, and what each must hold."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim.errors import ScenarioError, Unknown
from fabricsim.study.claims import Claim
from fabricsim.study.form import Point, Study
from fabricsim.study.source import source_hash

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from fabricsim.results import Results
    from fabricsim.scenario import Scenario
    from fabricsim.workloads import Messages

FOLDER = "studies"
ALL = "all"


@dataclass(frozen=True)
class StudyFile:
    """A study as its file states it.

    `name`: "ofan/fig04", or the file's own name outside a folder of studies. `study`, `claims`, `plot(table, axes)`:
    the file's STUDY, CLAIMS and plot. `source_hash`: of what the rows of its runs depend on. May be None:
    `scenario(base, point)`, the last word on a point's scenario; `messages(scenario, point)`, its own messages;
    `measure(results)`, a row other than the summary; `table(runs)`, a table other than the rows.
    """

    name: str
    path: Path
    study: Study
    claims: Sequence[Claim]
    plot: Callable[[pl.DataFrame, list[Axes]], None]
    source_hash: bytes
    scenario: Callable[[Scenario, Point], Scenario] | None = None
    messages: Callable[[Scenario, Point], Messages] | None = None
    measure: Callable[[Results], dict[str, Any]] | None = None
    table: Callable[[pl.DataFrame], pl.DataFrame] | None = None

    @contextmanager
    def blamed(self, what: str) -> Iterator[None]:
        """Turn an error of the file's own code into a `ScenarioError` that names file, line and what was done."""
        try:
            yield
        except ScenarioError as error:
            blamed = ScenarioError(error.field, error.value, error.allowed, f"{self.name}, {what}", error.others)
            blamed.args = (f"{error} ({self.name}, {what})",)  # what the core has refused carries the core's own words
            raise blamed from None
        except (Exception, SystemExit) as error:
            raise _blame(self.path, what, error) from error


def studies_folder() -> Path:
    """Return the folder `studies` of the checkout around the current folder, or of the one the package is in.

    Raises `ScenarioError` if there is none.
    """
    places = [Path.cwd(), *Path.cwd().parents, Path(__file__).resolve().parents[3]]
    for place in places:
        if (place / FOLDER / "README.md").is_file():
            return place / FOLDER
    raise ScenarioError("", None, f"a checkout of fabricsim around the current folder (it has {FOLDER}/), or a path")


def known_studies() -> dict[str, Path]:
    """Return the studies of the checkout by name, such as "ofan/fig04", in the order of their names."""
    folder = studies_folder()
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for path in sorted(folder.glob("*/*.py"))
        if path.parent.name != "results"
    }


def find(names: Sequence[str]) -> list[tuple[str, Path]]:
    """Return name and file of each study: a name, "all", or a path that ends in .py; each once.

    Raises `ScenarioError` for a name that no study has, or a path that no file has.
    """
    found: dict[Path, str] = {}
    for name in names:
        path = Path(name)
        if name == ALL:
            found.update({file.resolve(): known for known, file in known_studies().items()})
        elif path.suffix == ".py":
            if not path.is_file():
                raise ScenarioError("", path, "a file that exists")
            found.setdefault(path.resolve(), _name_of(path))
        else:
            known = known_studies()
            if name not in known:
                from fabricsim.scenario.part import nearest

                raise ScenarioError("", Unknown(name, nearest(name, known)), f"{', '.join(known)}, {ALL}, or a path")
            found.setdefault(known[name].resolve(), name)
    return [(name, path) for path, name in found.items()]


def _name_of(path: Path) -> str:
    path = path.resolve()
    try:
        named = path.relative_to(studies_folder().resolve())
    except (ScenarioError, ValueError):
        return path.stem
    return named.with_suffix("").as_posix() if len(named.parts) > 1 else path.stem


def load(name: str, path: Path) -> StudyFile:
    """Run a study's file and return what it states. Raises `ScenarioError` where that is no study."""
    from types import ModuleType

    module = ModuleType(f"fabricsim_study_{sha256(str(path).encode()).hexdigest()[:16]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where dataclasses and inspect look for it
    try:
        text = path.read_text(encoding="utf-8")
        exec(compile(text, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        raise _blame(path, "read", error) from error
    study, claims, plot = (getattr(module, needed, None) for needed in ("STUDY", "CLAIMS", "plot"))
    if not isinstance(study, Study):
        raise ScenarioError("STUDY", study, "a Study(...)", str(path))
    if not isinstance(claims, Sequence) or not all(isinstance(claim, Claim) for claim in claims):
        raise ScenarioError("CLAIMS", claims, "a list of Claim(...), which may be empty", str(path))
    hooks = {hook: getattr(module, hook, None) for hook in ("scenario", "messages", "measure", "table")}
    for hook, function in (("plot", plot), *hooks.items()):
        if not callable(function) and (hook == "plot" or function is not None):
            raise ScenarioError(hook, function, "a function", str(path))
    return StudyFile(name, path, study, claims, plot, source_hash(path, text), **hooks)  # type: ignore[arg-type]


def _blame(path: Path, what: str, error: Exception | SystemExit) -> ScenarioError:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    line = f", line {lines[-1]}" if lines else ""
    if isinstance(error, ScenarioError):
        where = f"{error.where}; " if error.where else ""
        return ScenarioError(error.field, error.value, error.allowed, f"{where}{path}{line}, {what}", error.others)
    return ScenarioError("", path, f"a study that works ({what}{line}: {type(error).__name__}: {error})")
