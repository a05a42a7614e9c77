"""Ofan Fig. 17: how much larger DRB's largest queue is than Ofan's, as the network grows.

Both see the same traffic. A permutation that stays in no pod, 256 packets each.
"""

from itertools import pairwise

from fabricsim import InterPodPermutation, Scenario
from fabricsim.plot import log_ticks
from fabricsim.study import Claim, Study, ratios

QUEUE = "max_queue_bytes"
SCHEMES = ("drb", "ofan")

STUDY = Study(
    title="Largest queue of DRB over that of Ofan against network size, inter-pod permutation",
    source="Ofan Fig. 17",
    base=Scenario(workload=InterPodPermutation()),
    grid={"balancer": "balancer", "radix": "fabric.radix", "seed": "run.seed"},
    tiers={
        "quick": {"balancer": SCHEMES, "radix": (4, 8, 12), "seed": range(1, 11)},
        "medium": {"balancer": SCHEMES, "radix": (4, 8, 12, 16), "seed": range(1, 31)},
        "full": {"balancer": SCHEMES, "radix": (4, 6, 8, 10, 12, 14, 16, 20, 24), "seed": range(1, 31)},
    },
    columns=("hosts", QUEUE),
)


def of_sizes(table):
    """Give the ratio at each radix, its mean over the seeds."""
    radices = table["radix"].unique().sort()
    return {
        radix: ratios(table, QUEUE, {"balancer": "drb", "radix": radix}, {"balancer": "ofan", "radix": radix})
        for radix in radices
    }


def rises(table):
    found = list(of_sizes(table).values())
    falls = any(small.value - large.value > 2 * (small.sem + large.sem) for small, large in pairwise(found))
    rise, error = found[-1].value - found[0].value, found[-1].sem + found[0].sem
    return ", ".join(f"{one}" for one in found) + " by size", rise > 2 * error and not falls


def above_one(table):
    found = of_sizes(table)
    return f"{found[max(found)]} at radix {max(found)}", found[max(found)].above(1)


CLAIMS = [
    Claim(
        says="DRB's largest queue is larger than Ofan's in large networks",
        where="appendix F.3, Fig. 17",
        paper="ratio above 1",
        holds=above_one,
    ),
    Claim(
        says="the ratio rises with the network: more than two errors of both ends in all, and nowhere falls by as much",
        where="appendix F.3, Fig. 17",
        paper="increases with the network size",
        holds=rises,
    ),
]


def plot(table, axes):
    found = of_sizes(table)
    hosts = [radix**3 // 4 for radix in found]
    axes[0].errorbar(hosts, [one.value for one in found.values()], [one.sem for one in found.values()], marker="o")
    axes[0].axhline(1, color="black", linewidth=0.8)
    axes[0].set(xlabel="hosts", ylabel="largest queue, DRB over Ofan")
    log_ticks(axes[0], hosts)
