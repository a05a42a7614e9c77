"""dcSim Fig. 9(e): what clocks that drift do to dcSim's CCT, five concurrent all-to-all-v collectives.

128 hosts, 2 BDP on average. A host's clock is off by a constant share of at most so many millionths, drawn evenly from
that range ("uniform") or one of its ends ("extreme"). Clocks change which Sims are dropped from the first microseconds
on, so that two runs of a seed come apart by a few percent either way: the mean over seeds tells.
"""

import polars as pl

from fabricsim import scenario_from_mapping
from fabricsim.plot import curves
from fabricsim.study import Claim, Study, mean

CCT, MORE, DRIFT, LOSS = "collective_cct_mean_us", "cct_more_fraction", "clock_drift_ppm", "loss_data_fraction"
KINDS = ("uniform", "extreme")

MAIN = {
    "radix": (8,),
    "sizes": {"8 to 64": (8, 16, 32, 64)},
    "drift": KINDS,
    DRIFT: (10.0, 20.0, 40.0),
    "seed": range(1, 21),
}
NONE = {**MAIN, "drift": KINDS[:1], DRIFT: (0.0,)}
# Clocks at either end scatter the CCTs more: twice the seeds tell.
FURTHER_SEEDS = range(21, 41)

STUDY = Study(
    title="CCT of dcSim against the drift of clocks, five concurrent all-to-all-v",
    source="dcSim Fig. 9e",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={
        "radix": "fabric.radix",
        "sizes": "workload.sizes",
        "drift": "transport.clock_drift",
        DRIFT: "transport.clock_drift_ppm",
        "seed": "run.seed",
    },
    tiers={
        "quick": (
            {**NONE, "radix": (4,), "sizes": {"4": (4,)}, "seed": (1, 2)},
            {**MAIN, "radix": (4,), "sizes": {"4": (4,)}, DRIFT: (40.0,), "seed": (1, 2)},
        ),
        "medium": ({**NONE, "seed": (1, 2, 3)}, {**MAIN, DRIFT: (40.0,), "seed": (1, 2, 3)}),
        "full": (NONE, MAIN, {**NONE, "seed": FURTHER_SEEDS}, {**MAIN, "drift": KINDS[1:], "seed": FURTHER_SEEDS}),
    },
    columns=(
        CCT, "cct_delivered_us", "bound_us", LOSS, "loss_sim_fraction", "queueing_delay_mean_us",
        "reordered_packets_count", "packets_count",
    ),
)  # fmt: skip


def table(runs):
    """Add by which share drift makes the CCT larger, of the same seed."""
    still = runs.filter(pl.col(DRIFT) == 0).select("seed", still_us=CCT)
    beside = runs.join(still, on="seed", maintain_order="left")
    return beside.with_columns((pl.col(CCT) / pl.col("still_us") - 1).alias(MORE)).drop("still_us")


def hardly_worse(drift):
    def holds(table):
        shares = table.filter(pl.col(DRIFT) > 0)[DRIFT].unique().sort()
        found = {ppm: mean(table, MORE, drift=drift, clock_drift_ppm=ppm).percent for ppm in shares}
        text = ", ".join(f"{more} % at {ppm:g} ppm" for ppm, more in found.items())
        above = [more.above(1) for more in found.values()]
        return text, False if True in above else None if None in above else True

    return holds


def loses_nothing(table):
    most = table[LOSS].max()
    return f"at most {most:.4%} in a run", most == 0


CLAIMS = [
    *(
        Claim(
            says=f"drift of up to 40 ppm, {words}, makes the CCT worse by less than 1 %",
            where="section 4.1, Fig. 9e",
            paper="less than 1 %",
            holds=hardly_worse(drift),
            tier="full",
        )
        for drift, words in (("uniform", "drawn evenly"), ("extreme", "either end"))
    ),
    Claim(
        says="no data packet is lost with drift either",
        where="section 4.1, Fig. 9e",
        paper="negligible impact",
        holds=loses_nothing,
        why="at the last ports of hosts in several large collectives, also in the whole fabric and without drift: a "
        "Data does not wait where its Sim did, so that Datas come closer together than their Sims passed",
    ),
]


def plot(table, axes):
    names = {"uniform": "drawn evenly from ± so many", "extreme": "one of the two ends"}
    curves(axes[0], table.filter(pl.col(DRIFT) > 0), DRIFT, MORE, by="drift", scale=100, names=names)
    axes[0].axhline(1, color="black", linewidth=0.8, linestyle=":")
    axes[0].set(xlabel="clock drift (ppm)", ylabel="CCT over that without drift, less 1 (%)", xlim=(0, None))
