"""Ofan Fig. 11: incremental deployment, 4Ofan in half of the edge and aggregation switches and AR in the others.

432 hosts, a random permutation of 1 MiB. A seed gives every scenario the same permutation; random switches and pods
are drawn anew with each.
"""

from fabricsim import Ar, Deployment, Measure, Pofan, Scenario
from fabricsim.plot import colours
from fabricsim.study import Claim, Study, differences, mean, means

CCT = "cct_increase_fraction"
AR, POFAN = "all AR", "all 4Ofan"
MIXES = {
    "random switches": "random-switches",
    "random pods": "random-pods",
    "aggregation switches": "all-agg",
    "edge switches": "all-edge",
}
SWITCHES = (AR, *MIXES, POFAN)

STUDY = Study(
    title="CCT increase of AR, of 4Ofan in half of the switches and in all, random permutation",
    source="Ofan Fig. 11",
    base=Scenario(balancer=Ar(), measure=Measure(queues=False)),
    grid={"switches": None, "seed": "run.seed"},
    tiers={
        "quick": {"switches": SWITCHES, "seed": range(1, 11)},
        "medium": {"switches": SWITCHES, "seed": range(1, 31)},
        "full": {"switches": SWITCHES, "seed": range(1, 101)},
    },
    columns=("cct_acked_us", "bound_us", CCT),
    panel_inches=(5.6, 3.4),
)


def scenario(base, point):
    if point["switches"] in MIXES:
        return base.replace(deployment=Deployment(balancer=Pofan(), placement=MIXES[point["switches"]]))
    return base if point["switches"] == AR else base.replace(balancer=Pofan())


def increases(table):
    return {name: mean(table, CCT, switches=name).percent for name in SWITCHES}


def halfway(table):
    found = increases(table)
    return (found[AR].value + found[POFAN].value) / 2, (found[AR].sem ** 2 + found[POFAN].sem ** 2) ** 0.5 / 2


def midpoint(table):
    value, error = halfway(table)
    found = increases(table)
    return f"{value:.2f} ± {error:.2f} % (AR {found[AR]}, 4Ofan {found[POFAN]})", 6.5 <= value <= 8


def only_helps(table):
    found = {name: differences(table, CCT, {"switches": AR}, {"switches": name}).percent for name in MIXES}
    text = ", ".join(f"{name} {fewer}" for name, fewer in found.items())
    above = [fewer.above(0) for fewer in found.values()]
    return f"{text} points below AR", False if False in above else None if None in above else True


def less_than_proportional(table):
    value, _ = halfway(table)
    found = increases(table)
    text = ", ".join(f"{name} {found[name]}" for name in MIXES)
    return f"{text} %; midpoint {value:.2f} %", all(found[name].value > value for name in MIXES)


def slightly_above(table):
    value, _ = halfway(table)
    found = {name: more.value - value for name, more in increases(table).items() if name in MIXES}
    text = ", ".join(f"{name} {more:.2f}" for name, more in found.items())
    return f"{text} points above the midpoint", max(found.values()) < 2.5


def edge_is_best(table):
    others = [name for name in MIXES if name != "edge switches"]
    found = {
        name: differences(table, CCT, {"switches": name}, {"switches": "edge switches"}).percent for name in others
    }
    text = ", ".join(f"{name} {more}" for name, more in found.items())
    return f"{text} points above edge switches", all(more.value > 2 * more.sem for more in found.values())


CLAIMS = [
    Claim(
        says="the midpoint between the CCT increases of AR and 4Ofan is 6.5 to 8 %",
        where="section 6.4, Fig. 11",
        paper="7.3 %",
        holds=midpoint,
    ),
    Claim(
        says="4Ofan in half of the switches only decreases the CCT of AR, wherever it is",
        where="section 6.4, Fig. 11",
        paper="only decreases",
        holds=only_helps,
        tier="full",
    ),
    Claim(
        says="it helps by less than its share: every mix lies above the midpoint",
        where="section 6.4, Fig. 11",
        paper="higher in all mixes",
        holds=less_than_proportional,
        tier="medium",
    ),
    Claim(
        says="every mix lies only slightly above the midpoint, by less than 2.5 points",
        where="section 6.4, Fig. 11",
        paper="slightly higher in all mixes",
        holds=slightly_above,
        tier="medium",
        why="only edge switches balance the links from aggregation to edge: with AR there the largest queue on them "
        "stays (41 frames, 37 with AR everywhere) whatever the aggregation does, also with ACKs balanced and levels "
        "read anew each time; rsq in place of AR shows the same",
    ),
    Claim(
        says="the edge switches are the best place for it",
        where="section 6.4, Fig. 11",
        paper="edge switches best",
        holds=edge_is_best,
        tier="medium",
    ),
]


def plot(table, axes):
    points = means(table, ["switches"])
    names = points["switches"].to_list()
    heights, errors = ([value * 100 for value in points[f"{CCT}_{kind}"]] for kind in ("mean", "sem"))
    pure = colours(["ar", "pofan:4"])
    shades = [{AR: pure["ar"], POFAN: pure["pofan:4"]}.get(name, "#8C8C8C") for name in names]
    axes[0].bar([name.replace(" ", "\n", 1) for name in names], heights, 0.65, yerr=errors, color=shades)
    axes[0].axhline(halfway(table)[0], color="black", linewidth=0.9, linestyle="--", label="midpoint of AR and 4Ofan")
    axes[0].set_ylabel("CCT increase over the bound (%)")
    axes[0].grid(visible=False, axis="x")
