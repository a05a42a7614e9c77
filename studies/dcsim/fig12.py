"""dcSim Fig. 12: Async dcSim, which sends a Data as soon as its Sim-Ack is there, beside dcSim, which waits.

128 hosts, five concurrent all-to-all-v collectives of 2 BDP on average. The total queueing delay is the paper's: from
the first transmission of a Data to its arrival; what a path without queues takes is in it. Less that, it is what Datas
wait in the fabric. The time that they wait in their hosts for RTT_max is in neither.
"""

import polars as pl

from fabricsim import Bytes, Collectives, Dcsim, Permutation, scenario_from_mapping
from fabricsim.plot import colours
from fabricsim.study import Claim, Study, mean, ratios

CCT, TOTAL, QUEUEING = "collective_cct_mean_us", "delay_mean_us", "queueing_delay_mean_us"
LOST, REORDERED = "loss_data_fraction", "reordered_fraction"
VARIANTS = {"base": Dcsim(), "async": Dcsim(wait_fraction=0.0)}
FIVE, ONE_EACH = "five all-to-all-v", "permutation"


def patterns(sizes, packets):
    size = Bytes(9000 * packets)
    return {FIVE: Collectives(sizes=sizes, message=size), ONE_EACH: Permutation(message=size)}


PAPER = {"radix": (8,), "pattern": patterns((8, 16, 32, 64), 174), "variant": VARIANTS}

STUDY = Study(
    title="Async dcSim beside dcSim, five concurrent all-to-all-v, and a permutation",
    source="dcSim Fig. 12",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={"radix": "fabric.radix", "pattern": "workload", "variant": "transport", "seed": "run.seed"},
    tiers={
        "quick": {**PAPER, "radix": (4,), "pattern": patterns((4, 8, 16), 87), "seed": range(1, 5)},
        "medium": {**PAPER, "seed": (1, 2, 3)},
        "full": {**PAPER, "seed": range(1, 21)},
    },
    columns=(
        CCT, "cct_delivered_us", TOTAL, QUEUEING, LOST, "loss_sim_fraction", "reordered_packets_count", "packets_count",
        "max_queue_packets",
    ),
    panels=(1, 4),
    panel_inches=(2.6, 3.0),
)  # fmt: skip


def table(runs):
    return runs.with_columns((pl.col("reordered_packets_count") / pl.col("packets_count")).alias(REORDERED))


def both(table, column, pattern=FIVE):
    return [mean(table, column, pattern=pattern, variant=name) for name in VARIANTS]


def paired(table, column, pattern=FIVE):
    points = ({"pattern": pattern, "variant": name} for name in ("async", "base"))
    return ratios(table, column, *points)


def faster(table):
    base, impatient = both(table, CCT)
    ratio = paired(table, CCT)
    text = f"{base:.1f} and {impatient:.1f} us, ratio {ratio:.4f}"
    return text, None if ratio.above(1) is None else 0.9 < ratio.value < 1


def lossless(table):
    rows = table.filter(pl.col("variant") == "async")
    return f"at most {rows[LOST].max():.4%} in {rows.height} runs", rows[LOST].max() == 0


def less_delay(table):
    base, impatient = both(table, TOTAL)
    ratio = paired(table, TOTAL)
    return f"{base:.3f} and {impatient:.3f} us, {(1 - ratio.value) * 100:.1f} % lower", 0.76 <= ratio.value < 1


def queues_go(table):
    base, impatient = both(table, QUEUEING)
    ratio = paired(table, QUEUEING)
    return f"{base:.3f} and {impatient:.3f} us, {(1 - ratio.value) * 100:.0f} % lower", 0.76 <= ratio.value < 1


def reorders_more(pattern):
    def holds(table):
        base, impatient = (one.percent for one in both(table, REORDERED, pattern))
        return f"{base:.3f} and {impatient:.3f} % of Datas", impatient.value > 1.5 * base.value

    return holds


IN_ORDER = (
    "here a Sim-Ack takes the first Data, which then leaves RTT_max after that Sim: where a later Sim is back first, "
    "Datas leave their host out of order (49 of the 57 that arrived so in a run of three collectives, traced). Async "
    "dcSim sends them in the order of Sim-Acks, and so in theirs"
)

CLAIMS = [
    Claim(
        says="Async dcSim's CCT is slightly lower, by up to 10 %",
        where="section 4.1, Fig. 12",
        paper="slightly lower",
        holds=faster,
        tier="full",
    ),
    Claim(
        says="it loses nothing",
        where="section 4.1, Fig. 12",
        paper="0 %",
        holds=lossless,
        why="a few at the last ports of hosts in several large collectives, as with dcSim itself (fig07)",
    ),
    Claim(
        says="the time from transmission to arrival is lower, by at most 24 %",
        where="section 4.1, Fig. 12",
        paper="up to 24 % lower",
        holds=less_delay,
        tier="medium",
    ),
    Claim(
        says="what of it is spent in queues is lower, by at most 24 %",
        where="section 4.1, Fig. 12; another reading",
        paper="up to 24 % lower",
        holds=queues_go,
        tier="medium",
        why="most of the time from transmission to arrival is the path's own, which no variant changes: the paper's "
        "24 % must be of the whole",
    ),
    *(
        Claim(
            says=f"it reorders much more: half again as many Datas or more ({pattern})",
            where="section 4.1, Fig. 12",
            paper="much higher",
            holds=reorders_more(pattern),
            tier="medium",
            why=IN_ORDER,
        )
        for pattern in (FIVE, ONE_EACH)
    ),
]


def plot(table, axes):
    shown = (
        (CCT, 1, "CCT (µs)"),
        (LOST, 100, "Datas lost (%)"),
        (TOTAL, 1, "delay (µs)"),
        (REORDERED, 100, "reordered (%)"),
    )
    shades = colours(["dcsim", "another"])
    for axis, (column, scale, title) in zip(axes, shown, strict=True):
        found = both(table, column)
        heights, errors = ([getattr(one, part) * scale for one in found] for part in ("value", "sem"))
        axis.bar(list(VARIANTS), heights, 0.6, yerr=errors, color=list(shades.values()))
        axis.set(title=title, ylim=(0, None if max(heights) else 1))
        axis.grid(visible=False, axis="x")
