"""The highest rate at which all flows could send if traffic were balanced perfectly: rho_max of a fabric with failures.

Ofan paper, sections 2.2 and 6.2: "the highest rate at which all flows could send if traffic were balanced perfectly
across all valid shortest paths". That can be read in three ways, and they differ once links are down:

* `path`: each flow equally over its living shortest paths (the text to the letter; what DRB does);
* `hop`: each switch equally over its uplinks that lead to the destination (what Ofan, random spraying and rotation do);
* `lp`: the best fractional split of each pair of edge switches' traffic over their living shortest paths.

`lp` is never below the others; of those, neither is always the larger. Degraded and oversubscribed links count by their
own rate. The links of hosts do not count: the sender's is full at rho = 1 whatever the balancer does, and an overloaded
receiver is no matter of balancing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fabricsim.errors import ScenarioError
from fabricsim.scenario import FatTree, LeafSpine
from fabricsim.theory.best_split import best_shares
from fabricsim.theory.splits import Bools, Floats, Ints, Pairs, Trunks, equal_shares

if TYPE_CHECKING:
    import polars as pl

Reading = Literal["path", "hop", "lp"]
_MOST_NAMED = 12
_PATHS_AT_A_TIME = 1 << 20
_ROUNDING = 1e-9


def rho_max(
    fabric: FatTree | LeafSpine,
    src: ArrayLike,
    dst: ArrayLike,
    reading: Reading = "path",
    weights: ArrayLike | None = None,
) -> float:
    """Return the fraction of their line rate at which all hosts can send: min(1, 1 / load of the most loaded link).

    `src`, `dst`: host numbers of the flows, two different hosts each. `weights`: each flow's share of its host's line
    rate; None splits a host's rate equally over its flows. Links are as the fabric has them from the start
    (`links_down`, `links_degraded`). Raises `ScenarioError` for two hosts without a path, and names the links that cut
    them; and for random `failures` that are still to be drawn, as `fabricsim.failures.with_failures` does.
    """
    trunks = _trunks(fabric)
    most = float(_loads(trunks, _pairs(fabric, src, dst, weights), reading).max(initial=0.0))
    return 1.0 if most <= 1 + _ROUNDING else 1 / most


def link_loads(
    fabric: FatTree | LeafSpine,
    src: ArrayLike,
    dst: ArrayLike,
    reading: Reading = "path",
    weights: ArrayLike | None = None,
) -> pl.DataFrame:
    """Return the load of each directed link between switches when every host sends at line rate.

    Columns: `from`, `to`, `stage` as in the results' ports, and `load_fraction`, the traffic over the link's rate
    (above 1: overloaded). Links that are down are left out. Arguments and errors are those of `rho_max`. With `lp` the
    loads are those of one best split; others may exist.
    """
    import polars as pl

    trunks = _trunks(fabric)
    loads = _loads(trunks, _pairs(fabric, src, dst, weights), reading)
    lower, upper = zip(*map(trunks.ends, range(trunks.cables)), strict=True)
    ends = pl.DataFrame({"from": lower + upper, "to": upper + lower})
    tier = [pl.col(end).str.extract(r"^(.*)-\d+$") for end in ("from", "to")]
    return ends.with_columns(pl.concat_str(tier, separator="-").alias("stage"), load_fraction=loads).filter(
        np.tile(trunks.bps > 0, 2)
    )


def _trunks(fabric: FatTree | LeafSpine) -> Trunks:
    if not isinstance(fabric, FatTree | LeafSpine):
        raise ScenarioError("fabric", fabric, "a FatTree(...) or a LeafSpine(...)")
    if fabric.failures is not None:
        allowed = "none that are still to be drawn: fabricsim.failures.with_failures(fabric, seed) draws them"
        raise ScenarioError("fabric.failures", fabric.failures.model_dump(exclude_defaults=True), allowed)
    return Trunks(fabric)


def _loads(trunks: Trunks, pairs: Pairs, reading: Reading) -> Floats:
    if reading not in get_args(Reading):
        raise ScenarioError("reading", reading, ", ".join(get_args(Reading)))
    bps = np.zeros(2 * trunks.cables)
    # The programme needs all pairs at once; equal splits are added up in parts that fit in memory.
    step = pairs.src.size if reading == "lp" else max(1, _PATHS_AT_A_TIME // (trunks.aggs * trunks.cores))
    for first in range(0, pairs.src.size, step or 1):
        part = pairs.part(first, first + step)
        living = _connected(trunks, part)
        shares = best_shares(trunks, part, living) if reading == "lp" else equal_shares(living, reading)
        bps += trunks.loads(part, shares)
    rate = np.tile(trunks.bps, 2)
    return np.asarray(np.divide(bps, rate, out=np.zeros_like(bps), where=rate > 0))


def _pairs(fabric: FatTree | LeafSpine, src: ArrayLike, dst: ArrayLike, weights: ArrayLike | None) -> Pairs:
    """Return the flows' traffic by pair of edge switches; flows under one switch use no link between switches."""
    source, sink = _hosts(fabric, "src", src), _hosts(fabric, "dst", dst)
    if source.shape != sink.shape:
        raise ScenarioError("dst", list(sink.shape), f"as many hosts as src ({list(source.shape)})")
    if np.any(source == sink):
        row = int(np.argmax(source == sink))
        raise ScenarioError(f"dst.{row}", int(sink[row]), "another host than src")
    if weights is None:
        share = 1 / np.bincount(source, minlength=1)[source]
    else:
        share = np.asarray(weights, np.float64)
        if share.shape != source.shape or not np.all((share >= 0) & np.isfinite(share)):
            raise ScenarioError("weights", share.tolist(), f"{source.size} finite numbers, none below 0")
    flow_bps = share * _line_rates(fabric)[source]
    low, high = source // fabric.hosts_per_edge, sink // fabric.hosts_per_edge
    between = np.flatnonzero(low != high)
    key = low[between] * fabric.edges_count + high[between]
    found, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    bps = np.bincount(inverse, weights=flow_bps[between], minlength=found.size).astype(np.float64)
    flow = np.stack([source, sink], axis=1)[between[first]]
    return Pairs(found // fabric.edges_count, found % fabric.edges_count, bps, flow)


def _hosts(fabric: FatTree | LeafSpine, field: str, hosts: ArrayLike) -> Ints:
    numbers = np.asarray(hosts)
    allowed = f"whole numbers from 0 to {fabric.hosts_count - 1}, in one row"
    if numbers.size == 0:
        return np.zeros(0, np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ScenarioError(field, numbers.tolist(), allowed)
    outside = (numbers < 0) | (numbers >= fabric.hosts_count)
    if outside.any():
        row = int(np.argmax(outside))
        raise ScenarioError(f"{field}.{row}", int(numbers[row]), allowed)
    return numbers.astype(np.int64)


def _line_rates(fabric: FatTree | LeafSpine) -> Floats:
    rates = np.full(fabric.hosts_count, float(fabric.tier_links()["host_link"].rate))
    for degraded in fabric.links_degraded:
        tier, _, number = degraded.link[0].rpartition("-")
        if tier == "host":
            rates[int(number)] = int(degraded.rate)
    return rates


def _connected(trunks: Trunks, pairs: Pairs) -> Bools:
    """Return the pairs' living paths; refuse a pair that has none."""
    living = trunks.living(pairs)
    cut = ~living.any(axis=(1, 2))
    if cut.any():
        row = int(np.argmax(cut))
        pair = pairs.part(row, row + 1)
        links = np.unique(trunks.links(pair, np.ones_like(living[row : row + 1])))
        links = np.unique(links[links < 2 * trunks.cables] % trunks.cables)
        dead = [" to ".join(trunks.ends(int(link))) for link in links if trunks.bps[link] == 0]
        named = ", ".join(dead[:_MOST_NAMED]) + (f" and {len(dead) - _MOST_NAMED} more" * (len(dead) > _MOST_NAMED))
        src, dst = pairs.flow[row]
        raise ScenarioError(
            "fabric.links_down", f"no path from host-{src} to host-{dst}", f"a path for every flow; cut by {named}"
        )
    return living
