"""The command line with its standard streams closed, and with JSON scenarios that are no good."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fabricsim.cli import main

PROGRAM = "import sys; from fabricsim.cli import main; sys.exit(main())"
RUN = "run --preset ofan-paper --set fabric.radix=4 --set workload.message=4KiB --json"


def in_a_shell(arguments: str, closed: str) -> subprocess.CompletedProcess[str]:
    command = f'exec "$0" -c "$1" {arguments} {closed}'
    return subprocess.run(["sh", "-c", command, sys.executable, PROGRAM], capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize(("arguments", "status"), [("list presets", 0), (RUN, 0), ("run none.toml", 2)])
def test_closed_streams_are_no_error(arguments: str, status: int, closed: str) -> None:
    done = in_a_shell(arguments, closed)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    if status == 0:
        assert done.stderr == ""
    else:
        assert done.stdout == "", "what is for standard error must not end up on standard output"
    if arguments == RUN and closed == "2>&-":
        assert json.loads(done.stdout)["unfinished_count"] == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"run": {"seed": 1, "seed": 2}}', '"seed" stands twice in one object'),
        ("{", "a JSON file ("),
    ],
    ids=["deep list", "deep object", "repeated", "cut off"],
)
def test_a_broken_json_scenario_is_one_message_and_2(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(text)
    assert main(["run", str(file)]) == 2
    err = capsys.readouterr().err
    assert why in err
    assert err.count("\n") == 1
