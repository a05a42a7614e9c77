"""Fixtures that several test files share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fake_core import Core

import fabricsim


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Core:
    """A stand-in for the compiled core, in its place."""
    core = Core()
    monkeypatch.setitem(sys.modules, "fabricsim._core", core)
    monkeypatch.setattr(fabricsim, "_core", core, raising=False)
    return core


@pytest.fixture
def pair(tmp_path: Path) -> str:
    """The one packet of the stand-in core as a message list."""
    file = tmp_path / "pair.json"
    file.write_text('[{"src": 0, "dst": 1, "bytes": 4096}]')
    return str(file)
