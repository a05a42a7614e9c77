"""`Claim`: a statement of a paper that a study can test, and the verdict on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fabricsim.errors import ScenarioError
from fabricsim.study.form import TIERS

if TYPE_CHECKING:
    import polars as pl

Outcome = Literal["reproduced", "differs", "not tested"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper.

    Args:
        says: the statement in own words, with the tolerance that `holds` applies.
        where: where the paper makes it, such as "section 6.1, Fig. 6".
        paper: the paper's value, or the order it claims.
        holds: given the study's table, returns what was measured, as a text, and whether the claim holds: None when
            the table cannot tell (an interval too wide to say anything).
        tier: the smallest tier that can tell.
        why: one line for a claim that differs: the cause that was found, or what was looked for in vain.

    Raises:
        ScenarioError: a tier that is none of the three, or another kind of value than the above.

    """

    says: str
    where: str
    paper: str
    holds: Callable[[pl.DataFrame], tuple[str, bool | None]]
    tier: str = "quick"
    why: str = ""

    def __post_init__(self) -> None:
        if self.tier not in TIERS:
            raise ScenarioError("tier", self.tier, ", ".join(TIERS), f'claim "{self.says}"')
        for name in ("says", "where", "paper", "why"):
            if not isinstance(value := getattr(self, name), str):
                raise ScenarioError(name, value, "a text", f'claim "{self.says}"')
        if not callable(self.holds):
            raise ScenarioError("holds", self.holds, "a function of the study's table", f'claim "{self.says}"')


@dataclass(frozen=True)
class Verdict:
    """How a claim came out; `measured` is empty, and `why` says so, where it was not tested."""

    says: str
    where: str
    paper: str
    measured: str
    outcome: Outcome
    why: str


def judge(claim: Claim, table: pl.DataFrame, tier: str, incomplete: bool) -> Verdict:
    """Hold a claim against a tier's table; `incomplete`: some runs have no results.

    An error of the claim's own code is raised, unless missing results explain it. Raises `ScenarioError` if what the
    claim returns is no verdict.
    """
    outcome: Outcome = "not tested"
    measured, why = "", ""
    if TIERS.index(tier) < TIERS.index(claim.tier):
        why = f"needs the {claim.tier} tier"
    else:
        try:
            found = claim.holds(table)
        except Exception:
            if not incomplete:
                raise
            why = "some runs did not finish"
        else:
            measured, holds = _checked(found)
            if holds is None:
                why = "the runs of this tier cannot tell"
            else:
                outcome = "reproduced" if holds else "differs"
                why = "" if holds else claim.why or "cause not found"
    return Verdict(claim.says, claim.where, claim.paper, measured, outcome, why)


def _checked(found: object) -> tuple[str, bool | None]:
    """Return what a claim has found; NumPy's true and false count as Python's, as comparisons give them."""
    from numpy import bool_

    match found:
        case (str(measured), None):
            return measured, None
        case (str(measured), bool() | bool_() as holds):
            return measured, bool(holds)
    given = [type(one).__name__ for one in found] if isinstance(found, tuple) else found
    raise ScenarioError("holds", given, "a text, and True, False or None")
