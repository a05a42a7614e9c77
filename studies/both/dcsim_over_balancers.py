"""Does rotation help dcSim? Its random ports beside a rotation over the paths to each destination, few ports, one hash.

dcSim draws a random source port for each Sim, and switches hash it (`rps`). Instead, a host can send its Sims to each
destination over all paths in turn (`drb`, what Ofan does in switches): Sims spread evenly, and so do Datas. Two worse
choices are beside them: 8 ports only, and switches that hash alike, so that the paths of an edge switch's hosts meet in
a quarter of the cores (`salts=shared`). 128 hosts; a permutation of 2 BDP, an all-to-all of 10 packets a pair and five
concurrent all-to-all-v.
"""

import polars as pl

from fabricsim import AllToAll, Bytes, Collectives, Permutation, scenario_from_mapping
from fabricsim.plot import colours
from fabricsim.study import Claim, Study, mean, ratios

CCT, QUEUEING, LOST, SIMS_LOST = (
    "collective_cct_mean_us",
    "queueing_delay_mean_us",
    "loss_data_fraction",
    "loss_sim_fraction",
)
REORDERED = "reordered_fraction"
RANDOM, ROTATION, FEW, ALIKE = "rps", "drb", "rps:entropies=8", "rps:salts=shared"
NAMES = {RANDOM: "random ports", ROTATION: "rotation", FEW: "8 ports", ALIKE: "one hash in all switches"}
ONE_EACH, ALL, FIVE = "permutation", "all-to-all", "five all-to-all-v"


def patterns(sizes, packets):
    size = Bytes(9000 * packets)
    return {
        ONE_EACH: Permutation(message=size),
        ALL: AllToAll(message=Bytes(9000 * 10)),
        FIVE: Collectives(sizes=sizes, message=size),
    }


PAPER = patterns((8, 16, 32, 64), 174)
MAIN = {"radix": (8,), "pattern": {name: PAPER[name] for name in (ONE_EACH, ALL)}, "balancer": tuple(NAMES)}

STUDY = Study(
    title="dcSim over balancers: random ports, rotation, 8 ports, one hash",
    source="beyond both papers",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={"radix": "fabric.radix", "pattern": "workload", "balancer": "balancer", "seed": "run.seed"},
    tiers={
        "quick": {
            **MAIN,
            "radix": (4,),
            "pattern": patterns((4, 8), 87),
            "seed": (1, 2, 3),
        },
        "medium": {**MAIN, "pattern": PAPER, "seed": (1, 2)},
        "full": (
            {**MAIN, "seed": range(1, 21)},
            {**MAIN, "pattern": {FIVE: PAPER[FIVE]}, "balancer": (RANDOM, ROTATION), "seed": range(1, 21)},
            {**MAIN, "pattern": {FIVE: PAPER[FIVE]}, "balancer": (FEW, ALIKE), "seed": range(1, 4)},
        ),
    },
    columns=(
        CCT, "bound_us", LOST, SIMS_LOST, QUEUEING, "reordered_packets_count", "packets_count", "max_queue_packets",
        "utilisation_fraction",
    ),
    panels=(1, 4),
    panel_inches=(3.0, 3.2),
)  # fmt: skip


def table(runs):
    return runs.with_columns((pl.col("reordered_packets_count") / pl.col("packets_count")).alias(REORDERED))


def at(table, column, pattern, balancer):
    return mean(table, column, pattern=pattern, balancer=balancer)


def against_random(table, column, pattern, balancer=ROTATION):
    return ratios(table, column, *({"pattern": pattern, "balancer": name} for name in (balancer, RANDOM)))


def patterns_of(table):
    return table["pattern"].unique(maintain_order=True).to_list()


def as_text(table, column, name):
    random, rotated = (at(table, column, name, balancer) for balancer in (RANDOM, ROTATION))
    return f"{name} {random:.1f} us with random ports, {rotated:.1f} with rotation"


def faster_permutation(table):
    ratio = against_random(table, CCT, ONE_EACH)
    return f"{as_text(table, CCT, ONE_EACH)}: ratio {ratio:.3f}", ratio.value < 0.8


def no_difference(table):
    found = {name: against_random(table, CCT, name) for name in (ALL, FIVE)}
    text = "; ".join(f"{as_text(table, CCT, name)}: ratio {ratio:.3f}" for name, ratio in found.items())
    within = [ratio.within(0.97, 1.03) for ratio in found.values()]
    return text, False if False in within else None if None in within else True


