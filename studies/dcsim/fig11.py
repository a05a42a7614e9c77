"""dcSim Fig. 11: which share of the Datas is lost against the room for them, B_Data packets beside B = 12 Sims.

128 hosts. The paper's pattern is the five all-to-all-v; a permutation of 2 BDP, an all-to-all of 10 packets a pair and
the five all-to-all-v on half of the cores are beside it. The depth of the token bucket is B in section 2.3, and decides
how many Sims may pass at once: B from the bucket and B from the queue. Depths of 4, 2 and 1 are run too.
"""

from itertools import pairwise

import polars as pl

from fabricsim import AllToAll, Bytes, Collectives, Permutation, scenario_from_mapping
from fabricsim.plot import colours
from fabricsim.study import Claim, Study, mean

B = 12
LOST, DROPS = "loss_data_fraction", "drops_data_count"
FIVE, PERMUTATION, ALL, SLOW, REMOVED = (
    "five all-to-all-v",
    "permutation",
    "all-to-all",
    "even cores at 1 %",
    "even cores removed",
)
EVEN_CORES = {SLOW: 0.01, REMOVED: 0.0}


def workload_of(names, sizes, packets):
    collectives = Collectives(sizes=sizes, message=Bytes(9000 * packets))
    known = {
        FIVE: collectives,
        PERMUTATION: Permutation(message=Bytes(9000 * packets)),
        ALL: AllToAll(message=Bytes(9000 * 10)),
        SLOW: collectives,
        REMOVED: collectives,
    }
    return {name: known[name] for name in names}


RADIX, SIZES, PACKETS = {"radix": (8,)}, (8, 16, 32, 64), 174
RATIOS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5)

STUDY = Study(
    title="Share of Datas lost against the size of the Data buffer",
    source="dcSim Fig. 11",
    base=scenario_from_mapping({"preset": "dcsim-paper", "transport": {"scale_queues": False}}),
    grid={
        "radix": "fabric.radix",
        "pattern": "workload",
        "bucket_packets": "transport.bucket_packets",
        "buffer_ratio": None,
        "seed": "run.seed",
    },
    tiers={
        "quick": {
            "radix": (4,),
            "pattern": workload_of((FIVE, PERMUTATION, ALL), (4, 8, 16), 60),
            "bucket_packets": (12, 1),
            "buffer_ratio": (1.0, 3.5),
            "seed": (1, 2, 3),
        },
        "medium": {
            **RADIX,
            "pattern": workload_of((FIVE, PERMUTATION, ALL), SIZES, PACKETS),
            "bucket_packets": (12, 1),
            "buffer_ratio": (1.0, 2.0, 3.0),
            "seed": (1, 2),
        },
        "full": (
            {
                **RADIX,
                "pattern": workload_of((FIVE,), SIZES, PACKETS),
                "bucket_packets": (12,),
                "buffer_ratio": RATIOS,
                "seed": range(1, 21),
            },
            {
                **RADIX,
                "pattern": workload_of((FIVE,), SIZES, PACKETS),
                "bucket_packets": (4, 2, 1),
                "buffer_ratio": (1.0, 1.5, 2.0, 2.5, 3.0),
                "seed": (1, 2, 3),
            },
            {
                **RADIX,
                "pattern": workload_of((PERMUTATION,), SIZES, PACKETS),
                "bucket_packets": (12, 4, 2, 1),
                "buffer_ratio": RATIOS,
                "seed": range(1, 11),
            },
            {
                **RADIX,
                "pattern": workload_of((ALL,), SIZES, PACKETS),
                "bucket_packets": (12, 4, 2, 1),
                "buffer_ratio": RATIOS,
                "seed": (1, 2, 3),
            },
            {
                **RADIX,
                "pattern": workload_of((SLOW, REMOVED), SIZES, PACKETS),
                "bucket_packets": (12, 1),
                "buffer_ratio": (1.0, 2.0, 3.0),
                "seed": (1, 2, 3),
            },
        ),
    },
    columns=(LOST, DROPS, "collective_cct_mean_us", "loss_sim_fraction", "retransmitted_packets_count"),
    panels=2,
)


def scenario(base, point):
    room = round(point["buffer_ratio"] * B) * 9000 + 3 * B * 64
    share = EVEN_CORES.get(point.labels["pattern"], 1.0)
    return base.replace(
        port=base.port.replace(buffer=Bytes(room)), fabric=base.fabric.replace(even_cores_rate_fraction=share)
    )


def of(table, pattern, tokens):
    return table.filter((pl.col("pattern") == pattern) & (pl.col("bucket_packets") == tokens))


def losses(table, pattern, tokens):
    """Give the mean share of lost Datas at each size of the buffer."""
    rows = of(table, pattern, tokens)
    return {ratio: mean(rows, LOST, buffer_ratio=ratio) for ratio in rows["buffer_ratio"].unique().sort()}


def as_text(found):
    return ", ".join(f"{one.percent:.4f} at {ratio:g}" for ratio, one in found.items())


def starts_at(found):
    """Return the smallest ratio from which on nothing is lost; None if something is at all of them."""
    lossless = None
    for ratio, one in sorted(found.items(), reverse=True):
        if one.value > 0:
            break
        lossless = ratio
    return lossless


