"""How soon traffic is back when a link dies in mid-run: Ofan, AR and REPS under NSCC, and dcSim.

432 hosts. Those of one pod send 256 MiB each to those of another, at line rate, so that every flow is affected when the
link from the pod's first aggregation switch to its first core dies at 100 us (`agg-core`). For the link from the first
edge switch to the first aggregation switch (`edge-agg`), the hosts of that edge switch send alone. The link comes up
again at 1,300 us. What is sent into it is lost; switches know of either event the reconvergence delay later.

A dead link takes a sixth of the uplinks of one switch away. Schemes that split evenly at each switch can then carry
five sixths, so traffic counts as back, after the link is down, from where it stays above 0.9 times that share of what
it was before; after the link is up, from where it stays above 0.95 of what it was. Times are to 20 us.
"""

import numpy as np
import polars as pl

from fabricsim import Bytes, LinkEvent, Measure, Port, Scenario, workloads
from fabricsim.plot import colours
from fabricsim.study import Claim, Study, differences, mean

CCT, BACK, BACK_UP = "cct_delivered_us", "back_after_down_us", "back_after_up_us"
SENT_AGAIN, LOST = "sent_again_fraction", "lost_fraction"
DOWN_US, UP_US, INTERVAL_US = 100, 1300, 20
SHOWN = 200
BRIEF = "REPS, freeze of 100 us"
SCHEMES = {
    "Ofan": "nscc/ofan",
    "AR": "nscc/ar",
    "REPS": "nscc/reps",
    BRIEF: "nscc/reps:freeze=100us",
    "dcSim": "dcsim",
}
EVEN = ("Ofan", "AR", "dcSim")
LOOKS = {
    "Ofan": {"color": colours(["ofan"])["ofan"]},
    "AR": {"color": colours(["ar"])["ar"], "linestyle": "--"},
    "REPS": {"color": colours(["reps"])["reps"]},
    BRIEF: {"color": colours(["reps"])["reps"], "linestyle": ":"},
    "dcSim": {"color": "#009E73"},
}
AGG_CORE, EDGE_AGG = "agg-core", "edge-agg"
LINKS = {AGG_CORE: ("agg-0", "core-0"), EDGE_AGG: ("edge-0", "agg-0")}
NONE, AT_ONCE, SOON, LATE = "no failure", "0 us", "100 us", "1 ms"
DELAYS = {NONE: None, AT_ONCE: "0us", SOON: "100us", LATE: "1ms"}
MAIN = {
    "scheme": SCHEMES,
    "link": LINKS,
    "radix": (12,),
    "message_bytes": (Bytes("256MiB"),),
    "delay": DELAYS,
    "seed": (1, 2, 3, 4, 5),
}

STUDY = Study(
    title="A link dies and comes up in mid-run: goodput over time, Ofan, AR and REPS under NSCC, and dcSim",
    source="beyond both papers",
    base=Scenario(port=Port(buffer="800kB"), measure=Measure(interval=f"{INTERVAL_US}us")),
    grid={
        "scheme": "transport",
        "link": None,
        "radix": "fabric.radix",
        "message_bytes": None,
        "delay": None,
        "seed": "run.seed",
    },
    tiers={
        "quick": {**MAIN, "link": {EDGE_AGG: LINKS[EDGE_AGG]}, "radix": (6,), "seed": (1,)},
        "medium": {**MAIN, "radix": (8,), "seed": (1, 2)},
        "full": MAIN,
    },
    panels=(2, 3),
    panel_inches=(4.4, 2.8),
)


def scenario(base, point):
    if point["delay"] is None:
        return base
    moments = ((DOWN_US, "down"), (UP_US, "up"))
    events = [LinkEvent(at=f"{at}us", link=point["link"], state=state) for at, state in moments]
    return base.replace(fabric=base.fabric.replace(link_events=events, reconvergence_delay=point["delay"]))


