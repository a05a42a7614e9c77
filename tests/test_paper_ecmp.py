"""ECMP: hashes that are salted at every switch use all cores alike, hashes that are not polarise (RFC 2992)."""

from __future__ import annotations

import numpy as np
import pytest
from paper import Record, show
from scipy.stats import chi2, chisquare  # type: ignore[import-untyped]

from fabricsim import FatTree, InterPodPermutation, Messages, Paced, Run, Scenario, balancer_from_text, simulate
from fabricsim.workloads import build

RADIX, CORES, FLOWS = 8, 16, 100  # flows of a host, one packet each
SEEDS = range(1, 6)
UNLIKELY = 0.001


def flows_by_core(salts: str, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many of 12,800 flows, a hundred of each host to one host of another pod, pass each core."""
    scenario = Scenario(
        fabric=FatTree(radix=RADIX),
        workload=InterPodPermutation(),
        balancer=balancer_from_text(f"ecmp:salts={salts}"),
        transport=Paced(acks="off"),
        run=Run(seed=seed, threads=1),
    )
    pairs = build(scenario)
    messages = Messages.from_arrays(
        np.repeat(pairs.src, FLOWS), np.repeat(pairs.dst, FLOWS), 4096, rank=np.tile(np.arange(FLOWS), len(pairs))
    )
    ports = simulate(scenario, messages).ports
    counts = np.zeros(CORES, np.int64)
    for core, frames in ports.filter(stage="agg-core").select("to", "data_frames_count").iter_rows():
        counts[int(core.removeprefix("core-"))] += frames
    assert counts.sum() == len(messages)
    return counts


def test_with_salts_of_their_own_switches_use_all_cores_alike(record_property: Record) -> None:
    """Chi-square of each seed's flows over 16 cores, and of five seeds together: not less likely than 1 in 1000."""
    counts = [flows_by_core("per-switch", seed) for seed in SEEDS]
    chances = [float(chisquare(one).pvalue) for one in counts]
    show(record_property, "p of equal use of cores, by seed", [round(p, 3) for p in chances], f"> {UNLIKELY}")
    assert min(chances) > UNLIKELY
    together = sum(float(chisquare(one).statistic) for one in counts)
    freedom = len(counts) * (CORES - 1)
    assert UNLIKELY < float(chi2.sf(together, freedom)) < 1 - UNLIKELY, "neither too uneven nor too even for chance"


@pytest.mark.parametrize("seed", SEEDS)
def test_with_one_salt_for_all_most_cores_stay_unused(seed: int, record_property: Record) -> None:
    """Both levels hash alike: whoever takes uplink j at the edge takes j at the aggregation, so w cores of w^2."""
    counts = flows_by_core("shared", seed)
    used = np.flatnonzero(counts)
    show(record_property, f"cores in use with one salt, seed {seed}", used.tolist(), "4 of 16")
    assert used.tolist() == [0, 5, 10, 15], "core j * w + j"
    assert float(chisquare(counts).pvalue) < UNLIKELY, "the test above can fail"
    assert float(chisquare(counts[used]).pvalue) > UNLIKELY, "the four are used alike"
