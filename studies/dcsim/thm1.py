"""dcSim Theorem 1: at a token rate of C/(alpha + 1) Sims and Datas keep one switch's port busy, taking turns.

Three hosts send to a fourth under the same switch, for longer than is looked at. Their Sim-Acks and Data-Acks leave the
switch by other ports, so that none is at the port into the fourth: the setting of the theorem. It is looked at in the
second half of the time from its first Data until the first flow has no more Sims to send. Before, buckets that were
full at the start have let some more Sims pass than their rate, and the Datas of these fill what the rate leaves idle.
The Data buffer has no limit, since at a factor below 1 the queue in it grows without end.
"""

import numpy as np
import polars as pl

from fabricsim import Measure, Message, MessageList, scenario_from_mapping
from fabricsim.study import Claim, Study, mean
from fabricsim.theory import sims_and_datas_utilisation_fraction, token_interval_ps

DATA_BYTES, SMALL_BYTES, RATE_BPS = 9000, 64, 800 * 10**9
UTILISATION, TURNS = "utilisation_fraction", "turns_fraction"
FACTORS = (0.5, 1.0, 2.1, 4.0, 8.0)

STUDY = Study(
    title="Utilisation of one port by Sims and Datas against the token factor, endless flows",
    source="dcSim Theorem 1",
    base=scenario_from_mapping({"preset": "dcsim-paper", "port": {"buffer": "infinite"}}).replace(
        measure=Measure(trace=True, queues=False)
    ),
    grid={"token_factor": "transport.token_factor", "packets": None, "seed": "run.seed"},
    tiers={
        "quick": {"token_factor": FACTORS, "packets": (4000,), "seed": (1, 2)},
        "medium": {"token_factor": FACTORS, "packets": (4000,), "seed": range(1, 6)},
        "full": {"token_factor": (*FACTORS, 0.8, 1.5, 3.0), "packets": (10000,), "seed": range(1, 21)},
    },
    panels=2,
)


def scenario(base, point):
    flows = [Message(src=host, dst=0, bytes=DATA_BYTES * point["packets"]) for host in (1, 2, 3)]
    return base.replace(workload=MessageList(messages=flows))


def measure(results):
    """Give how busy the port into host 0 is, the share of its frames that follow one of the other kind, and the rates.

    Packet rates are of one a token interval. The theorem's utilisation is beside the measured one.
    """
    port = results.ports.with_row_index().filter((pl.col("from") == "edge-0") & (pl.col("to") == "host-0"))["index"][0]
    trace = results.trace
    started = trace.filter((pl.col("link") == port) & (pl.col("kind") == "data"))["at_ps"].min()
    ended = results.flows["last_delivered_ps"].min() - 2 * results.totals["rtt_max_ps"]
    seen = trace.filter((pl.col("link") == port) & pl.col("at_ps").is_between((started + ended) // 2, ended))
    at, is_data = seen["at_ps"].to_numpy(), (seen["kind"] == "data").to_numpy()
    span_ps = at[-1] - at[0]
    factor = results.scenario.transport.token_factor
    token_ps = float(token_interval_ps(RATE_BPS, DATA_BYTES, SMALL_BYTES, factor))
    bytes_sent = np.where(is_data[1:], DATA_BYTES, SMALL_BYTES).sum()
    return {
        UTILISATION: bytes_sent * 8e12 / RATE_BPS / span_ps,
        "theory_fraction": sims_and_datas_utilisation_fraction(DATA_BYTES, SMALL_BYTES, factor),
        TURNS: (is_data[1:] != is_data[:-1]).mean(),
        "others_count": seen.filter(~pl.col("kind").is_in(["sim", "data"])).height,
        "sims_per_token": (~is_data[1:]).sum() * token_ps / span_ps,
        "datas_per_token": is_data[1:].sum() * token_ps / span_ps,
        "frames_count": is_data.size,
    }


def full(table):
    found = mean(table, UTILISATION, token_factor=1.0)
    return f"{found:.5f}", abs(found.value - 1) < 1e-3


def turns(table):
    found = mean(table, TURNS, token_factor=1.0)
    others = int(table["others_count"].sum())
    return (
        f"{found:.2%} of frames follow one of the other kind; {others} other packets",
        found.value == 1 and not others,
    )


def as_theory_says(table):
    rows = table.with_columns(off=(pl.col(UTILISATION) - pl.col("theory_fraction")).abs())
    factors = rows.group_by("token_factor", maintain_order=True).agg(pl.col("off").max(), pl.col(UTILISATION).mean())
    text = ", ".join(f"{used:.4f} at {factor:g}" for factor, _, used in factors.sort("token_factor").rows())
    return text, factors["off"].max() < 1e-3


def fewer_datas(table):
    sims, datas = (mean(table, f"{kind}_per_token", token_factor=0.5) for kind in ("sims", "datas"))
    return f"{sims:.4f} Sims and {datas:.4f} Datas a token at a factor of 0.5", datas.value < sims.value


CLAIMS = [
    Claim(
        says="at C/(alpha + 1) the port's utilisation is 1, within 0.001",
        where="section 2.3, Theorem 1",
        paper="full utilisation",
        holds=full,
    ),
    Claim(
        says="Sims and Datas leave in turns",
        where="section 2.3, Theorem 1",
        paper="an alternating sequence",
        holds=turns,
    ),
    Claim(
        says="at other rates it is (alpha + 1)/(alpha + factor), and 1 for a factor below 1, within 0.001",
        where="section 2.3, Equation 1",
        paper="as the equation says",
        holds=as_theory_says,
    ),
    Claim(
        says="above that rate more Sims pass than Datas can follow",
        where="section 2.3, Equation 1",
        paper="r_Data below alpha r_Sim",
        holds=fewer_datas,
    ),
]


def plot(table, axes):
    points = table.group_by("token_factor").agg(pl.selectors.float().mean()).sort("token_factor")
    factors = points["token_factor"]
    axes[0].plot(factors, points["theory_fraction"] * 100, color="black", linewidth=0.9, label="theorem")
    axes[0].plot(factors, points[UTILISATION] * 100, "o", color="#0072B2", label="measured")
    axes[0].set(xlabel="token factor", ylabel="time in which Sims and Datas\nkeep the port busy (%)")
    for kind, name, colour in (("sims", "Sims", "#E69F00"), ("datas", "Datas", "#009E73")):
        axes[1].plot(factors, points[f"{kind}_per_token"], "o-", color=colour, label=name)
    axes[1].set(xlabel="token factor", ylabel="packets in a token interval", ylim=(0.98, 1.01))
