"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from fabricsim.errors import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import Token


def _whole(_type: object, tokens: Sequence[Token]) -> int:
    """Return the integer that was typed: cyclopts by itself rounds 1.5 to 2."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"got {shown(text)}; allowed: an integer") from None


WHOLE = Parameter(converter=_whole)
"""Makes an option take integers only."""

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
Seed = Annotated[int | None, WHOLE, Parameter(help="Seed of every random draw (run.seed).")]
Threads = Annotated[str | None, Parameter(help="Threads of one run (run.threads); cannot change its result.")]
