"""Ofan Fig. 7: CCT increase against message size, permutation and all-to-all, and what REPS loses to its timeouts.

A flow of REPS "freezes" after a timeout: it then uses but the few paths that it remembers. The paper conjectures that
this is why REPS gets worse at very large messages. So REPS is run with timeouts of 100 us, as its public code has them,
of 25 us, and without freezing.
"""

import polars as pl

from fabricsim import AllToAll, Bytes, Permutation, Scenario
from fabricsim.plot import curves, log_ticks
from fabricsim.study import Claim, Study, differences, growth, mean

CCT, QUEUE = "cct_increase_fraction", "max_queue_packets"
EARLY, NEVER = "REPS, timeout of 25 us", "REPS, without freezing"
SCHEMES = {
    EARLY: "reps:rto=25us",
    NEVER: "reps:freezing=off",
    **{name: name for name in ("ar", "reps", "pofan:4", "ofan")},
}
PERMUTATION, ALL_TO_ALL = "permutation", "all-to-all"


def workloads(messages, flows):
    """Give permutations of messages, and all-to-alls of flows, of so many KiB, by name."""
    return {
        **{f"{PERMUTATION} {size} KiB": Permutation(message=f"{size}KiB") for size in messages},
        **{f"{ALL_TO_ALL} {size} KiB": AllToAll(message=f"{size}KiB") for size in flows},
    }


STUDY = Study(
    title="CCT increase against message size, random permutation and all-to-all",
    source="Ofan Fig. 7",
    base=Scenario(),
    grid={"balancer": "balancer", "radix": "fabric.radix", "workload": "workload", "seed": "run.seed"},
    tiers={
        tier: {"balancer": SCHEMES, "radix": (radix,), "workload": sent, "seed": seeds}
        for tier, radix, sent, seeds in (
            ("quick", 8, workloads((256, 1024, 4096), (4, 8)), range(1, 3)),
            ("medium", 12, workloads((256, 1024, 4096, 16384), (4, 16)), range(1, 4)),
            ("full", 12, workloads((256, 1024, 4096, 16384, 32768), (4, 16, 64)), range(1, 11)),
        )
    },
    columns=(CCT, QUEUE, "bound_us", "marks_count", "result_hash"),
    panels=2,
)


def table(runs):
    """Split a workload's name into its kind and its message size."""
    parts = pl.col("workload").str.split(" ")
    size = parts.list.get(1).cast(pl.Int64) * 1024
    return runs.with_columns(message_bytes=size, workload=parts.list.get(0))


def increase(table, balancer, size, workload=PERMUTATION):
    return mean(table, CCT, balancer=balancer, workload=workload, message_bytes=size)


def gap(table, name, size, workload=PERMUTATION):
    """Give what 4Ofan gains over a scheme, as a fraction of the bound."""
    where = {"workload": workload, "message_bytes": size}
    return differences(table, CCT, {"balancer": name, **where}, {"balancer": "pofan:4", **where})


def sizes(table, workload):
    return sorted(set(table.filter(pl.col("workload") == workload)["message_bytes"]))


def ordered(table):
    smallest = {
        workload: min(
            gap(table, name, size, workload).percent.value for name in ("ar", "reps") for size in sizes(table, workload)
        )
        for workload in (PERMUTATION, ALL_TO_ALL)
    }
    text = ", ".join(f"{value:.2f} points in {workload}s" for workload, value in smallest.items())
    return f"smallest gap {text}", min(smallest.values()) > 0


def shrinks(workload, first):
    def falls(table):
        last = sizes(table, workload)[-1]
        found = {name: [gap(table, name, size, workload).percent for size in (first, last)] for name in ("ar", "reps")}
        text = ", ".join(f"{name} {small} to {large}" for name, (small, large) in found.items())
        ends = f"from {Bytes(first)} to {Bytes(last)}"
        return f"{text} points {ends}", all(large.value < small.value / 1.3 for small, large in found.values())

    return falls


