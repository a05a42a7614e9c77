"""Ofan Fig. 12: CCT, utilisation over time and largest queue with congestion control: DCTCP, NSCC and MSwift.

432 hosts, a random permutation of 4 MiB, buffers of 800 kB, marks from 80 kB on. Neither the paper nor the sources of
the three schemes settle everything: how large the first window is, whose RTT is the base, where ports mark, what
MSwift's target is. So each transport is swept too: from the setting of the figure, which is the default, one thing at a
time is changed, for all four balancers. What holds in every setting does not hang on such a choice; and where the sweep
decides, the default is what keeps all that the paper says: first windows of 1.5 BDP (smaller ones put Ofan, too, well
above the bound within 7 RTTs) and a target of 0.5 us.
"""

from itertools import product

import polars as pl

from fabricsim import Measure, Permutation, Scenario
from fabricsim.plot import colours, curves, display_name, style
from fabricsim.study import Claim, Study, mean, ratios

CCT, INCREASE, QUEUE = "cct_acked_us", "cct_increase_fraction", "max_queue_packets"
UNSETTLED, SETTLED = ("reps", "ar"), ("pofan:4", "ofan")
BALANCERS = UNSETTLED + SETTLED
TRANSPORTS = ("dctcp", "nscc", "mswift")
NAMES = {"dctcp": "DCTCP", "nscc": "NSCC", "mswift": "MSwift"}
INTERVAL_US, INTERVALS = 2, 60

FIGURE = {"as in the figure": {}}
"""The setting of the figure: every field at its default."""

OF_ALL = {
    "first window of 1 BDP": {"transport": {"initial_window": 1.0}},
    "first window of 10 packets": {"transport": {"initial_window": "10 packets"}},
    "base RTT of the network": {"transport": {"base_rtt": "network"}},
    "AR with half the levels": {"balancer": {"level_fractions": (0.025, 0.05, 0.1)}},
    "AR with double the levels": {"balancer": {"level_fractions": (0.1, 0.2, 0.4)}},
    "AR balances ACKs too": {"balancer": {"acks": "as-data"}},
    "marks from 40 kB on": {"port": {"ecn_threshold": "40kB"}},
    "marks from 160 kB on": {"port": {"ecn_threshold": "160kB"}},
    "marks at enqueue": {"port": {"ecn_at": "enqueue"}},
}
SETTINGS = {
    "dctcp": {
        **OF_ALL,
        "3 duplicate ACKs": {"transport": {"counts_paths": False}},
        "78 duplicate ACKs": {"transport": {"duplicate_acks": 42}},
        "duplicate ACKs do not count": {"transport": {"duplicate_acks": 2**20}},
        "unmarked windows are left alone": {"transport": {"reduces_unmarked": False}},
        "alpha starts at 1": {"transport": {"initial_alpha": 1.0}},
        "alpha starts at 1, unmarked left alone": {"transport": {"initial_alpha": 1.0, "reduces_unmarked": False}},
        "least RTO 10 ms": {"transport": {"rto": "10ms"}},
    },
    "nscc": {
        **OF_ALL,
        "marks from 125 kB to 500 kB": {"port": {"ecn_threshold": "125kB", "ecn_full_threshold": "500kB"}},
        "target 3 us": {"transport": {"target": "3us"}},
        "target 1.5 us": {"transport": {"target": "1.5us"}},
        "target 1 us": {"transport": {"target": "1us"}},
        "median of 256 delays": {"transport": {"median_samples": 256}},
        "an ACK for 16 KiB": {"transport": {"ack_every": "16384B"}},
        "control frames first": {"port": {"control_first": True}},
    },
    "mswift": {
        **OF_ALL,
        "target 0.25 us": {"transport": {"base_target": "0.25us"}},
        "target 0.5 us": {"transport": {"base_target": "0.5us"}},
        "target 0.75 us": {"transport": {"base_target": "0.75us"}},
        "target 1 us": {"transport": {"base_target": "1us"}},
        "target 1.5 us": {"transport": {"base_target": "1.5us"}},
        "target 3 us": {"transport": {"base_target": "3us"}},
        "median of 16 delays": {"transport": {"median_samples": 16}},
        "latest delay (Swift)": {"transport": {"median_samples": 1}},
        "delays forgotten at decreases": {"transport": {"flushes_on_decrease": True}},
    },
}
TARGETS = ("target 0.25 us", "target 0.5 us", "target 0.75 us", "target 1 us", "target 1.5 us", "target 3 us")
MAIN = {"transport": TRANSPORTS, "balancer": BALANCERS, "radix": (12,), "setting": FIGURE, "seed": range(1, 11)}

