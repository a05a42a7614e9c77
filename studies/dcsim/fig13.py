"""dcSim Fig. 13: fractional dcSim, which sends a Data a fraction of RTT_max after its Sim, or at the Sim-Ack if later.

128 hosts, five concurrent all-to-all-v collectives of 2 BDP on average. A fraction of 1 is dcSim, of 0 Async dcSim.
"""

import polars as pl

from fabricsim import scenario_from_mapping
from fabricsim.study import Claim, Study, mean, means, ratios

CCT, TOTAL, QUEUEING = "collective_cct_mean_us", "delay_mean_us", "queueing_delay_mean_us"
LOST, REORDERED, FRACTION = "loss_data_fraction", "reordered_fraction", "wait_fraction"

PAPER = {"radix": (8,), "sizes": {"8 to 64": (8, 16, 32, 64)}}

STUDY = Study(
    title="dcSim that waits for a fraction of RTT_max, five concurrent all-to-all-v",
    source="dcSim Fig. 13",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={
        "radix": "fabric.radix",
        "sizes": "workload.sizes",
        FRACTION: "transport.wait_fraction",
        "seed": "run.seed",
    },
    tiers={
        "quick": {"radix": (4,), "sizes": {"4 and 8": (4, 8)}, FRACTION: (0.0, 0.85, 1.0), "seed": (1, 2)},
        "medium": {**PAPER, FRACTION: (0.0, 0.5, 0.85, 1.0), "seed": (1, 2, 3)},
        "full": {**PAPER, FRACTION: (0.0, 0.35, 0.5, 0.85, 1.0), "seed": range(1, 21)},
    },
    columns=(
        CCT, TOTAL, QUEUEING, LOST, "loss_sim_fraction", "reordered_packets_count", "packets_count", "sim_rtt_max_us",
        "rtt_max_us",
    ),
    panels=(1, 4),
    panel_inches=(3.0, 3.0),
)  # fmt: skip


def table(runs):
    return runs.with_columns((pl.col("reordered_packets_count") / pl.col("packets_count")).alias(REORDERED))


def fractions(table):
    return sorted(table[FRACTION].unique())


def along(table, column):
    return {fraction: mean(table, column, wait_fraction=fraction) for fraction in fractions(table)}


def against_base(table, column):
    return {
        fraction: ratios(table, column, {FRACTION: fraction}, {FRACTION: 1.0})
        for fraction in fractions(table)
        if fraction < 1
    }


def marginally_lower(table):
    found = against_base(table, CCT)
    text = ", ".join(f"{one:.4f} at {fraction:g}" for fraction, one in found.items())
    return f"CCT over that of dcSim: {text}", all(0.97 < one.value < 1 + 2 * one.sem for one in found.values())


def lossless(table):
    return f"at most {table[LOST].max():.4%} in {table.height} runs", table[LOST].max() == 0


def like_the_base(table):
    found = {name: against_base(table, name)[0.85] for name in (TOTAL, REORDERED)}
    text = f"at 0.85: delay {found[TOTAL]:.3f} and reordering {found[REORDERED]:.2f} times dcSim's"
    return text, abs(found[TOTAL].value - 1) < 0.05 and 0.5 < found[REORDERED].value < 2


def towards_async(table):
    total = along(table, TOTAL)
    text = ", ".join(f"{one:.3f} at {fraction:g}" for fraction, one in total.items())
    smallest = min(fraction for fraction in total if fraction > 0)
    return f"{text} us", total[smallest].value - total[0.0].value < 0.1 * (total[1.0].value - total[0.0].value)


def reordering_grows(table):
    found = along(table, REORDERED)
    text = ", ".join(f"{one.percent:.4f} at {fraction:g}" for fraction, one in found.items())
    return f"{text} %", found[0.0].value > found[1.0].value


CLAIMS = [
    Claim(
        says="the CCT is marginally lower at every fraction, by less than 3 %",
        where="section 4.1, Fig. 13",
        paper="marginally lower",
        holds=marginally_lower,
        tier="full",
    ),
    Claim(
        says="no Data is lost at any fraction",
        where="section 4.1, Fig. 13",
        paper="0 %",
        holds=lossless,
        why="a few at the last ports of hosts in several large collectives, as with dcSim itself (fig07)",
    ),
    Claim(
        says="at 0.85 delays are within 5 % of dcSim's, and reordering within a factor of 2",
        where="section 4.1, Fig. 13",
        paper="comparable from 1 down to 0.85",
        holds=like_the_base,
        tier="medium",
    ),
    Claim(
        says="at the smallest fraction but 0 the delay is that of Async dcSim, to a tenth of the way to dcSim's",
        where="section 4.1, Fig. 13",
        paper="converges towards Async dcSim",
        holds=towards_async,
        tier="full",
    ),
    Claim(
        says="Async dcSim reorders more than dcSim",
        where="section 4.1, Fig. 13",
        paper="reordering increases",
        holds=reordering_grows,
        tier="medium",
        why="here a Sim-Ack takes the first Data, which then leaves a fixed time after that Sim: where a later Sim is "
        "back first, Datas leave their host out of order. Async dcSim sends them in the order of Sim-Acks, and so in "
        "theirs",
    ),
]


def plot(table, axes):
    points = means(table, [FRACTION]).sort(FRACTION)
    shown = (
        (CCT, 1, "CCT (µs)"),
        (LOST, 100, "Datas lost (%)"),
        (TOTAL, 1, "delay (µs)"),
        (REORDERED, 100, "reordered (%)"),
    )
    for axis, (column, scale, title) in zip(axes, shown, strict=True):
        heights, errors = (points[f"{column}_{part}"] * scale for part in ("mean", "sem"))
        axis.errorbar(points[FRACTION], heights, errors, marker="o", markersize=4, color="#0072B2")
        top = (heights + errors).max()
        axis.set(title=title, xlabel="fraction of RTT$_{max}$", ylim=(0, top * 1.05 if top else 1))