def as_root(table):
    """Fit the time that 4Ofan gains: it grows as the root of m if, as a share of m, it shrinks so."""
    runs = table.filter((pl.col("workload") == PERMUTATION) & (pl.col("message_bytes") >= 2**20))
    late = runs.with_columns(cct_us=pl.col("bound_us") * (1 + pl.col(CCT)))
    new = late.filter(pl.col("balancer") == "pofan:4").select("message_bytes", "seed", least_us="cct_us")
    lost = late.join(new, on=["message_bytes", "seed"]).with_columns(lost_us=pl.col("cct_us") - pl.col("least_us"))
    found = {name: growth(lost, "message_bytes", "lost_us", balancer=name) for name in ("ar", "reps")}
    text = ", ".join(f"{name} {one.value - 1:.2f} ± {one.sem:.2f}" for name, one in found.items())
    return f"{text} (exponents of m)", all(0.35 <= one.value <= 0.65 for one in found.values())


def worse_when_very_large(balancer):
    def rises(table):
        before, last = sizes(table, PERMUTATION)[-2:]
        small, large = (increase(table, balancer, size).percent for size in (before, last))
        text = f"{small} % at {Bytes(before)}, {large} % at {Bytes(last)}"
        return f"{text}; {timeouts(table, balancer)}", large.value > 1.2 * small.value

    return rises


def timeouts(table, balancer):
    """Say whether timeouts ever had an effect: whether freezing made any run another."""
    runs = table.filter(pl.col("workload") == PERMUTATION)
    hashes = {name: set(runs.filter(pl.col("balancer") == name)["result_hash"]) for name in (balancer, NEVER)}
    changed = len(hashes[balancer] - hashes[NEVER])
    return f"{changed} of {len(hashes[balancer])} runs changed by freezing"


CLAIMS = [
    Claim(
        says="4Ofan is ahead of AR and REPS at every message size, in permutations and in all-to-alls",
        where="section 6.1, Fig. 7",
        paper="the order does not change",
        holds=ordered,
    ),
    Claim(
        says="the gap between 4Ofan and the others shrinks with the message, by a factor of 1.3 or more: permutation",
        where="section 6.1, Fig. 7a",
        paper="decreases",
        holds=shrinks(PERMUTATION, 2**20),
        tier="medium",
    ),
    Claim(
        says="so it does in an all-to-all from 16 KiB a flow on; below that, hosts that meet at receivers hide it",
        where="section 6.1, Fig. 7b",
        paper="decreases",
        holds=shrinks(ALL_TO_ALL, 2**14),
        tier="full",
    ),
    Claim(
        says="as 1/sqrt(m): the lost time over m has an exponent of -0.65 to -0.35, from 1 MiB on",
        where="section 6.1, Fig. 7a",
        paper="-0.5",
        holds=as_root,
        tier="full",
    ),
    Claim(
        says="REPS gets worse at very large messages: its CCT increase rises by a fifth or more at the last step",
        where="section 6.1, Fig. 7a",
        paper="notably worse",
        holds=worse_when_very_large("reps"),
        tier="full",
        why="no flow waits 100 us for an ACK here, so none freezes; with timeouts of 25 us it does",
    ),
    Claim(
        says="with timeouts of 25 us it does, as freezing sets in",
        where="section 6.1, Fig. 7a",
        paper="conjectured cause: freezing as queues become long enough for timeouts",
        holds=worse_when_very_large(EARLY),
        tier="medium",
    ),
]


def plot(table, axes):
    percents = table.with_columns(pl.col(CCT) * 100)
    for axis, workload in zip(axes, (PERMUTATION, ALL_TO_ALL), strict=True):
        runs = percents.filter((pl.col("workload") == workload) & (pl.col("balancer") != NEVER))
        curves(axis, runs, "message_bytes", CCT)
        log_ticks(axis, runs["message_bytes"], {size: str(Bytes(size)) for size in sizes(table, workload)})
        axis.set(title=workload, ylabel="CCT increase over the bound (%)")
    axes[0].set(xlabel="message", yscale="log")
    axes[0].yaxis.set_major_formatter("{x:g}")
    axes[1].set(xlabel="message to each host", ylim=(0, None))
