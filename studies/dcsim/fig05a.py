"""dcSim Fig. 5(a): CCT of a random permutation against the flow size, in BDPs of 87 packets.

128 hosts. A flow of dcSim cannot end before RTT_max, its packets' times and one way have passed, while the others send
short flows at once. What is short, how long RTT_max is and how large windows are decides small sizes, and the paper
does not say it all. So beside the transports as their papers have them there are:

- RTT_max of 15.464 us instead of 22.041: Theorem 2, but a Sim-Ack waits at each hop for one Data on the wire only, and
  not for a full queue of Sims as well, as its rate is limited by theirs;
- flows below 1 BDP without Sims, as the paper suggests (`direct`);
- dcPIM and pHost with flows of 87 packets counted as long (a BDP without the switches' 450 ns is 27 packets);
- pHost with a window of 2 BDP, which a few packets of queueing do not stop;
- pFabric with hosts that wait for room in their own port, and with the timeout of the dcPIM simulator;
- round robin instead of random spraying.
"""

import polars as pl

from fabricsim import Permutation, scenario_from_mapping
from fabricsim.plot import curves, log_ticks
from fabricsim.study import Claim, Study, leads, mean, means

CCT, BOUND, SIZE = "cct_delivered_us", "bound_us", "flow_bdp"
TRANSPORTS = ("dcsim", "dcpim", "phost", "pfabric")
RIVALS = TRANSPORTS[1:]
ROUND_ROBIN = {f"{name}, round robin": f"{name}/simple-rr:pointers=per-ingress" for name in RIVALS}
SHORTER_WAIT, DIRECT = "dcsim:rtt_max=15.464us", "dcsim:small_flows=direct"
LONG_FROM_ONE = ("dcpim:short_packets=86", "phost:free_tokens=86")
LARGER_WINDOW = "phost:window_packets=174"
WAITING_HOSTS, LATER_TIMEOUT = "pfabric:nic_backpressure=true", "pfabric:rto_rtts=7"
READINGS = (SHORTER_WAIT, DIRECT, *LONG_FROM_ONE, LARGER_WINDOW, WAITING_HOSTS, LATER_TIMEOUT)
SIZES = {0.5: "387kB", 1.0: "783kB", 2.0: "1566kB", 4.0: "3132kB"}

MAIN = {"transport": TRANSPORTS, "radix": (8,), SIZE: SIZES, "seed": range(1, 21)}

STUDY = Study(
    title="CCT of a random permutation against the flow size",
    source="dcSim Fig. 5a",
    base=scenario_from_mapping({"preset": "dcsim-paper"}).replace(workload=Permutation()),
    grid={"transport": "transport", "radix": "fabric.radix", SIZE: "workload.message", "seed": "run.seed"},
    tiers={
        "quick": {**MAIN, "transport": (*TRANSPORTS, *READINGS), "radix": (4,), "seed": (1, 2)},
        "medium": {**MAIN, "transport": (*TRANSPORTS, *READINGS), "seed": range(1, 6)},
        "full": (MAIN, {**MAIN, "transport": READINGS}, {**MAIN, "transport": ROUND_ROBIN}),
    },
    columns=(
        CCT, BOUND, "loss_data_fraction", "loss_sim_fraction", "retransmitted_packets_count",
        "reordered_packets_count", "queueing_delay_mean_us", "sim_rtt_max_us", "rtt_max_us",
    ),
    panels=2,
    panel_inches=(4.2, 3.2),
)  # fmt: skip


def grows(table):
    sizes = table[SIZE].unique().sort().to_list()
    found = {name: [mean(table, CCT, transport=name, flow_bdp=size).value for size in sizes] for name in TRANSPORTS}
    text = "; ".join(f"{name} {', '.join(f'{value:.1f}' for value in along)} us" for name, along in found.items())
    return text, all(along == sorted(along) for along in found.values())


def ahead(first, rivals, values=None):
    return lambda table: leads(table, CCT, SIZE, first, rivals, values=values).verdict()


def not_the_fastest_at_half(table):
    found = leads(table, CCT, SIZE, "dcsim", RIVALS, values=(0.5,))
    return f"{found} times", any(one.above(1) is False for along in found.ratios.values() for one in along.values())


def direct_helps(table):
    found = leads(table, CCT, SIZE, DIRECT, ("dcsim", "dcpim"), values=(0.5,))
    return f"{found} times", found.ratios["dcsim"][0.5].above(1)


