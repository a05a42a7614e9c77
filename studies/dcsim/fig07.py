"""dcSim Fig. 7: five concurrent all-to-all-v collectives against their average flow size.

128 hosts; the collectives have 8, 16, 32 or 64 hosts each, drawn at random, which they may share. The CCT is the mean
over the five. Loss, queueing delay and reordering are as in Fig. 6. At 2 BDP, the baseline of the later figures, there
are also other readings of the transports: round robin instead of random spraying, a window of 2 BDP for pHost, hosts of
pFabric that wait for room in their own port, and dcSim with buckets of one token.
"""

import polars as pl

from fabricsim import scenario_from_mapping
from fabricsim.plot import curves, display_name, log_ticks
from fabricsim.study import Claim, Study, leads, mean, ratios

CCT, SIZE, LOSS, DELAY = "collective_cct_mean_us", "average_flow_bdp", "loss_data_fraction", "queueing_delay_mean_us"
REORDERED = "reordered_fraction"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]
ROUND_ROBIN = {f"{name}, round robin": f"{name}/simple-rr:pointers=per-ingress" for name in RIVALS}
READINGS = ("phost:window_packets=174", "pfabric:nic_backpressure=true")
SMALL_BUCKET = "dcsim:bucket_packets=1"

MAIN = {
    "transport": TRANSPORTS,
    "radix": (8,),
    "sizes": {"8 to 64": (8, 16, 32, 64)},
    SIZE: {0.5: "387kB", 1.0: "783kB", 2.0: "1566kB"},
    "seed": range(1, 21),
}

STUDY = Study(
    title="Five concurrent all-to-all-v against the average flow size: CCT, loss, queueing delay, reordering",
    source="dcSim Fig. 7",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={
        "transport": "transport",
        "radix": "fabric.radix",
        "sizes": "workload.sizes",
        SIZE: "workload.message",
        "seed": "run.seed",
    },
    tiers={
        "quick": {
            **MAIN,
            "radix": (4,),
            "sizes": {"4 to 8": (4, 8)},
            SIZE: {0.5: "387kB", 1.0: "783kB"},
            "seed": (1, 2),
        },
        "medium": {**MAIN, SIZE: {1.0: "783kB", 2.0: "1566kB"}, "seed": (1, 2, 3)},
        "full": (
            MAIN,
            {**MAIN, "transport": ROUND_ROBIN, SIZE: {2.0: "1566kB"}, "seed": range(1, 6)},
            {**MAIN, "transport": (*READINGS, SMALL_BUCKET), SIZE: {2.0: "1566kB"}, "seed": range(1, 9)},
        ),
    },
    columns=(
        CCT, "cct_delivered_us", "bound_us", LOSS, "loss_sim_fraction", DELAY, "delay_mean_us",
        "reordered_packets_count", "packets_count", "retransmitted_packets_count",
    ),
    panels=4,
    panel_inches=(2.8, 3.0),
)  # fmt: skip


def table(runs):
    return runs.with_columns((pl.col("reordered_packets_count") / pl.col("packets_count")).alias(REORDERED))


def ahead(rivals, values=None):
    return lambda table: leads(table, CCT, SIZE, "dcsim", rivals, values=values).verdict()


def dcsim_at_most(column, limit):
    def holds(table):
        most = table.filter(pl.col("transport") == "dcsim")[column].max()
        return f"at most {most:.3%} in a run", most <= limit

    return holds


def smaller_bucket(table):
    most = table.filter(pl.col("transport") == SMALL_BUCKET)[LOSS].max()
    longer = leads(table, CCT, SIZE, "dcsim", (SMALL_BUCKET,), values=(2.0,)).ratios[SMALL_BUCKET][2.0]
    return f"at most {most:.3%} in a run, {longer} times the CCT", most == 0 and longer.value > 1


