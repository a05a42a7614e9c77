"""The command line: `fabricsim run | compare | study | check | list | explain | validate | init | convert`.

A thin shell over the package. Exit status: 0 done; 1 unfinished, or a physical bound violated; 2 bad input; 130
interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclopts import App

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

# The shell's convention for a process whose reader went away (128 + SIGPIPE).
READER_GONE = 141

HELP = """Packet-level simulator for AI-training networks.

For example:

    fabricsim run --preset ofan-paper
    fabricsim run scenario.toml --set balancer.kind=rsq --json
    fabricsim compare --preset ofan-paper --balancers ofan,pofan:4,rsq --seeds 10
    fabricsim study ofan/fig06 --tier quick
    fabricsim list balancers
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; every foreseen error is one message on standard error."""
    from cyclopts import CycloptsError

    from fabricsim.cli.terminal import say
    from fabricsim.errors import ScenarioError

    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # Where µ or ± cannot be written a question mark can.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        status = _app()(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except RuntimeError as error:  # unfinished, a bound violated, or a fault of the core itself
        say(f"fabricsim: {error}")
        return FAILED
    except (ScenarioError, CycloptsError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            return _reader_gone()
        say(f"fabricsim: {error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        say("fabricsim: interrupted")
        return INTERRUPTED
    return status if isinstance(status, int) else DONE


def _open_closed_streams() -> None:
    """Take a standard stream that the shell has closed (`>&-`) for one to nowhere: Python has None in its place."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115 - stays open until the process ends


def _app() -> App:
    from cyclopts import App

    from fabricsim.cli.check import check
    from fabricsim.cli.compare import compare
    from fabricsim.cli.discover import explain, list_names
    from fabricsim.cli.files import convert, init, validate
    from fabricsim.cli.run import run
    from fabricsim.cli.study import study

    app = App(name="fabricsim", help=HELP, version=_version, help_format="markdown", suppress_keyboard_interrupt=False)
    commands: tuple[tuple[str, Callable[..., object], str], ...] = (
        ("run", run, "[FILE] [OPTIONS]"),
        ("compare", compare, "[FILE] --balancers LIST [OPTIONS]"),
        ("study", study, "NAME... [OPTIONS]"),
        ("check", check, "BALANCER..."),
        ("list", list_names, "[WHAT]"),
        ("explain", explain, "NAME"),
        ("validate", validate, "FILE... [OPTIONS]"),
        ("init", init, "[FILE] [OPTIONS]"),
        ("convert", convert, "SOURCE TARGET [OPTIONS]"),
    )
    for place, (name, command, arguments) in enumerate(commands):
        usage = f"Usage: fabricsim {name} {arguments}"
        app.command(command, name=name, usage=usage, sort_key=place)
    return app


def _version() -> str:
    """Return the version, which only `--version` needs: finding it out takes time."""
    from fabricsim import __version__

    return __version__


def _reader_gone() -> int:
    """End quietly when the reader of a pipe left (`fabricsim list | head`), also when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_GONE
