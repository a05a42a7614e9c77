"""dcSim Fig. 4: utilisation, loss and reordering over time, in an all-to-all whose flows never end.

128 hosts. Loss is the share of dropped data packets among those that arrive or are dropped in an interval, and
reordering that of packets with a smaller number than one of their flow before, among those that arrive. The first 100
us, in which dcSim waits for its first RTT_max and the windows of the others fill, are drawn but not judged. Switches
spray the packets of the other transports at random, as dcSim's ports are; round robin, and other orders in which a host
visits the others, are in the table at few seeds.
"""

import polars as pl

from fabricsim import InfiniteAllToAll, Measure, scenario_from_mapping
from fabricsim.plot import curves, display_name
from fabricsim.study import Claim, Study, leads, mean

UTILISATION, LOSS, REORDERED = "utilisation_fraction", "loss_fraction", "reordered_fraction"
SERVED = "served_flows_fraction"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]
ROUND_ROBIN = {f"{name}, round robin": f"{name}/simple-rr:pointers=per-ingress" for name in RIVALS}
SETTLED_US = 100

MAIN = {
    "transport": TRANSPORTS,
    "radix": (8,),
    "duration_us": {1000: "1ms"},
    "order": ("random",),
    "seed": range(1, 21),
}

STUDY = Study(
    title="Utilisation, loss and reordering over time, infinite all-to-all",
    source="dcSim Fig. 4",
    base=scenario_from_mapping({"preset": "dcsim-paper"}).replace(
        workload=InfiniteAllToAll(), measure=Measure(interval="50us", queues=False)
    ),
    grid={
        "transport": "transport",
        "radix": "fabric.radix",
        "duration_us": "workload.duration",
        "order": "workload.order",
        "seed": "run.seed",
    },
    tiers={
        "quick": {**MAIN, "radix": (4,), "duration_us": {250: "250us"}, "seed": (1, 2)},
        "medium": {**MAIN, "duration_us": {500: "500us"}, "seed": (1, 2)},
        "full": (
            MAIN,
            {**MAIN, "transport": ROUND_ROBIN, "seed": (1, 2, 3)},
            {**MAIN, "order": ("index", "shift"), "seed": (1, 2, 3)},
        ),
    },
    panels=3,
    panel_inches=(3.4, 3.0),
)


def measure(results):
    """Give the measures of every interval as columns such as "loss_fraction@50", and the share of flows ever served."""
    series = results.series
    arrived, dropped = series["delivered_packets_count"], series["dropped_data_count"]
    measures = {
        UTILISATION: series[UTILISATION],
        LOSS: dropped / (arrived + dropped),
        REORDERED: series["reordered_packets_count"] / arrived,
    }
    served = (results.flows["delivered_packets_count"] > 0).mean()
    return {f"{SERVED}@{series['end_us'][-1]:g}": served} | {
        f"{name}@{end:g}": value
        for name, values in measures.items()
        for end, value in zip(series["end_us"], values, strict=True)
    }


def table(runs):
    """Make one row an interval of each run, with the measures as columns; that of flows is in the last one."""
    axes = list(STUDY.grid)
    long = runs.drop("status").unpivot(index=axes).filter(pl.col("value").is_not_null())
    name = pl.col("variable").str.split("@").list
    long = long.with_columns(measure=name.get(0), end_us=name.get(1).cast(pl.Float64)).drop("variable")
    return long.pivot("measure", index=[*axes, "end_us"], values="value")


def settled(table, order="random"):
    return table.filter((pl.col("end_us") > SETTLED_US) & (pl.col("order") == order))


def averages(rows, column, transports):
    return ", ".join(f"{display_name(name)} {mean(rows, column, transport=name).percent}" for name in transports)


def ahead_at_all_times(order, rivals):
    """Compare what dcSim's hosts receive with what those of each other transport do, in the same interval."""

    def holds(table):
        rows = settled(table, order).with_columns(lacking=1 / pl.col(UTILISATION))
        found = leads(rows, "lacking", "end_us", "dcsim", rivals)
        everyone = ("dcsim", *rivals)
        text = f"mean {averages(rows, UTILISATION, everyone)} %; least ratio {found.smallest()} us"
        return f"{text}; flows served {averages(rows, SERVED, everyone)} %", found.everywhere(1.14)

    return holds


def most(column, transports, limit):
    """Hold the largest mean over runs of any interval of each transport against a limit."""

    def holds(table):
        rows = table.filter(pl.col("order") == "random")
        means = rows.group_by("transport", "end_us").agg(pl.col(column).mean())
        found = {name: means.filter(pl.col("transport") == name)[column].max() for name in transports}
        text = ", ".join(f"{display_name(name)} {value:.3%}" for name, value in found.items())
        return f"at most {text} in any interval", max(found.values()) <= limit

    return holds


def pfabric_loses(table):
    lost = mean(settled(table), LOSS, transport="pfabric").percent
    return f"{lost} %", lost.above(1)


CLAIMS = [
    Claim(
        says="dcSim's utilisation is above that of each other transport by 14 % of theirs, in every interval",
        where="section 4.1, Fig. 4a",
        paper="at least 14 % at all times",
        holds=ahead_at_all_times("random", RIVALS),
        tier="full",
        why="without end nothing holds pHost and pFabric back: pHost serves few flows, one a receiver at a time, and "
        "what pFabric drops is replaced by other flows' packets; where flows end (Fig. 5b) both are behind",
    ),
    Claim(
        says="so it is where switches spray the others' packets round robin",
        where="section 4.1, Fig. 4a, as the dcPIM simulator sprays",
        paper="at least 14 % at all times",
        holds=ahead_at_all_times("random", tuple(ROUND_ROBIN)),
        tier="full",
        why="as with random spraying",
    ),
    Claim(
        says="so it is where all hosts visit the others in the same order, 0, 1, 2, ...",
        where="section 4.1, Fig. 4a, another reading",
        paper="at least 14 % at all times",
        holds=ahead_at_all_times("index", RIVALS),
        tier="full",
        why="all hosts' Sims meet at the same last ports, and are dropped there",
    ),
    Claim(
        says="dcSim loses no data packet",
        where="section 4.1, Fig. 4b",
        paper="0 % at all times",
        holds=most(LOSS, ["dcsim"], 0),
    ),
    Claim(
        says="dcSim delivers all data packets in order",
        where="section 4.1, Fig. 4c",
        paper="0 % at all times",
        holds=most(REORDERED, ["dcsim"], 0),
        tier="medium",
    ),
    Claim(
        says="dcPIM and pHost lose no data packet",
        where="section 4.1, Fig. 4b",
        paper="lossless",
        holds=most(LOSS, ["dcpim", "phost"], 0),
        tier="medium",
        why="random spraying: queues of up to 40 of the 55 packets that a port holds are common under dcPIM, and in "
        "few runs one is full",
    ),
    Claim(
        says="pFabric drops data packets, above 1 %",
        where="section 4.1, Fig. 4b",
        paper="a high level of drops",
        holds=pfabric_loses,
        tier="medium",
    ),
]


def plot(table, axes):
    rows = table.filter((pl.col("order") == "random") & pl.col("transport").is_in(TRANSPORTS))
    titles = {
        UTILISATION: "(a) utilisation (%)",
        LOSS: "(b) data packets dropped (%)",
        REORDERED: "(c) out of order (%)",
    }
    for axis, (column, title) in zip(axes, titles.items(), strict=True):
        curves(axis, rows, "end_us", column, by="transport", scale=100)
        axis.set(title=title, xlabel="time (µs)", ylim=(0, None))
