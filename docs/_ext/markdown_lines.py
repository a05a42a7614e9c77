"""How the directives of this folder turn Markdown that they wrote into nodes of the page."""

from collections.abc import Iterable

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def parsed(directive: SphinxDirective, lines: Iterable[str]) -> list[nodes.Node]:
    """Parse lines of Markdown at the directive's place, so that texts from the models may use Markdown themselves."""
    node = nodes.Element()
    text = StringList("\n".join(lines).splitlines(), source=directive.get_source_info()[0])
    directive.state.nested_parse(text, directive.content_offset, node)
    return node.children


def cell(text: str) -> str:
    """Return the text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
