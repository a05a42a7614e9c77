"""What the conformance suite found of one scheme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["pass", "fail", "does not apply"]


@dataclass(frozen=True)
class Finding:
    """One question of the suite: its name, what it asks, the outcome, and in one line why."""

    name: str
    asks: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Report:
    """All findings of one balancer or transport, which is named by its short text such as `pofan:4`."""

    scheme: str
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that failed."""
        return tuple(finding for finding in self.findings if finding.outcome == "fail")

    @property
    def passed(self) -> bool:
        """Whether none failed."""
        return not self.failed

    def count(self, outcome: Outcome) -> int:
        """How many findings came out so."""
        return sum(finding.outcome == outcome for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join(f"{self.scheme}, {one.name}: {one.outcome} ({one.reason})" for one in self.findings)
