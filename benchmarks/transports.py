"""How fast transports are: packet-hops a second a core at 128 hosts, every small packet counted, and peak memory.

The `dcsim-paper` preset: an all-to-all of 87 packets a pair under each transport with the balancer that suits it, and
an infinite all-to-all of 16,256 live flows under dcSim, cut after half and after a whole millisecond: memory must not
grow with time. Every case is a process of its own; the best of `--repeat` runs counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from speed import fastest, machine, write

BALANCER_OF = {"dcsim": "rps", "pfabric": "rsq", "phost": "rsq", "dcpim": "rsq"}
ALL_TO_ALL = {"workload.kind": "all-to-all", "workload.message": "783kB"}
ENDLESS = tuple(
    {"workload.kind": "infinite-all-to-all", "workload.duration": duration} for duration in ("500us", "1ms")
)


def cases() -> list[tuple[str, dict[str, str]]]:
    """Each transport with a workload."""
    return [(kind, ALL_TO_ALL) for kind in BALANCER_OF] + [("dcsim", endless) for endless in ENDLESS]


def render(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="A hop is a packet-hop: one frame of any kind over one link", title_justify="left")
    for heading in ("transport", "workload", "hops", "s", "M hops/s/core", "ns/hop", "peak MB"):
        table.add_column(heading, justify="left" if heading in ("transport", "workload") else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["transport"],
            row["workload"],
            f"{row['packet_hops_count']:,}",
            f"{row['wall_s']:.3f}",
            f"{row['packet_hops_per_s_per_core'] / 1e6:.1f}",
            f"{row['ns_per_packet_hop']:.1f}",
            f"{row['peak_rss_mb']:.0f}",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs of a case, the fastest counts (default: 3)")
    parser.add_argument("--out", type=Path, default=Path("target/bench-transports.json"))
    options = parser.parse_args()
    console, before, rows = Console(width=100), machine(), []
    for transport, workload in cases():
        settings = {**workload, "transport.kind": transport, "balancer.kind": BALANCER_OF[transport], "run.threads": 1}
        name = " ".join(workload.values())
        with console.status(f"{transport}, {name}"):
            rows.append({"transport": transport, "workload": name, **fastest("dcsim-paper", settings, options.repeat)})
    console.print(render(rows))
    write(options.out, before, rows, console)


if __name__ == "__main__":
    main()