def none_from_two(pattern, tokens):
    def holds(table):
        found = losses(table, pattern, tokens)
        return f"{as_text(found)} % lost", sum(one.value for ratio, one in found.items() if ratio >= 2) == 0

    return holds


def grows_below(table):
    found = losses(table, FIVE, B)
    values = [one.value for _, one in sorted(found.items())]
    return f"{as_text(found)} % lost", all(one >= other for one, other in pairwise(values))


def little(table):
    found = losses(table, FIVE, B)
    return f"{as_text(found)} % lost", max(one.value for ratio, one in found.items() if ratio >= 2) < 0.001


def depth_decides(table):
    patterns = [name for name in (FIVE, PERMUTATION, ALL) if not of(table, name, 1).is_empty()]
    deep, shallow = ({name: starts_at(losses(table, name, tokens)) for name in patterns} for tokens in (B, 1))
    text = "; ".join(f"{name}: from {deep[name]} with {B} tokens, from {shallow[name]} with 1" for name in patterns)
    large = float("inf")
    pairs = [(deep[name] or large, shallow[name] or large) for name in patterns]
    return text, all(one >= other for one, other in pairs) and any(one > other for one, other in pairs)


BURST = (
    f"a bucket of {B} tokens lets {B} Sims pass at once and the queue {B} more, whose Datas come at once too, and with "
    "them others that do not wait where their Sims did; the fewer tokens, the less is lost"
)

CLAIMS = [
    Claim(
        says=f"five all-to-all-v, bucket of {B}: no loss for B_Data/B of 2 and more",
        where="section 4.1, Fig. 11",
        paper="none from 2 on",
        holds=none_from_two(FIVE, B),
        tier="medium",
        why=BURST,
    ),
    Claim(
        says=f"five all-to-all-v, bucket of {B}: less than 0.1 % is lost from 2 on",
        where="section 4.1, Fig. 11",
        paper="none from 2 on",
        holds=little,
        tier="medium",
    ),
    Claim(
        says="the smaller the Data buffer, the more is lost (five all-to-all-v)",
        where="section 4.1, Fig. 11",
        paper="rises below 2",
        holds=grows_below,
        tier="medium",
    ),
    Claim(
        says=f"permutation, bucket of {B}: no loss for B_Data/B of 2 and more",
        where="sections 2.5 and 4.1",
        paper="no matter the traffic pattern",
        holds=none_from_two(PERMUTATION, B),
        tier="medium",
        why=BURST,
    ),
    Claim(
        says=f"all-to-all, bucket of {B}: no loss for B_Data/B of 2 and more",
        where="sections 2.5 and 4.1",
        paper="no matter the traffic pattern",
        holds=none_from_two(ALL, B),
        tier="medium",
        why=BURST,
    ),
    Claim(
        says="all-to-all, bucket of 1: no loss for B_Data/B of 2 and more",
        where="sections 2.5 and 4.1, another reading of the bucket",
        paper="no matter the traffic pattern",
        holds=none_from_two(ALL, 1),
    ),
    Claim(
        says="five all-to-all-v, bucket of 1: no loss for B_Data/B of 2 and more",
        where="section 4.1, Fig. 11, another reading of the bucket",
        paper="none from 2 on",
        holds=none_from_two(FIVE, 1),
        tier="medium",
        why="the counterexample of the paper's Fig. 3: Datas come closer together than their Sims passed, most of all "
        "those of the first Sims, which find all queues empty (in the run that was looked at, only those)",
    ),
    Claim(
        says=f"half of the cores at 1 %, bucket of {B}: no loss for B_Data/B of 2 and more",
        where="section 2.5",
        paper="no matter the network oversubscription",
        holds=none_from_two(SLOW, B),
        tier="full",
    ),
    Claim(
        says=f"half of the cores removed, bucket of {B}: no loss for B_Data/B of 2 and more",
        where="section 2.5",
        paper="no matter the network oversubscription",
        holds=none_from_two(REMOVED, B),
        tier="full",
        why=BURST,
    ),
    Claim(
        says="the bucket decides where loss starts: later, or not at all, with one token",
        where="section 2.3; this project's measurement",
        paper="not varied",
        holds=depth_decides,
        tier="medium",
    ),
]


DEPTHS = {f"bucket of {tokens}": tokens for tokens in (12, 4, 2, 1)}
SHADES = colours([*DEPTHS, PERMUTATION, ALL, SLOW, REMOVED]) | {FIVE: "black"}


def lines(axis, table, chosen):
    for name, pattern, tokens in chosen:
        found = losses(table, pattern, tokens)
        if found:
            heights, errors = ([getattr(one.percent, part) for one in found.values()] for part in ("value", "sem"))
            axis.errorbar(list(found), heights, errors, marker="o", markersize=3.5, color=SHADES[name], label=name)
    axis.set_yscale("symlog", linthresh=0.001, linscale=0.5)
    axis.set(xlabel="B$_{Data}$ / B", ylabel="Datas lost (%)", ylim=(0, None))
    axis.axvline(2, color="black", linewidth=0.8, linestyle=":")


def plot(table, axes):
    lines(axes[0], table, [(name, FIVE, tokens) for name, tokens in DEPTHS.items()])
    axes[0].set_title("five all-to-all-v")
    lines(axes[1], table, [(name, name, B) for name in (FIVE, PERMUTATION, ALL, SLOW, REMOVED)])
    axes[1].set_title(f"bucket of {B}")
