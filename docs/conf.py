"""Sphinx configuration: MyST pages, the furo theme, and tables of fields and balancers read from the models."""

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "python")]

project = "fabricsim"
author = "The fabricsim authors"
copyright = author
try:
    release = metadata.version("fabricsim")
except metadata.PackageNotFoundError:
    release = "from the checkout, not installed"

extensions = ["myst_parser", "model_fields", "balancer_facts"]
exclude_patterns = ["_build", "README.md"]
nitpicky = True
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
smartquotes = False  # field values stand in straight quotes

html_theme = "furo"
html_title = "fabricsim"
html_show_sphinx = False