def messages(scenario, point):
    """Let the hosts of the first pod, or of its first edge switch, send to those at the same places in the second."""
    half = scenario.fabric.radix // 2
    src = np.arange(half if point["link"][0] == "edge-0" else half**2)
    return workloads.Messages.from_arrays(src, src + half**2, np.full(len(src), int(point["message_bytes"])))


def measure(results):
    """Give CCT, losses, the goodput of every interval over what the senders' links carry, and when it was back."""
    flows, series, summary = results.flows, results.series, results.summary
    goodput = series["utilisation_fraction"] * results.scenario.fabric.hosts_count / flows.height
    ends = series["end_us"]
    half = results.scenario.fabric.radix // 2
    before = goodput.filter((ends > DOWN_US / 2) & (ends <= DOWN_US)).mean()
    down = (ends > DOWN_US) & (ends <= UP_US) & (goodput < 0.9 * (half - 1) / half * before)
    # The last interval of a run is one in which flows end.
    running = ends < flows["last_delivered_us"].min()
    up = (ends > UP_US) & running & (goodput < 0.95 * before)
    packets = flows["packets_count"].sum()
    shown = [*goodput, *[0.0] * SHOWN]
    return {
        CCT: summary[CCT],
        BACK: max(ends.filter(down).max() or DOWN_US, DOWN_US) - DOWN_US,
        BACK_UP: max(ends.filter(up).max() or UP_US, UP_US) - UP_US,
        "goodput_before": before,
        "goodput_least": goodput.filter((ends > DOWN_US) & running).min(),
        SENT_AGAIN: flows["retransmitted_packets_count"].sum() / packets,
        LOST: results.ports["lost_data_count"].sum() / packets,
        "dropped_data_count": summary["drops_count"]["data"],
        "max_queue_packets": summary["max_queue_packets"],
    } | {f"goodput@{(at + 1) * INTERVAL_US}": shown[at] for at in range(SHOWN)}


def excess(table, scheme, link, delay):
    """Give how much later the last data arrive than in the same run without a failure, in us."""
    at = {"scheme": scheme, "link": link}
    return differences(table, CCT, {**at, "delay": delay}, {**at, "delay": NONE})


def listed(found, unit="", spec=".0f"):
    return ", ".join(f"{name} {one:{spec}}{unit}" for name, one in found.items())


def at_once(table):
    found = {
        f"{scheme} ({link})": mean(table, BACK, scheme=scheme, link=link, delay=AT_ONCE)
        for scheme in EVEN
        for link in LINKS
    }
    return f"{listed(found)} us", all(one.value <= 60 for one in found.values())


def keep_most(table):
    rows = table.filter((pl.col("link") == AGG_CORE) & (pl.col("delay") != NONE))
    found = {scheme: rows.filter(pl.col("scheme") == scheme)["goodput_least"].min() for scheme in EVEN}
    return f"least goodput in any interval {listed(found, '', '.2f')}", min(found.values()) > 0.7


def wait_for_routes(table):
    known = {SOON: 100, LATE: 1000}
    found = {
        f"{scheme} after {delay}": mean(table, BACK, scheme=scheme, link=EDGE_AGG, delay=delay)
        for delay in known
        for scheme in EVEN
    }
    late = [found[f"{scheme} after {delay}"].value - us for delay, us in known.items() for scheme in EVEN]
    return f"{listed(found)} us", all(0 <= one <= 100 for one in late)


def keeps_more(table):
    found = {
        scheme: mean(table, "goodput_least", scheme=scheme, link=EDGE_AGG, delay=LATE)
        for scheme in ("REPS", "dcSim", "AR", "Ofan")
    }
    return listed(found, "", ".2f"), min(found[one].value for one in ("REPS", "dcSim")) > 1.5 * max(
        found[one].value for one in ("AR", "Ofan")
    )


def every_excess(table, schemes):
    return {
        (link, delay): {scheme: excess(table, scheme, link, delay) for scheme in schemes}
        for link in LINKS
        for delay in (AT_ONCE, SOON, LATE)
    }


def excess_text(found):
    return "; ".join(f"{link} after {delay}: {listed(each)}" for (link, delay), each in found.items())


