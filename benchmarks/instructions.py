"""The gate on speed: instructions per packet-hop, counted by callgrind, against `benchmarks/instructions.json`.

Wall time on a shared machine varies by 15 % and more; instruction counts repeat to parts per million with the same
compiler. Each balancer, under paced hosts, and each transport is run twice, with N and with N/2 packets a message; the
difference has no set-up in it. Fails when a scheme needs more than 3 % above the committed count. `--update` writes
this checkout's counts; say why in the commit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMITTED = ROOT / "benchmarks" / "instructions.json"
BALANCERS = (
    "ofan", "pofan", "drb", "ethereal", "rsq", "rps", "reps", "ar", "jsq", "choice", "drill", "conga", "dlb", "sglb",
    "simple-rr", "ecmp", "flowlet",
)  # fmt: skip
TRANSPORTS = ("dcsim", "pfabric", "phost", "dcpim", "constant-window", "dctcp", "nscc", "mswift")
PACKETS = 64
TOLERANCE_FRACTION = 0.03


def build_gate() -> Path:
    """Build `core/examples/gate.rs` in release mode; the path of its binary."""
    command = ["cargo", "build", "--release", "--locked", "--package", "fabricsim-core", "--example", "gate"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "gate"


def count(gate: Path, scheme: str, packets: int) -> tuple[int, int]:
    """(instructions, packet-hops) of one run under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/out",
            str(gate),
            scheme,
            str(packets),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return int(collected[1]), int(done.stdout)


def per_packet_hop(gate: Path, scheme: str) -> float:
    """Instructions per packet-hop without set-up."""
    instructions, hops = count(gate, scheme, PACKETS)
    half_instructions, half_hops = count(gate, scheme, PACKETS // 2)
    return (instructions - half_instructions) / (hops - half_hops)


def compiler() -> str:
    return subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def judge(measured: dict[str, float], committed: dict[str, float]) -> list[str]:
    """Name the schemes that need too many instructions, or that have no committed count."""
    faults = []
    for scheme, value in measured.items():
        limit = committed.get(scheme)
        if limit is None:
            faults.append(f"{scheme}: no committed count; run with --update")
        elif value > limit * (1 + TOLERANCE_FRACTION):
            excess = value / limit - 1
            faults.append(f"{scheme}: {value:.2f} is {excess:.1%} above {limit:.2f}, allowed {TOLERANCE_FRACTION:.0%}")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write this checkout's counts")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing: it counts the instructions (Debian, Ubuntu: apt-get install valgrind)")
    gate = build_gate()
    measured = {scheme: round(per_packet_hop(gate, scheme), 2) for scheme in BALANCERS + TRANSPORTS}
    record = {"compiler": compiler(), "instructions_per_packet_hop": measured}
    if options.update:
        COMMITTED.write_text(json.dumps(record, indent=1) + "\n")
        print(f"written to {COMMITTED}: {measured}")
        return
    committed = json.loads(COMMITTED.read_text())
    for scheme, value in measured.items():
        print(f"{scheme}: {value:.2f} instructions per packet-hop")
    faults = judge(measured, committed["instructions_per_packet_hop"])
    if faults and record["compiler"] != committed["compiler"]:
        faults.append(
            f"the compiler is {record['compiler']}, the counts are of {committed['compiler']}: is it the cause?"
        )
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
