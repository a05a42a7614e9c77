"""Ofan Fig. 16 and 18: average queues of DRB and of Ofan at each layer, against the N*D/D/1 models of them.

The models are of data only, at line rate, while hosts send. So the averages are over the m frame times that a host
needs for m packets; over the whole run, in which links also wait for the first packets, they are lower by the factor
`sending_fraction`. The bars with ACKs show what the models leave out.
"""

import polars as pl

from fabricsim import Bytes, Scenario
from fabricsim.plot import display_name
from fabricsim.study import Claim, Study, mean
from fabricsim.theory import drb_layers, ofan_layers

MODELS = {"drb": drb_layers, "ofan": ofan_layers}
SHORT = {"edge-agg": "E→A", "agg-core": "A→C", "core-agg": "C→A", "agg-edge": "A→E", "edge-host": "E→H"}
STAGES = tuple(SHORT)
MODEL = {"exact": "exact", "gaussian": "Gaussian"}
QUEUE, SENDING = "mean_queue_packets", "sending_fraction"
DATA_ONLY, WITH_ACKS = "off", "per-packet"

STUDY = Study(
    title="Average queues of DRB and Ofan at each layer against their models, random permutation",
    source="Ofan Fig. 16 and 18",
    base=Scenario(),
    grid={
        "balancer": "balancer",
        "acks": "transport.acks",
        "radix": "fabric.radix",
        "message_bytes": "workload.message",
        "seed": "run.seed",
    },
    tiers={
        tier: {
            "balancer": tuple(MODELS),
            "acks": (DATA_ONLY, WITH_ACKS),
            "radix": (radix,),
            "message_bytes": (Bytes(message),),
            "seed": seeds,
        }
        for tier, radix, message, seeds in (
            ("quick", 12, "1MiB", range(1, 6)),
            ("medium", 16, "4MiB", range(1, 4)),
            ("full", 16, "4MiB", range(1, 21)),
        )
    },
    panels=2,
)


def measure(results):
    """Give the mean queue of each stage over the sending time, and that time's share of the run."""
    frame = results.scenario.frame
    frame_ps = (frame.data_bytes + int(frame.gap)) * 8e3 / results.ports["rate_gbps"][0]
    sending = results.flows["packets_count"][0] * frame_ps / results.duration_ps
    stages = results.summary["queues"]
    return {SENDING: sending, **{stage: stages[stage]["mean_packets"] / sending for stage in STAGES}}


def table(runs):
    """Give a row a stage, with the exact model's mean queue and the paper's, which takes the arrivals for Gaussian."""
    long = runs.unpivot(STAGES, index=[name for name in runs.columns if name not in STAGES], variable_name="stage")
    models = [
        {
            "balancer": name,
            "radix": radix,
            "stage": stage,
            "exact": layer.mean_packets,
            "gaussian": layer.gaussian_mean_packets,
        }
        for name, layers in MODELS.items()
        for radix in runs["radix"].unique()
        for stage, layer in layers(radix).items()
    ]
    return long.rename({"value": QUEUE}).join(pl.DataFrame(models), on=["balancer", "radix", "stage"], how="left")


def at(table, balancer, stage, acks=DATA_ONLY):
    return mean(table, QUEUE, balancer=balancer, stage=stage, acks=acks)


def modelled(table, balancer, stage, model="gaussian"):
    return mean(table, model, balancer=balancer, stage=stage).value


def error(table, balancer, stage, model="gaussian"):
    return at(table, balancer, stage).value / modelled(table, balancer, stage, model) - 1


def edge_uplinks(balancer):
    def close(table):
        found = at(table, balancer, "edge-agg")
        exact, gaussian = (modelled(table, balancer, "edge-agg", model) for model in ("exact", "gaussian"))
        text = f"{found:.3f} frames; the models {exact:.3f} (exact) and {gaussian:.3f} (Gaussian)"
        return text, all(abs(error(table, balancer, "edge-agg", model)) < 0.15 for model in ("exact", "gaussian"))

    return close


def exact_at_edge(table):
    found = {name: error(table, name, "edge-agg", "exact") for name in MODELS}
    return ", ".join(f"{name} {one:+.2%}" for name, one in found.items()), max(map(abs, found.values())) < 0.02


def errors(table, balancer, stages):
    found = [error(table, balancer, stage) for stage in stages]
    return found, ", ".join(f"{stage} {one:+.0%}" for stage, one in zip(stages, found, strict=True)) + " of the model"


def pessimistic_at_core(table):
    stages = ("agg-core", "core-agg")
    found, text = errors(table, "drb", stages)
    above = [at(table, "drb", stage).above(modelled(table, "drb", stage)) for stage in stages]
    return text, None if None in above and True not in above else not any(above) and min(found) > -0.25


def close_downwards(table):
    found, text = errors(table, "drb", ("agg-edge", "edge-host"))
    return text, all(abs(one) < 0.25 for one in found)


def poorer_beyond_edge(table):
    found, text = errors(table, "ofan", STAGES)
    return text, max(map(abs, found[3:])) > abs(found[0]) and max(map(abs, found)) < 0.4


CLAIMS = [
    Claim(
        says="edge uplinks under DRB: within 15 % of the model",
        where="appendix D, Fig. 16",
        paper="very close",
        holds=edge_uplinks("drb"),
    ),
    Claim(
        says="edge uplinks under Ofan: within 15 % of the model",
        where="appendix F.4, Fig. 18",
        paper="holds well",
        holds=edge_uplinks("ofan"),
    ),
    Claim(
        says="there the exact solution of the model, without the Gaussian approximation, is within 2 %",
        where="appendices D and F.4",
        paper="the approximation is a source of error",
        holds=exact_at_edge,
    ),
    Claim(
        says="under DRB the model is a bit pessimistic, by at most a quarter, at both layers of the core",
        where="appendix D, Fig. 16",
        paper="a bit pessimistic",
        holds=pessimistic_at_core,
        tier="medium",
    ),
    Claim(
        says="under DRB the two layers down from aggregation switches are within a quarter of the model",
        where="appendix D, Fig. 16",
        paper="relatively close",
        holds=close_downwards,
    ),
    Claim(
        says="under Ofan the model fits the downlinks less well than the edge uplinks, and all within 40 %",
        where="appendix F.4, Fig. 18",
        paper="a slightly poorer fit, downlinks hardest",
        holds=poorer_beyond_edge,
    ),
]


def plot(table, axes):
    places = range(len(STAGES))
    for axis, name in zip(axes, MODELS, strict=True):
        for shift, acks, label, colour in (
            (-0.2, DATA_ONLY, "data only", "#4477AA"),
            (0.2, WITH_ACKS, "with ACKs", "#BBCCEE"),
        ):
            found = [at(table, name, stage, acks) for stage in STAGES]
            heights, errors_of = [one.value for one in found], [one.sem for one in found]
            axis.bar([place + shift for place in places], heights, 0.38, yerr=errors_of, color=colour, label=label)
        for model, line in (("exact", "-"), ("gaussian", "--")):
            heights = [modelled(table, name, stage, model) for stage in STAGES]
            starts, ends = [place - 0.45 for place in places], [place + 0.45 for place in places]
            axis.hlines(
                heights, starts, ends, color="black", linestyle=line, label=f"model of data only, {MODEL[model]}"
            )
        axis.set(title=display_name(name), ylabel="average queue (frames)")
        axis.set_xticks(places, [SHORT[stage] for stage in STAGES])
        axis.grid(visible=False, axis="x")
    axes[1].sharey(axes[0])
