"""dcSim Fig. 10: how far the Datas that a last-hop port sends follow the Sims that it sent before, and their queues.

128 hosts; the port into a host drawn at random from those that receive. Rates are of packets begun within a sliding
interval, whose length the paper does not give: several are compared. The correlation is Pearson's of the rate of Sims
with that of Datas a lag later, from 50 us on to the last Sim; the peak is over lags of half to one and a half RTT_max.
The lag between a Sim and its Data is RTT_max, with no queue at all 0.02 RTT_max more for the transmission of the larger
Data on five links, and more or less for how much longer or shorter than the Sim the Data waits. Beside the baseline of
five collectives: the all-to-all without end, in random order and in the same order at all hosts, and the baseline with
a wait of 0.85 RTT_max.
"""

import numpy as np
import polars as pl

from fabricsim import (
    Bytes,
    Collectives,
    Dcsim,
    InfiniteAllToAll,
    Measure,
    Run,
    scenario_from_mapping,
    workloads,
)
from fabricsim.metrics import cross_correlation
from fabricsim.plot import colours
from fabricsim.study import Claim, Study, mean

STEP_US, SETTLED_US = 0.1, 50.0
INTERVALS_US = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
LAGS = (0.5, 1.5)
CURVE = tuple(round(0.5 + 0.04 * place, 2) for place in range(26))
PEAK, LAG = "peak_correlation", "peak_lag_fraction"
BASELINE, RANDOM, INDEX, SHORTER = (
    "five all-to-all-v",
    "endless all-to-all",
    "endless all-to-all, same order",
    "five all-to-all-v, 0.85 RTT_max",
)
QUEUES_US = (100, 160)


def workload_of(duration, sizes, message):
    return {
        BASELINE: Collectives(sizes=sizes, message=message),
        RANDOM: InfiniteAllToAll(duration=duration),
        INDEX: InfiniteAllToAll(duration=duration, order="index"),
        SHORTER: Collectives(sizes=sizes, message=message),
    }


PAPER = workload_of("400us", (8, 16, 32, 64), Bytes("1566kB"))
OTHERS = {name: PAPER[name] for name in (RANDOM, INDEX, SHORTER)}

STUDY = Study(
    title="Correlation of the Datas that a last-hop port sends with the Sims it sent before",
    source="dcSim Fig. 10",
    base=scenario_from_mapping({"preset": "dcsim-paper"}).replace(run=Run(time_limit="50ms")),
    grid={"radix": "fabric.radix", "pattern": "workload", "seed": "run.seed"},
    tiers={
        "quick": {
            "radix": (4,),
            "pattern": workload_of("150us", (4, 8), Bytes("783kB")),
            "seed": (1, 2),
        },
        "medium": {"radix": (8,), "pattern": PAPER, "seed": (1, 2)},
        "full": (
            {"radix": (8,), "pattern": {BASELINE: PAPER[BASELINE]}, "seed": range(1, 21)},
            {"radix": (8,), "pattern": OTHERS, "seed": range(1, 4)},
        ),
    },
    panels=3,
    panel_inches=(4.0, 3.2),
)


def scenario(base, point):
    if point.labels["pattern"] == SHORTER:
        base = base.replace(transport=Dcsim(wait_fraction=0.85))
    receivers = np.unique(workloads.build(base).dst)
    host = int(np.random.default_rng(base.run.seed).choice(receivers))
    port = f"edge-{host // base.fabric.hosts_per_edge}/host-{host}"
    return base.replace(measure=Measure(interval=f"{STEP_US:g}us", watched_port=port, queues=False))


