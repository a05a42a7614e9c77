"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

File = Annotated[Path | None, Parameter(help="Scenario (.toml, .json) or traffic matrix (.cm, .npz, .parquet) to run.")]
Preset = Annotated[str | None, Parameter(help="Start from a preset (see `fabricsim list presets`).")]
Set = Annotated[
    list[str] | None,
    Parameter(
        name="--set",
        negative=(),
        show_default=False,
        help="Override a field, such as balancer.kind=rsq; may be given several times.",
    ),
]
Seed = Annotated[int | None, Parameter(help="Seed of every random draw (run.seed).")]
Threads = Annotated[str | None, Parameter(help="Threads of one run (run.threads); cannot change its result.")]