STUDY = Study(
    title="CCT, utilisation and largest queue under DCTCP, NSCC and MSwift, random permutation of 4 MiB",
    source="Ofan Fig. 12",
    base=Scenario(workload=Permutation(message="4MiB"), measure=Measure(interval=f"{INTERVAL_US}us")),
    grid={
        "transport": "transport",
        "balancer": "balancer",
        "radix": "fabric.radix",
        "setting": None,
        "seed": "run.seed",
    },
    tiers={
        "quick": {**MAIN, "radix": (8,), "seed": (1, 2)},
        "medium": {**MAIN, "seed": range(1, 4)},
        "full": (
            MAIN,
            *({**MAIN, "transport": (name,), "setting": SETTINGS[name], "seed": (1, 2, 3)} for name in TRANSPORTS),
        ),
    },
    panels=(4, 3),
    panel_inches=(4.6, 2.9),
)


def scenario(base, point):
    """Change what the setting names; what is of AR only is left out under the other balancers."""
    changes = point["setting"]
    if base.balancer.kind != "ar":
        changes = {part: fields for part, fields in changes.items() if part != "balancer"}
    return base.replace(**{part: getattr(base, part).replace(**fields) for part, fields in changes.items()})


def measure(results):
    """Give what is drawn, what was lost and sent again, and the utilisation of each interval, 0 once all is done."""
    summary = results.summary
    # The last interval ends with the run; its share is of a whole one, as that of the others.
    length_us = results.series["end_us"].diff().fill_null(INTERVAL_US)
    used = [*(results.series["utilisation_fraction"] * length_us / INTERVAL_US), *[0.0] * INTERVALS]
    return {
        CCT: summary[CCT],
        INCREASE: summary[INCREASE],
        QUEUE: summary[QUEUE],
        "max_queue_bytes": summary["max_queue_bytes"],
        "marks_count": summary["marks_count"],
        "dropped_data_count": summary["drops_count"]["data"],
        "retransmitted_packets_count": summary["retransmitted_packets_count"],
        "retransmitting_flows_count": int((results.flows["retransmitted_packets_count"] > 0).sum()),
        "max_out_of_order_count": int(results.flows["reordered_packets_count"].max()),
    } | {f"utilisation_fraction@{(at + 1) * INTERVAL_US}": used[at] for at in range(INTERVALS)}


def of_figure(table):
    return table.filter(pl.col("setting") == "as in the figure")


def found(table, column, transport, balancers):
    return {name: mean(of_figure(table), column, transport=transport, balancer=name) for name in balancers}


def listed(means, unit, spec=".2f"):
    return ", ".join(f"{display_name(name)} {one:{spec}}{unit}" for name, one in means.items())


def multiplied(table):
    """Give REPS' and AR's CCT over the bound, as factors."""
    rows = table.with_columns(factor=pl.col(INCREASE) + 1)
    factors = found(rows, "factor", "dctcp", UNSETTLED)
    return f"{listed(factors, '')} times the bound", all(2.5 < one.value < 4.5 for one in factors.values())


def near_the_bound(table):
    increases = {name: one.percent for name, one in found(table, INCREASE, "dctcp", SETTLED).items()}
    return f"{listed(increases, ' %')} above the bound", all(one.value < 1.5 for one in increases.values())


def excess(rows, transport):
    """Give by how much REPS and AR complete later than 4Ofan and Ofan in the same permutation: a mean for each pair."""
    at = {"transport": transport}
    return {
        (worse, better): ratios(rows, CCT, {**at, "balancer": worse}, {**at, "balancer": better})
        for worse, better in product(UNSETTLED, SETTLED)
    }


def later(transport, least):
    def holds(table):
        pairs = excess(of_figure(table), transport)
        text = ", ".join(
            f"{display_name(worse)} {(one.value - 1) * 100:.1f} ± {one.sem * 100:.1f} % after {display_name(better)}"
            for (worse, better), one in pairs.items()
        )
        return text, all(one.value >= 1 + least for one in pairs.values())

    return holds


def larger_difference(table):
    least = {name: min(one.value for one in excess(of_figure(table), name).values()) - 1 for name in ("nscc", "mswift")}
    text = ", ".join(f"{NAMES[name]} {value * 100:.1f} %" for name, value in least.items())
    return f"least excess {text}", least["mswift"] > least["nscc"]


def smaller_queues(table):
    queues = {name: found(table, QUEUE, name, UNSETTLED) for name in ("nscc", "mswift")}
    text = "; ".join(f"{NAMES[name]} {listed(means, '', '.0f')}" for name, means in queues.items())
    return f"{text} frames", all(queues["mswift"][name].value < queues["nscc"][name].value for name in UNSETTLED)


