"""Ofan Fig. 1: how much of the load arrives, how long queues get and how long it takes, as the offered load rises.

Hosts pace at a share of the line rate. Fig. 1(a) is of a "max utilization" that the paper does not define. Here it is
the most that hosts receive in any window of 1 us: the time that data frames take on the hosts' links, gaps included,
over the window and all hosts. Windows of 0.5 to 2 us differ by a point at most. The table has a stricter reading too:
each host's own mean from its first arrival to its last, in which ACKs cost even a perfect balancer 2 %.
"""

import polars as pl

from fabricsim import Measure, Scenario
from fabricsim.plot import curves
from fabricsim.study import Claim, Study, differences, mean, ratios

LOAD = "load_fraction"
MOST_USED, MEAN_USED = "max_utilisation_fraction", "mean_utilisation_fraction"
QUEUE, CCT = "max_queue_packets", "cct_acked_us"
EXISTING, NEW = ("ar", "reps"), ("pofan:4", "ofan")
WINDOW_PS = 1_000_000

STUDY = Study(
    title="Utilisation, largest queue and CCT against the offered load, random permutation",
    source="Ofan Fig. 1",
    base=Scenario(measure=Measure(trace=True)),
    grid={"balancer": "balancer", LOAD: "transport.load", "seed": "run.seed"},
    tiers={
        "quick": {"balancer": EXISTING + NEW, LOAD: (0.7, 0.9, 1.0), "seed": range(1, 4)},
        "medium": {"balancer": EXISTING + NEW, LOAD: (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0), "seed": range(1, 11)},
        "full": {
            "balancer": EXISTING + NEW,
            LOAD: (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 1.0),
            "seed": range(1, 21),
        },
    },
    panels=3,
    panel_inches=(3.4, 3.2),
)


def measure(results):
    """Give the two utilisations, and what else is drawn."""
    frame = results.scenario.frame
    last_links = results.ports.with_row_index("link").filter(pl.col("stage") == "edge-host")
    frame_ps = (frame.data_bytes + int(frame.gap)) * 8e3 / last_links["rate_gbps"][0]
    arrivals = results.trace.filter(pl.col("kind") == "data").join(last_links.select("link"), on="link", how="semi")
    most_frames = arrivals.group_by(pl.col("at_ps") // WINDOW_PS).len()["len"].max()
    receiving_ps = pl.col("last_delivered_ps") - pl.col("first_delivered_ps") + frame_ps
    return {
        MOST_USED: most_frames * frame_ps / WINDOW_PS / last_links.height,
        MEAN_USED: results.flows.select((pl.col("packets_count") * frame_ps / receiving_ps).mean()).item(),
        QUEUE: results.summary[QUEUE],
        CCT: results.summary[CCT],
    }


def percent(table, names, load, column=MOST_USED):
    return {name: mean(table, column, balancer=name, load_fraction=load).percent for name in names}


def listed(found, unit="", spec=".2f"):
    return ", ".join(f"{name} {one:{spec}}{unit}" for name, one in found.items())


def follow(table):
    found = percent(table, EXISTING, 0.9)
    return listed(found, " %") + " at load 0.9", all(one.value > 89 for one in found.values())


def saturate(table):
    found = percent(table, EXISTING, 1.0)
    return listed(found, " %"), all(one.value < 95 for one in found.values())


def ofan_keeps_up(table):
    found = percent(table, ["ofan"], 1.0)
    return listed(found, " %"), found["ofan"].within(98, 100)


def stricter(table):
    found = percent(table, EXISTING + NEW, 1.0, MEAN_USED)
    lowest, highest = min(found[name].value for name in NEW), max(found[name].value for name in EXISTING)
    return listed(found, " %"), highest < 95 < lowest


def queues(table):
    at_full, before = ({"load_fraction": load} for load in (1.0, 0.7))
    found = {
        name: ratios(table, QUEUE, {"balancer": name, **at_full}, {"balancer": name, **before})
        for name in EXISTING + NEW
    }
    grown = min(found[name].value for name in EXISTING) > 1.5 * max(found[name].value for name in NEW)
    return listed(found) + " times from load 0.7 to 1", grown


def completion(table):
    at_full, before = ({"load_fraction": load} for load in (1.0, 0.9))
    found = {
        name: differences(table, CCT, {"balancer": name, **before}, {"balancer": name, **at_full})
        for name in EXISTING + NEW
    }
    saturated = max(found[name].value for name in EXISTING) < min(found[name].value for name in NEW) / 2
    return listed(found, " us") + " gained from load 0.9 to 1", saturated


CLAIMS = [
    Claim(
        says="AR and REPS follow the load as far as 0.9, within a point",
        where="section 1, Fig. 1a",
        paper="leave y = x beyond 0.9",
        holds=follow,
    ),
    Claim(
        says="at load 1 AR and REPS saturate below 95 %",
        where="section 1, Fig. 1a",
        paper="below 95 %",
        holds=saturate,
    ),
    Claim(
        says="at load 1 Ofan reaches 99 %, within a point",
        where="section 1, Fig. 1a",
        paper="about 99 %",
        holds=ofan_keeps_up,
    ),
    Claim(
        says="so it is in each host's mean too: AR and REPS below 95 %, 4Ofan and Ofan above",
        where="section 1, Fig. 1a, another reading",
        paper="below 95 %, about 99 %",
        holds=stricter,
    ),
    Claim(
        says="towards full load the queues of AR and REPS grow by half as much again as Ofan's, or more",
        where="section 1, Fig. 1b",
        paper="grow significantly",
        holds=queues,
    ),
    Claim(
        says="the last tenth of the load brings AR and REPS less than half the time that it brings Ofan",
        where="section 1, Fig. 1c",
        paper="improve less beyond 0.9",
        holds=completion,
    ),
]


def plot(table, axes):
    loads = table.with_columns(pl.col(LOAD) * 100)
    for axis, (column, scale) in zip(axes, ((MOST_USED, 100), (QUEUE, 1), (CCT, 1)), strict=True):
        curves(axis, loads, LOAD, column, scale=scale)
        axis.set_xlabel("offered load (%)")
    ends = [loads[LOAD].min(), loads[LOAD].max()]
    axes[0].plot(ends, ends, color="black", linewidth=0.8, linestyle=":", label="y = x")
    axes[0].set_ylabel("max utilisation (%)")
    axes[1].set(ylabel="largest queue (frames)", ylim=(0, None))
    axes[2].set_ylabel("CCT (µs)")
