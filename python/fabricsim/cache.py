"""Runs kept in a folder by the hash of all that decides them, so that no finished run is run twice."""

from __future__ import annotations

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


def content_hash(scenario: Scenario, messages: Messages) -> str:
    """16 hex digits over everything that decides a run's result."""
    digest = sha256(scenario.model_dump_json(exclude={"run": {"threads"}}).encode())
    for name, column in sorted(messages.to_door().items()):
        digest.update(name.encode() + column.tobytes())
    digest.update(_simulator())
    return digest.hexdigest()[:16]


def _simulator() -> bytes:
    """Return the simulator's identity: its compiled core, which a rebuild may change under the same version."""
    from fabricsim import __version__, _core

    core = getattr(_core, "__file__", None)
    return __version__.encode() + (sha256(Path(core).read_bytes()).digest() if core else b"")
