"""How fast: packet-hops a second a core, ns a packet-hop, peak memory, and what a second thread brings.

A 1 MiB random permutation with the `ofan-paper` preset at 432 to 65,536 hosts under Ofan, RSQ and JSQ, or under others
(`--balancers`), with the time beside Ofan's in the same run. Every case is a process of its own, so that its peak
memory is its own. Wall time on a shared machine varies: the best of `--repeat` runs counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fabricsim.scenario import BALANCERS as KINDS

RADIX_OF_HOSTS = {432: 12, 1_024: 16, 8_192: 32, 65_536: 64}
BALANCERS = ("ofan", "rsq", "jsq")
# Below this size a run is over before a second thread pays.
THREADED_FROM_HOSTS = 8_192
# A load average above which the machine has other work.
IDLE_LOAD = 0.5


def run_json(preset: str, settings: dict[str, Any]) -> dict[str, Any]:
    """One run in a process of its own; the JSON object that `fabricsim run --json` prints."""
    command = [str(Path(sys.executable).with_name("fabricsim")), "run", "--preset", preset, "--json"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def fastest(preset: str, settings: dict[str, Any], repeat: int) -> dict[str, Any]:
    """Return the fastest of `repeat` runs, with its speed."""
    best = min((run_json(preset, settings) for _ in range(repeat)), key=lambda run: float(run["wall_s"]))
    hops, threads = int(best["packet_hops_count"]), int(settings["run.threads"])
    return {
        "threads": threads,
        "packet_hops_count": hops,
        "wall_s": best["wall_s"],
        "cpu_s": best["cpu_s"],
        "packet_hops_per_s_per_core": hops / best["wall_s"] / threads,
        "ns_per_packet_hop": best["wall_s"] / hops * 1e9,
        "peak_rss_mb": best["peak_rss_mb"],
        "result_hash": best["result_hash"],
    }


def machine() -> dict[str, Any]:
    """Return what the figures were taken on."""
    return {
        "load_before": os.getloadavg()[0],
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
    }


def measure(hosts: int, balancer: str, threads: int, message: str, repeat: int) -> dict[str, Any]:
    """Give the fastest of `repeat` runs of a permutation, as one row."""
    settings = {
        "fabric.radix": RADIX_OF_HOSTS[hosts],
        "workload.message": message,
        "balancer.kind": balancer,
        "run.threads": threads,
    }
    return {"hosts": hosts, "balancer": balancer, "message": message, **fastest("ofan-paper", settings, repeat)}


def add_speed_up(row: dict[str, Any], single: dict[str, Any]) -> None:
    """Compare a run on several threads with the same run on one; they must agree bit for bit."""
    if row["result_hash"] != single["result_hash"]:
        sys.exit(f"{row['hosts']} hosts, {row['balancer']}: {row['threads']} threads gave another result than one")
    row["speed_up"] = single["wall_s"] / row["wall_s"]


def render(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="A hop is a packet-hop: one frame over one link", title_justify="left")
    headings = (
        "hosts",
        "balancer",
        "threads",
        "hops",
        "s",
        "M hops/s/core",
        "ns/hop",
        "over ofan",
        "peak MB",
        "speed-up",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "balancer" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            f"{row['hosts']:,}",
            row["balancer"],
            str(row["threads"]),
            f"{row['packet_hops_count']:,}",
            f"{row['wall_s']:.3f}",
            f"{row['packet_hops_per_s_per_core'] / 1e6:.1f}",
            f"{row['ns_per_packet_hop']:.1f}",
            _over_ofan(row, rows),
            f"{row['peak_rss_mb']:.0f}",
            f"{row['speed_up']:.2f}" if "speed_up" in row else "",
        )
    return table


def _over_ofan(row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """Return the time a packet-hop as a multiple of Ofan's of the same size and threads, where that was run."""
    alike = [one for one in rows if all(one[name] == row[name] for name in ("hosts", "threads", "message"))]
    ofan = next((one for one in alike if one["balancer"] == "ofan"), None)
    return f"{row['ns_per_packet_hop'] / ofan['ns_per_packet_hop']:.2f}" if ofan else ""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, nargs="+", choices=list(RADIX_OF_HOSTS), default=list(RADIX_OF_HOSTS))
    parser.add_argument("--balancers", nargs="+", choices=list(KINDS), default=list(BALANCERS))
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1, 2], help="the first is what others are compared with"
    )
    parser.add_argument("--message", default="1MiB", help="bytes that each host sends (default: 1MiB)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of a case, the fastest counts (default: 3)")
    parser.add_argument(
        "--out", type=Path, default=Path("target/bench.json"), help="JSON file (default: target/bench.json)"
    )
    return parser.parse_args(arguments)


def write(out: Path, before: dict[str, Any], rows: list[dict[str, Any]], console: Console) -> None:
    """Write the rows, and say if the machine had other work."""
    if before["load_before"] > IDLE_LOAD:
        console.print(
            f"The machine was busy before the first case (load {before['load_before']:.1f}): it can do better."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"machine": before, "rows": rows}, indent=1) + "\n")
    console.print(f"written to {out}")


def main() -> None:
    options = parse()
    # The table is 90 columns wide, also where there is no terminal.
    console = Console() if sys.stdout.isatty() else Console(width=100)
    before = machine()
    rows = []
    for hosts in options.hosts:
        for balancer in options.balancers:
            single = None
            for threads in options.threads if hosts >= THREADED_FROM_HOSTS else options.threads[:1]:
                with console.status(f"{hosts:,} hosts, {balancer}, {threads} thread(s)"):
                    row = measure(hosts, balancer, threads, options.message, options.repeat)
                if single is None:
                    single = row
                else:
                    add_speed_up(row, single)
                rows.append(row)
    console.print(render(rows))
    write(options.out, before, rows, console)


if __name__ == "__main__":
    main()
