"""A study as small as one can be: 16 hosts, short messages."""

from fabricsim import FatTree, Permutation, Scenario
from fabricsim.plot import curves
from fabricsim.study import Claim, Study, differences

LARGEST = "max_queue_packets"

STUDY = Study(
    title="Largest queues on 16 hosts",
    source="Nobody, Fig. 1",
    base=Scenario(fabric=FatTree(radix=4), workload=Permutation(message="64KiB")),
    grid={"balancer": "balancer", "size": "workload.message", "seed": "run.seed"},
    tiers={
        "quick": {"balancer": ("rsq", "pofan:1"), "size": {"short": "32KiB", "long": "64KiB"}, "seed": (1, 2, 3)},
        "full": {"balancer": ("rsq", "pofan:1"), "size": {"short": "32KiB", "long": "64KiB"}, "seed": range(1, 6)},
    },
)


def measure(results):
    return {LARGEST: results.summary[LARGEST], "cct_us": results.summary["cct_acked_us"]}


def longer(table):
    found = differences(table, LARGEST, {"balancer": "rsq", "size": "long"}, {"balancer": "pofan:1", "size": "long"})
    return f"{found:.1f} frames", found.value > 0


CLAIMS = [
    Claim(says="random is worse", where="section 1", paper="worse", holds=longer),
    Claim(
        says="random is better",
        where="section 2",
        paper="better",
        holds=lambda table: (longer(table)[0], not longer(table)[1]),
        why="nobody wrote that paper",
    ),
    Claim(says="nothing can be said", where="section 3", paper="0.1", holds=lambda _table: ("0.1 ± 2", None)),
    Claim(says="many runs tell", where="section 4", paper="9", holds=longer, tier="full"),
]


def plot(table, axes):
    curves(axes[0], table, "seed", LARGEST)
