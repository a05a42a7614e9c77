"""dcSim Fig. 9(c): CCT of concurrent all-to-all-v collectives against how many there are. 128 hosts, 2 BDP on average.

A seed's first collectives are the same however many follow.
"""

from fabricsim import scenario_from_mapping
from fabricsim.plot import curves
from fabricsim.study import Claim, Study, leads

CCT, COUNT = "collective_cct_mean_us", "collectives_count"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]

MAIN = {
    "transport": TRANSPORTS,
    "radix": (8,),
    "sizes": {"8 to 64": (8, 16, 32, 64)},
    COUNT: (1, 2, 5, 10),
    "seed": range(1, 21),
}

STUDY = Study(
    title="CCT of concurrent all-to-all-v against their number",
    source="dcSim Fig. 9c",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={
        "transport": "transport",
        "radix": "fabric.radix",
        "sizes": "workload.sizes",
        COUNT: "workload.count",
        "seed": "run.seed",
    },
    tiers={
        "quick": {**MAIN, "radix": (4,), "sizes": {"4": (4,)}, COUNT: (1, 5), "seed": (1, 2)},
        "medium": {**MAIN, COUNT: (1, 5), "seed": (1, 2)},
        "full": MAIN,
    },
    columns=(
        CCT, "cct_delivered_us", "bound_us", "loss_data_fraction", "loss_sim_fraction", "queueing_delay_mean_us",
        "reordered_packets_count", "packets_count",
    ),
)  # fmt: skip


def ahead(table):
    return leads(table, CCT, COUNT, "dcsim", RIVALS).verdict()


def ahead_by_more(table):
    ends = table[COUNT].min(), table[COUNT].max()
    few, many = (leads(table, CCT, COUNT, "dcsim", RIVALS, values=(count,)).reduction() for count in ends)
    return f"CCT lower by {few:.1%} with {ends[0]}, {many:.1%} with {ends[1]}, mean over the others", many > few


CLAIMS = [
    Claim(
        says="dcSim is ahead of the three others with any number of collectives",
        where="section 4.1, Fig. 9c",
        paper="keeps outperforming",
        holds=ahead,
        tier="full",
    ),
    Claim(
        says="dcSim is ahead by more with ten collectives than with one",
        where="section 4.1, Fig. 9c",
        paper="even more with many collectives",
        holds=ahead_by_more,
        tier="full",
    ),
]


def plot(table, axes):
    curves(axes[0], table, COUNT, CCT, by="transport")
    axes[0].set(xlabel="collectives", ylabel="mean CCT (µs)", ylim=(0, None))
    axes[0].set_xticks(table[COUNT].unique().sort().to_list())
