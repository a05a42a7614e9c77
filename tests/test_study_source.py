"""What a kept row depends on: the study's file, the modules beside it, and the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fabricsim import cache
from fabricsim.study.source import source_hash

STUDY = """
import numpy as np

LEVELS = np.arange(5000)
FACTOR = 2

def scaled(value, factor=2, *, shift=0):
    return value * factor + shift

def unused(table):
    return table

def makes(factor):
    def inner(results):
        return {"x": factor * scaled(FACTOR)}
    return inner

class Kind:
    scale = 3

measure = makes(4)
STUDY = Study(title="before")
CLAIMS = [Claim(says="before", holds=unused)]
"""

CHANGING = {
    "closure": ("makes(4)", "makes(5)"),
    "default": ("factor=2, *", "factor=3, *"),
    "keyword default": ("shift=0", "shift=1"),
    "the middle of a long array": ("np.arange(5000)", "np.arange(5000) + (np.arange(5000) == 2500)"),
    "global": ("FACTOR = 2", "FACTOR = 3"),
    "class": ("scale = 3", "scale = 4"),
    "helper": ("value * factor", "value + factor"),
    "inner function": ("factor * scaled", "factor + scaled"),
    "claims read by the measure": ("scaled(FACTOR)", "scaled(len(CLAIMS))"),
}


@pytest.mark.parametrize("case", CHANGING)
def test_whatever_a_measure_uses_changes_the_hash(case: str, tmp_path: Path) -> None:
    old, new = CHANGING[case]
    assert old in STUDY
    assert source_hash(tmp_path / "a.py", STUDY) != source_hash(tmp_path / "a.py", STUDY.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('says="before"', 'says="after"'),
        ('title="before"', 'title="after"'),
        ("return table", "return 2 * table"),
        ("FACTOR = 2", "FACTOR = 2  # of nothing"),
    ],
)
def test_what_is_only_said_or_judged_leaves_it(old: str, new: str, tmp_path: Path) -> None:
    assert source_hash(tmp_path / "a.py", STUDY) == source_hash(tmp_path / "b.py", STUDY.replace(old, new))
    # Unless the measure may read it.
    for reader in ("globals()", "CLAIMS, STUDY, unused", '["CLAIMS", "STUDY", "unused"]'):
        reading = STUDY.replace("scale = 3", f"scale = {reader}")
        if "#" not in new:
            assert source_hash(tmp_path / "a.py", reading) != source_hash(tmp_path / "a.py", reading.replace(old, new))


def test_modules_beside_the_file_count_however_they_are_imported(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    files = {
        "near.py": "import nearer",
        "nearer.py": "X = 1",
        "package/__init__.py": "from . import part",
        "package/part.py": "Y = 1",
        "other.py": "Z = 1",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    study = STUDY + "\ndef late():\n    import near\n    from package import part\n"

    def now() -> bytes:
        return source_hash(tmp_path / "study.py", study)

    for name, text in files.items():
        before = now()
        (tmp_path / name).write_text(text + "  # changed")
        assert (now() == before) == (name == "other.py"), name


def test_the_hash_is_the_same_in_every_process(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from fabricsim import cache;"
        "from fabricsim.study.source import source_hash;"
        f"print(source_hash(Path({str(tmp_path / 'a.py')!r}), sys.stdin.read()).hex(), cache._simulator().hex())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed}, input=STUDY, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1
    assert source_hash(tmp_path / "a.py", STUDY).hex() in outputs.pop()


def test_every_source_counts_but_those_that_show_results() -> None:
    package = Path(cache.__file__).parent
    counted = {file.relative_to(package).as_posix() for file in cache.sources()}
    assert {
        "failures.py", "deployment.py", "offered_load.py", "theory/rho_max.py", "theory/splits.py",
        "theory/best_split.py", "scenario/balancers/scheme.py", "study/kept.py", "workloads/draws.py", "run.py",
    } <= counted  # fmt: skip
    left_out = {file.relative_to(package).as_posix() for file in package.rglob("*.py")} - counted
    shown = {"balancer_style", "catalogue", "html_page", "plot", "progress", "readable", "report"}
    assert {name for name in left_out if not name.startswith("cli/")} == {
        *(f"{name}.py" for name in shown), "study/page.py", "study/summary.py",
    }  # fmt: skip
    assert all(list(package.glob(name)) for name in cache._SHOWING)


def test_a_changed_source_of_the_package_is_another_simulator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = cache._simulator.__wrapped__()
    (tmp_path / "theory").mkdir()
    for file in cache.sources():
        copy = tmp_path / file.relative_to(Path(cache.__file__).parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "cache.py"))
    assert cache._simulator.__wrapped__() == before
    (tmp_path / "theory" / "splits.py").write_bytes(b"# nothing")
    assert cache._simulator.__wrapped__() != before
