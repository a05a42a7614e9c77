"""The command line's contract (docs/reference/command-line.md), against a stand-in core where a run is needed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fake_core import PAIR, Core, interrupt

from fabricsim.cli import main
from fabricsim.cli.scenario_input import read_scenario
from fabricsim.scenario import scenario_from_mapping, scenario_from_toml

COMMANDS = ("run", "compare", "list", "explain", "validate", "init", "convert")
# What other tools rely on, from the contract.
FIELDS = (
    "hosts", "flows_count", "unfinished_count", "cct_acked_us", "cct_delivered_us", "bound_us", "cct_increase_fraction",
    "max_queue_packets", "max_queue_bytes", "queues", "drops_count", "marks_count", "utilisation_fraction",
    "packets_count", "packet_hops_count", "wall_s", "cpu_s", "peak_rss_mb", "result_hash", "version",
)  # fmt: skip


def test_json_is_one_object_with_the_promised_fields(core: Core, pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    del core
    assert main(["run", pair, *PAIR, "--json"]) == 0
    out = capsys.readouterr().out
    summary = json.loads(out)
    assert out.count("\n") == 1
    assert set(FIELDS) <= set(summary)
    assert summary["cct_acked_us"] == pytest.approx(4.16888)
    assert set(summary["queues"]["leaf-spine"]) == {"max_packets", "mean_packets", "overload_fraction"}


def test_options_reach_the_core(core: Core, pair: str) -> None:
    assert main(["run", pair, *PAIR, "--seed", "7", "--threads", "2", "--set", "balancer=drill:3"]) == 0
    (config,) = core.configs
    assert (config["seed"], config["threads"]) == (7, 2)
    assert config["balancer"] == {"kind": "drill", "ports_sampled": 3, "ports_remembered": 1}


def test_an_unfinished_run_ends_with_1_and_is_kept(
    core: Core, pair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core.lose_the_ack()
    assert main(["run", pair, *PAIR, "--json", "--out", str(tmp_path / "out")]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["unfinished_count"] == 1
    assert "flow 0 (host-0 to host-1): 1 of 1 packets delivered, 0 acknowledged" in err
    assert pl.read_parquet(tmp_path / "out" / "flows.parquet").height == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run"], "--preset"),
        (["run", "--preset", "ofan-papr"], "ofan-paper"),
        (["run", "none.toml"], "none.toml"),
        (["run", "picture.png"], "picture.png"),
        (["run", "--preset", "ofan-paper", "--set", "fabric.radix=7"], "fabric.radix: got 7"),
        (["run", "--preset", "ofan-paper", "--set", "fabric.radx=8"], "radix"),
        (["run", "--preset", "ofan-paper", "--set", "balancer"], "name=value"),
        (["run", "--preset", "ofan-paper", "--seed", "-1"], "run.seed: got -1"),
        (["run", "--preset", "ofan-paper", "--seed", "one"], "--seed"),
        (["run", "--preset", "ofan-paper", "--seed", "1.5"], '--seed: got "1.5"'),
        (["run", "--preset", "ofan-paper", "--threads", "1.5"], "run.threads: got 1.5"),
        (["compare", "--preset", "ofan-paper", "--balancers", "rsq", "--seeds", "1.5"], '--seeds: got "1.5"'),
        (["compare", "--preset", "ofan-paper", "--balancers", "rsq", "--workers", "1.5"], '--workers: got "1.5"'),
        (["convert", "none.cm", "some.npz", "--hosts", "1.5"], '--hosts: got "1.5"'),
        (["run", "--preset", "ofan-papr"], "(--preset)"),
        (["run", "--preset", "ofan-paper", "--threads", "0"], "(--threads)"),
        (["run", "--preset", "ofan-paper", "--seed", "-1"], "(--seed)"),
        (["run", "--preset", "ofan-paper", "--set", "run.threads=0"], "(--set run.threads)"),
        (["run", "--preset", "ofan-paper", "--colour", "red"], "--colour"),
        (["compare", "--preset", "ofan-paper"], "--balancers"),
        (["compare", "--preset", "ofan-paper", "--balancers", "ofan,ofan"], "each balancer once"),
        (["compare", "--preset", "ofan-paper", "--balancers", "ofan,rsk"], "rsq"),
        (["compare", "--preset", "ofan-paper", "--balancers", "rsq", "--seeds", "0"], "--seeds: got 0"),
        (["list", "balancer"], "balancers"),
        (["explain", "offan"], "ofan"),
        (["validate"], "--schema"),
        (["convert", "none.cm", "some.npz"], "none.cm"),
        (["rum"], "rum"),
    ],
)
def test_bad_input_is_one_message_and_2(
    arguments: list[str],
    named: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert named in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_results_are_not_written_over_other_files(core: Core, pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", pair, *PAIR, "--out", str(Path(pair).parent)]) == 2
    assert "holds no results" in capsys.readouterr().err
    assert core.configs == []  # refused before the run, not after it


def test_ctrl_c_ends_with_130(core: Core, pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    core.before = interrupt
    assert main(["run", pair, *PAIR]) == 130
    assert capsys.readouterr().err == "fabricsim: interrupted\n"


def in_a_process(arguments: list[str], **options: Any) -> subprocess.Popen[str]:
    program = "import sys; from fabricsim.cli import main; sys.exit(main())"
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, text=True, **options)


def test_a_reader_that_leaves_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = in_a_process(["list"], stdout=writer)
    os.close(writer)
    assert process.communicate()[1] == ""
    assert process.returncode == 141


def test_a_terminal_without_greek_gets_question_marks() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    process = in_a_process(["list", "balancers"], stdout=subprocess.PIPE, env=environment)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "?(1)" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "For example" in text
    assert f"fabricsim {command} " in text.partition("For example")[2]


def test_help_loads_nothing_heavy() -> None:
    heavy = ("numpy", "polars", "matplotlib", "plotly", "networkx", "scipy", "pydantic")
    program = (
        "import sys\n"
        "from fabricsim.cli import main\n"
        "main(['--help'])\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_init_writes_a_scenario_that_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scenario.toml"
    assert main(["init", str(file), "--set", "fabric.radix=4"]) == 0
    assert scenario_from_toml(file) == scenario_from_mapping({"preset": "ofan-paper", "fabric": {"radix": 4}})
    assert main(["init", str(file)]) == 2
    assert main(["validate", str(file)]) == 0
    assert "16 messages on a fat-tree of 16 hosts" in capsys.readouterr().out


def test_validate_checks_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, worse = (tmp_path / name for name in ("good.cm", "bad.cm", "worse.toml"))
    good.write_text("Nodes 16\nConnections 1\n0->1 start 0 size 4096\n")
    bad.write_text("Nodes 16\nConnections 1\n0->16 start 0 size 4096\n")
    worse.write_text("[fabric]\nradix = 7\n")
    assert main(["validate", str(bad), str(good), str(worse)]) == 2
    out, err = capsys.readouterr()
    assert "good.cm: good: 1 messages on a fat-tree of 16 hosts" in out  # 4^3 / 4 hosts: radix 4 without being told
    assert "bad.cm:3" in err
    assert "fabric.radix: got 7" in err


def test_the_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--schema"]) == 0
    assert "fabric" in json.loads(capsys.readouterr().out)["properties"]


@pytest.mark.parametrize("between", ["messages.npz", "messages.parquet", "messages.json"])
def test_convert_there_and_back(between: str, tmp_path: Path) -> None:
    matrix, middle, back = tmp_path / "matrix.cm", tmp_path / between, tmp_path / "back.cm"
    matrix.write_text("Nodes 16\nConnections 2\n0->5 start 0 size 100000\n3->1 start 2 size 4097\n")
    assert main(["convert", str(matrix), str(middle)]) == 0
    assert main(["convert", str(middle), str(back), "--hosts", "16"]) == 0
    flows = [line.split() for line in back.read_text().splitlines() if "->" in line]
    assert [(flow[0], flow[flow.index("size") + 1], flow[flow.index("start") + 1]) for flow in flows] == [
        ("0->5", "100000", "0"),
        ("3->1", "4097", "2"),
    ]
    assert main(["convert", str(matrix), str(middle)]) == 2  # never over a file unasked


@pytest.mark.parametrize(
    ("options", "fabric"),
    [
        ([], ("fat-tree", 4)),
        (["preset=ofan-paper"], ("fat-tree", 4)),
        (["fabric.rate=400Gbps"], ("fat-tree", 4)),
        (["fabric.kind=leaf-spine", "fabric.radix=8"], ("leaf-spine", 8)),
        (["fabric.kind=leaf-spine"], ("leaf-spine", None)),
    ],
)
def test_a_matrix_brings_the_radix(options: list[str], fabric: tuple[str, int | None], tmp_path: Path) -> None:
    # 16 hosts are 4^3 / 4, a fat tree; 32 would be 8^2 / 2, a leaf-spine tree; 16 are none of those.
    hosts = 32 if fabric == ("leaf-spine", 8) else 16
    matrix = tmp_path / "matrix.cm"
    matrix.write_text(f"Nodes {hosts}\nConnections 1\n0->1 start 0 size 4096\n")
    scenario = read_scenario(matrix, overrides=options)
    kind, radix = fabric
    assert scenario.fabric.kind == kind
    assert scenario.fabric.radix == (radix or type(scenario.fabric)().radix)


def test_a_long_path_is_shown_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ("long" * 30) / "none.toml"
    assert main(["validate", str(file)]) == 2
    assert f'got "{file}"' in capsys.readouterr().err


def test_a_run_shows_its_deployment_and_its_failures(core: Core, pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    del core
    sets = ("deployment.balancer=pofan:4", "deployment.placement=all-edge", "transport.load=0.5")
    options = [*PAIR, *(option for value in sets for option in ("--set", value))]
    assert main(["run", pair, *options]) == 0
    shown = capsys.readouterr().out
    assert "with pofan:4 on all-edge" in shown
    assert "links down" not in shown
    assert main(["run", pair, *options, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["deployment"], summary["links_down_count"]) == ("pofan:4 on all-edge", 0)


def test_a_run_shows_its_links_down_and_load(core: Core, pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    del core
    four = ["--set", "fabric.kind=leaf-spine", "--set", "fabric.radix=4", "--set", "transport.load=0.5"]
    assert main(["run", pair, *four, "--set", 'fabric.links_down=[["leaf-0", "spine-1"]]']) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "links down 1 load 0.5000" in shown


def test_a_share_in_percent_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    field = "fabric.failures.edge_agg_probability"
    for text, hint in (("2%", "from 0 to 1 (did you mean 0.02?)"), ("200%", "from 0 to 1 (--set")):
        assert main(["run", "--preset", "ofan-paper", "--set", f"{field}={text}"]) == 2
        assert hint in capsys.readouterr().err


def test_list_says_what_a_question_mark_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "balancers"]) == 0
    shown = capsys.readouterr().out
    assert "Θ(m)?" in shown
    assert "?: not proved" in shown