def dcpim_activated(table):
    text, growth = [], []
    for name in ("dcpim", "dcsim"):
        small, large = (mean(table, CCT, transport=name, flow_bdp=size) for size in (1.0, 2.0))
        growth.append(large.value / small.value)
        text.append(f"{name} {small:.1f} to {large:.1f} us")
    return ", ".join(text), growth[0] > 2 > growth[1]


CLAIMS = [
    Claim(
        says="the CCT grows with the flow size under every transport",
        where="section 4.1, Fig. 5a",
        paper="increases for all",
        holds=grows,
        tier="medium",
    ),
    Claim(
        says="dcSim is ahead of the three others from 1 BDP on",
        where="section 4.1, Fig. 5a",
        paper="faster in all but 0.5 BDP",
        holds=ahead("dcsim", RIVALS, (1.0, 2.0, 4.0)),
        tier="full",
        why="at 1 BDP dcPIM and pHost send flows of 87 packets at once, while dcSim waits for RTT_max; beyond, "
        "these 22 us put it behind dcPIM",
    ),
    Claim(
        says="it is from 1 BDP on, where dcPIM and pHost count flows of 87 packets as long",
        where="section 4.1, Fig. 5a, another reading",
        paper="faster in all but 0.5 BDP",
        holds=ahead("dcsim", (*LONG_FROM_ONE, "pfabric"), (1.0, 2.0, 4.0)),
        tier="full",
        why="that puts it ahead of dcPIM at 1 BDP; pHost stalls once there and ends before, and from 2 BDP on the wait "
        "for RTT_max decides against dcPIM",
    ),
    Claim(
        says="it is from 1 BDP on, where besides RTT_max is 15.464 us",
        where="section 4.1, Fig. 5a, another reading",
        paper="faster in all but 0.5 BDP",
        holds=ahead(SHORTER_WAIT, (*LONG_FROM_ONE, "pfabric"), (1.0, 2.0, 4.0)),
        tier="full",
        why="ahead of dcPIM and pFabric; of pHost from 2 BDP on, whose flows of 1 BDP stall once and end before",
    ),
    Claim(
        says="dcSim is ahead from 1 BDP on of a pFabric whose hosts wait for room in their own port",
        where="section 4.1, Fig. 5a, another reading",
        paper="faster in all but 0.5 BDP",
        holds=ahead("dcsim", (WAITING_HOSTS,), (1.0, 2.0, 4.0)),
        tier="full",
        why="what pFabric loses in a permutation it loses in its hosts' own ports, which a window of 1 BDP overfills",
    ),
    Claim(
        says="dcSim is ahead from 2 BDP on where switches spray the others' packets round robin",
        where="section 4.1, Fig. 5a, as the dcPIM simulator sprays",
        paper="faster in all but 0.5 BDP",
        holds=ahead("dcsim", tuple(ROUND_ROBIN), (2.0, 4.0)),
        tier="full",
        why="as with random spraying: the wait for RTT_max decides against dcPIM",
    ),
    Claim(
        says="at 0.5 BDP dcSim is not the fastest",
        where="section 4.1, Fig. 5a",
        paper="except for 0.5 BDP",
        holds=not_the_fastest_at_half,
        tier="medium",
    ),
    Claim(
        says="flows below 1 BDP that go without Sims make dcSim faster there",
        where="section 4.1",
        paper="suggested, not evaluated",
        holds=direct_helps,
        tier="medium",
    ),
    Claim(
        says="above 1 BDP matching worsens dcPIM: twice the flow takes it more than twice as long, and dcSim less",
        where="section 4.1, Fig. 5a",
        paper="worsens",
        holds=dcpim_activated,
        tier="medium",
    ),
]


def plot(table, axes):
    panels = {
        "(a) as the papers have them": TRANSPORTS,
        "(b) RTT$_{max}$ 15.5 µs, short below 87 packets,\nhosts of pFabric wait": (
            SHORTER_WAIT, *LONG_FROM_ONE, WAITING_HOSTS,
        ),
    }  # fmt: skip
    bound = means(table.filter(pl.col("transport") == "dcsim").select(SIZE, BOUND), [SIZE]).sort(SIZE)
    for axis, (title, names) in zip(axes, panels.items(), strict=True):
        curves(axis, table.filter(pl.col("transport").is_in(names)), SIZE, CCT, by="transport")
        axis.plot(bound[SIZE], bound[f"{BOUND}_mean"], color="black", linewidth=0.8, linestyle=":", label="lower bound")
        axis.set(title=title, xlabel="flow size (BDP)", ylabel="CCT (µs)", ylim=(0, None))
        log_ticks(axis, table[SIZE])
