"""Random failures: with which probability the links of a tier are down from the start. `fabricsim.failures` draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal

from pydantic import Field

from fabricsim.scenario.part import Part
from fabricsim.scenario.ranges import Real, Whole

FAILURES = "Links that are down from the start by chance, beside those in `links_down`. None: no link fails by chance."

Probability = Annotated[float, Real(0, 1)]


class RandomFailures(Part, ABC):
    """Links between switches that are down from the start, each with a probability, independently, both directions.

    Source: Ofan section 6.2. Routing has converged before the run begins.
    """

    disconnected: Literal["redraw", "refuse"] = Field(
        default="redraw",
        description="What becomes of a draw that leaves two hosts without an up-down path: all links are drawn again "
        "(and the redraws counted), or the run is refused with an error that names the cut.",
    )
    seed: Annotated[int, Whole(0, 2**64 - 1)] | None = Field(
        default=None, description="Seed of the draw; none: `run.seed`. The workload's draws are others in any case."
    )

    @abstractmethod
    def probabilities(self) -> dict[str, float]:
        """Return with which probability a link fails, by the tier of its lower end."""


class FatTreeFailures(RandomFailures):
    """Random failures of a fat tree: each link is down from the start with its tier's probability, both directions.

    Source: Ofan section 6.2. Routing has converged before the run begins.
    """

    edge_agg_probability: Probability = Field(
        default=0.0, description="Probability that a link of an edge and an aggregation switch is down."
    )
    agg_core_probability: Probability = Field(
        default=0.0, description="Probability that a link of an aggregation and a core switch is down."
    )

    def probabilities(self) -> dict[str, float]:
        """Return with which probability a link fails, by the tier of its lower end."""
        return {"edge": self.edge_agg_probability, "agg": self.agg_core_probability}


class LeafSpineFailures(RandomFailures):
    """Random failures of a leaf-spine tree: each link is down from the start with a probability, both directions."""

    leaf_spine_probability: Probability = Field(
        default=0.0, description="Probability that a link of a leaf and a spine is down."
    )

    def probabilities(self) -> dict[str, float]:
        """Return with which probability a link fails, by the tier of its lower end."""
        return {"leaf": self.leaf_spine_probability}
