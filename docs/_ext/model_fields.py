"""The directive ``model-fields``: what a scenario model is, and a table of its fields.

The words are those of the models, by way of `fabricsim.catalogue`: no default or range is written down twice.

````
```{model-fields} fabricsim.scenario.FatTree
```
````
"""

import inspect
from importlib import import_module
from typing import Any

from docutils import nodes
from markdown_lines import cell, parsed
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fabricsim.catalogue import parameter


class ModelFields(SphinxDirective):
    """Render the model's docstring and, below it, one row a field."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the docstring and the table."""
        module, _, name = self.arguments[0].rpartition(".")
        model = getattr(import_module(module), name)
        kind = model.model_fields.get("kind")
        lines = [inspect.cleandoc(model.__doc__), ""]
        if kind:
            lines += [f'`kind = "{kind.default}"`', ""]
        lines += ["| Field | Default | Allowed | Meaning |", "|---|---|---|---|"]
        for field_name, field in model.model_fields.items():
            if field_name == "kind":
                continue
            row = parameter(field_name, field)
            if not row.meaning:
                raise self.error(f"{self.arguments[0]}.{field_name} has no description")
            default = "(required)" if row.default is None else f"`{row.default}`"
            lines.append(f"| `{row.name}` | {default} | {cell(row.allowed)} | {cell(row.meaning)} |")
        if len(model.model_fields) == (kind is not None):
            lines = lines[:-2]
        return parsed(self, lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("model-fields", ModelFields)
    return {"version": "1", "parallel_read_safe": True}
