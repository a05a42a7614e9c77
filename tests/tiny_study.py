"""The tiny study of data/tiny_study.py, as a path and as tests edit it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fabricsim.study.files import StudyFile

TINY = Path(__file__).parent / "data" / "tiny_study.py"

Edit = Callable[..., StudyFile]
