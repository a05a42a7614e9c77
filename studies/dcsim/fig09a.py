"""dcSim Fig. 9(a): CCT of five concurrent all-to-all-v collectives against the size of a data packet.

128 hosts; flows keep their bytes, 1,566 kB on average. What is derived from the packet follows it: BDP in packets and
with it windows and thresholds, token interval, RTT_max.
"""

from fabricsim import Bytes, scenario_from_mapping
from fabricsim.plot import curves, display_name
from fabricsim.study import Claim, Study, leads, mean

CCT, PACKET = "collective_cct_mean_us", "packet_bytes"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]

MAIN = {
    "transport": TRANSPORTS,
    "radix": (8,),
    "sizes": {"8 to 64": (8, 16, 32, 64)},
    PACKET: (Bytes("1500B"), Bytes("4000B"), Bytes("9000B")),
    "seed": range(1, 21),
}

STUDY = Study(
    title="CCT of five concurrent all-to-all-v against the packet size",
    source="dcSim Fig. 9a",
    base=scenario_from_mapping({"preset": "dcsim-paper"}),
    grid={
        "transport": "transport",
        "radix": "fabric.radix",
        "sizes": "workload.sizes",
        PACKET: "frame.payload",
        "seed": "run.seed",
    },
    tiers={
        "quick": {
            **MAIN,
            "radix": (4,),
            "sizes": {"4": (4,)},
            PACKET: (Bytes("4000B"), Bytes("9000B")),
            "seed": (1, 2),
        },
        "medium": {**MAIN, PACKET: (Bytes("4000B"), Bytes("9000B")), "seed": (1, 2)},
        "full": MAIN,
    },
    columns=(
        CCT, "cct_delivered_us", "bound_us", "loss_data_fraction", "loss_sim_fraction", "queueing_delay_mean_us",
        "reordered_packets_count", "packets_count", "rtt_max_us",
    ),
)  # fmt: skip


def ahead(table):
    return leads(table, CCT, PACKET, "dcsim", RIVALS).verdict()


def larger_is_faster(table):
    sizes = table[PACKET].unique().sort().to_list()
    found = {name: [mean(table, CCT, transport=name, packet_bytes=size) for size in sizes] for name in TRANSPORTS}
    text = "; ".join(
        f"{display_name(name)} {', '.join(format(one, '.0f') for one in along)}" for name, along in found.items()
    )
    falls = all(along[0].value > along[-1].value for along in found.values())
    return f"{text} us at {', '.join(map(str, sizes))} B", falls


def ahead_by_more(table):
    ends = table[PACKET].min(), table[PACKET].max()
    small, large = (leads(table, CCT, PACKET, "dcsim", RIVALS, values=(size,)).reduction() for size in ends)
    return f"CCT lower by {small:.1%} at {ends[0]} B, {large:.1%} at {ends[1]} B, mean over the others", small > large


CLAIMS = [
    Claim(
        says="dcSim is ahead of the three others at every packet size",
        where="section 4.1, Fig. 9a",
        paper="outperforms",
        holds=ahead,
        tier="full",
    ),
    Claim(
        says="the CCT is lower with packets of 9,000 than of 1,500 bytes, under every transport",
        where="section 4.1, Fig. 9a",
        paper="lower when L is higher",
        holds=larger_is_faster,
        tier="full",
        why="frames have no headers in this setting, so that larger ones save only the small packets "
        "that go with each; dcPIM and pHost spend their time on matching and in stalled windows, "
        "which are as long for small packets",
    ),
    Claim(
        says="dcSim is ahead by more with packets of 1,500 than of 9,000 bytes",
        where="section 4.1, Fig. 9a",
        paper="even more for lower packet sizes",
        holds=ahead_by_more,
        tier="full",
    ),
]


def plot(table, axes):
    curves(axes[0], table, PACKET, CCT, by="transport")
    axes[0].set(xlabel="data packet (bytes)", ylabel="mean CCT (µs)", ylim=(0, None))
    axes[0].set_xticks(table[PACKET].unique().sort().to_list())