def shares(table, column, names):
    """Return for each pattern the percentages with random ports and with rotation, and their text."""
    found = {name: [at(table, column, name, one).percent for one in (RANDOM, ROTATION)] for name in names}
    text = "; ".join(f"{name} {random:.3f} and {rotated:.3f}" for name, (random, rotated) in found.items())
    return found, f"{text} %, with random ports and with rotation"


def fewer_lost_sims(table):
    found, text = shares(table, SIMS_LOST, (ONE_EACH, ALL))
    return text, found[ONE_EACH][1].value == 0 and found[ALL][1].value < found[ALL][0].value


def shorter_queues(table):
    found = {name: against_random(table, QUEUEING, name) for name in patterns_of(table)}
    text = ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.items())
    return f"over that with random ports: {text}", all(ratio.value < 1 for ratio in found.values())


def more_in_order(names):
    def holds(table):
        found, text = shares(table, REORDERED, names)
        return text, all(rotated.value < random.value for random, rotated in found.values())

    return holds


def never_loses(table):
    rows = table.filter(pl.col("pattern") != FIVE)
    found = {name: rows.filter(pl.col("balancer") == name)[LOST].max() for name in NAMES}
    text = ", ".join(f"{NAMES[name]} {most:.3%}" for name, most in found.items())
    return f"most in a run: {text}", found[RANDOM] == found[ROTATION] == found[FEW] == 0


def few_ports_are_enough(table):
    found = {name: against_random(table, CCT, name, FEW) for name in (ONE_EACH, ALL)}
    text = ", ".join(f"{name} {ratio:.3f}" for name, ratio in found.items())
    return f"CCT with 8 ports over that with 65,536: {text}", all(ratio.value < 1.02 for ratio in found.values())


def one_hash_costs(table):
    found = {name: against_random(table, CCT, name, ALIKE) for name in (ONE_EACH, ALL)}
    text = ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.items())
    return f"CCT with one hash over that with one a switch: {text}", found[ALL].value > 2


BEYOND = {"where": "beyond both papers", "paper": "an open question"}

CLAIMS = [
    Claim(
        says="rotation makes a permutation faster, by a fifth or more",
        holds=faster_permutation,
        tier="medium",
        **BEYOND,
    ),
    Claim(
        says="it makes no difference to an all-to-all, nor to five of unequal sizes: CCTs within 3 %",
        holds=no_difference,
        tier="full",
        **BEYOND,
    ),
    Claim(
        says="with rotation no Sim of a permutation is dropped, and fewer of an all-to-all than with random ports",
        holds=fewer_lost_sims,
        tier="medium",
        **BEYOND,
    ),
    Claim(says="with rotation Datas spend less time in queues", holds=shorter_queues, tier="medium", **BEYOND),
    Claim(
        says="with rotation fewer Datas arrive out of order: permutation, five all-to-all-v",
        holds=more_in_order((ONE_EACH, FIVE)),
        tier="full",
        **BEYOND,
    ),
    Claim(
        says="with rotation fewer Datas arrive out of order: all-to-all",
        holds=more_in_order((ALL,)),
        tier="medium",
        **BEYOND,
    ),
    Claim(
        says="with random ports, 8 or 65,536, and with rotation no Data is lost (permutation, all-to-all)",
        holds=never_loses,
        **BEYOND,
    ),
    Claim(
        says="8 ports are enough: the CCT is larger by less than 2 % (permutation, all-to-all)",
        holds=few_ports_are_enough,
        tier="medium",
        **BEYOND,
    ),
    Claim(
        says="one hash in all switches, which leaves a quarter of the cores: an all-to-all takes twice as long or more",
        holds=one_hash_costs,
        tier="medium",
        **BEYOND,
    ),
]


def plot(table, axes):
    shown = (
        (CCT, 1, "CCT over that with random ports"),
        (SIMS_LOST, 100, "Sims dropped (%)"),
        (QUEUEING, 1, "queueing delay (µs)"),
        (REORDERED, 100, "reordered (%)"),
    )
    shades, names = colours([RANDOM, ROTATION, "few", "alike"]), patterns_of(table)
    for axis, (column, scale, title) in zip(axes, shown, strict=True):
        for place, (balancer, colour) in enumerate(zip(NAMES, shades.values(), strict=True)):
            if column == CCT:
                found = [against_random(table, CCT, name, balancer) for name in names]
            else:
                found = [at(table, column, name, balancer) for name in names]
            heights, errors = ([getattr(one, part) * scale for one in found] for part in ("value", "sem"))
            at_x = [x + (place - 1.5) * 0.2 for x in range(len(names))]
            axis.bar(at_x, heights, 0.18, yerr=errors, color=colour, label=NAMES[balancer])
        axis.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names])
        axis.set(title=title)
        axis.grid(visible=False, axis="x")
