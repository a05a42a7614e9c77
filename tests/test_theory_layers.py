"""Queue models by layer: loads and pointers by hand and from random permutations, means against the engine."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from paper import FRAME_AND_GAP_PS, STAGES, Mean, Record, message, show

from fabricsim import FatTree, Paced, Permutation, Run, Scenario, balancer_from_text, simulate
from fabricsim.errors import ScenarioError
from fabricsim.theory import (
    agg_load,
    agg_pointers,
    drb_layers,
    edge_load,
    edge_pointers,
    gaussian_mean_packets,
    ofan_layers,
)

SEEDS = range(1, 5)


def test_loads_by_hand() -> None:
    """k = 16: 1,024 hosts, 8 under an edge switch, 64 in a pod (equations 14 and 15)."""
    assert edge_load(16) == pytest.approx(1016 / 1023)
    assert agg_load(16) == pytest.approx(960 / 1023)


def test_drb_has_a_source_a_flow() -> None:
    layers = drb_layers(16)
    assert tuple(layers) == STAGES
    assert layers["edge-agg"].sources == pytest.approx(8 * 1016 / 1023)
    assert layers["agg-core"].sources == pytest.approx(64 * 960 / 1023)
    assert layers["core-agg"] == layers["agg-core"]
    assert layers["agg-edge"] == layers["edge-host"] == layers["edge-agg"]


@pytest.mark.parametrize("radix", [16, 32, 64, 128])
def test_pointers_near_the_papers_limits(radix: int) -> None:
    """Appendix F.4: about w - 1/4 at an edge switch, at most k - 1 at an aggregation switch and nearly that many."""
    assert edge_pointers(radix) == pytest.approx(radix / 2 - 0.25, abs=0.05)
    assert 0.98 * (radix - 1) < agg_pointers(radix) <= radix - 1
    assert edge_pointers(radix) < radix / 2


@pytest.mark.parametrize("ports_per_pipe", [1, 3, 4, 6])
def test_pointers_agree_with_random_permutations(ports_per_pipe: int) -> None:
    """k = 12. The formulas throw flows independently, a permutation does not, hence 2 % besides the error."""
    generator, half, hosts = np.random.default_rng(ports_per_pipe), 6, 432
    edge, pod = np.arange(hosts) // half, np.arange(hosts) // half**2
    at_edges, at_aggs = [], []
    while len(at_edges) < 200:
        dst = generator.permutation(hosts)
        if np.any(dst == np.arange(hosts)):
            continue
        pipe = np.arange(hosts) % half // ports_per_pipe
        at_edges.append(np.unique(np.stack([edge, pipe, edge[dst]]), axis=1).shape[1] / 72)
        out = pod != pod[dst]
        pipe = edge % half // ports_per_pipe
        at_aggs.append(np.unique(np.stack([pod, pipe, pod[dst]])[:, out], axis=1).shape[1] / 12)
    for seen, formula in (
        (Mean.of(at_edges), edge_pointers(12, ports_per_pipe)),
        (Mean.of(at_aggs), agg_pointers(12, ports_per_pipe)),
    ):
        assert abs(seen.value - formula) <= 4 * seen.error + 0.02 * formula
        assert seen.error < 0.01 * formula


def test_pipes_lie_between_ofan_and_drb() -> None:
    """Narrower pipes: more pointers and longer queues at the core; a pipe of all ports is Ofan (appendix H)."""
    assert ofan_layers(16, ports_per_pipe=8) == ofan_layers(16, ports_per_pipe=20) == ofan_layers(16)
    core = [ofan_layers(16, ports)["agg-core"] for ports in (8, 4, 2, 1)] + [drb_layers(16)["agg-core"]]
    means = [layer.mean_packets for layer in core]
    assert means == sorted(set(means))
    with pytest.raises(ScenarioError, match="ports_per_pipe"):
        ofan_layers(16, ports_per_pipe=0)


@pytest.mark.parametrize("radix", [8, 16, 64])
def test_gaussian_means_are_near_the_exact_ones(radix: int) -> None:
    for layers in (drb_layers(radix), ofan_layers(radix), ofan_layers(radix, 4)):
        for layer in layers.values():
            assert layer.mean_packets < layer.gaussian_mean_packets < layer.mean_packets + 0.25
            assert layer.gaussian_mean_packets == gaussian_mean_packets(
                layer.sources, layer.sources / layer.load_fraction
            )


@pytest.mark.parametrize("balancer", ["drb", "ofan", "pofan:4"])
def test_models_against_the_engine(balancer: str, record_property: Record) -> None:
    """1,024 hosts, 4 MiB, data only (figures 16 and 18): edge uplinks within 5 %, core uplinks within 15 %."""
    seen = []
    for seed in SEEDS:
        scenario = Scenario(
            fabric=FatTree(radix=16),
            workload=Permutation(message=message(1024)),
            balancer=balancer_from_text(balancer),
            transport=Paced(acks="off"),
            run=Run(seed=seed, threads=2),
        )
        results = simulate(scenario)
        # Averages over the time in which hosts send.
        sending = results.duration_ps / (1024 * FRAME_AND_GAP_PS)
        means = results.ports.group_by("stage").agg(pl.col("mean_queue_packets").mean() * sending)
        seen.append(dict(means.iter_rows()))
    layers = drb_layers(16) if balancer == "drb" else ofan_layers(16, 4 if balancer == "pofan:4" else None)
    for stage, layer in layers.items():
        mean = Mean.of([means[stage] for means in seen])
        show(record_property, f"mean queue of {balancer}, {stage}", mean, f"{layer.mean_packets:.3f}")
        within = {"edge-agg": 0.05, "agg-core": 0.15}.get(stage)
        if within:
            assert 4 * mean.error < within * 2.5 * layer.mean_packets
            assert abs(mean.value - layer.mean_packets) <= within * layer.mean_packets
