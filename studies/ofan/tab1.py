"""Ofan Table 1: what is proven of how each scheme's queues grow, and the exponents that are measured.

The proofs are of the average queue on the way up and on the way down, of data only, over the time in which hosts send.
So the queues' integrals over time are divided by the m frame times that a host needs for m packets, and the exponent a
of queue ~ m^a is fitted to all runs from 256 KiB on. REPS, CONGA and SGLB need ACKs, of which nothing is proven: their
exponents with ACKs stand beside. The runs are those of Fig. 4.
"""

from itertools import product

import polars as pl

from fabricsim import Bytes, Scenario
from fabricsim.plot import display_name
from fabricsim.study import Claim, Study, growth
from fabricsim.theory import PROVEN_GROWTH, edge_uplink_most_packets

SCHEMES = (
    "simple-rr", "jsq", "conga", "choice", "drill", "dlb", "sglb", "rps", "rsq", "reps", "ar",
    "drb", "ethereal", "pofan:4", "ofan",
)  # fmt: skip
DATA_ONLY, WITH_ACKS = "off", "per-packet"
UP, DOWN = ("edge-agg", "agg-core"), ("core-agg", "agg-edge", "edge-host")
LAYERS = {"up": UP, "down": DOWN, "edge-agg": ("edge-agg",), "agg-edge": ("agg-edge",)}
"""All queues on the way up and on the way down, and those layers that the proof of theorem 1 is about."""
FITTED_FROM = Bytes("256KiB")
SIZES = tuple(Bytes(f"{2**power}KiB") for power in range(6, 14))
MOST = "edge_agg_max_packets"

STUDY = Study(
    title="Growth of average queues with the message size: proven and measured exponents, random permutation",
    source="Ofan Table 1",
    base=Scenario(),
    grid={
        "balancer": "balancer",
        "acks": "transport.acks",
        "radix": "fabric.radix",
        "message_bytes": "workload.message",
        "seed": "run.seed",
    },
    tiers={
        tier: {
            "balancer": SCHEMES,
            "acks": (WITH_ACKS, DATA_ONLY),
            "radix": (radix,),
            "message_bytes": sizes,
            "seed": seeds,
        }
        for tier, radix, sizes, seeds in (
            ("quick", 8, SIZES[2:7:2], range(1, 3)),
            ("medium", 12, SIZES[:-1:2], range(1, 4)),
            ("full", 12, SIZES, range(1, 11)),
        )
    },
    panel_inches=(6.5, 4.2),
)


def proven(balancer, layer):
    law = PROVEN_GROWTH.get(balancer.partition(":")[0])
    return law and (law.up if set(LAYERS[layer]) <= set(UP) else law.down)


def table(runs):
    """Give a row a scheme, layer and kind of traffic: the fitted exponent, its error, and what is proven."""
    took = pl.coalesce("cct_acked_us", "cct_delivered_us") / pl.col("message_bytes")
    while_sending = {
        layer: pl.sum_horizontal(f"{stage.replace('-', '_')}_mean_packets" for stage in stages) * took
        for layer, stages in LAYERS.items()
    }
    fitted = runs.filter(pl.col("message_bytes") >= int(FITTED_FROM)).with_columns(**while_sending)
    rows = []
    for balancer, layer, acks in product(SCHEMES, LAYERS, (DATA_ONLY, WITH_ACKS)):
        found = growth(fitted, "message_bytes", layer, balancer=balancer, acks=acks)
        rows.append(
            {
                "balancer": balancer,
                "layer": layer,
                "acks": acks,
                "radix": runs["radix"][0],
                "proven_exponent": proven(balancer, layer),
                "exponent": found.value,
                "exponent_sem": found.sem,
                MOST: runs.filter(balancer=balancer, acks=acks)[MOST].max(),
            }
        )
    return pl.DataFrame(rows, schema_overrides={"proven_exponent": pl.Float64}, infer_schema_length=None)


