"""Which transport over which balancer? Six transports over Ofan, 4Ofan, AR and REPS, on workloads of the Ofan paper.

432 hosts, frames and buffers (800 kB a port) of the Ofan paper: permutations of 1 and 4 MiB, an all-to-all of 16 KiB a
flow, and an incast of 64 hosts with 1 MiB each. Some pairs do not exist. dcSim's hosts draw the paths of their Sims, so
that it runs over random paths (`rps`) and the hosts' rotation (`drb`) only. dcPIM's packets carry their priority where
REPS writes paths, so that it runs over balancers of switches: random spraying (`rsq`) stands in. A constant window is
beside them, as what loss recovery alone does.

All are held against one bound, the least time in which all data could arrive, and by the time at which it has: ACKs
count for none. Loss is of data frames that ports dropped; for each that arrives none, one or more may have been.
"""

import polars as pl

from fabricsim import AllToAll, Incast, Paced, Permutation, Port, Rsq, Scenario, workloads
from fabricsim.bounds import bound_ps
from fabricsim.plot import colours, display_name
from fabricsim.study import Claim, Study, mean, means, ratios

CCT, OVER, QUEUE, LOST, REORDERED = (
    "cct_delivered_us",
    "over_bound_factor",
    "max_queue_packets",
    "loss_fraction",
    "reordered_fraction",
)
NAMES = {
    "nscc": "NSCC",
    "mswift": "MSwift",
    "swift": "Swift",
    "dctcp": "DCTCP",
    "constant-window": "constant window",
    "dcsim": "dcSim",
    "dcpim": "dcPIM",
}
BALANCERS = ("ofan", "pofan:4", "ar", "reps")
WINDOWS = ("nscc", "mswift", "swift", "dctcp", "constant-window")
OVER_THEM = {
    **dict.fromkeys(WINDOWS, BALANCERS),
    "dcsim": ("drb", "rps"),
    "dcpim": ("ofan", "pofan:4", "ar", "rsq"),
}
PAIRS = tuple(f"{transport}/{balancer}" for transport, over in OVER_THEM.items() for balancer in over)
FACTORS, FRAMES = (1, 1.2, 1.5, 2, 3, 5, 10, 15), (1, 3, 10, 30, 100, 192)
SHORT, LONG, ALL, MANY_TO_ONE = "permutation 1 MiB", "permutation 4 MiB", "all-to-all 16 KiB", "incast 64 to 1"


def patterns(senders):
    return {
        SHORT: Permutation(message="1MiB"),
        LONG: Permutation(message="4MiB"),
        ALL: AllToAll(message="16KiB"),
        MANY_TO_ONE: Incast(senders=senders, message="1MiB"),
    }


MAIN = {"pair": PAIRS, "radix": (12,), "workload": patterns(64), "seed": (1, 2, 3, 4, 5)}
WITHOUT_ALL = {name: pattern for name, pattern in patterns(64).items() if name != ALL}

STUDY = Study(
    title="Six transports over Ofan, 4Ofan, AR and REPS: CCT, largest queue, loss and reordering",
    source="beyond both papers",
    base=Scenario(port=Port(buffer="800kB")),
    grid={"pair": "transport", "radix": "fabric.radix", "workload": "workload", "seed": "run.seed"},
    tiers={
        "quick": {**MAIN, "radix": (4,), "workload": patterns(8), "seed": (1, 2)},
        "medium": {**MAIN, "radix": (8,), "seed": (1, 2)},
        "full": (
            {**MAIN, "workload": WITHOUT_ALL},
            {**MAIN, "workload": {ALL: patterns(64)[ALL]}, "seed": (1, 2, 3)},
        ),
    },
    panels=(2, 4),
    panel_inches=(3.9, 3.1),
)


def measure(results):
    scenario, flows, summary = results.scenario, results.flows, results.summary
    data_alone = scenario.replace(transport=Paced(acks="off"), balancer=Rsq(), port=Port())
    bound_us = bound_ps(data_alone, workloads.build(data_alone)) / 1e6
    packets = summary["packets_count"]
    return {
        CCT: summary[CCT],
        OVER: summary[CCT] / bound_us,
        QUEUE: summary[QUEUE],
        LOST: summary["drops_count"]["data"] / packets,
        "sent_again_fraction": summary["retransmitted_packets_count"] / packets,
        REORDERED: summary["reordered_packets_count"] / packets,
        "queueing_delay_mean_us": summary["queueing_delay_mean_us"],
        "fct_p99_us": flows["fct_us"].quantile(0.99),
        "marks_count": summary["marks_count"],
    }