def measure(results):
    """Give peak and curve of the correlation for each interval, as "peak_correlation@0.5", of the queues, a stretch.

    The stretch: packets that wait at the end of each microsecond, as "sims_waiting@100", and Datas RTT_max later.
    """
    rtt_max_us = results.summary["rtt_max_us"]
    series = results.series
    sims, datas = (series[f"port_{kind}_frames_count"].to_numpy().astype(float) for kind in ("sim", "data"))
    sim_queue, data_queue = (series[f"port_{kind}_waiting_packets"].to_numpy() for kind in ("sim", "data"))
    first, last = round(SETTLED_US / STEP_US), np.flatnonzero(sims)[-1]
    lags = [round(lag * rtt_max_us / STEP_US) for lag in LAGS]
    row = {"port_packets_count": int(datas.sum())}

    def correlate(one, other, name):
        if one.size < lags[1] + 2:
            return
        found = cross_correlation(one, other, lags[1])
        best = lags[0] + int(np.argmax(found[lags[0] :]))
        row.update({f"{PEAK}@{name}": found[best], f"{LAG}@{name}": best * STEP_US / rtt_max_us})
        row.update({f"{lag:.2f}@{name}": found[round(lag * rtt_max_us / STEP_US)] for lag in CURVE})

    for interval in INTERVALS_US:
        box = np.ones(round(interval / STEP_US))
        rates = (np.convolve(counts[first:last], box, "valid") for counts in (sims, datas))
        correlate(*rates, f"{interval:g}")
    correlate(sim_queue[first:last], data_queue[first:last], "queues")
    later = round(rtt_max_us / STEP_US)
    for time in range(*QUEUES_US):
        place = round(time / STEP_US)
        if place + later < last:
            row |= {f"sims_waiting@{time}": sim_queue[place], f"datas_waiting@{time}": data_queue[place + later]}
    return row


def table(runs):
    """Make a row an interval of each run, "queues" for the correlation of queues, and rows a microsecond of one run.

    That run is the one of the baseline whose port sends most.
    """
    axes = list(STUDY.grid)
    long = runs.drop("status").unpivot(pl.selectors.contains("@"), index=[*axes, "port_packets_count"])
    name = pl.col("variable").str.split("@").list
    long = long.with_columns(what=name.get(0), at=name.get(1)).drop("variable").filter(pl.col("value").is_not_null())
    is_queue = pl.col("what").str.ends_with("_waiting")
    index = [*axes, "port_packets_count", "at"]
    rates = long.filter(~is_queue).pivot("what", index=index, values="value").rename({"at": "interval_us"})
    busiest = runs.filter(pl.col("pattern") == BASELINE)["port_packets_count"].max()
    drawn = (pl.col("pattern") == BASELINE) & (pl.col("port_packets_count") == busiest)
    queues = long.filter(is_queue & drawn).pivot("what", index=index, values="value")
    queues = queues.with_columns(time_us=pl.col("at").cast(pl.Int64)).drop("at")
    return pl.concat([rates, queues], how="diagonal")


def peaks(table, pattern, column):
    found = {}
    for interval in (*(f"{one:g}" for one in INTERVALS_US), "queues"):
        rows = table.filter((pl.col("pattern") == pattern) & (pl.col("interval_us") == interval)).drop_nulls(column)
        if not rows.is_empty():
            found[interval] = mean(rows, column)
    return found


def texts(found):
    return ", ".join(f"{one} at {interval} us" for interval, one in found.items() if interval != "queues")


def some_interval(table):
    found = {one: peak.value for one, peak in peaks(table, BASELINE, PEAK).items() if one != "queues"}
    values = list(found.values())
    return texts(peaks(table, BASELINE, PEAK)), min(values) < 0.77 < max(values)


def lag_below_one(pattern):
    def holds(table):
        found = {one: lag for one, lag in peaks(table, pattern, LAG).items() if one in ("0.5", "1")}
        return f"lag of the peak over RTT_max: {texts(found)}", all(
            abs(lag.value - 0.86) < 0.03 for lag in found.values()
        )

    return holds


def grows(table):
    found = peaks(table, BASELINE, PEAK)
    short, long = found["0.2"], found["5"]
    return f"{short} at 0.2 us, {long} at 5 us", long.value - short.value > 2 * (long.sem + short.sem)


