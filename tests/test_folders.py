"""Where results may be written, what they replace, and that nobody sees half of them."""

import dataclasses
import threading
from pathlib import Path

import polars as pl
import pytest

from fabricsim import FatTree, Ofan, Permutation, Results, Run, Scenario, ScenarioError, simulate
from fabricsim.compare import compare
from fabricsim.folders import check_folder, written_whole

SCENARIO = Scenario(fabric=FatTree(radix=4), workload=Permutation(message="4KiB"))


@pytest.fixture(scope="module")
def results() -> Results:
    return simulate(SCENARIO)


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?b {c}", "ä µ", "x" * 250])
def test_any_name_reads_back(results: Results, tmp_path: Path, name: str) -> None:
    """`read_parquet` takes brackets and stars for patterns unless told not to."""
    for other in ("a1", "ab"):
        dataclasses.replace(results, flows=results.flows.head(1)).write(tmp_path / other)
    results.write(tmp_path / name)
    assert Results.read(tmp_path / name).flows.equals(results.flows)
    assert {entry.name for entry in tmp_path.iterdir()} == {"a1", "ab", name}


def test_a_comparison_in_a_folder_with_brackets_goes_on(tmp_path: Path) -> None:
    first, second = (compare(SCENARIO, [Ofan()], 2, tmp_path / "[1]*") for _ in range(2))
    assert first.runs.equals(second.runs)


@pytest.mark.parametrize("beside", ["notes.txt", "index.html"])
def test_what_lies_beside_results_is_not_deleted(results: Results, tmp_path: Path, beside: str) -> None:
    folder = results.write(tmp_path / "r")
    (folder / beside).write_text("mine")
    with pytest.raises(FileExistsError, match=f"{beside} beside results"):
        results.write(folder)
    assert (folder / beside).read_text() == "mine"


def test_a_scenario_file_named_as_in_results_is_not_deleted(results: Results, tmp_path: Path) -> None:
    (tmp_path / "scenario.json").write_text("{}")
    with pytest.raises(FileExistsError, match="holds no results"):
        results.write(tmp_path)
    assert (tmp_path / "scenario.json").exists()


def test_a_comparison_does_not_write_over_other_files(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(FileExistsError, match="holds no comparison"):
        compare(SCENARIO, [Ofan()], 1, tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.html"]


def test_the_current_folder_is_refused(results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".", ""):
        with pytest.raises(FileExistsError, match="is the current folder"):
            results.write(name)
    results.write("r")
    monkeypatch.chdir(tmp_path / "r")
    with pytest.raises(FileExistsError, match="is the current folder"):
        results.write(".")


def test_files_and_places_in_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("mine")
    for place in ("f", "f/r"):
        with pytest.raises(FileExistsError, match="is a file, or in one"):
            check_folder(tmp_path / place)


def test_a_place_that_may_not_be_written_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda place, _mode: place != tmp_path)
    with pytest.raises(PermissionError, match="may not be written to"):
        check_folder(tmp_path / "a" / "r")


def test_a_link_stays_and_its_target_is_replaced(results: Results, tmp_path: Path) -> None:
    results.write(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    results.write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert Results.read(tmp_path / "real").flows.equals(results.flows)
    assert {entry.name for entry in tmp_path.iterdir()} == {"real", "link"}


def test_nothing_is_left_of_a_write_that_failed(tmp_path: Path) -> None:

    def interrupted() -> None:
        with written_whole(tmp_path / "r") as beside:
            (beside / "half").write_text("")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_writers_and_readers_of_one_folder_do_not_disturb_each_other(results: Results, tmp_path: Path) -> None:
    """Every reader sees all of one run, and the last writer's stays; nothing is left beside it."""
    versions = [
        dataclasses.replace(
            results,
            scenario=SCENARIO.replace(run=Run(seed=number)),
            flows=results.flows.with_columns(message=pl.lit(number)),
            ports=results.ports.with_columns(marks=pl.lit(number)),
        )
        for number in range(3)
    ]
    versions[0].write(tmp_path / "r")
    faults: list[object] = []

    def write(version: Results) -> None:
        for _ in range(15):
            try:
                version.write(tmp_path / "r")
            except Exception as error:
                faults.append(error)

    def read() -> None:
        for _ in range(30):
            try:
                found = Results.read(tmp_path / "r")
            except Exception as error:
                faults.append(error)
                continue
            numbers = {*found.flows["message"].unique(), *found.ports["marks"].unique(), found.scenario.run.seed}
            if len(numbers) != 1:
                faults.append(numbers)

    threads = [threading.Thread(target=write, args=(version,)) for version in versions]
    threads += [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["r"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scenario.json", "no JSON"),
        ("scenario.json", "[]"),
        ("scenario.json", "{}"),
        ("scenario.json", '{"scenario": 3, "provenance": {}}'),
        ("scenario.json", '{"scenario": {"fabric": {"kind": "torus"}}, "provenance": {}}'),
        ("summary.json", "{}"),
        ("flows.parquet", "no Parquet"),
    ],
)
def test_results_that_are_broken_say_where(results: Results, tmp_path: Path, name: str, text: str) -> None:
    folder = results.write(tmp_path / "r")
    (folder / name).write_text(text)
    with pytest.raises(ScenarioError, match="a folder of results") as caught:
        Results.read(folder)
    assert str(folder) in str(caught.value)


def test_a_folder_that_is_missing_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no results"):
        Results.read(tmp_path / "none")
