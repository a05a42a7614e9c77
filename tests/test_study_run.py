"""Studies as a whole: what is run, kept, judged and written, on a study of 16 hosts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from fabricsim import Results, Scenario, ScenarioError, cache, run
from fabricsim.balancer_style import colours, display_name, style
from fabricsim.study.claims import Claim
from fabricsim.study.files import StudyFile, load
from fabricsim.study.kept import fingerprint
from fabricsim.study.run import StudyOutcome, run_study
from fabricsim.study.summary import with_summary

TINY = Path(__file__).parent / "data" / "tiny_study.py"
FILES = {"table.parquet", "table.csv", "claims.json", "figure.png", "figure.pdf", "index.html"}

Edit = Callable[..., StudyFile]


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


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """The scenarios that are really run, in order."""
    scenarios: list[Scenario] = []
    simulate = run.simulate

    def noted(scenario: Scenario, *arguments: object, **named: object) -> Results:
        scenarios.append(scenario)
        return simulate(scenario, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "simulate", noted)
    return scenarios


def test_the_table_has_a_row_a_run_in_the_order_of_the_grid(tiny: Edit, tmp_path: Path) -> None:
    outcome = run_study(tiny(), "quick", tmp_path)
    table = outcome.table
    assert table.columns == ["balancer", "size", "seed", "status", "max_queue_packets", "cct_us"]
    axes = [(name, size, seed) for name in ("rsq", "pofan:1") for size in ("short", "long") for seed in (1, 2, 3)]
    assert table.select("balancer", "size", "seed").rows() == axes
    one = tiny().study.scenario(next(iter(tiny().study.points("quick"))))
    assert table["cct_us"][0] == pytest.approx(run.simulate(one).summary["cct_acked_us"], rel=1e-9)


def test_a_seed_gives_every_balancer_the_same_workload(tiny: Edit, tmp_path: Path) -> None:
    edit = ("return {LARGEST", 'return {"to": str(results.flows["dst"].to_list()), LARGEST')
    table = run_study(tiny(edit), "quick", tmp_path).table
    by_seed = [part["to"].n_unique() for _, part in table.group_by("seed")]
    assert by_seed == [1, 1, 1]
    assert table["to"].n_unique() == 3


def test_each_claim_gets_its_verdict(tiny: Edit, tmp_path: Path) -> None:
    quick = run_study(tiny(), "quick", tmp_path)
    assert [one.outcome for one in quick.verdicts] == ["reproduced", "differs", "not tested", "not tested"]
    assert [one.why for one in quick.verdicts] == [
        "", "nobody wrote that paper", "the runs of this tier cannot tell", "needs the full tier",
    ]  # fmt: skip
    assert quick.verdicts[1].measured.endswith("frames")
    full = run_study(tiny(), "full", tmp_path)
    assert [one.outcome for one in full.verdicts] == ["reproduced", "differs", "not tested", "reproduced"]


def test_two_runs_of_a_study_are_the_same_byte_for_byte(tiny: Edit, tmp_path: Path) -> None:
    folders = []
    for workers in (1, 3):
        outcome = run_study(tiny(), "full", tmp_path / f"rows-{workers}", workers=workers)
        assert outcome.kept_count == 0
        folders.append(tmp_path / f"out-{workers}")
        outcome.write(folders[-1])
    for folder in folders:
        assert {file.name for file in folder.iterdir()} == FILES
    for name in FILES:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name


def test_a_row_holds_nothing_of_the_host_that_ran_it(tiny: Edit, tmp_path: Path) -> None:
    edit = ("def measure(results):", "def unused(results):")
    table = run_study(tiny(edit), "quick", tmp_path).table
    assert {"cct_acked_us", "edge_agg_max_packets", "result_hash"} <= set(table.columns)
    assert not {"wall_s", "cpu_s", "peak_rss_mb", "threads", "version"} & set(table.columns)


def test_what_was_run_is_not_run_again(tiny: Edit, tmp_path: Path, simulated: list[Scenario]) -> None:
    first = run_study(tiny(), "quick", tmp_path)
    assert len(simulated) == first.runs_count == 12
    again = run_study(tiny(("random is worse", "another claim")), "quick", tmp_path)
    assert (len(simulated), again.kept_count) == (12, 12)
    assert again.table.equals(first.table)
    # Another tier runs only what is new; another measure, or another core, runs everything.
    assert run_study(tiny(), "full", tmp_path).kept_count == 12
    assert len(simulated) == 20
    run_study(tiny(('summary["cct_acked_us"]', 'summary["cct_delivered_us"]')), "quick", tmp_path)
    assert len(simulated) == 32


def test_a_rebuilt_core_serves_no_old_rows(
    tiny: Edit, tmp_path: Path, simulated: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_study(tiny(), "quick", tmp_path)
    monkeypatch.setattr(cache, "_simulator", lambda: b"another core")
    assert run_study(tiny(), "quick", tmp_path).kept_count == 0
    assert len(simulated) == 24


def test_a_torn_row_is_run_again(tiny: Edit, tmp_path: Path, simulated: list[Scenario]) -> None:
    run_study(tiny(), "quick", tmp_path)
    row = next((tmp_path / "rows").glob("*/*.json"))
    row.write_text(row.read_text()[:10])
    assert run_study(tiny(), "quick", tmp_path).kept_count == 11
    assert len(simulated) == 13


def test_an_interrupted_study_goes_on_where_it_stopped(
    tiny: Edit, tmp_path: Path, simulated: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate = run.simulate

    def stopped(*arguments: object, **named: object) -> Results:
        if len(simulated) == 5:
            raise KeyboardInterrupt
        return simulate(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "simulate", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_study(tiny(), "quick", tmp_path, workers=1)
    monkeypatch.setattr(run, "simulate", simulate)
    assert run_study(tiny(), "quick", tmp_path).kept_count == 5
    assert len(simulated) == 12


def test_a_fingerprint_covers_what_a_measure_uses(tiny: Edit) -> None:
    def of(*edits: tuple[str, str]) -> bytes:
        measure = tiny(*edits).measure
        assert measure is not None
        return fingerprint(measure)

    plain = of()
    assert plain == of(("Nobody", "Somebody"))
    assert plain != of(('LARGEST = "max_queue_packets"', 'LARGEST = "max_queue_bytes"'))
    helped = ('"cct_us": results.summary["cct_acked_us"]', '"cct_us": helper(results, 1)')
    helper = "\n\ndef helper(results, x):\n    return x\n\n\nCLAIMS = ["
    with_helper = of(helped, ("\n\nCLAIMS = [", helper))
    assert with_helper != of(helped, ("\n\nCLAIMS = [", helper.replace("return x", "return 2 * x")))


def test_an_unfinished_run_is_a_row_and_the_study_says_so(tiny: Edit, tmp_path: Path) -> None:
    late = ('message="64KiB")', 'message="64KiB"), run=Run(time_limit="7us")')
    file = tiny(late, ("import FatTree,", "import FatTree, Run,"))
    outcome = run_study(file, "quick", tmp_path)
    assert outcome.table.height == 12
    assert set(outcome.table.filter(pl.col("cct_us").is_null())["status"]) == {"time-limit"}
    assert len(outcome.problems) == outcome.table["cct_us"].null_count() > 0
    assert outcome.problems[0].startswith("balancer rsq, size ")
    assert "flows are unfinished after" in outcome.problems[0]
    assert "went wrong" in outcome.write(tmp_path / "out").read_text()


def test_a_claim_that_trips_over_unfinished_runs_is_not_tested(tiny: Edit, tmp_path: Path) -> None:
    never = ('message="64KiB")', 'message="64KiB"), run=Run(time_limit="1us")')
    total = ('return f"{found:.1f} frames", found.value > 0', 'return str(sum(table["cct_us"])), True')
    outcome = run_study(tiny(never, total, ("import FatTree,", "import FatTree, Run,")), "quick", tmp_path)
    assert (outcome.verdicts[0].outcome, outcome.verdicts[0].why) == ("not tested", "some runs did not finish")


def test_a_file_may_decide_scenario_messages_and_table(tiny: Edit, tmp_path: Path) -> None:
    hooks = """
