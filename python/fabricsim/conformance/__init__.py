"""The conformance suite: what every load balancer is held to, the package's own and users'.

`check` runs one balancer through many small scenarios. It is not `fabricsim.checks`, which holds any single run to the
bounds of physics: those say that a run is possible, this says that a scheme is sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim.conformance.report import Finding, Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabricsim.scenario.balancers import AnyBalancer

__all__ = ["Finding", "Report", "check"]


def check(balancer: AnyBalancer, progress: Callable[[str], None] | None = None) -> Report:
    """Hold a balancer to the conformance suite and return a report; takes about a second.

    The suite asks whether every packet arrives exactly once on a shortest path, over fabrics of many shapes; whether
    dead links are kept clear of and lost frames counted; whether the seed alone decides the result; and whether the
    queues of edge uplinks keep within what is proven for the scheme. docs/how-to/check-a-scheme.md lists all findings.

    Args:
        balancer: an instance, parameters included: `check(Pofan(ports_per_pipe=5))`.
        progress: called with the name of each finding before it is looked for; for long suites and displays.

    Raises:
        TypeError: `balancer` is no instance of a balancer's model. Whatever goes wrong in a run is a finding.

    """
    from fabricsim.conformance.suite import SUITE, find
    from fabricsim.scenario import balancer_text
    from fabricsim.scenario.balancers import BalancerPart

    if not isinstance(balancer, BalancerPart):
        raise TypeError(f"balancer: got {balancer!r}; allowed: an instance of a balancer, such as Ofan()")
    findings = []
    for question in SUITE:
        if progress is not None:
            progress(question.name)
        findings.append(find(question, balancer))
    return Report(balancer_text(balancer), tuple(findings))
