"""dcSim Fig. 9(d): CCT of five concurrent all-to-all-v collectives against the largest size one may have.

128 hosts, 2 BDP on average; each collective has 8, 16, 32, ... hosts up to the largest size, all equally likely.
"""

from fabricsim import scenario_from_mapping
from fabricsim.plot import curves, log_ticks
from fabricsim.study import Claim, Study, leads

CCT, LARGEST = "collective_cct_mean_us", "largest_collective_hosts"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]
SIZES = {16: (8, 16), 32: (8, 16, 32), 64: (8, 16, 32, 64), 128: (8, 16, 32, 64, 128)}

MAIN = {"transport": TRANSPORTS, "radix": (8,), LARGEST: SIZES, "seed": range(1, 21)}

STUDY = Study(
    title="CCT of five concurrent all-to-all-v against the largest size of a collective",
    source="dcSim Fig. 9d",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={"transport": "transport", "radix": "fabric.radix", LARGEST: "workload.sizes", "seed": "run.seed"},
    tiers={
        "quick": {**MAIN, "radix": (4,), LARGEST: {4: (2, 4), 8: (2, 4, 8)}, "seed": (1, 2)},
        "medium": {**MAIN, LARGEST: {16: (8, 16), 64: (8, 16, 32, 64)}, "seed": (1, 2)},
        "full": MAIN,
    },
    columns=(
        CCT, "cct_delivered_us", "bound_us", "loss_data_fraction", "loss_sim_fraction", "queueing_delay_mean_us",
        "reordered_packets_count", "packets_count",
    ),
)  # fmt: skip


def ahead(table):
    return leads(table, CCT, LARGEST, "dcsim", RIVALS).verdict()


CLAIMS = [
    Claim(
        says="dcSim is ahead of the three others whatever the largest size",
        where="section 4.1, Fig. 9d",
        paper="keeps outperforming in all cases",
        holds=ahead,
        tier="full",
    ),
]


def plot(table, axes):
    curves(axes[0], table, LARGEST, CCT, by="transport")
    axes[0].set(xlabel="largest size of a collective (hosts)", ylabel="mean CCT (µs)", ylim=(0, None))
    log_ticks(axes[0], table[LARGEST])