def short_of_the_settled(table):
    """Hold the mean utilisation from 10 to 40 us, when all flows are under way, of REPS and AR against the others'."""
    columns = [f"utilisation_fraction@{at}" for at in range(10 + INTERVAL_US, 41, INTERVAL_US)]
    rows = table.with_columns(used=pl.mean_horizontal(columns))
    used = {
        transport: {name: one.percent for name, one in found(rows, "used", transport, BALANCERS).items()}
        for transport in TRANSPORTS
    }
    text = "; ".join(f"{NAMES[transport]} {listed(means, ' %', '.1f')}" for transport, means in used.items())
    lower = [
        max(means[name].value for name in UNSETTLED) < min(means[name].value for name in SETTLED)
        for means in used.values()
    ]
    return text, all(lower)


def without_loss(table):
    rows = of_figure(table).filter((pl.col("transport") == "dctcp") & pl.col("balancer").is_in(UNSETTLED))
    lost, flows = rows["dropped_data_count"].sum(), rows["retransmitting_flows_count"].mean()
    return f"{lost} packets dropped in {rows.height} runs, {flows:.1f} flows a run send again", lost == 0 < flows


def at_setting(table, transport, setting):
    return table.filter((pl.col("transport") == transport) & (pl.col("setting") == setting))


def duplicates_are_the_cause(table):
    rows = at_setting(table, "dctcp", "duplicate ACKs do not count")
    increases = {name: mean(rows, INCREASE, balancer=name).percent for name in UNSETTLED}
    return f"{listed(increases, ' %')} above the bound", all(one.value < 30 for one in increases.values())


def near(rows, transport):
    """Whether 4Ofan and Ofan complete within 1.5 % of the bound, as the paper has it for DCTCP."""
    return all(mean(rows, INCREASE, transport=transport, balancer=name).value < 0.015 for name in SETTLED)


def swept(table, transport):
    """Give for each setting the least excess of REPS or AR over 4Ofan or Ofan; None if these are not near the bound."""
    settings = table.filter(pl.col("transport") == transport)["setting"].unique(maintain_order=True)
    each = {setting: at_setting(table, transport, setting) for setting in settings}
    return {
        setting: min(one.value for one in excess(rows, transport).values()) - 1 if near(rows, transport) else None
        for setting, rows in each.items()
    }


def as_text(found):
    kept = ", ".join(f"{setting} {value * 100:.1f} %" for setting, value in found.items() if value is not None)
    off = ", ".join(setting for setting, value in found.items() if value is None)
    return kept + (f"; 4Ofan or Ofan is further from the bound with: {off}" if off else "")


def whatever_else(transport, least, but=()):
    def holds(table):
        found = {setting: value for setting, value in swept(table, transport).items() if setting not in but}
        return as_text(found), min(value for value in found.values() if value is not None) >= least

    return holds


def largest_target(table):
    """Hold the targets of MSwift against the paper: which keep REPS and AR 11 % behind, and 4Ofan and Ofan near."""
    found = {setting: value for setting, value in swept(table, "mswift").items() if setting in TARGETS}
    kept = [setting for setting in TARGETS if found[setting] is not None and found[setting] >= 0.11]
    return as_text(found), kept[-1:] == ["target 0.5 us"]


FIG = "section 6.5, Fig. 12"

