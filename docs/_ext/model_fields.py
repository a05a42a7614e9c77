"""The directive ``model-fields``: a table of a pydantic model's fields, so that no default is written down twice.

````
```{model-fields} fabricsim.scenario.FatTree
```
````
"""

from importlib import import_module
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def default_text(field: FieldInfo) -> str:
    """Give what stands in the column *Default*: as one writes it in TOML."""
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "(required)"
    if value is None:
        return "(none)"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, BaseModel):
        return f"`{type(value).__name__}()`"
    if isinstance(value, tuple | list | dict) and not value:
        return "(empty)"
    return f"`{value}`" if isinstance(value, str | float) or type(value) is int else f'`"{value}"`'


class ModelFields(SphinxDirective):
    """Render the model's docstring and, below it, one row a field."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Parse the table as Markdown, so that descriptions may use Markdown themselves."""
        module, _, name = self.arguments[0].rpartition(".")
        model: type[BaseModel] = getattr(import_module(module), name)
        lines = ["| Field | Default | Meaning |", "|---|---|---|"]
        for field_name, field in model.model_fields.items():
            description = "Chooses this model." if field_name == "kind" else field.description
            if not description:
                raise self.error(f"{self.arguments[0]}.{field_name} has no description")
            meaning = " ".join(description.split()).replace("|", "\\|")
            lines.append(f"| `{field_name}` | {default_text(field)} | {meaning} |")
        source = self.get_source_info()[0]
        node = nodes.Element()
        self.state.nested_parse(StringList(lines, source=source), self.content_offset, node)
        return node.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("model-fields", ModelFields)
    return {"version": "1", "parallel_read_safe": True}
