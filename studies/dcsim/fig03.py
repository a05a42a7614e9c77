"""dcSim Fig. 3: a Data is dropped though its Sim passed, where the Data buffer holds no more packets than that of Sims.

Eight hosts under four leaves, and queues of B = 2 packets: the paper's example has few packets too, and the smaller B,
the fewer are needed. All flows start at once and end at host 0; a seed draws the paths. The flows of each bucket are
the fewest that were found by drawing thousands at random and leaving out what was not needed. With a bucket of one
token the Sims pass one by one, as the paper draws it. With a bucket of B tokens, as its section 2.3 has it, as many
again may pass at once, and one sender less is enough.

What is drawn is the port into host 0 in slots of delta, the time between two tokens: when Sims pass, and RTT_max later.
"""

import polars as pl

from fabricsim import LeafSpine, Measure, Message, MessageList, Run, scenario_from_mapping
from fabricsim.scenario.units import Duration
from fabricsim.study import Claim, Study
from fabricsim.theory import token_interval_ps

B, DATA_BYTES, SMALL_BYTES = 2, 9000, 64
SLOT_PS = round(token_interval_ps(800 * 10**9, DATA_BYTES, SMALL_BYTES))
PORT = ("leaf-0", "host-0")
SIM_SLOTS, DATA_SLOTS = (20, 30), (104, 114)
FLOWS = {1: ((6, 1), (5, 1), (3, 2), (4, 1)), B: ((2, 1), (3, 2), (6, 2))}
"""By tokens of the bucket: sending host and packets of each flow."""

STUDY = Study(
    title="A Data dropped although its Sim passed, slot by slot, with a Data buffer of B packets",
    source="dcSim Fig. 3",
    base=scenario_from_mapping(
        {
            "preset": "dcsim-paper",
            "transport": {"start_jitter": "none", "queue_packets": B, "scale_queues": False},
            "port": {"buffer": f"{B * DATA_BYTES + 3 * B * SMALL_BYTES}B"},
        }
    ).replace(
        fabric=LeafSpine(radix=4, latency="650ns"),
        measure=Measure(interval=Duration(SLOT_PS), watched_port="/".join(PORT), queues=False),
        run=Run(time_limit="1ms"),
    ),
    grid={"bucket_packets": "transport.bucket_packets", "seed": "run.seed"},
    tiers={
        "quick": {"bucket_packets": (1, B), "seed": range(31, 51)},
        "medium": {"bucket_packets": (1, B), "seed": range(1, 501)},
        "full": {"bucket_packets": (1, B), "seed": range(1, 1001)},
    },
    panels=(2, 2),
    panel_inches=(4.2, 2.3),
)


def scenario(base, point):
    flows = [Message(src=host, dst=0, bytes=DATA_BYTES * packets) for host, packets in FLOWS[point["bucket_packets"]]]
    return base.replace(workload=MessageList(messages=flows))


def measure(results):
    """Give Datas dropped at the port into host 0 and anywhere, and what it did in each slot, as "datas_sent@106"."""
    slots = results.series.with_columns(slot=pl.int_range(pl.len())).filter(
        pl.col("slot").is_between(*SIM_SLOTS) | pl.col("slot").is_between(*DATA_SLOTS)
    )
    port = results.ports.filter((pl.col("from") == PORT[0]) & (pl.col("to") == PORT[1]))
    shown = {
        "sims_sent": "port_sim_frames_count",
        "sims_waiting": "port_sim_waiting_packets",
        "sims_dropped": "dropped_control_count",
        "datas_sent": "port_data_frames_count",
        "datas_waiting": "port_data_waiting_packets",
        "datas_dropped": "dropped_data_count",
    }
    return {
        "dropped_here_count": port["dropped_data_count"].sum(),
        "dropped_count": results.ports["dropped_data_count"].sum(),
        "rtt_max_slots": results.totals["rtt_max_ps"] / SLOT_PS,
        **{
            f"{name}@{slot}": value
            for name, column in shown.items()
            for slot, value in zip(slots["slot"], slots[column], strict=True)
        },
    }