def table(runs):
    """Name transport and balancer in columns of their own."""
    sides = pl.col("pair").str.split("/").list
    return runs.with_columns(transport=sides.first(), balancer=sides.last())


def at(table, column, pair, workload):
    return mean(table, column, pair=pair, workload=workload)


def pairs_over(balancers, transports=WINDOWS):
    return [f"{transport}/{balancer}" for transport in transports for balancer in balancers]


def named(pair):
    transport, balancer = pair.split("/")
    return f"{NAMES[transport]} over {display_name(balancer)}"


def listed(found, spec=".2f"):
    return ", ".join(f"{named(pair)} {one:{spec}}" for pair, one in found.items())


def rotation_first(table):
    """Hold AR and REPS against the slower of Ofan and 4Ofan, in the same permutations under the same transport."""
    found = {
        (workload, pair): ratios(
            table, CCT, {"workload": workload, "pair": pair}, {"workload": workload, "pair": f"{transport}/pofan:4"}
        )
        for workload in (SHORT, LONG)
        for transport in WINDOWS
        for pair in pairs_over(("ar", "reps"), (transport,))
    }
    text = "; ".join(
        f"{workload}: {listed({pair: one for (where, pair), one in found.items() if where == workload})}"
        for workload in (SHORT, LONG)
    )
    return f"times the CCT over 4Ofan, {text}", all(one.value > 1.02 for one in found.values())


def no_difference(table):
    found = {
        (workload, transport): ratios(
            table, CCT, *({"workload": workload, "pair": f"{one}/ofan"} for one in (transport, "constant-window"))
        ).value
        for workload in (SHORT, LONG, ALL)
        for transport in WINDOWS[:-1]
    }
    text = ", ".join(f"{NAMES[transport]} {value:.3f} ({workload})" for (workload, transport), value in found.items())
    return f"times that of a constant window: {text}", all(0.99 < value < 1.01 for value in found.values())


def lossless_but_incast(table):
    rows = table.filter(pl.col("workload") != MANY_TO_ONE)
    lost = rows.filter(pl.col(LOST) > 0)["pair"].unique(maintain_order=True).to_list()
    return f"pairs that lose data in {rows.height} runs: {', '.join(map(named, lost)) or 'none'}", not lost


def whatever_the_balancer(table):
    found = {
        transport: [at(table, CCT, f"{transport}/{balancer}", MANY_TO_ONE).value for balancer in over]
        for transport, over in OVER_THEM.items()
    }
    spread = {transport: max(values) / min(values) for transport, values in found.items()}
    text = ", ".join(f"{NAMES[transport]} {value:.2f}" for transport, value in spread.items())
    return f"largest CCT over the smallest: {text}", all(spread[name] < 1.15 for name in NAMES)


def who_loses(table):
    found = {pair: at(table, LOST, pair, MANY_TO_ONE) for pair in pairs_over(("ofan",))}
    others = {pair: at(table, LOST, pair, MANY_TO_ONE) for pair in ("dcsim/rps", "dcsim/drb", "dcpim/ofan")}
    text = f"data frames dropped for each that arrives: {listed(found)}; {listed(others)}"
    return text, all(one.value == 0 for one in others.values()) and all(one.value > 0 for one in found.values())


def short_queues(table):
    rows = table.filter(pl.col("workload").is_in((SHORT, LONG)))
    most = {
        balancer: rows.filter((pl.col("balancer") == balancer) & pl.col("transport").is_in(WINDOWS))[QUEUE].max()
        for balancer in BALANCERS
    }
    text = ", ".join(f"{display_name(balancer)} {value}" for balancer, value in most.items())
    return f"largest of any run, in frames: {text}", max(most["ofan"], most["pofan:4"]) < 15


