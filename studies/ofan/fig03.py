"""Ofan Fig. 3: how far the worst link of each stage is above an equal share, under all schemes.

A permutation in which every message leaves its pod, so that all links of a stage should carry the same. The overload is
that of the link that carries most data, in bytes. The paper does not say whether hosts send ACKs here: both are run.
"""

from fabricsim import Bytes, InterPodPermutation, Measure, Scenario
from fabricsim.plot import display_name
from fabricsim.study import Claim, Study, mean

UP = {"edge-agg": "E→A", "agg-core": "A→C"}
DOWN = {"core-agg": "C→A", "agg-edge": "A→E"}
STAGES = {**UP, **DOWN}
LOCKED, LOCAL = ("simple-rr", "jsq"), ("choice", "drill")
SPRAYED = ("rps", "rsq", "reps")
OBLIVIOUS = (*LOCKED, "conga", *LOCAL, "dlb", "sglb", *SPRAYED, "ar")
DESTINATION = ("drb", "ethereal", "pofan:4", "ofan")
DATA_ONLY, WITH_ACKS = "off", "per-packet"
SMALL, DEFAULT = Bytes("64KiB"), Bytes("1MiB")
SCHEMES = OBLIVIOUS + DESTINATION

STUDY = Study(
    title="Overload of the worst link of each stage, inter-pod permutation",
    source="Ofan Fig. 3",
    base=Scenario(workload=InterPodPermutation(), measure=Measure(queues=False)),
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
            ("quick", 8, (SMALL, DEFAULT), range(1, 4)),
            ("medium", 12, (SMALL, DEFAULT), range(1, 4)),
            ("full", 12, (SMALL, DEFAULT, Bytes("4MiB")), range(1, 11)),
        )
    },
    columns=[f"{stage.replace('-', '_')}_overload_fraction" for stage in STAGES],
    panels=3,
    panel_inches=(3.4, 4.2),
)


def overload(table, balancer, stage, acks=WITH_ACKS, message=DEFAULT):
    column = f"{stage.replace('-', '_')}_overload_fraction"
    return mean(table, column, balancer=balancer, acks=acks, message_bytes=int(message)).percent


def profile(table, names, acks=WITH_ACKS, message=DEFAULT):
    """Give the overloads of the two uplink stages and of the two downlink stages of some balancers, and their text."""
    found = {
        name: [[overload(table, name, stage, acks, message).value for stage in side] for side in (UP, DOWN)]
        for name in names
    }
    text = ", ".join(
        f"{name} {' and '.join(f'{one:.1f}' for one in up)} up, {' and '.join(f'{one:.1f}' for one in down)} down"
        for name, (up, down) in found.items()
    )
    return found, f"{text} (%)"


def collapse(acks):
    def downwards(table):
        found, text = profile(table, LOCKED, acks)
        return text, all(max(up) < 2 and min(down) > 50 for up, down in found.values())

    return downwards


def similar(table):
    found, text = profile(table, LOCAL)
    return text, all(min(down) > 5 * max(up) for up, down in found.values())


def suffer_on_both_sides(table):
    found, text = profile(table, ("conga", "dlb", "sglb", *SPRAYED))
    return text, all(min(up + down) > 5 for up, down in found.values())


def flat(table):
    found, text = profile(table, DESTINATION)
    least = min(min(down) for _, down in profile(table, OBLIVIOUS)[0].values())
    return f"{text}; the least downwards of the others {least:.1f}", max(
        max(up + down) for up, down in found.values()
    ) < min(5, least / 2)


def spread_thin(table):
    small, text = profile(table, ("drb", "ofan"), message=SMALL)
    largest = Bytes(int(table["message_bytes"].max()))
    large, at_large = profile(table, ("drb",), message=largest)
    (_, drb), (_, ofan) = small["drb"], small["ofan"]
    holds = drb[0] > 1.5 * ofan[0] and max(max(side) for side in large["drb"]) < max(drb) / 10
    return f"{SMALL}: {text}; {largest}: {at_large}", holds


def ideal(table):
    found = {size: profile(table, ("ethereal",), message=Bytes(size))[0]["ethereal"] for size in sizes(table)}
    text = ", ".join(f"{max(up + down):.2f} % at {Bytes(size)}" for size, (up, down) in found.items())
    return text, all(max(up + down) < 0.1 for up, down in found.values())


def sizes(table):
    return [int(size) for size in table["message_bytes"].unique().sort()]


CLAIMS = [
    Claim(
        says="without ACKs SimpleRR and JSQ balance uplinks within 2 % and overload the worst downlinks by over 50 %",
        where="section 3.2, Fig. 3",
        paper="essentially perfect up, collapse down",
        holds=collapse(DATA_ONLY),
    ),
    Claim(
        says="so they do with ACKs",
        where="section 3.2, Fig. 3",
        paper="essentially perfect up, collapse down",
        holds=collapse(WITH_ACKS),
        why="JSQ does; ACKs take turns at SimpleRR's one pointer, so that data get unequal shares (without ACKs equal)",
    ),
    Claim(
        says="CHOICE and DRILL have the same profile: downlinks overloaded five times as much as uplinks, or more",
        where="section 3.2, Fig. 3",
        paper="similar profiles",
        holds=similar,
    ),
    Claim(
        says="CONGA, DLB, SGLB, RPS, RSQ and REPS overload links on both sides, by over 5 %",
        where="section 3.2, Fig. 3",
        paper="suffer at both",
        holds=suffer_on_both_sides,
        tier="medium",
    ),
    Claim(
        says="DRB, Ethereal, 4Ofan and Ofan are flat: below 5 % at every stage, and below half of the others downwards",
        where="section 3.2, Fig. 3",
        paper="near-flat across all four",
        holds=flat,
    ),
    Claim(
        says="DRB is near perfect for large messages; for small ones its core links are overloaded 1.5 times as Ofan's",
        where="section 4.2, Fig. 3",
        paper="degrades for small ones, where Ofan does not",
        holds=spread_thin,
        tier="medium",
    ),
    Claim(
        says="Ethereal's balance is ideal: below 0.1 %",
        where="section 3.2, Fig. 3",
        paper="ideal",
        holds=ideal,
    ),
]


def plot(table, axes):
    from matplotlib.colors import LogNorm

    shown = ((SMALL, WITH_ACKS), (DEFAULT, WITH_ACKS), (DEFAULT, DATA_ONLY))
    for axis, (message, acks) in zip(axes, shown, strict=True):
        found = [[overload(table, name, stage, acks, message).value for stage in STAGES] for name in SCHEMES]
        axis.imshow(found, aspect="auto", cmap="Blues", norm=LogNorm(0.5, 1000, clip=True))
        for row, values in enumerate(found):
            for column, value in enumerate(values):
                text = f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"
                axis.text(column, row, text, ha="center", va="center", color="white" if value > 60 else "black")
        axis.set_xticks(range(len(STAGES)), STAGES.values())
        names = [display_name(name) for name in SCHEMES] if axis is axes[0] else []
        axis.set_yticks(range(len(names)), names)
        axis.tick_params(length=0)
        axis.grid(visible=False)
        axis.axhline(len(OBLIVIOUS) - 0.5, color="black", linewidth=0.8)
        axis.set_title(f"{message}, {'data only' if acks == DATA_ONLY else 'with ACKs'} (%)")