def scenario(base, point):
    return base.replace(transport=Paced(load=0.5 if point["size"] == "32KiB" else 1.0))


def messages(scenario, point):
    return Messages.from_arrays([0], [15], int(4096 * 8 * scenario.transport.load))


def table(runs):
    return runs.with_columns(doubled=2 * runs["cct_us"])


CLAIMS = ["""
    file = tiny(("\nCLAIMS = [", hooks), ("import FatTree,", "import FatTree, Messages, Paced,"))
    table = run_study(file, "quick", tmp_path).table
    assert (table["doubled"] == 2 * table["cct_us"]).all()
    # Alone on six links: the last packet's start, its way there and its ACK's way back (docs/explanation/model.md).
    both_ways_us = (2 * 3_000_000 + 6 * 41_580 + 6 * 640) / 1e6
    expected = {"short": 3 * 2 * 41_780 / 1e6 + both_ways_us, "long": 7 * 41_780 / 1e6 + both_ways_us}
    for size, part in table.group_by("size"):
        assert part["cct_us"].to_list() == pytest.approx([expected[str(size[0])]] * 6, abs=1e-9)


def test_an_empty_panel_says_that_nothing_was_run_for_it(tiny: Edit, tmp_path: Path) -> None:
    file = tiny(("\n    tiers={", "\n    panels=2,\n    tiers={"))
    drawn, empty = run_study(file, "quick", tmp_path).figure().axes
    assert [text.get_text() for text in empty.texts] == ["not run in this tier"]
    assert not drawn.texts


def test_a_page_counts_in_words(tiny: Edit, tmp_path: Path) -> None:
    page = run_study(tiny(), "quick", tmp_path).write(tmp_path / "out").read_text()
    assert "12 runs; 1 claim reproduced, 1 differs, 2 not tested." in page


def test_only_the_asked_columns_are_kept(tiny: Edit, tmp_path: Path) -> None:
    file = tiny(("\n    tiers={", '\n    columns=("cct_us",),\n    tiers={'), ("CLAIMS = [", "CLAIMS = []\nOTHERS = ["))
    assert run_study(file, "quick", tmp_path).table.columns == ["balancer", "size", "seed", "status", "cct_us"]


def errors() -> dict[str, tuple[tuple[str, str], str]]:
    return {
        "syntax": (("STUDY = Study(", "STUDY = = Study("), "line 9: SyntaxError"),
        "import": (("import curves", "import curvs"), "line 4: ImportError"),
        "no study": (("STUDY = Study(", "STUDIES = Study("), "STUDY: got nothing"),
        "no claims": (("CLAIMS = [", "CLAIM = ["), "CLAIMS: got nothing"),
        "no plot": (("def plot(", "def draw("), "plot: got nothing"),
        "tier": (('"quick": {', '"fast": {'), 'tiers: got "fast"; allowed: quick, medium, full'),
        "axes": (('"seed": (1, 2, 3)', '"sead": (1, 2, 3)'), "allowed: the axes of the grid: balancer, size, seed"),
        "values": (('("rsq", "pofan:1"), "size": {"short"', '"rsq", "size": {"short"'), "a list of values"),
        "twice": (("(1, 2, 3)", "(1, 2, 1)"), "allowed: each value once"),
        "claim's tier": (('tier="full"', 'tier="huge"'), 'tier: got "huge"; allowed: quick, medium, full'),
    }


@pytest.mark.parametrize("case", errors())
def test_a_file_that_is_no_study_is_refused(tiny: Edit, case: str) -> None:
    edit, message = errors()[case]
    with pytest.raises(ScenarioError) as refused:
        tiny(edit)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def wrong() -> dict[str, tuple[tuple[str, str], str]]:
    return {
        "field": (('"run.seed"', '"runs.seed"'), 'the unknown name "runs.seed"'),
        "inner field": (('"run.seed"', '"run.sead"'), "(tiny, scenario of balancer rsq, size short, seed 1)"),
        "value": (('("rsq", "pofan:1"), "size": {"short"', '("rsq", "pofun"), "size": {"short"'), '"pofun"'),
        "measure": (("results.summary[LARGEST]", "results.sumary"), "line 22: AttributeError"),
        "claim": (("found.value > 0", "found.valeu > 0"), 'claim "random is worse", line 27: AttributeError'),
        "row": (("results.summary[LARGEST]", "[1, 2]"), "a row holds numbers"),
    }


@pytest.mark.parametrize("case", wrong())
def test_what_is_wrong_in_a_study_is_named(tiny: Edit, tmp_path: Path, case: str) -> None:
    edit, message = wrong()[case]
    with pytest.raises(ScenarioError) as refused:
        run_study(tiny(edit), "quick", tmp_path)
    assert message in str(refused.value)
    assert "tiny" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_summary_shows_a_claim_that_differs(tiny: Edit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "studies"
    (folder / "nobody").mkdir(parents=True)
    readme = "# studies\n<!-- made by `fabricsim study --summary`: -->\nold\n<!-- end of what it made -->\nafter\n"
    (folder / "README.md").write_text(readme)
    monkeypatch.chdir(tmp_path)
    for name in ("fig1", "fig2"):
        shutil.copyfile(TINY, folder / "nobody" / f"{name}.py")
    outcome: StudyOutcome = run_study(tiny(), "full", tmp_path)
    outcome.write(folder / "results" / "nobody" / "fig1")
    made = with_summary(readme)
    assert made.endswith("after\n")
    assert "old" not in made
    assert with_summary(made) == made
    first, second = (line for line in made.splitlines() if "Fig. 1" in line)
    assert "| 2 | random is better: " in first
    assert "the paper better (nobody wrote that paper) | nothing can be said" in first
    assert "not run at the full tier" in second
    claims = json.loads((folder / "results" / "nobody" / "fig1" / "claims.json").read_text())
    assert (claims["tier"], claims["runs_count"], len(claims["claims"])) == ("full", 20, 4)


def test_a_claim_is_in_words() -> None:
    with pytest.raises(TypeError):
        Claim("says", "where", "paper", lambda _table: ("", True))  # type: ignore[misc] # by name only


def test_each_balancer_looks_its_own_way() -> None:
    kinds = [
        "ofan", "pofan:4", "drb", "ethereal", "rsq", "rps", "reps", "ar", "jsq", "simple-rr", "choice", "drill",
        "conga", "dlb", "sglb", "ecmp", "flowlet", "pofan:1", "pofan:2",
    ]  # fmt: skip
    assert len({style(kind)["color"] for kind in kinds}) == len(kinds)
    assert colours(kinds[5:]) == {kind: style(kind)["color"] for kind in kinds[5:]}  # whatever else is in the figure
    assert len(set(colours(["ofan", "model", "bound"]).values())) == 3
    assert [display_name(kind) for kind in ("pofan:4", "simple-rr", "ofan", "model")] == [
        "4Ofan", "SimpleRR", "Ofan", "model",
    ]  # fmt: skip


def test_what_a_kept_row_depends_on_is_there_to_be_hashed() -> None:
    package = Path(cache.__file__).parent
    assert [name for name in cache._SOURCES if not list(package.glob(name))] == []