def steady(table):
    found = {name: peaks(table, name, PEAK) for name in (RANDOM, INDEX)}
    text = "; ".join(f"{name}: {texts(one)}" for name, one in found.items())
    return text, found[RANDOM]["1"].value < 0.77 < found[INDEX]["1"].value


def queues_follow(table):
    found = peaks(table, BASELINE, PEAK)["queues"]
    return f"peak correlation of the two queues {found}", found.above(0.3)


CLAIMS = [
    Claim(
        says="the rate of Datas follows that of Sims: for an interval between 0.1 and 10 us the peak is 0.77 ",
        where="section 4.1, Fig. 10a",
        paper="0.77; the interval is not said",
        holds=some_interval,
        tier="medium",
    ),
    Claim(
        says="the peak is higher for longer intervals",
        where="section 4.1, Fig. 10a; this project's measurement",
        paper="not said",
        holds=grows,
        tier="medium",
    ),
    Claim(
        says="the peak is at a lag of 0.86 RTT_max, within 0.03",
        where="section 4.1, Fig. 10a",
        paper="0.86 RTT_max",
        holds=lag_below_one(BASELINE),
        tier="medium",
        why="Datas are due RTT_max after their Sims to the picosecond, few Sims wait longer on the way than their "
        "Datas, and these take 0.02 RTT_max longer to transmit; the same order, one hash and half of "
        "the cores leave the peak between 0.98 and 1.06, only a shorter wait moves it so far",
    ),
    Claim(
        says="with a wait of 0.85 RTT_max it is, within 0.03",
        where="section 4.1, Fig. 10a; another reading",
        paper="0.86 RTT_max",
        holds=lag_below_one(SHORTER),
        tier="medium",
    ),
    Claim(
        says="where ports are busy all the time rates have little to follow: at 1 us the peak of the endless "
        "all-to-all is below 0.77 in random order, and above it in the same order at all hosts, with Sims in bursts",
        where="section 4.1, Fig. 10a; this project's measurement",
        paper="pattern not said",
        holds=steady,
        tier="medium",
    ),
    Claim(
        says="the queues move together: the lengths of the Sim and of the Data queue have a correlation above 0.3",
        where="section 4.1, Fig. 10b",
        paper="clearly tend to move together consistently",
        holds=queues_follow,
        tier="medium",
    ),
]


def plot(table, axes):
    shades = colours(["dcsim", *(f"{one:g} µs" for one in INTERVALS_US)])
    for interval in ("0.2", "0.5", "1", "5"):
        rows = table.filter((pl.col("pattern") == BASELINE) & (pl.col("interval_us") == interval))
        if not rows.is_empty():
            heights = [rows[f"{lag:.2f}"].mean() for lag in CURVE]
            axes[0].plot(CURVE, heights, color=shades[f"{interval} µs"], label=f"{interval} µs")
    axes[0].plot([0.86], [0.77], "x", color="black", label="the paper's peak")
    axes[0].set(title="(a) five all-to-all-v", xlabel="lag (RTT$_{max}$)", ylabel="correlation of Sims with Datas")
    for name, colour in zip((BASELINE, RANDOM, INDEX), ("#0072B2", "#E69F00", "#009E73"), strict=True):
        found = {one: peak.value for one, peak in peaks(table, name, PEAK).items() if one != "queues"}
        axes[1].plot([float(one) for one in found], list(found.values()), "o-", color=colour, markersize=3, label=name)
    axes[1].set(title="peak against interval", xlabel="interval (µs)", xscale="log", ylim=(0, 1.05))
    stretch = table.filter((pl.col("pattern") == BASELINE) & pl.col("time_us").is_not_null())
    axes[2].plot(stretch["time_us"], stretch["sims_waiting"], color="#D55E00", label="Sims that wait")
    later = "Datas that wait RTT$_{max}$ later"
    axes[2].plot(stretch["time_us"], stretch["datas_waiting"], color="#56B4E9", label=later)
    axes[2].set(title="(b) queues of one port", xlabel="time (µs)", ylabel="packets")
