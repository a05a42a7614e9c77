"""dcSim Fig. 5(b): CCT of an all-to-all against the flow size, in BDPs of 87 packets (0.5 BDP: 43 packets).

128 hosts. In the published figure all four transports, dcSim too, take four to six times what hosts need to receive
their packets at line rate, so its set-up costs three quarters of the capacity, and the text does not say how. Here are

- random order: each host visits the others in an order of its own, the sound set-up;
- index order: every host visits hosts 0, 1, 2, ...;
- shifted order: host i visits i+1, i+2, ...;
- A, polarised: shifted order, and switches of both levels hash alike, so that 4 of the 16 cores carry all traffic
  between pods. For the transports that switches spray at random, this is a fabric with these 4 cores only;
- B, half the rate: index order and links of 400 Gbps.

A and B both come near the published times of dcSim, so the figure fixes neither. Nothing is tuned to meet it. The
published values were read off the figure, to within 3 %.
"""

import polars as pl

from fabricsim import AllToAll, Rps, scenario_from_mapping
from fabricsim.plot import curves, display_name, log_ticks
from fabricsim.study import Claim, Study, leads, mean

CCT, SIZE, OVER_IDEAL, OVER_PUBLISHED = "cct_delivered_us", "flow_bdp", "over_ideal_ratio", "over_published_ratio"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]
ROUND_ROBIN = {f"{name}, round robin": f"{name}/simple-rr:pointers=per-ingress" for name in RIVALS}
SIZES = {0.5: "387kB", 1.0: "783kB", 2.0: "1566kB", 4.0: "3132kB"}
UP_TO_TWO = {size: SIZES[size] for size in (0.5, 1.0, 2.0)}

RANDOM, POLARISED, HALF_RATE = "random order", "A, polarised", "B, half the rate"
ORDERS = {RANDOM: "random", "index order": "index", "shifted order": "shift", POLARISED: "shift", HALF_RATE: "index"}
PUBLISHED_US = {
    "dcsim": (2000, 3950, 7750, 15250),
    "dcpim": (2950, 4250, 8050, 15700),
    "phost": (2350, 4150, 7800, 15050),
    "pfabric": (2700, 5150, 10000, 19900),
}
PACKETS = (43, 87, 174, 348)

MAIN = {"transport": TRANSPORTS, "radix": (8,), "setup": (RANDOM,), SIZE: SIZES, "seed": range(1, 21)}

STUDY = Study(
    title="CCT of an all-to-all against the flow size, in five set-ups",
    source="dcSim Fig. 5b",
    base=scenario_from_mapping({"preset": "dcsim-paper"}).replace(workload=AllToAll()),
    grid={
        "transport": "transport",
        "radix": "fabric.radix",
        "setup": None,
        SIZE: "workload.message",
        "seed": "run.seed",
    },
    tiers={
        "quick": {**MAIN, "radix": (4,), "setup": tuple(ORDERS), SIZE: {0.5: "387kB"}, "seed": (1, 2)},
        "medium": {**MAIN, "setup": tuple(ORDERS), SIZE: {0.5: "387kB", 1.0: "783kB"}, "seed": (1,)},
        "full": (
            MAIN,
            {**MAIN, "setup": tuple(ORDERS)[1:], SIZE: UP_TO_TWO, "seed": (1, 2)},
            {**MAIN, "transport": ROUND_ROBIN, SIZE: UP_TO_TWO, "seed": (1, 2)},
        ),
    },
    columns=(
        CCT, "bound_us", "loss_data_fraction", "loss_sim_fraction", "retransmitted_packets_count",
        "reordered_packets_count", "queueing_delay_mean_us", "max_queue_packets",
    ),
    panels=len(ORDERS),
    panel_inches=(2.5, 3.2),
)  # fmt: skip


