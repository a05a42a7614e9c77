"""Fixtures that several test files share."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from fake_core import Core
from tiny_study import TINY, Edit

import fabricsim
from fabricsim.study.files import StudyFile, load

# A shell that starts the tests in the background has them, and what they start, ignore the keyboard.
signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture
def tiny(tmp_path: Path) -> Edit:
    """The tiny study, with texts replaced: `tiny(("seed", "sead"), ...)`."""

    def make(*edits: tuple[str, str]) -> StudyFile:
        text = TINY.read_text()
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "tiny.py"
        path.write_text(text)
        return load("tiny", path)

    return make
