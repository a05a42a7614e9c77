"""What is wrong with a study file, in its own words: when it is read, and when it is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_study import Edit

from fabricsim import ScenarioError
from fabricsim.study.run import run_study


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
        "claim's words": (('paper="worse"', "paper=2"), 'paper: got 2; allowed: a text (claim "random is worse"; '),
        "no axes": (
            ('grid={"balancer": "balancer", "size": "workload.message", "seed": "run.seed"}', "grid={}"),
            "grid: got {}; allowed: at least one axis",
        ),
        "no panel": (("    grid={", "    panels=0,\n    grid={"), "panels: got 0; allowed: an integer of at least 1"),
        "panels": (("    grid={", "    panels=(1, 2, 3),\n    grid={"), "panels: got [1, 2, 3]"),
        "exit": (("LARGEST = ", "raise SystemExit(3)\nLARGEST = "), "line 7: SystemExit: 3"),
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
        "no row": (("    return {LARGEST", "    {LARGEST"), "measure returns a dict, a value by name, not a NoneType"),
        "exit": (("results.summary[LARGEST]", "exit(0)"), "line 22: SystemExit: 0"),
        "claim's exit": (("found.value > 0", "exit(0)"), 'claim "random is worse", line 27: SystemExit: 0'),
        "verdict alone": (
            ('return f"{found:.1f} frames", ', "return "),
            'a text, and True, False or None (tiny, claim "r',
        ),
        "verdict in words": (
            ("found.value > 0", '"yes"'),
            'got ["str", "str"]; allowed: a text, and True, False or None',
        ),
        "verdict as a number": (
            ("found.value > 0", "1"),
            'got ["str", "int"]; allowed: a text, and True, False or None',
        ),
        "nothing found": (
            ('return f"{found:.1f} frames"', 'f"{found:.1f} frames"'),
            "holds: got nothing; allowed: a text",
        ),
        "table": (
            ("\nCLAIMS = [", "def table(runs):\n    return 3\n\n\nCLAIMS = ["),
            "table returned a int, not a DataFrame",
        ),
        "scenario": (
            ("\nCLAIMS = [", "def scenario(base, point):\n    pass\n\n\nCLAIMS = ["),
            "(scenario of balancer rsq, size short, seed 1: TypeError: scenario returned nothing, not a Scenario)",
        ),
        "messages": (
            ("\nCLAIMS = [", "def messages(scenario, point):\n    return [1]\n\n\nCLAIMS = ["),
            "messages returned a list, not a Messages",
        ),
    }


@pytest.mark.parametrize("case", wrong())
def test_what_is_wrong_in_a_study_is_named(tiny: Edit, tmp_path: Path, case: str) -> None:
    edit, message = wrong()[case]
    with pytest.raises(ScenarioError) as refused:
        run_study(tiny(edit), "quick", tmp_path)
    assert message in str(refused.value)
    assert "tiny" in str(refused.value)
    assert "\n" not in str(refused.value)
