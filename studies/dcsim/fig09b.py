"""dcSim Fig. 9(b): CCT of five concurrent all-to-all-v collectives against the buffer of a port.

128 hosts, 2 BDP on average. Below 28 data packets (252 kB) dcSim's small queues shrink with the buffer.
"""

import polars as pl

from fabricsim import Bytes, scenario_from_mapping
from fabricsim.plot import curves
from fabricsim.study import Claim, Study, leads, ratios

CCT, BUFFER, LOSS = "collective_cct_mean_us", "buffer_bytes", "loss_data_fraction"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]

MAIN = {
    "transport": TRANSPORTS,
    "radix": (8,),
    "sizes": {"8 to 64": (8, 16, 32, 64)},
    BUFFER: tuple(map(Bytes, ("100kB", "150kB", "200kB", "250kB", "500kB"))),
    "seed": range(1, 21),
}

STUDY = Study(
    title="CCT of five concurrent all-to-all-v against the buffer of a port",
    source="dcSim Fig. 9b",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={
        "transport": "transport",
        "radix": "fabric.radix",
        "sizes": "workload.sizes",
        BUFFER: "port.buffer",
        "seed": "run.seed",
    },
    tiers={
        "quick": {
            **MAIN,
            "radix": (4,),
            "sizes": {"4": (4,)},
            BUFFER: (Bytes("100kB"), Bytes("500kB")),
            "seed": (1, 2),
        },
        "medium": {**MAIN, BUFFER: (Bytes("100kB"), Bytes("500kB")), "seed": (1, 2)},
        "full": MAIN,
    },
    columns=(
        CCT, "cct_delivered_us", "bound_us", LOSS, "loss_sim_fraction", "queueing_delay_mean_us",
        "reordered_packets_count", "packets_count", "rtt_max_us",
    ),
    panels=2,
)  # fmt: skip


def ahead(table):
    return leads(table, CCT, BUFFER, "dcsim", RIVALS).verdict()


def resilient(table):
    sizes = table[BUFFER].unique().sort().to_list()
    found = {
        size: ratios(table, CCT, {"transport": "dcsim", BUFFER: size}, {"transport": "dcsim", BUFFER: sizes[-1]})
        for size in sizes[:-1]
    }
    lost = table.filter(pl.col("transport") == "dcsim")[LOSS].max()
    text = ", ".join(f"{one:.3f} at {Bytes(size)}" for size, one in found.items())
    return f"{text} times that at {Bytes(sizes[-1])}; at most {lost:.3%} lost", all(
        0.9 <= one.value <= 1.1 for one in found.values()
    )


CLAIMS = [
    Claim(
        says="dcSim is ahead of the three others with every buffer",
        where="section 4.1, Fig. 9b",
        paper="similar to the others: lower",
        holds=ahead,
        tier="full",
    ),
    Claim(
        says="the buffer changes dcSim's CCT by less than 10 %",
        where="section 4.1, Fig. 9b",
        paper="resilient",
        holds=resilient,
        tier="full",
    ),
]


def plot(table, axes):
    buffers = table.with_columns(pl.col(BUFFER) / 1000)
    curves(axes[0], buffers, BUFFER, CCT, by="transport")
    curves(axes[1], buffers, BUFFER, LOSS, by="transport", scale=100)
    for axis, what in zip(axes, ("mean CCT (µs)", "data packets dropped (%)"), strict=True):
        axis.set(xlabel="buffer of a port (kB)", ylabel=what, ylim=(0, None))