def late_starters(table):
    found = {pair: at(table, OVER, pair, SHORT) for pair in ("nscc/ofan", "dcsim/rps", "dcsim/drb", "dcpim/ofan")}
    others = [one.value for pair, one in found.items() if pair != "nscc/ofan"]
    return f"{listed(found)} times the bound", min(others) > 1.5 * found["nscc/ofan"].value


def scores(table):
    """Give for each pair the geometric mean of its CCTs over the bound, over the four workloads, best first."""
    of_each = means(table.select("pair", "workload", "seed", OVER), ["pair", "workload"])
    of_all = of_each.group_by("pair").agg(pl.col(f"{OVER}_mean").log().mean().exp()).sort(f"{OVER}_mean", "pair")
    return dict(of_all.iter_rows())


def worth_buying(first):
    def holds(table):
        found = scores(table)
        text = ", ".join(f"{named(pair)} {value:.2f}" for pair, value in found.items())
        return f"geometric mean of CCT over bound: {text}", next(iter(found)) in first

    return holds


BEYOND = {"where": "beyond both papers", "paper": "an open question"}

CLAIMS = [
    Claim(
        says="under every transport with windows, AR and REPS complete permutations later than 4Ofan, by 2 % or more",
        holds=rotation_first,
        **BEYOND,
    ),
    Claim(
        says="over Ofan the controller makes no difference to permutations and all-to-all: CCTs within 1 %",
        holds=no_difference,
        **BEYOND,
    ),
    Claim(
        says="no pair loses data in permutations and all-to-all",
        holds=lossless_but_incast,
        tier="full",
        why="in an all-to-all a host's turn comes back to a flow after 18 us, when the ACK of its last packet is "
        "there: REPS sends its next one over the same path, so that all four packets of a flow meet the same others",
        **BEYOND,
    ),
    Claim(
        says="queues of permutations stay below 15 frames over Ofan and 4Ofan, under every transport with windows",
        holds=short_queues,
        **BEYOND,
    ),
    Claim(
        says="an incast takes about as long whatever the balancer, within 15 %",
        holds=whatever_the_balancer,
        tier="full",
        **BEYOND,
    ),
    Claim(
        says="in the incast dcSim and dcPIM lose no data, and all with windows do: their first windows are too much",
        holds=who_loses,
        **BEYOND,
    ),
    Claim(
        says="dcSim and dcPIM, which ask first, take half as long again as NSCC over Ofan, or more, for a permutation "
        "of 1 MiB",
        holds=late_starters,
        **BEYOND,
    ),
    Claim(
        says="what to buy, if the four workloads weigh the same: NSCC or MSwift over Ofan or 4Ofan come first",
        holds=worth_buying(pairs_over(("ofan", "pofan:4"), ("nscc", "mswift"))),
        tier="full",
        **BEYOND,
    ),
]


def plot(table, axes):
    of_all = means(
        table.select("transport", "balancer", "workload", "seed", OVER, QUEUE), ["transport", "balancer", "workload"]
    )
    shades = colours(("ofan", "pofan:4", "ar", "reps", "drb", "rps", "rsq"))
    for axis, name in zip(axes, (*patterns(1), *patterns(1)), strict=True):
        upper = axis in axes[:4]
        column = OVER if upper else QUEUE
        rows = of_all.filter(pl.col("workload") == name)
        for balancer, colour in shades.items():
            drawn = rows.filter(pl.col("balancer") == balancer)
            places = [
                list(NAMES).index(transport) + (OVER_THEM[transport].index(balancer) - 1.5) * 0.2
                for transport in drawn["transport"]
            ]
            heights, errors = drawn[f"{column}_mean"], drawn[f"{column}_sem"].fill_null(0)
            axis.bar(places, heights, 0.18, yerr=errors, color=colour, label=display_name(balancer))
        axis.set(title=f"{name}: {'CCT over the bound' if upper else 'largest queue (frames)'}", yscale="log")
        axis.set_xticks(range(len(NAMES)), [name.replace(" ", "\n") for name in NAMES.values()], fontsize=7)
        axis.set_ylim(bottom=1)
        axis.set_yticks([one for one in (FACTORS if upper else FRAMES) if one <= axis.get_ylim()[1]])
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter("")
        axis.grid(visible=False, axis="x")
