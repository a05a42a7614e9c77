"""How fast transports are: packet-hops a second a core, every small packet counted, and peak memory.

Transports with windows: a permutation of 1 MiB messages over Ofan among 1,024 hosts, with the `ofan-paper` preset. The
others, at 128 hosts with the `dcsim-paper` preset: an all-to-all of 87 packets a pair with the balancer that suits it,
and an infinite all-to-all of 16,256 live flows under dcSim, cut after half and after a whole millisecond: memory must
not grow with time. Every case is a process of its own; the best of `--repeat` runs counts.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from speed import fastest, machine, write

from fabricsim.scenario import TRANSPORTS

WINDOWED = tuple(kind for kind, model in TRANSPORTS.items() if model.has_window)
BALANCER_OF = {"dcsim": "rps", "pfabric": "rsq", "phost": "rsq", "dcpim": "rsq"}
KINDS = (*WINDOWED, *BALANCER_OF)


@dataclass(frozen=True)
class Case:
    """A transport over a balancer, and the scenario that it is measured in."""

    transport: str
    balancer: str
    preset: str
    hosts: int
    workload: str
    settings: dict[str, str] = field(default_factory=dict)


def cases(kinds: tuple[str, ...] = KINDS) -> list[Case]:
    """Each transport with a workload."""
    tree = {"fabric.radix": "16", "workload.message": "1MiB"}
    mesh = {"workload.kind": "all-to-all", "workload.message": "783kB"}
    found = [Case(kind, "ofan", "ofan-paper", 1_024, "permutation 1MiB", tree) for kind in WINDOWED]
    for kind, balancer in BALANCER_OF.items():
        found.append(Case(kind, balancer, "dcsim-paper", 128, "all-to-all 783kB", mesh))
    for duration in ("500us", "1ms"):
        endless = {"workload.kind": "infinite-all-to-all", "workload.duration": duration}
        found.append(Case("dcsim", "rps", "dcsim-paper", 128, f"infinite-all-to-all {duration}", endless))
    return [case for case in found if case.transport in kinds]


def render(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="A hop is a packet-hop: one frame of any kind over one link", title_justify="left")
    left = ("transport", "balancer", "workload")
    for heading in (*left, "hosts", "hops", "s", "M hops/s/core", "ns/hop", "peak MB"):
        table.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["transport"],
            row["balancer"],
            row["workload"],
            f"{row['hosts']:,}",
            f"{row['packet_hops_count']:,}",
            f"{row['wall_s']:.3f}",
            f"{row['packet_hops_per_s_per_core'] / 1e6:.1f}",
            f"{row['ns_per_packet_hop']:.1f}",
            f"{row['peak_rss_mb']:.0f}",
        )
    return table


def measure(case: Case, repeat: int) -> dict[str, Any]:
    """Give the fastest of `repeat` runs of a case, as one row."""
    chosen = {"transport.kind": case.transport, "balancer.kind": case.balancer, "run.threads": 1}
    row = {name: getattr(case, name) for name in ("transport", "balancer", "workload", "hosts")}
    return {**row, **fastest(case.preset, {**case.settings, **chosen}, repeat)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs of a case, the fastest counts (default: 3)")
    parser.add_argument("--transports", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--out", type=Path, default=Path("target/bench-transports.json"))
    options = parser.parse_args()
    console, before, rows = Console(width=120), machine(), []
    for case in cases(tuple(options.transports)):
        with console.status(f"{case.transport}, {case.workload}"):
            rows.append(measure(case, options.repeat))
    console.print(render(rows))
    write(options.out, before, rows, console)


if __name__ == "__main__":
    main()