def last_of_all(table):
    found = every_excess(table, ("REPS", *EVEN))
    behind = [each["REPS"].value > max(each[scheme].value for scheme in EVEN) for each in found.values()]
    return f"{excess_text(found)} us", all(behind)


def freeze_is_the_cause(table):
    found = every_excess(table, ("REPS", BRIEF))
    return f"{excess_text(found)} us", all(each[BRIEF].value < each["REPS"].value / 2 for each in found.values())


def least_excess(table):
    found = every_excess(table, EVEN)
    return f"{excess_text(found)} us", all(
        min(each, key=lambda one: each[one].value) == "dcSim" for each in found.values()
    )


def beside_ar(table):
    found = every_excess(table, ("Ofan", "AR"))
    ratio = {place: each["Ofan"].value / each["AR"].value for place, each in found.items()}
    alike = [0.8 < value < 1.25 for (link, _), value in ratio.items() if link == EDGE_AGG]
    behind = [value > 1.5 for (link, _), value in ratio.items() if link == AGG_CORE]
    return f"{excess_text(found)} us", all(alike + behind)


BEYOND = {"where": "beyond both papers", "paper": "an open question"}

CLAIMS = [
    Claim(
        says="where routes change at once, goodput under Ofan, AR and dcSim is back within 60 us",
        holds=at_once,
        tier="medium",
        **BEYOND,
    ),
    Claim(
        says="a dead link between aggregation and core leaves them above 0.7 of line rate, whenever routes change",
        holds=keep_most,
        tier="medium",
        **BEYOND,
    ),
    Claim(
        says="with one between edge and aggregation, they are back when routes have changed, within 100 us",
        holds=wait_for_routes,
        **BEYOND,
    ),
    Claim(
        says="REPS, which leaves paths whose packets are lost, and dcSim, which loses Sims instead, keep half as much "
        "again as Ofan and AR, or more, of goodput until then",
        holds=keeps_more,
        **BEYOND,
    ),
    Claim(
        says="and yet REPS ends last of the four after every failure",
        holds=last_of_all,
        tier="medium",
        **BEYOND,
    ),
    Claim(
        says="that is its freeze, which holds flows on 8 paths for 10 ms: with one of 100 us it loses less than half "
        "as much time",
        holds=freeze_is_the_cause,
        tier="medium",
        **BEYOND,
    ),
    Claim(
        says="Ofan loses as much time as AR, within a quarter, where a link to an aggregation switch dies, and half as "
        "much again or more where one to a core does",
        holds=beside_ar,
        tier="full",
        **BEYOND,
    ),
    Claim(
        says="dcSim loses the least time of Ofan, AR and dcSim after every failure",
        holds=least_excess,
        tier="medium",
        **BEYOND,
    ),
]


def plot(table, axes):
    columns = [name for name in table.columns if "@" in name]
    long = table.unpivot(columns, index=["scheme", "link", "delay", "seed"], value_name="goodput")
    long = long.with_columns(end_us=pl.col("variable").str.split("@").list.last().cast(pl.Int64))
    long = long.group_by("scheme", "link", "delay", "end_us", maintain_order=True).agg(pl.col("goodput").mean())
    places = [(link, delay) for link in LINKS for delay in (AT_ONCE, SOON, LATE)]
    for axis, (link, delay) in zip(axes, places, strict=True):
        rows = long.filter((pl.col("link") == link) & (pl.col("delay") == delay))
        axis.set(title=f"{link} link, routes change after {delay}", ylim=(0, 1.05), xlim=(0, SHOWN * INTERVAL_US))
        for scheme, look in LOOKS.items():
            line = rows.filter(pl.col("scheme") == scheme)
            if not line.is_empty():
                axis.plot(line["end_us"], line["goodput"], label=scheme, **look)
        if not rows.is_empty():
            axis.axvspan(DOWN_US, UP_US, color="#EEEEEE", zorder=0)
    for axis in axes[::3]:
        axis.set_ylabel("goodput over line rate")
    for axis in axes[3:]:
        axis.set_xlabel("time (µs); grey: the link is down")
