"""Ofan appendix A: the lower bound of a permutation's completion time, and how close a lone pair of hosts comes to it.

The first host sends 256 packets to the last one, which sends as many back. With seed 0 both start at the same moment,
which shows the three modes of Fig. 15; with others each has a jitter of its own, and the smallest time of all counts.
It may lie below the bound by the gap after a frame, 0.2 ns, which the bound counts once too often.
"""

import polars as pl

from fabricsim import BALANCERS, Measure, Messages, Paced, Scenario
from fabricsim.plot import display_name
from fabricsim.study import Claim, Study

PACKETS = 256
AT_ONCE = 0  # the seed without jitter
CCT = "cct_acked_us"

STUDY = Study(
    title="The lower bound of 256 packets, and the smallest completion time of a lone pair of hosts",
    source="Ofan appendix A",
    base=Scenario(measure=Measure(queues=False, trace=True)),
    grid={"balancer": "balancer", "radix": "fabric.radix", "seed": "run.seed"},
    tiers={
        "quick": {"balancer": tuple(BALANCERS), "radix": (4, 8), "seed": range(6)},
        "medium": {"balancer": tuple(BALANCERS), "radix": (4, 8), "seed": range(41)},
        "full": {"balancer": tuple(BALANCERS), "radix": (4, 8), "seed": range(201)},
    },
    panel_inches=(5.2, 3.6),
)


def scenario(base, point):
    return base.replace(transport=Paced(start_jitter="none" if point["seed"] == AT_ONCE else "uniform"))


def messages(scenario, _point):
    last = scenario.fabric.hosts_count - 1
    return Messages.from_arrays([0, last], [last, 0], PACKETS * int(scenario.frame.payload))


def measure(results):
    """Give what the first host's link carries: data packets before the first ACK, ACKs before the last data packet."""
    link = results.ports["from"].to_list().index("host-0")
    sent = results.trace.filter(pl.col("link") == link).sort("at_ps")["kind"].to_list()
    last_data = len(sent) - sent[::-1].index("data")
    return {
        "data_before_acks_count": sent.index("ack"),
        "acks_before_end_count": sent[:last_data].count("ack"),
        CCT: results.summary[CCT],
        "bound_us": results.summary["bound_us"],
    }


def bound(table):
    found = set(table["bound_us"])
    return ", ".join(f"{value:.5f} us" for value in found), {round(value, 5) for value in found} == {17.05694}


def modes(table):
    at_once = table.filter(pl.col("seed") == AT_ONCE)
    found = set(at_once.select("data_before_acks_count", "acks_before_end_count").rows())
    return ", ".join(f"{data} and {acks + 1}" for data, acks in found), found == {(78, 178)}


def smallest(radix):
    def near(table):
        value = table.filter(pl.col("radix") == radix)[CCT].min()
        return f"{value:.5f} us", 17.0567 <= value <= 17.061

    return near


CLAIMS = [
    Claim(
        says="a permutation of 256 packets has the lower bound 17.05694 us",
        where="appendix A, example",
        paper="17.05694 us",
        holds=bound,
    ),
    Claim(
        says="a host sends 78 data packets before its first ACK, and ACK 179 is the first after its last data packet",
        where="appendix A, modes 1 to 3, Fig. 15",
        paper="78 and 179",
        holds=modes,
    ),
    Claim(
        says="the smallest time of a pair among 16 hosts comes within 0.024 % of the bound (17.0567 to 17.061 us)",
        where="appendix A, example",
        paper="17.0587 us",
        holds=smallest(4),
        tier="medium",
    ),
    Claim(
        says="the smallest time of a pair among 128 hosts comes within 0.024 % of the bound (17.0567 to 17.061 us)",
        where="appendix A, example",
        paper="17.0609 us",
        holds=smallest(8),
        tier="full",
    ),
]


def plot(table, axes):
    jittered = table.filter(pl.col("seed") != AT_ONCE)
    for radix, paper, marker in ((4, 17.0587, "o"), (8, 17.0609, "s")):
        of_size = jittered.filter(pl.col("radix") == radix)
        least = of_size.group_by("balancer", maintain_order=True).agg(pl.col(CCT).min())
        names, hosts = [display_name(name) for name in least["balancer"]], radix**3 // 4
        (drawn,) = axes[0].plot(names, least[CCT], marker, label=f"{hosts} hosts")
        axes[0].axhline(paper, color=drawn.get_color(), linestyle="--", label=f"{hosts} hosts, the paper's smallest")
    axes[0].axhline(table["bound_us"].max(), color="black", label="bound")
    axes[0].set_ylabel("smallest CCT of a pair (µs)")
    axes[0].tick_params(axis="x", rotation=90)