def scenario(base, point):
    base = base.replace(workload=base.workload.replace(order=ORDERS[point["setup"]]))
    if point["setup"] == HALF_RATE:
        return base.replace(fabric=base.fabric.replace(rate="400Gbps"))
    if point["setup"] != POLARISED:
        return base
    if base.transport.kind == "dcsim":
        return base.replace(balancer=Rps(salts="shared"))
    return base.replace(fabric=base.fabric.replace(agg_oversubscription=base.fabric.radix // 2))


def table(runs):
    """Add the CCT over that of hosts which receive at 800 Gbps all the time, and over the published one."""
    packets = pl.col(SIZE).replace_strict(dict(zip(SIZES, PACKETS, strict=True)), return_dtype=pl.Float64)
    hosts = pl.col("radix") ** 3 // 4
    ideal_us = (hosts - 1) * packets * 0.09 + 4.44
    published = [
        {"transport": name, "radix": 8, SIZE: size, "published_us": float(value)}
        for name, values in PUBLISHED_US.items()
        for size, value in zip(SIZES, values, strict=True)
    ]
    beside = runs.join(pl.DataFrame(published), on=["transport", "radix", SIZE], how="left", maintain_order="left")
    return beside.with_columns(
        (pl.col(CCT) / ideal_us).alias(OVER_IDEAL), (pl.col(CCT) / pl.col("published_us")).alias(OVER_PUBLISHED)
    )


def ahead(rivals, values=None):
    return lambda table: leads(table, CCT, SIZE, "dcsim", rivals, values=values, setup=RANDOM).verdict()


def dcpim_last_at_half(table):
    found = leads(table, CCT, SIZE, "dcpim", ("phost", "pfabric"), values=(0.5,), setup=RANDOM)
    ratios = [one for along in found.ratios.values() for one in along.values()]
    return f"{found} times dcPIM's", all(one.value < 1 for one in ratios)


def four_times_the_ideal(table):
    sizes = table.filter((pl.col("transport") == "dcsim") & (pl.col("setup") == RANDOM))[SIZE].unique().sort()
    found = {size: mean(table, OVER_IDEAL, transport="dcsim", setup=RANDOM, flow_bdp=size) for size in sizes}
    text = ", ".join(f"{one:.3f} at {size}" for size, one in found.items())
    return f"{text} times the ideal", all(3.5 <= one.value <= 4.5 for one in found.values())


def comes_near(setup):
    """Hold each transport's CCTs in a set-up against the published ones; the claim is about dcSim's."""

    def holds(table):
        rows = table.filter(pl.col("setup") == setup)
        found = {
            name: [
                mean(rows, OVER_PUBLISHED, transport=name, flow_bdp=size).value
                for size in rows[SIZE].unique().sort().to_list()
            ]
            for name in TRANSPORTS
        }
        text = "; ".join(
            f"{display_name(name)} {', '.join(f'{value:.2f}' for value in values)}" for name, values in found.items()
        )
        return f"{text} of the published", all(0.9 <= value <= 1.1 for value in found["dcsim"])

    return holds


def published_ratios(setup):
    """Hold dcSim's CCT over that of the others against the same ratio in the figure."""

    def holds(table):
        sizes = table.filter(pl.col("setup") == setup)[SIZE].unique().sort().to_list()
        found = leads(table, CCT, SIZE, "dcsim", RIVALS, values=sizes, setup=setup)
        parts, near = [], True
        for name, along in found.ratios.items():
            pairs = []
            for size, one in along.items():
                place = list(SIZES).index(size)
                there = PUBLISHED_US["dcsim"][place] / PUBLISHED_US[name][place]
                pairs.append(f"{1 / one.value:.2f} ({there:.2f})")
                near = near and abs(1 / one.value / there - 1) <= 0.1
            parts.append(f"{display_name(name)} {', '.join(pairs)}")
        return f"{'; '.join(parts)}, in brackets the figure's", near

    return holds


RATIOS_DIFFER = {
    RANDOM: "dcSim is further ahead of dcPIM and pHost than in the figure, since nothing in the set-up holds it back",
    "index order": "costs dcSim, whose Sims meet at the same last ports, more than pHost and pFabric",
    "shifted order": "as with random order",
    POLARISED: "the ratios to dcPIM and pHost come near, but these lose packets, which the paper denies",
    HALF_RATE: "the ratios at 0.5 BDP come near, but those to pFabric, and to dcPIM at 1 BDP, do not",
}

CLAIMS = [
    Claim(
        says="dcSim is ahead of the three others at every size (random order)",
        where="section 4.1, Fig. 5b",
        paper="faster at all sizes",
        holds=ahead(RIVALS),
        tier="full",
    ),
    Claim(
        says="so it is up to 2 BDP where switches spray the others' packets round robin",
        where="section 4.1, Fig. 5b, as the dcPIM simulator sprays",
        paper="faster at all sizes",
        holds=ahead(tuple(ROUND_ROBIN), tuple(UP_TO_TWO)),
        tier="full",
    ),
    Claim(
        says="at 0.5 BDP dcPIM, which does not match short flows, is behind pFabric and pHost (random order)",
        where="section 4.1, Fig. 5b",
        paper="beyond that of pFabric and pHost",
        holds=dcpim_last_at_half,
        tier="full",
    ),
    Claim(
        says="dcSim takes four times the ideal, by 0.5 (random order)",
        where="Fig. 5b, read off",
        paper="4.0, 4.0, 3.9, 3.8",
        holds=four_times_the_ideal,
        tier="full",
        why="with random orders and random paths nothing holds dcSim back; the order of indices costs it a factor of "
        "two, and set-ups A and B each cost it as much as the figure shows",
    ),
    *(
        Claim(
            says=f"in set-up {setup}, dcSim is within 10 % of its published CCTs",
            where="Fig. 5b, read off",
            paper="2,000, 3,950, 7,750, 15,250 us",
            holds=comes_near(setup),
            tier="medium",
        )
        for setup in (POLARISED, HALF_RATE)
    ),
    *(
        Claim(
            says=f"in set-up {setup}, dcSim's CCT over that of the others is within 10 % of the figure's ratios",
            where="Fig. 5b, read off",
            paper="0.68 to 1.01",
            holds=published_ratios(setup),
            tier="full",
            why=RATIOS_DIFFER[setup],
        )
        for setup in ORDERS
    ),
]


def plot(table, axes):
    published = table.filter((pl.col("setup") == RANDOM) & pl.col("published_us").is_not_null())
    published = published.with_columns(published=pl.col("published_us") * pl.col(OVER_IDEAL) / pl.col(CCT))
    for axis, setup in zip(axes, ORDERS, strict=True):
        rows = table.filter((pl.col("setup") == setup) & pl.col("transport").is_in(TRANSPORTS))
        curves(axis, rows, SIZE, OVER_IDEAL, by="transport")
        for line in axis.get_lines():
            line.set_zorder(3)
        points = published.unique(["transport", SIZE], maintain_order=True)
        axis.plot(
            points[SIZE], points["published"], linestyle="", marker="_", color="#8C8C8C", label="published, all four"
        )
        axis.set(title=setup, xlabel="flow size (BDP)", ylim=(0, None))
        log_ticks(axis, table[SIZE])
    top = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(0, top)
    axes[0].set_ylabel("CCT over the ideal")