def delays(table):
    sizes = table.filter(pl.col("transport") == "dcsim")[SIZE].unique().sort().to_list()
    return {
        name: {size: mean(table, DELAY, transport=name, average_flow_bdp=size) for size in sizes} for name in TRANSPORTS
    }


def phost_queues_least(table):
    found = delays(table)
    text = "; ".join(f"{display_name(name)} {', '.join(map(str, along.values()))} us" for name, along in found.items())
    least = all(
        found["phost"][size].value < min(found[name][size].value for name in TRANSPORTS if name != "phost")
        for size in found["phost"]
    )
    return text, least


def dcpim_queues_as_dcsim(table):
    sizes = delays(table)["dcsim"]
    found = [ratios(table, DELAY, *({"transport": name, SIZE: size} for name in ("dcpim", "dcsim"))) for size in sizes]
    text = ", ".join(f"{one} at {size}" for one, size in zip(found, sizes, strict=True))
    return f"{text} times dcSim's", all(0.5 <= one.value <= 2 for one in found)


CLAIMS = [
    Claim(
        says="dcSim is ahead of the three others at every average flow size",
        where="section 4.1, Fig. 7a",
        paper="similar to the single all-to-all-v: lower",
        holds=ahead(RIVALS),
        tier="full",
    ),
    Claim(
        says="so it is at 2 BDP where switches spray the others' packets round robin",
        where="section 4.1, Fig. 7a, as the dcPIM simulator sprays",
        paper="lower",
        holds=ahead(tuple(ROUND_ROBIN), (2.0,)),
        tier="full",
    ),
    Claim(
        says="so it is at 2 BDP where pHost has windows of 2 BDP, and hosts of pFabric wait for room",
        where="section 4.1, Fig. 7a, other readings",
        paper="lower",
        holds=ahead(READINGS, (2.0,)),
        tier="full",
    ),
    Claim(
        says="dcSim loses no data packet",
        where="section 4.1, Fig. 7b",
        paper="0",
        holds=dcsim_at_most(LOSS, 0),
        why="at the last ports of hosts in several large collectives: a Data does not wait where its Sim did, so that "
        "Datas come closer together than their Sims passed",
    ),
    Claim(
        says="with buckets of one token, which let Sims pass singly, it loses none at 2 BDP, and takes longer",
        where="section 4.1, Fig. 7b, another reading",
        paper="0",
        holds=smaller_bucket,
        tier="full",
    ),
    Claim(
        says="dcSim's reordering is negligible: below 1 % of the packets",
        where="section 4.1, Fig. 7d",
        paper="non-zero yet negligible",
        holds=dcsim_at_most(REORDERED, 0.01),
        tier="medium",
    ),
    Claim(
        says="pHost has the lowest queueing delay",
        where="section 4.1, Fig. 7c",
        paper="lowest",
        holds=phost_queues_least,
        tier="full",
        why="below dcSim and pFabric at every size; but dcPIM's matched flows, as most are at 2 BDP, queue less still",
    ),
    Claim(
        says="dcPIM's queueing delay is similar to dcSim's, between half and twice",
        where="section 4.1, Fig. 7c",
        paper="similar",
        holds=dcpim_queues_as_dcsim,
        tier="full",
        why="flows of up to 1 BDP, most at 0.5 and half at 1 BDP, go unmatched, are lost and sent again; matched ones "
        "queue less than dcSim's",
    ),
]


def plot(table, axes):
    rows = table.filter(pl.col("transport").is_in(TRANSPORTS))
    panels = {
        CCT: ("(a) mean CCT (µs)", 1),
        LOSS: ("(b) data packets dropped (%)", 100),
        DELAY: ("(c) queueing delay (µs)", 1),
        REORDERED: ("(d) out of order (%)", 100),
    }
    for axis, (column, (title, scale)) in zip(axes, panels.items(), strict=True):
        curves(axis, rows, SIZE, column, by="transport", scale=scale)
        axis.set(title=title, xlabel="average flow size (BDP)", ylim=(0, None))
        log_ticks(axis, rows[SIZE])
