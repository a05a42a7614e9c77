"""Every example in README.md and docs/ runs, and every relative link leads somewhere.

A page is one session in an empty folder. In their order on the page:

* a ``toml`` block whose first line is ``# NAME.toml`` becomes that file, so does a ``python`` block with ``# NAME.py``;
* a ``python`` block runs, with the names that earlier blocks of the page defined; ``pycon`` is also compared (doctest);
* a ``console`` block runs each ``$ command`` (continued by ``> `` lines) and compares what is printed below it, if
  anything is (``...`` stands for any text, and spacing is not compared);
* a ``bash`` block is not run. Only commands that set up the machine may stand in one.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT)
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
    if "_build" not in path.parts
)
SET_UP = re.compile(r"(make|git|cd|apt-get|bash \.ci/run|rustup|source)\b")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    language: str
    text: str
    line: int


class Command(NamedTuple):
    text: str
    output: str


def blocks(page: str) -> list[Block]:
    return [
        Block(match[1], match[2], page.count("\n", 0, match.start()) + 1)
        for match in re.finditer(r"^```(\w+)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    ]


def commands(console: str) -> list[Command]:
    found: list[Command] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ""))
        elif line.startswith("> ") and not found[-1].output:
            found[-1] = Command(f"{found[-1].text}\n{line[2:]}", "")
        else:
            found[-1] = Command(found[-1].text, f"{found[-1].output}{line}\n")
    return found


def run_console(text: str, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1"}
    for command in commands(text):
        done = subprocess.run(
            ["bash", "-c", command.text],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"$ {command.text}\nended with {done.returncode}:\n{done.stdout}{done.stderr}"
        if command.output.strip():
            got = "\n".join(line.rstrip() for line in done.stdout.splitlines() if line.strip()) + "\n"
            assert doctest.OutputChecker().check_output(command.output, got, FLAGS), f"$ {command.text}\nprinted\n{got}"


def run_pycon(block: Block, names: dict[str, Any], page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, str(page), str(page), block.line)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, "".join(report)


def run_page(page: Path, text: str, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(text):
        match block.language:
            case "toml" | "python" if name := re.match(r"# ([\w.-]+\.(?:toml|py))\n", block.text):
                (folder / name[1]).write_text(block.text)
            case "python":
                exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
            case "pycon":
                run_pycon(block, names, page)
            case "console":
                run_console(block.text, folder)
            case "bash":
                for line in block.text.splitlines():
                    assert SET_UP.match(line), f"{page}: `{line}` could run: make its block `console`"
            case language:
                assert language in ("toml", "text", "json", "rust", "make"), f"{page}: nothing runs `{language}` blocks"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_example_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page, (ROOT / page).read_text(), tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", prose)
    missing = [target for target in targets if not ((ROOT / page).parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize(
    "text",
    [
        "```python\nassert 1 == 2\n```\n",
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```console\n$ exit 3\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```bash\nfabricsim run\n```\n",
        "```perl\nprint 1\n```\n",
    ],
)
def test_a_wrong_example_is_found(text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_page(Path("page.md"), text, tmp_path)


def test_a_page_is_one_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "```toml\n# a.toml\nx = 1\n```\n```python\nfrom pathlib import Path\ny = Path('a.toml').read_text()\n```\n"
        "```pycon\n>>> y[-2:]\n'1\\n'\n```\n"
        "```console\n$ cat a.toml; cat <<END\n> line\n> END\n# a.toml\n...\nline\n```\n"
    )
    run_page(Path("page.md"), text, tmp_path)
