"""`fabricsim compare`: several balancers or transports, several seeds, one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fabricsim.cli.options import WHOLE, File, Preset, Seed, Set, Threads
from fabricsim.errors import ScenarioError


def compare(
    file: File = None,
    /,
    *,
    balancers: Annotated[
        str | None,
        Parameter(help="Balancers, separated by commas only; a parameter follows a colon: ofan,pofan:4,rsq."),
    ] = None,
    transports: Annotated[
        str | None,
        Parameter(
            help="Transports instead: dcsim,dcpim,phost,pfabric. Parameters follow a colon: dcsim:wait_fraction=0. "
            "Each runs over the balancer that is usual for it, or over one that follows a slash: dcpim/simple-rr."
        ),
    ] = None,
    preset: Preset = None,
    set_: Set = None,
    seeds: Annotated[int, WHOLE, Parameter(help="How many seeds: run.seed and those after it.")] = 10,
    seed: Seed = None,
    threads: Threads = None,
    workers: Annotated[
        int | None, WHOLE, Parameter(help="Runs at a time; by default as many as the cores allow.")
    ] = None,
    out: Annotated[Path, Parameter(help="Folder for tables, figure, HTML page and every run's results.")] = Path(
        "comparison"
    ),
) -> int:
    """Compare load balancers, or transports, on one scenario over several seeds.

    Prints a table of means and standard errors, and writes to the folder: table.parquet and table.csv (one row a
    balancer or transport), runs.parquet and runs.csv (one row a run), comparison.png and comparison.pdf, index.html,
    and runs/ with the results of every run. A comparison that was interrupted goes on where it stopped.

    Exit status: 0 done; 1 a flow did not finish, or a physical bound is violated; 2 bad input.

    For example:

        fabricsim compare scenario.toml --balancers ofan,pofan:4,rsq --seeds 20
        fabricsim compare --preset ofan-paper --balancers ofan,drb --out drb
        fabricsim compare scenario.toml --transports dcsim,dcpim,dcpim/simple-rr
    """
    from fabricsim.cli.scenario_input import read_contestants, read_scenario
    from fabricsim.cli.terminal import keep_matplotlib_home, say, show_table
    from fabricsim.compare import compare_all
    from fabricsim.deployment import deployment_text
    from fabricsim.readable import headings, rows

    if seeds < 1:
        raise ScenarioError("--seeds", seeds, "an integer of at least 1")
    if workers is not None and workers < 1:
        raise ScenarioError("--workers", workers, "an integer of at least 1")
    base = read_scenario(file, preset, set_ or (), seed, threads)
    by, chosen = read_contestants(balancers, transports)
    keep_matplotlib_home()
    comparison = compare_all(base, by, chosen, seeds, folder=out, workers=workers, progress=True)
    hosts, runs = f"{base.fabric.hosts_count:,} hosts", "1 seed" if seeds == 1 else f"{seeds} seeds"
    mixed = deployment_text(base.deployment)
    where = f"{base.fabric.kind} of {hosts}" + (f" with {mixed}" if mixed else "")
    title = f"{base.workload.kind} on a {where}, {runs}: mean ± standard error"
    show_table(title, headings(comparison.table), rows(comparison.table, comparison.cct))
    files = comparison.write(out)
    say(f"tables, figure and page are in {out}: open {files[-1]}")
    for place, problem in enumerate(comparison.problems):
        # The first in full, of the others a line each: the page has all.
        say(f"fabricsim: {problem if place == 0 else problem.splitlines()[0]}")
    return 1 if comparison.problems else 0
