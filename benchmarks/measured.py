"""What `fabricsim explain` and the documentation say of each balancer's cost and growth, from what was measured.

Writes `python/fabricsim/measured.json`: instructions per packet-hop of `benchmarks/instructions.json`, and the exponent
a of largest queue ~ m^a, with ACKs, of the committed full runs of Ofan Fig. 4 (messages from 256 KiB on, where a
message is at least one rotation over all its paths).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from fabricsim.catalogue import MEASURED
from fabricsim.scenario import BALANCERS, balancer_from_text
from fabricsim.study import growth

ROOT = Path(__file__).resolve().parents[1]
INSTRUCTIONS = ROOT / "benchmarks" / "instructions.json"
FIG04 = ROOT / "studies" / "results" / "ofan" / "fig04" / "table.csv"
FITTED_FROM_BYTES = 256 * 1024


def measured() -> dict[str, dict[str, float]]:
    """Return what is known, by kind of balancer."""
    found: dict[str, dict[str, Any]] = {kind: {} for kind in BALANCERS}
    counts = json.loads(INSTRUCTIONS.read_text())["instructions_per_packet_hop"]
    for kind, count in counts.items():
        # Transports are counted too, and are no balancers.
        if kind not in found:
            continue
        found[kind]["instructions_per_packet_hop"] = count
    runs = pl.read_csv(FIG04).filter(pl.col("acks") == "per-packet", pl.col("message_bytes") >= FITTED_FROM_BYTES)
    for text in runs["balancer"].unique(maintain_order=True):
        balancer = balancer_from_text(text)
        # Variants of a scheme are not its figure; pipes of 4 ports are POfan's default.
        if balancer == type(balancer)():
            fit = growth(runs, "message_bytes", "max_queue_bytes", balancer=text)
            found[balancer.kind] |= {"growth_exponent": round(fit.value, 3), "growth_exponent_sem": round(fit.sem, 3)}
    return {kind: values for kind, values in found.items() if values}


def main() -> None:
    """Write the file."""
    MEASURED.write_text(json.dumps(measured(), indent=1) + "\n")
    print(f"written to {MEASURED}")


if __name__ == "__main__":
    main()
