"""The core made to err: what to do to its every output, or to every configuration on its way there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Config = dict[str, Any]
Output = dict[str, Any]
Doctor = Callable[[Config, Output], None]
Saboteur = Callable[[Config], None]


def doctor_outputs(monkeypatch: pytest.MonkeyPatch, doctor: Doctor) -> None:
    """From now on `doctor` changes what the core returns."""
    from fabricsim import _core

    real = _core.run

    def run(config: str, messages: object, progress: object) -> Output:
        output: Output = real(config, messages, progress)  # type: ignore[arg-type, assignment]
        doctor(json.loads(config), output)
        return output

    monkeypatch.setattr(_core, "run", run)


def sabotage_configs(monkeypatch: pytest.MonkeyPatch, saboteur: Saboteur) -> None:
    """From now on `saboteur` changes what the core is told."""
    from fabricsim import _core

    real = _core.run

    def run(config: str, messages: object, progress: object) -> object:
        changed = json.loads(config)
        saboteur(changed)
        return real(json.dumps(changed), messages, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "run", run)


def seed_is_one(config: Config) -> None:
    config["seed"] = 1


def draws_by_thread(config: Config) -> None:
    config["seed"] = config["threads"]


def draws_when_watched(config: Config) -> None:
    config["seed"] = 2 if config["measure"]["queues"] else 1
