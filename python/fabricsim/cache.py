"""Runs kept in a folder by the hash of all that decides them, so that no finished run is run twice."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricsim.results import Results
    from fabricsim.run import Progress
    from fabricsim.scenario import Scenario
    from fabricsim.workloads import Messages


def simulate_cached(scenario: Scenario, folder: Path, name: str, progress: Progress | None = None) -> Results:
    """Return the results in `folder/name-HASH`, or those of a run that is then written there. Not checked.

    The hash covers the scenario (but for `run.threads`, which cannot change a result), the messages themselves (a file
    they come from may have changed) and the simulator.
    """
    from fabricsim import workloads
    from fabricsim.results import Results
    from fabricsim.run import simulate

    messages = workloads.build(scenario)
    place = folder / f"{name}-{content_hash(scenario, messages)}"
    if (place / "scenario.json").exists():
        return Results.read(place)
    results = simulate(scenario, messages, progress, check=False)
    results.write(place)
    return results


def content_hash(scenario: Scenario, messages: Messages | None = None, *more: bytes) -> str:
    """16 hex digits over everything that decides a run's result, and whatever else is given.

    `messages` may be left out where the scenario decides them: a workload that does not come from a file.
    """
    digest = sha256(scenario.model_dump_json(exclude={"run": {"threads"}}).encode())
    for name, column in sorted(messages.to_door().items()) if messages else ():
        digest.update(name.encode() + column.tobytes())
    for part in (_simulator(), *more):
        digest.update(sha256(part).digest())
    return digest.hexdigest()[:16]


# What shows results and cannot change them; every other source of the package counts, so that none can be forgotten.
_SHOWING = (
    "balancer_style.py", "catalogue.py", "cli/*.py", "html_page.py", "plot.py", "progress.py", "readable.py",
    "report.py", "study/page.py", "study/summary.py",
)  # fmt: skip


@cache
def _simulator() -> bytes:
    """Return the simulator's identity: its compiled core and its sources, which may change under the same version."""
    from fabricsim import __version__, _core

    here = Path(__file__).parent
    core = getattr(_core, "__file__", None)
    parts = [__version__.encode(), Path(core).read_bytes() if core else b""]
    for file in sources():
        parts += [file.relative_to(here).as_posix().encode(), file.read_bytes()]
    return b"".join(sha256(part).digest() for part in parts)


def sources() -> list[Path]:
    """Return the package's Python files that decide what a run comes to: all but those that show results."""
    here = Path(__file__).parent
    showing = {file for name in _SHOWING for file in here.glob(name)}
    return sorted(file for file in here.rglob("*.py") if file not in showing)
