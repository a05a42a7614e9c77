"""`fabricsim study`: names, tiers, exit statuses, and the studies of this checkout."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fabricsim import run
from fabricsim.cli import main
from fabricsim.study.files import known_studies, load, studies_folder
from fabricsim.study.form import TIERS
from fabricsim.study.summary import RESULTS, with_summary

TINY = Path(__file__).parent / "data" / "tiny_study.py"
ROOT = Path(__file__).parents[1]


def study(*arguments: str) -> int:
    return main(["study", *arguments])


def test_a_path_is_run_and_its_claims_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert study(str(TINY), "--out", str(tmp_path), "--workers", "1") == 0
    printed, said = capsys.readouterr()
    assert "random is better" in printed
    assert "nobody wrote that paper" in printed
    assert "12 runs of the quick tier, 0 of them kept" in said
    assert str(tmp_path / "tiny_study" / "index.html") in said
    page = (tmp_path / "tiny_study" / "index.html").read_text()
    assert "<svg" in page
    assert "src=" not in page  # nothing is loaded
    assert '<span class="differs">differs</span>' in page


def test_a_claim_that_differs_counts_only_if_strict(tmp_path: Path) -> None:
    assert study(str(TINY), "--out", str(tmp_path)) == 0
    assert study(str(TINY), "--out", str(tmp_path), "--strict") == 1


def test_an_unfinished_run_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late = tmp_path / "late.py"
    text = TINY.read_text().replace('message="64KiB")', 'message="64KiB"), run=Run(time_limit="7us")')
    late.write_text(text.replace("import FatTree,", "import FatTree, Run,"))
    assert study(str(late), "--out", str(tmp_path)) == 1
    assert "late, balancer rsq, size " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "names of studies"),
        (("ofan/fig6",), 'the unknown name "ofan/fig6" (did you mean "ofan/fig06"?)'),
        (("nowhere.py",), "a file that exists"),
        ((str(TINY), "--tier", "medium"), 'tier: got the unknown name "medium"; allowed: quick, full (tiny_study)'),
        ((str(TINY), "--workers", "0"), "an integer of at least 1"),
        ((str(TINY), "--keep"), '--keep: got "quick"; allowed: the full tier only'),
        ((str(TINY), "--keep", "--tier", "full"), "allowed: a study in "),
        ((str(TINY), "--list"), "--list: got "),
    ],
)
def test_bad_input_ends_with_2_and_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert study(*arguments, "--out", str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.splitlines()[-1].startswith("fabricsim: ")
    assert not list(tmp_path.iterdir())  # nothing was run


@pytest.mark.parametrize("taken", ["", "rows", "tiny_study"])
def test_a_place_that_cannot_be_written_to_is_found_before_any_run(
    taken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    (out / taken).parent.mkdir(exist_ok=True)
    (out / taken).write_text("a file")
    monkeypatch.setattr(run, "simulate", None)
    assert study(str(TINY), "--out", str(out)) == 2
    said = capsys.readouterr().err
    assert said.startswith(f'fabricsim: --out: got "{out}"; allowed: a folder that can be written to (')
    assert study(str(TINY), "--out", "/proc/nowhere") == 2
    assert 'fabricsim: --out: got "/proc/nowhere"; allowed: a folder' in capsys.readouterr().err


def test_what_a_claim_says_is_printed_to_the_letter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / "odd.py"
    words = "within [0.1, 2] of [/b] and [bold]m[/bold] :smile:"
    odd.write_text(TINY.read_text().replace('says="random is worse"', f'says="{words}"'))
    assert study(str(odd), "--out", str(tmp_path)) == 0
    assert words in capsys.readouterr().out


def test_studies_are_found_from_below_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for folder in (ROOT / "docs" / "how-to", tmp_path):
        monkeypatch.chdir(folder)
        assert studies_folder() == ROOT / "studies"
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "README.md").touch()
    monkeypatch.chdir(tmp_path)
    assert known_studies() == {}  # the nearer folder counts


def test_the_list_names_every_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert study("--list") == 0
    printed = capsys.readouterr().out
    for name in known_studies():
        assert f"{name} " in printed


@pytest.mark.parametrize("name", known_studies())
def test_a_study_of_the_checkout_is_whole(name: str) -> None:
    file = load(name, known_studies()[name])
    assert tuple(file.study.tiers) == TIERS
    assert file.claims
    words = [claim.says for claim in file.claims]
    assert len(set(words)) == len(words)
    text = file.path.read_text()
    assert not re.search(r"^import (os|sys|subprocess|pathlib)|\bsimulate|\bopen\(", text, flags=re.MULTILINE)
    for tier in TIERS:  # every point makes a scenario; a file may ask for one that the core refuses only in a run
        for point in list(file.study.points(tier))[:3]:
            scenario = file.study.scenario(point)
            if file.scenario:
                file.scenario(scenario, point)
    results = studies_folder() / RESULTS / name / "claims.json"
    if results.exists():
        judged = [claim["says"] for claim in json.loads(results.read_text())["claims"]]
        assert judged == words, f"run `fabricsim study {name} --tier full --keep`"


def test_the_committed_summary_is_that_of_the_committed_results() -> None:
    readme = (studies_folder() / "README.md").read_text()
    assert with_summary(readme) == readme, "run `fabricsim study --summary`"
