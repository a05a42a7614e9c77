"""dcSim Fig. 6: one all-to-all-v over all hosts against its average flow size: CCT, loss, queueing delay, reordering.

128 hosts; each packet of a host goes to another host drawn at random. Loss is the share of data packets that a buffer
drops, among those that hosts send. The queueing delay is the time from a packet's first transmission to its first
arrival less that of an idle path, so that a packet which is lost counts with its repair. Switches spray the packets of
the other transports at random; round robin is in the table at few seeds.
"""

import polars as pl

from fabricsim import AllToAllV, scenario_from_mapping
from fabricsim.plot import curves, display_name, log_ticks
from fabricsim.study import Claim, Study, leads, mean

CCT, SIZE, LOSS, DELAY = "cct_delivered_us", "average_flow_bdp", "loss_data_fraction", "queueing_delay_mean_us"
REORDERED = "reordered_fraction"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]
ROUND_ROBIN = {f"{name}, round robin": f"{name}/simple-rr:pointers=per-ingress" for name in RIVALS}
SIZES = {0.5: "387kB", 1.0: "783kB", 2.0: "1566kB"}

MAIN = {"transport": TRANSPORTS, "radix": (8,), SIZE: SIZES, "seed": range(1, 21)}

STUDY = Study(
    title="One all-to-all-v against the average flow size: CCT, loss, queueing delay, reordering",
    source="dcSim Fig. 6",
    base=scenario_from_mapping({"preset": "dcsim-paper"}).replace(workload=AllToAllV()),
    grid={"transport": "transport", "radix": "fabric.radix", SIZE: "workload.message", "seed": "run.seed"},
    tiers={
        "quick": {**MAIN, "radix": (4,), SIZE: {0.5: "387kB", 1.0: "783kB"}, "seed": (1, 2)},
        "medium": {**MAIN, SIZE: {0.5: "387kB", 1.0: "783kB"}, "seed": (1, 2)},
        "full": (
            MAIN,
            {**MAIN, "transport": ROUND_ROBIN, "seed": (1, 2)},
        ),
    },
    columns=(
        CCT, "bound_us", LOSS, "loss_sim_fraction", DELAY, "delay_mean_us", "reordered_packets_count",
        "packets_count", "retransmitted_packets_count",
    ),
    panels=4,
    panel_inches=(2.8, 3.0),
)  # fmt: skip


def table(runs):
    return runs.with_columns((pl.col("reordered_packets_count") / pl.col("packets_count")).alias(REORDERED))


def ahead(rivals):
    return lambda table: leads(table, CCT, SIZE, "dcsim", rivals).verdict()


def average_gain(table):
    found = leads(table, CCT, SIZE, "dcsim", RIVALS)
    return f"{found.reduction():.1%} on average over sizes and transports", found.reduction() >= 0.125


def dcsim_at_most(column, limit):
    def holds(table):
        most = table.filter(pl.col("transport") == "dcsim")[column].max()
        return f"at most {most:.2g} of the packets of a run", most <= limit

    return holds


def queues_little(table):
    sizes = table.filter(pl.col("transport") == "dcsim")[SIZE].unique().sort().to_list()
    found = {name: [mean(table, DELAY, transport=name, average_flow_bdp=size) for size in sizes] for name in TRANSPORTS}
    text = "; ".join(f"{display_name(name)} {', '.join(map(str, along))} us" for name, along in found.items())
    return text, all(
        ours.value < min(found["dcpim"][place].value, found["pfabric"][place].value)
        for place, ours in enumerate(found["dcsim"])
    )


CLAIMS = [
    Claim(
        says="dcSim is ahead of the three others at every average flow size",
        where="section 4.1, Fig. 6a",
        paper="uniformly lower CCTs",
        holds=ahead(RIVALS),
        tier="full",
    ),
    Claim(
        says="so it is where switches spray the others' packets round robin",
        where="section 4.1, Fig. 6a, as the dcPIM simulator sprays",
        paper="uniformly lower CCTs",
        holds=ahead(tuple(ROUND_ROBIN)),
        tier="full",
    ),
    Claim(
        says="its CCT is lower by 12.5 % or more on average",
        where="section 4.1, Fig. 6a",
        paper="12.5 % on average",
        holds=average_gain,
        tier="full",
    ),
    Claim(
        says="dcSim loses no data packet",
        where="section 4.1, Fig. 6b",
        paper="0",
        holds=dcsim_at_most(LOSS, 0),
        why="buckets of 12 tokens: 9 packets in two of 60 runs. With a bucket of 1 the same two lose none, and take "
        "17 % longer",
    ),
    Claim(
        says="dcSim's queueing delay is below that of dcPIM and pFabric",
        where="section 4.1, Fig. 6c",
        paper="small",
        holds=queues_little,
        tier="full",
        why="at 2 BDP most of dcPIM's flows are matched, and then a receiver has four senders at the "
        "most; dcSim keeps its ports busy with as many as come",
    ),
    Claim(
        says="dcSim delivers all packets in order",
        where="section 4.1, Fig. 6d",
        paper="0",
        holds=dcsim_at_most(REORDERED, 0),
        tier="medium",
        why="it does until hosts have few flows left, when several Sims of one flow are under way over several paths; "
        "where flows never end (Fig. 4) no packet is out of order",
    ),
]


def plot(table, axes):
    rows = table.filter(pl.col("transport").is_in(TRANSPORTS))
    panels = {
        CCT: ("(a) CCT (µs)", 1),
        LOSS: ("(b) data packets dropped (%)", 100),
        DELAY: ("(c) queueing delay (µs)", 1),
        REORDERED: ("(d) out of order (%)", 100),
    }
    for axis, (column, (title, scale)) in zip(axes, panels.items(), strict=True):
        curves(axis, rows, SIZE, column, by="transport", scale=scale)
        axis.set(title=title, xlabel="average flow size (BDP)", ylim=(0, None))
        log_ticks(axis, rows[SIZE])
