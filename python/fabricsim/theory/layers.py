"""Average queues of a fat tree, layer by layer, under DRB, Ofan and POfan: the paper's N*D/D/1 models.

Ofan paper, appendices D (figure 16), F.4 (figure 18) and H: a random permutation, data only, at line rate. There are
two models, and each serves both directions: one for the layers at edge switches (edge-agg, agg-edge, edge-host), one
for those at the core (agg-core, core-agg). They differ in how many periodic sources share a queue. The paper calls the
model close for edge uplinks, and an approximation after them: queues on the way make traffic less periodic.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabricsim.errors import ScenarioError
from fabricsim.scenario import FatTree
from fabricsim.theory.ndd1 import gaussian_mean_packets, ndd1_mean_packets


@dataclass(frozen=True)
class Layer:
    """The model of one layer's queues: `sources` periodic sources (an expected number) at a load of `load_fraction`."""

    sources: float
    load_fraction: float

    @property
    def mean_packets(self) -> float:
        """Mean number of packets in the queue, the one in service included; exact N*D/D/1."""
        return ndd1_mean_packets(self.sources, self.sources / self.load_fraction)

    @property
    def gaussian_mean_packets(self) -> float:
        """The same with Gaussian input, as the paper has it."""
        return gaussian_mean_packets(self.sources, self.sources / self.load_fraction)


def edge_load(radix: int) -> float:
    """Return the expected load of an edge uplink, 1 - (w-1)/(n-1): northbound flows over w (appendix D, eq. 14)."""
    tree = FatTree(radix=radix)
    return 1 - (tree.hosts_per_edge - 1) / (tree.hosts_count - 1)


def agg_load(radix: int) -> float:
    """Return the expected load of a core link, 1 - (w^2-1)/(n-1): inter-pod flows over w^2 (appendix D, eq. 15)."""
    tree = FatTree(radix=radix)
    return 1 - (tree.hosts_per_pod - 1) / (tree.hosts_count - 1)


def edge_pointers(radix: int, ports_per_pipe: int | None = None) -> float:
    """Return the expected number of pointers in use at an edge switch (appendix F.4; about w - 1/4 without pipes).

    The w flows of the switch go to k^2/2 edge switches; a pipe of W ports has pointers of its own for its W flows
    (appendix H). `ports_per_pipe` None, or w and more: one pipe, Ofan. The last pipe may have fewer ports.
    """
    tree = FatTree(radix=radix)
    return sum(_distinct(ports, tree.edges_count) for ports in _pipes(tree.hosts_per_edge, ports_per_pipe))


def agg_pointers(radix: int, ports_per_pipe: int | None = None) -> float:
    """Return the expected number of pointers in use at an aggregation switch.

    A pipe of W ports sees the W w flows of W edge switches, of which a fraction `agg_load` leaves the pod for one of
    k - 1 others. The paper takes the limits k - 1 (Ofan, appendix F.4) and P (k - 1) with P pipes (appendix H).
    """
    tree = FatTree(radix=radix)
    leaving = tree.hosts_per_edge * agg_load(radix)
    return sum(_distinct(ports * leaving, tree.pods_count - 1) for ports in _pipes(tree.edges_per_pod, ports_per_pipe))


def drb_layers(radix: int) -> dict[str, Layer]:
    """Return the models of DRB by stage (appendix D): every flow is a source.

    An uplink of an edge switch sees each of its northbound flows every w packet times, a core link each inter-pod flow
    of the pod every w^2.
    """
    tree = FatTree(radix=radix)
    edge, agg = edge_load(radix), agg_load(radix)
    return _by_stage(Layer(tree.hosts_per_edge * edge, edge), Layer(tree.hosts_per_pod * agg, agg))


def ofan_layers(radix: int, ports_per_pipe: int | None = None) -> dict[str, Layer]:
    """Return the models of Ofan, or of POfan with pipes of so many ports, by stage (appendices F.4 and H).

    Every pointer in use is a source, all with the same share of the load.
    """
    return _by_stage(
        Layer(edge_pointers(radix, ports_per_pipe), edge_load(radix)),
        Layer(agg_pointers(radix, ports_per_pipe), agg_load(radix)),
    )


def _by_stage(edge: Layer, core: Layer) -> dict[str, Layer]:
    return {"edge-agg": edge, "agg-core": core, "core-agg": core, "agg-edge": edge, "edge-host": edge}


def _pipes(ports: int, ports_per_pipe: int | None) -> list[int]:
    if ports_per_pipe is None:
        return [ports]
    if ports_per_pipe < 1:
        raise ScenarioError("ports_per_pipe", ports_per_pipe, "a whole number, at least 1")
    return [min(ports_per_pipe, ports - first) for first in range(0, ports, ports_per_pipe)]


def _distinct(balls: float, bins: int) -> float:
    """Return the expected number of bins that hold one of `balls` independent, uniformly thrown balls."""
    return float(bins * (1 - (1 - 1 / bins) ** balls))