def table(runs):
    """Give a row a slot of one run with each bucket, the first that drops a Data at the port; how many do, beside it.

    Without such a run, a row of counts.
    """
    found = []
    for (tokens,), rows in runs.group_by("bucket_packets", maintain_order=True):
        affected = rows.filter(pl.col("dropped_here_count") > 0)
        counts = {"bucket_packets": tokens, "seeds_count": rows.height, "affected_count": affected.height}
        if affected.is_empty():
            found.append(pl.DataFrame([counts]))
            continue
        long = affected.head(1).select("seed", "rtt_max_slots", pl.selectors.contains("@"))
        long = long.unpivot(index=["seed", "rtt_max_slots"])
        name = pl.col("variable").str.split("@").list
        long = long.with_columns(what=name.get(0), slot=name.get(1).cast(pl.Int64)).drop("variable")
        wide = long.pivot("what", index=["seed", "rtt_max_slots", "slot"], values="value")
        wide = wide.with_columns(pl.selectors.matches("^(sims|datas)_").cast(pl.Int64))
        found.append(wide.with_columns(*(pl.lit(value).alias(name) for name, value in counts.items())))
    made = pl.concat(found, how="diagonal")
    first = ["bucket_packets", "seeds_count", "affected_count"]
    return made.select(*first, pl.exclude(first))


def slots_of(table, tokens, what, column):
    """Return in which slots of a part something was counted, and how much."""
    if "slot" not in table.columns:
        return {}
    part = SIM_SLOTS if what == "sims" else DATA_SLOTS
    rows = table.filter((pl.col("bucket_packets") == tokens) & pl.col("slot").is_between(*part))
    return {slot: count for slot, count in rows.select("slot", f"{what}_{column}").rows() if count}


def happens(tokens):
    def holds(table):
        rows = table.filter(pl.col("bucket_packets") == tokens)
        affected, seeds = rows["affected_count"][0], rows["seeds_count"][0]
        packets = sum(count for _, count in FLOWS[tokens])
        return f"{affected} of {seeds} draws of the paths, {packets} packets from {len(FLOWS[tokens])} hosts", (
            affected > 0
        )

    return holds


def one_by_one(table):
    sims, dropped = (slots_of(table, 1, "sims", column) for column in ("sent", "dropped"))
    datas, lost = (slots_of(table, 1, "datas", column) for column in ("sent", "dropped"))
    text = (
        f"Sims leave in slots {', '.join(map(str, sims))}, one each, and {sum(dropped.values())} is dropped; Datas in "
        f"{', '.join(map(str, datas))}, and {sum(lost.values())} is dropped in {', '.join(map(str, lost))}"
    )
    in_turn = bool(sims) and set(sims.values()) == {1} and list(sims) == list(range(min(sims), max(sims) + 1))
    return text, in_turn and sum(lost.values()) == 1 and sum(datas.values()) == sum(sims.values()) - 1


CLAIMS = [
    Claim(
        says="with a Data buffer of B packets and a bucket of one token a Data is dropped though its Sim passed",
        where="section 2.5, Fig. 3",
        paper="the counterexample",
        holds=happens(1),
    ),
    Claim(
        says="there, the Sims leave the port one a slot, and one Data less than Sims",
        where="section 2.5, Fig. 3",
        paper="the Sim goes through seamlessly, its Data is dropped",
        holds=one_by_one,
    ),
    Claim(
        says="with a bucket of B tokens a Data is dropped though its Sim passed",
        where="section 2.5, Fig. 3, with the bucket of section 2.3",
        paper="the counterexample",
        holds=happens(B),
    ),
]


def plot(table, axes):
    for row, tokens in enumerate(FLOWS):
        for axis, what in zip(axes[2 * row : 2 * row + 2], ("sims", "datas"), strict=True):
            bottom = {}
            for column, colour, label in (
                ("sent", "#0072B2", "begins to leave in the slot"),
                ("waiting", "#E69F00", "waits at its end"),
                ("dropped", "#CC3311", "is dropped"),
            ):
                found = slots_of(table, tokens, what, column)
                axis.bar(
                    list(found), list(found.values()), 0.8, [bottom.get(slot, 0) for slot in found], color=colour,
                    label=label,
                )  # fmt: skip
                bottom |= {slot: bottom.get(slot, 0) + count for slot, count in found.items()}
            name, first = ("Sims", 19) if what == "sims" else ("Datas", 103)
            axis.set(
                title=f"{name}, bucket of {tokens}", ylim=(0, B + 2.5), yticks=range(B + 3), ylabel="packets",
                xlim=(first + 0.4, first + 7.6), xticks=range(first + 1, first + 8),
                xlabel=f"slot of {SLOT_PS / 1000:.2f} ns",
            )  # fmt: skip
