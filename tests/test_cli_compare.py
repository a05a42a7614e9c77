"""`fabricsim compare`: what it writes, what it keeps when interrupted, and what it says when a run fails."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fake_core import PAIR, Core, interrupt

from fabricsim.cli import main


def test_compare_writes_everything_and_a_table(
    core: Core, pair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["compare", pair, *PAIR, "--balancers", "ofan,pofan:2", "--seeds", "3", "--out", str(out)]) == 0
    printed, said = capsys.readouterr()
    assert "pofan:2" in printed
    assert str(out / "index.html") in said
    table = pl.read_parquet(out / "table.parquet")
    assert table["balancer"].to_list() == ["ofan", "pofan:2"]
    assert table["runs_count"].to_list() == [3, 3]
    assert table["cct_acked_us_sem"].to_list() == [0.0, 0.0]
    assert pl.read_csv(out / "runs.csv")["seed"].to_list() == [1, 2, 3] * 2
    assert sorted({config["seed"] for config in core.configs}) == [1, 2, 3]
    for name in ("comparison.png", "comparison.pdf", "table.csv"):
        assert (out / name).stat().st_size > 0
    page = (out / "index.html").read_text()
    assert "<script src" not in page
    assert "Plotly.newPlot" in page


def test_an_interrupted_comparison_goes_on_where_it_stopped(core: Core, pair: str, tmp_path: Path) -> None:
    command = ["compare", pair, *PAIR, "--balancers", "ofan,rsq", "--seeds", "3", "--workers", "1", "--out"]
    command.append(str(tmp_path / "out"))
    core.before = lambda: interrupt() if len(core.configs) == 4 else None
    assert main(command) == 130
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 4
    core.before = lambda: None
    assert main(command) == 0
    assert len(core.configs) == 6
    assert main(command) == 0
    assert len(core.configs) == 6  # nothing is left to run


def test_a_changed_scenario_is_run_anew(core: Core, pair: str, tmp_path: Path) -> None:
    command = ["compare", pair, *PAIR, "--balancers", "ofan", "--seeds", "1", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    assert main([*command, "--threads", "2"]) == 0  # threads cannot change a result
    assert len(core.configs) == 1
    assert main([*command, "--set", "frame.gap=12B"]) == 0
    Path(pair).write_text('[{"src": 1, "dst": 0, "bytes": 4096}]')
    assert main(command) == 0
    assert len(core.configs) == 3


def test_a_comparison_with_an_unfinished_run_says_so(
    core: Core, pair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core.lose_the_ack()
    out = tmp_path / "out"
    assert main(["compare", pair, *PAIR, "--balancers", "ofan", "--seeds", "2", "--out", str(out)]) == 1
    printed, said = capsys.readouterr()
    assert "2 of 2" in printed
    assert "ofan, seed 2: 1 of 1 flows are unfinished" in said
    assert "ofan, seed 2: 1 of 1 flows are unfinished" in (out / "index.html").read_text()


def test_transports_are_compared_over_their_usual_balancers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--preset", "dcsim-paper", "--set", "fabric.radix=4", "--set", "workload.kind=permutation")
    out = tmp_path / "out"
    assert main(["compare", *small, "--transports", "dcsim,dcsim/drb,paced", "--seeds", "2", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "dcsim/drb" in printed
    table, runs = (pl.read_parquet(out / f"{name}.parquet") for name in ("table", "runs"))
    assert table["transport"].to_list() == ["dcsim", "dcsim/drb", "paced"]
    assert runs.select("transport", "balancer").unique(maintain_order=True).rows() == [
        ("dcsim", "rps"), ("dcsim/drb", "drb"), ("paced", "ofan"),
    ]  # fmt: skip
    # What one counts, the others may not.
    assert runs["sims_sent_count"].is_null().to_list() == [False] * 4 + [True] * 2
    # Paced hosts start at once, and dcSim's RTT_max later.
    least = runs.group_by("transport").agg(pl.col("cct_delivered_us").min())
    ccts = dict(least.rows())
    assert ccts["dcsim"] > ccts["paced"] + 0.9 * runs["rtt_max_us"].drop_nulls()[0]
    assert "Transports compared on 16 hosts" in (out / "index.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--balancers: got nothing; allowed: one of --balancers and --transports"),
        (["--balancers", "ofan", "--transports", "dcsim"], 'got "ofan and dcsim"'),
        (["--transports", "dcsim,dcsim"], '--transports: got "dcsim"; allowed: each transport once'),
        (["--transports", "dcsin"], 'did you mean "dcsim"'),
        (["--transports", "dcsim/ofan"], "under dcsim: rps, drb"),
    ],
)
def test_what_is_no_comparison_is_refused(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "--preset", "ofan-paper", *options, "--out", str(tmp_path / "out")]
    assert main(command) == 2
    assert message in capsys.readouterr().err
