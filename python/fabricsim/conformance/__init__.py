"""The conformance suite: what every load balancer and every transport is held to.

`check` runs one scheme through many small scenarios. It is not `fabricsim.checks`, which holds any single run to the
bounds of physics: those say that a run is possible, this says that a scheme is sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim.conformance.report import Finding, Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabricsim.scenario.balancers import AnyBalancer
    from fabricsim.scenario.transports import AnyTransport

__all__ = ["Finding", "Report", "check"]


def check(scheme: AnyBalancer | AnyTransport, progress: Callable[[str], None] | None = None) -> Report:
    """Hold a balancer or a transport to the conformance suite and return a report; takes seconds.

    Of a balancer the suite asks whether every packet arrives exactly once on a shortest path, over fabrics of many
    shapes; whether dead links are kept clear of and lost frames counted; whether the seed alone decides the result; and
    whether the queues of edge uplinks keep within what is proven for the scheme. Of a transport it asks whether
    everything is delivered exactly once, whatever is lost or dropped; whether its counts and moments are right; and
    what the result depends on. docs/how-to/check-a-scheme.md lists all findings.

    Args:
        scheme: an instance, parameters included: `check(Pofan(ports_per_pipe=5))`, `check(Dcsim())`. A transport runs
            over its usual balancer (`fabricsim.contestants.usual_balancer`).
        progress: called with the name of each finding before it is looked for; for long suites and displays.

    Raises:
        TypeError: `scheme` is no instance of a balancer's or a transport's model. Whatever goes wrong in a run is a
            finding.

    """
    from fabricsim.conformance.suite import find, suite_of
    from fabricsim.scenario.balancers import BalancerPart
    from fabricsim.scenario.balancers.short_text import part_text
    from fabricsim.scenario.transports import TransportPart

    if not isinstance(scheme, BalancerPart | TransportPart):
        allowed = "an instance of a balancer or a transport, such as Ofan() or Dcsim()"
        raise TypeError(f"scheme: got {scheme!r}; allowed: {allowed}")
    findings = []
    for question in suite_of(scheme)[0]:
        if progress is not None:
            progress(question.name)
        findings.append(find(question, scheme))
    return Report(part_text(scheme), tuple(findings))