def as_proven(exponent, low, high, layers=("up", "down")):
    def holds(table):
        laws = table.filter(pl.col("proven_exponent") == exponent, pl.col("layer").is_in(layers), acks=DATA_ONLY)
        text = ", ".join(
            f"{row['balancer']} {row['layer']} {row['exponent']:.2f}" for row in laws.iter_rows(named=True)
        )
        return text, laws["exponent"].is_between(low, high).all()

    return holds


def bounded(table):
    """Compare with the bounds that are proven for the algorithms themselves and for any message."""
    names = ("drb", "ethereal", "pofan:4", "ofan", "simple-rr", "jsq")
    found = {name: table.filter(balancer=name, acks=DATA_ONLY)[MOST].max() for name in names}
    most = {name: edge_uplink_most_packets(name.partition(":")[0], table["radix"][0]) for name in names}
    text = ", ".join(f"{name} {found[name]} of {most[name]}" for name in names)
    return f"{text} frames", all(found[name] <= most[name] for name in names)


CLAIMS = [
    Claim(
        says="where a queue is proven to stay bounded, it does not grow: exponents below 0.15, data only",
        where="Table 1, theorems 2 to 5 and 7",
        paper="0",
        holds=as_proven(0, -0.15, 0.15),
    ),
    Claim(
        says="spraying: the queues between edge and aggregation grow as the root: exponents of 0.4 to 0.6, data only",
        where="theorem 1, appendix B",
        paper="0.5",
        holds=as_proven(0.5, 0.4, 0.6, ("edge-agg", "agg-edge")),
        tier="medium",
    ),
    Claim(
        says="so do all its queues on the way up, and on the way down: exponents of 0.35 to 0.65, data only",
        where="Table 1, theorem 1",
        paper="0.5, if delays in earlier queues are neglected",
        holds=as_proven(0.5, 0.35, 0.65),
        tier="medium",
        why="earlier queues smooth the traffic at the core, where queues all but stop growing (2.5 to 4.6 frames, A→C)",
    ),
    Claim(
        says="where it is proven to grow linearly, it does: exponents of 0.9 to 1.1, data only",
        where="Table 1, theorem 2",
        paper="1",
        holds=as_proven(1, 0.9, 1.1),
    ),
    Claim(
        says="no edge uplink's queue exceeds its proven bound, whatever the message, data only",
        where="appendices C to F and H",
        paper="w + 1 for DRB, 4Ofan and Ofan, k^2/4 + 1 for Ethereal, 1 for SimpleRR and JSQ",
        holds=bounded,
    ),
]


def plot(table, axes):
    axis = axes[0]
    colours = {"up": "#0072B2", "down": "#D55E00"}
    for side, shift in (("up", -0.16), ("down", 0.16)):
        for acks, filled, label in ((DATA_ONLY, colours[side], "data only"), (WITH_ACKS, "none", "with ACKs")):
            runs = table.filter(layer=side, acks=acks)
            axis.errorbar(
                runs["exponent"],
                [place + shift for place in range(runs.height)],
                xerr=runs["exponent_sem"],
                linestyle="none",
                marker="o",
                color=colours[side],
                markerfacecolor=filled,
                label=f"{side}, {label}",
            )
        laws = [None if law is None else law for law in table.filter(layer=side, acks=DATA_ONLY)["proven_exponent"]]
        axis.plot(
            [float("nan") if law is None else law for law in laws],
            [place + shift for place in range(len(laws))],
            linestyle="none",
            marker="|",
            markersize=14,
            markeredgewidth=2,
            color="black",
            label="proven",
            zorder=1,
        )
    axis.set_yticks(range(len(SCHEMES)), [display_name(name) for name in SCHEMES])
    axis.invert_yaxis()
    axis.set_xticks([0, 0.5, 1], ["Θ(1)", "Θ(√m)", "Θ(m)"])
    axis.set_xlabel("fitted exponent of the average queue")
