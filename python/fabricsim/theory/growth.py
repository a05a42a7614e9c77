"""How queues grow with the message size: the laws that the Ofan paper proves, and exponents fitted to measurements.

m is the message size in packets, k the radix, w = k/2, n = k^3/4 the hosts. The laws hold for a random permutation in a
three-level fat tree, data only, at line rate (section 3.3). Averages are over the m packet times in which hosts send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from fabricsim.errors import ScenarioError
from fabricsim.scenario import FatTree


@dataclass(frozen=True)
class Growth:
    """Exponents a of the proven laws q(m) = Theta(m^a) of the average queue, on the way up and on the way down."""

    up: float
    down: float


PROVEN_GROWTH: Mapping[str, Growth] = MappingProxyType(
    {
        "simple-rr": Growth(0, 1),
        "jsq": Growth(0, 1),
        "rps": Growth(0.5, 0.5),
        "rsq": Growth(0.5, 0.5),
        "drb": Growth(0, 0),
        "ethereal": Growth(0, 0),
        "ofan": Growth(0, 0),
        "pofan": Growth(0, 0),
    }
)
"""Table 1 by kind of balancer. The last four are proven for the paper's queueing model, not for the algorithm. Of the
balancers that are not here nothing is proven."""


def northbound_probability(radix: int) -> float:
    """Return a lower bound of the chance that an edge switch has no internal traffic: 1 - w(w-1)/(n-1).

    Appendix B, eq. 9; at least 13/15 in every fat tree with w >= 2.
    """
    tree = FatTree(radix=radix)
    half = tree.hosts_per_edge
    return 1 - half * (half - 1) / (tree.hosts_count - 1)


def safe_probability(radix: int, frame_bytes: int = 4158, gap_bytes: int = 20) -> float:
    """Return the chance that no other flow of the edge switch ends a frame within a gap of one's own.

    Appendix C, eq. 10: (1 - 2 gap/(frame + gap))^(w-1). Defaults: a data frame and the gap of section 6.
    """
    half = FatTree(radix=radix).hosts_per_edge
    return float((1 - 2 * gap_bytes / (frame_bytes + gap_bytes)) ** (half - 1))


def sticky_probability(balancer: str, radix: int, frame_bytes: int = 4158, gap_bytes: int = 20) -> float:
    """Return the lower bound p of the chance that a flow keeps to one aggregation index (appendix C, step 1).

    `northbound_probability` for `simple-rr`; times `safe_probability` for `jsq`.
    """
    if balancer not in ("simple-rr", "jsq"):
        raise ScenarioError("balancer", balancer, "simple-rr or jsq: theorem 2 is about these two")
    safe = safe_probability(radix, frame_bytes, gap_bytes) if balancer == "jsq" else 1.0
    return northbound_probability(radix) * safe


def spraying_least_mean_packets(packets: float) -> float:
    """Return the least expected average of an edge uplink's queue under `rsq` and `rps`: (2/15) sqrt(m).

    Theorem 1, appendix B. It holds for downlinks into edge switches too, if delays before them are neglected.
    """
    return float(2 / 15 * packets**0.5)


def sticky_least_mean_packets(balancer: str, radix: int, packets: float) -> float:
    """Return the least expected queue, averaged over all 5n queues of switches, under `simple-rr` and `jsq`.

    Theorem 2, appendix C, eq. 13: (3/40) [(1 - p/w)^w - (1-p)] m with p = `sticky_probability`. All of it is in the n
    queues from aggregation to edge switches, whose own average is so at least five times this. Exact but for a constant
    (in m) that the proof leaves out.
    """
    p, half = sticky_probability(balancer, radix), radix // 2
    return float(3 / 40 * ((1 - p / half) ** half - (1 - p)) * packets)


def edge_uplink_most_packets(balancer: str, radix: int) -> int:
    """Return the most packets that an edge uplink's queue ever holds, for any message size.

    w + 1 for `drb` (appendix D), `ofan` (F.4) and `pofan` (H), k^2/4 + 1 for `ethereal` (E), 1 for `simple-rr` and
    `jsq` (C, step 5). Others have no such bound: a `ScenarioError`.
    """
    half = FatTree(radix=radix).hosts_per_edge
    bounds = {"drb": half + 1, "ofan": half + 1, "pofan": half + 1, "ethereal": half**2 + 1, "simple-rr": 1, "jsq": 1}
    if balancer not in bounds:
        raise ScenarioError("balancer", balancer, f"one with a proven bound: {', '.join(bounds)}")
    return bounds[balancer]


def pointer_ratio(radix: int) -> float:
    """Return how many more pointers DRB has than Ofan on the links into an aggregation switch: k^2/(4(k-1)) > k/4.

    Appendix F.3, inter-pod traffic: one a host of the pod against at most one a source pod, so a lower bound.
    """
    tree = FatTree(radix=radix)
    return tree.hosts_per_pod / (tree.pods_count - 1)


@dataclass(frozen=True)
class Exponent:
    """A fitted exponent, its standard error, and the ends of its 95 % confidence interval."""

    value: float
    error: float
    low: float
    high: float


def fit_exponent(sizes: ArrayLike, values: ArrayLike) -> Exponent:
    """Return a of the power law values ~ sizes^a: the slope of a least-squares line through the logarithms.

    `sizes` and `values`: equally many positive numbers, at least 3, with at least 2 different sizes. Error and interval
    (Student's t with two degrees of freedom less than points) assume independent points that scatter equally in the
    logarithm about a true power law; they do not say whether it is one.
    """
    from scipy.stats import t  # type: ignore[import-untyped]

    x, y = np.asarray(sizes, np.float64), np.asarray(values, np.float64)
    if x.ndim != 1 or x.shape != y.shape or x.size < 3:
        raise ScenarioError("values", list(y.shape), f"as many as sizes ({list(x.shape)}), in one row, at least 3")
    for name, numbers in (("sizes", x), ("values", y)):
        if not (np.isfinite(numbers).all() and (numbers > 0).all()):
            raise ScenarioError(name, numbers.tolist(), "positive finite numbers")
    if np.unique(x).size < 2:
        raise ScenarioError("sizes", x.tolist(), "at least 2 different ones")
    across, along = np.log(y) - np.log(y).mean(), np.log(x) - np.log(x).mean()
    slope = float(along @ across / (along @ along))
    rest = across - slope * along
    error = float(np.sqrt(rest @ rest / (x.size - 2) / (along @ along)))
    margin = float(t.ppf(0.975, x.size - 2)) * error
    return Exponent(slope, error, slope - margin, slope + margin)