CLAIMS = [
    Claim(
        says="DCTCP: REPS and AR take 2.5 to 4.5 times the bound",
        where=f"{FIG}a",
        paper="3 to 4 times",
        holds=multiplied,
        tier="medium",
    ),
    Claim(
        says="DCTCP: 4Ofan and Ofan complete within 1.5 % of the bound",
        where=f"{FIG}a",
        paper="under 1 %",
        holds=near_the_bound,
    ),
    Claim(
        says="DCTCP: no packet is lost under REPS and AR, and yet a few flows send packets again",
        where="section 6.5",
        paper="a few flows reach the threshold of duplicate ACKs",
        holds=without_loss,
    ),
    Claim(
        says="DCTCP: where duplicate ACKs do not count, REPS and AR complete within 30 % of the bound",
        where="section 6.5",
        paper="duplicate ACKs are the main reason",
        holds=duplicates_are_the_cause,
        tier="full",
    ),
    Claim(
        says="NSCC: REPS and AR complete at least 6 % later than 4Ofan and Ofan",
        where=f"{FIG}d",
        paper="at least 8 %",
        holds=later("nscc", 0.06),
        tier="medium",
    ),
    Claim(
        says="MSwift: REPS and AR complete at least 11 % later than 4Ofan and Ofan",
        where=f"{FIG}g",
        paper="at least 14 %",
        holds=later("mswift", 0.11),
    ),
    Claim(
        says="the difference is larger with MSwift than with NSCC",
        where="section 6.5",
        paper="a bit larger",
        holds=larger_difference,
    ),
    Claim(
        says="the largest queues of REPS and AR are shorter with MSwift than with NSCC",
        where=f"{FIG}f and i",
        paper="targets smaller queues",
        holds=smaller_queues,
    ),
    Claim(
        says="utilisation from 10 to 40 us is lower under REPS and AR than under 4Ofan and Ofan, with all three",
        where=f"{FIG}b, e and h",
        paper="lower",
        holds=short_of_the_settled,
    ),
    Claim(
        says="DCTCP: whatever else is swept, REPS and AR complete 150 % later than 4Ofan and Ofan, or more, while "
        "these stay within 1.5 % of the bound",
        where="section 6.5, what it leaves open",
        paper="at least 200 %",
        holds=whatever_else("dctcp", 1.5, ("78 duplicate ACKs", "duplicate ACKs do not count")),
        tier="full",
    ),
    Claim(
        says="NSCC: whatever is swept, they complete 5 % later or more, while 4Ofan and Ofan stay within 1.5 %",
        where="section 6.5, what it leaves open",
        paper="at least 8 %",
        holds=whatever_else("nscc", 0.05),
        tier="full",
    ),
    Claim(
        says="MSwift: of the targets swept, 0.5 us (the default) is the largest at which REPS and AR complete 11 % "
        "later, while 4Ofan and Ofan stay within 1.5 % of the bound",
        where="section 6.5, what it leaves open",
        paper="at least 14 %",
        holds=largest_target,
        tier="full",
    ),
    Claim(
        says="MSwift: whatever else is swept, they complete 9 % later or more, while 4Ofan and Ofan stay within 1.5 %",
        where="section 6.5, what it leaves open",
        paper="at least 14 %",
        holds=whatever_else("mswift", 0.09, ("target 1 us", "target 1.5 us", "target 3 us")),
        tier="full",
    ),
]


def bars(axis, rows, column, scale):
    means = [mean(rows, column, balancer=name) for name in BALANCERS]
    heights, errors = ([getattr(one, part) * scale for one in means] for part in ("value", "sem"))
    shades = colours(BALANCERS)
    names = [display_name(name) for name in BALANCERS]
    drawn = axis.bar(names, heights, 0.7, yerr=errors, color=[shades[name] for name in BALANCERS])
    axis.bar_label(drawn, fmt="{:.3g}", padding=2, fontsize=8)
    axis.margins(y=0.12)
    axis.grid(visible=False, axis="x")


def over_time(axis, rows):
    columns = [name for name in rows.columns if "@" in name]
    long = rows.unpivot(columns, index=["balancer", "seed"], value_name="used")
    long = long.with_columns(end_us=pl.col("variable").str.split("@").list.last().cast(pl.Int64))
    curves(axis, long, "end_us", "used", scale=100)


def sweep(axis, rows):
    settings = rows["setting"].unique(maintain_order=True).to_list()
    for name in BALANCERS:
        increases = [mean(rows, INCREASE, balancer=name, setting=setting).value * 100 for setting in settings]
        axis.plot(increases, range(len(settings)), **{**style(name), "linestyle": ""}, label=display_name(name))
    axis.set_yticks(range(len(settings)), settings, fontsize=6.5)
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")


def plot(table, axes):
    for place, name in enumerate(TRANSPORTS):
        rows = table.filter(pl.col("transport") == name)
        shown = of_figure(rows)
        left, middle, right = axes[3 * place : 3 * place + 3]
        bars(left, shown, INCREASE, 100)
        left.set(title=f"{NAMES[name]}: CCT", ylabel="CCT increase over the bound (%)")
        over_time(middle, shown)
        middle.set(
            title=f"{NAMES[name]}: utilisation over time", xlabel="time (µs)", ylabel="utilisation (%)", ylim=(0, 100)
        )
        bars(right, shown, QUEUE, 1)
        right.set(title=f"{NAMES[name]}: largest queue", ylabel="frames")
        swept_axis = axes[3 * len(TRANSPORTS) + place]
        swept_axis.set_title(f"{NAMES[name]}: CCT increase (%) in each setting")
        if rows["setting"].n_unique() > 1:
            sweep(swept_axis, rows)
