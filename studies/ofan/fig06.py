"""Ofan Fig. 6: how much a wider pipe helps, and what consolidation gains over DRB, as the network grows.

1Ofan keeps a pointer for each destination and each input port, Ofan for each destination; DRB's hosts each keep theirs.
"""

from itertools import pairwise

from fabricsim import Measure, Scenario
from fabricsim.plot import curves, log_ticks
from fabricsim.study import Claim, Study, differences, mean

CCT = "cct_increase_fraction"
SCHEMES = ("drb", "pofan:1", "pofan:2", "pofan:4", "ofan")

STUDY = Study(
    title="CCT increase of POfan's pipe sizes and of DRB against network size, random permutation",
    source="Ofan Fig. 6",
    base=Scenario(measure=Measure(queues=False)),
    grid={"balancer": "balancer", "radix": "fabric.radix", "seed": "run.seed"},
    tiers={
        "quick": {"balancer": SCHEMES, "radix": (4, 8, 12), "seed": range(1, 6)},
        "medium": {"balancer": SCHEMES, "radix": (4, 8, 12, 16), "seed": range(1, 11)},
        "full": {"balancer": SCHEMES, "radix": (4, 6, 8, 10, 12, 14, 16), "seed": range(1, 31)},
    },
    columns=("hosts", "cct_acked_us", "bound_us", CCT),
)


def gap(table, first, second, **where):
    return differences(table, CCT, {"balancer": first, **where}, {"balancer": second, **where}).percent


def widens(table):
    small, large = (gap(table, "pofan:4", "ofan", radix=radix) for radix in (10, 16))
    return f"{small} points at 250 hosts, {large} at 1,024", large.value - small.value > 2 * (small.sem + large.sem)


def small_gap(table):
    size = table["radix"].max()
    measured = gap(table, "pofan:4", "ofan", radix=size)
    of_drb = gap(table, "drb", "ofan", radix=size)
    return f"{measured} points of {of_drb} at radix {size}", measured.value < of_drb.value / 2


def half_way(table):
    one, drb = (gap(table, scheme, "ofan", radix=16) for scheme in ("pofan:1", "drb"))
    share = one.value / drb.value
    return f"{share:.2f} at 1,024 hosts ({one} of {drb} points)", 0.3 <= share <= 0.7


def ordered(table):
    size = table["radix"].max()
    found = [mean(table, CCT, balancer=scheme, radix=size).percent for scheme in SCHEMES]
    steps = [gap(table, worse, better, radix=size) for worse, better in pairwise(SCHEMES)]
    return " > ".join(f"{one:.2f}" for one in found) + f" % at radix {size}", all(step.value > 0 for step in steps)


def bounded_below_drb(table):
    radices = sorted(set(table["radix"]) - {4})
    gaps = [gap(table, "drb", "ofan", radix=radix) for radix in radices]
    text = ", ".join(f"{one:.2f} at radix {radix}" for one, radix in zip(gaps, radices, strict=True))
    return f"{text} (points)", all(one.value > 0 for one in gaps) and gaps[-1].value > gaps[0].value


CLAIMS = [
    Claim(
        says="the CCT falls from DRB over 1Ofan, 2Ofan and 4Ofan to Ofan",
        where="section 6.1, Fig. 6",
        paper="DRB > 1Ofan > 2Ofan > 4Ofan > Ofan",
        holds=ordered,
    ),
    Claim(
        says="4Ofan comes close to Ofan: less than half of DRB's gap",
        where="section 6.1, Fig. 5a and 6",
        paper="reasonably small",
        holds=small_gap,
    ),
    Claim(
        says="the gap between 4Ofan and Ofan widens with the network",
        where="section 6.1, Fig. 6",
        paper="expands, but somewhat moderately",
        holds=widens,
        tier="full",
    ),
    Claim(
        says="1Ofan is about half-way between Ofan and DRB (a share of 0.3 to 0.7)",
        where="section 6.1, Fig. 6",
        paper="0.5",
        holds=half_way,
        tier="medium",
    ),
    Claim(
        says="the gap between DRB and Ofan grows with the network",
        where="section 6.1, Fig. 6",
        paper="grows",
        holds=bounded_below_drb,
    ),
]


def plot(table, axes):
    curves(axes[0], table, "hosts", CCT, scale=100)
    axes[0].set(xlabel="hosts", ylabel="CCT increase over the bound (%)", ylim=(0, None))
    log_ticks(axes[0], table["hosts"])
