"""The directives ``balancer-table`` and ``balancer-facts``: what the catalogue says of all balancers, and of one.

The words are those of the scenario's models, the figures those of `fabricsim/measured.json`: nothing stands twice.

````
```{balancer-table}
```
```{balancer-facts} ofan
```
````
"""

from typing import Any

from docutils import nodes
from markdown_lines import cell, parsed
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fabricsim.catalogue import GROWTH_CONDITIONS, Entry, catalogue, entry

NOT_MEASURED = "not measured"


class BalancerTable(SphinxDirective):
    """One row a balancer, in the order of the models."""

    def run(self) -> list[nodes.Node]:
        """Write the table."""
        headings = (
            "kind", "runs on", "remembers", "cost", "average queue, uplinks", "downlinks",
            f"largest queue, measured {GROWTH_CONDITIONS}", "source", "differs",
        )  # fmt: skip
        rows = [
            (
                f"[`{one.name}`](#{one.name})", one.where, one.state_per_switch, one.measured.cost or NOT_MEASURED,
                one.growth_up, one.growth_down, one.measured.growth or NOT_MEASURED, one.source, one.differs,
            )
            for one in catalogue()
            if one.part == "balancer"
        ]  # fmt: skip
        lines = [headings, ("---",) * len(headings), *rows]
        return parsed(self, (f"| {' | '.join(map(cell, line))} |" for line in lines))


class BalancerFacts(SphinxDirective):
    """The facts of one balancer, as a list."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the list."""
        facts = _facts(entry(self.arguments[0]))
        return parsed(self, (f"- **{name}:** {cell(text)}" for name, text in facts.items() if text))


def _facts(one: Entry) -> dict[str, str]:
    return {
        "What": one.summary,
        "Source": one.source,
        "Runs on": one.where,
        "Remembers": one.state_per_switch,
        "Average queue": f"uplinks {one.growth_up}; downlinks {one.growth_down}",
        "Largest queue, measured": one.measured.growth and f"{one.measured.growth} ({GROWTH_CONDITIONS})",
        "Cost": one.measured.cost,
        "Differs": one.differs,
        "Parameters": ", ".join(f"`{parameter.name}` ({parameter.default})" for parameter in one.parameters),
    }


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("balancer-table", BalancerTable)
    app.add_directive("balancer-facts", BalancerFacts)
    return {"version": "1", "parallel_read_safe": True}
