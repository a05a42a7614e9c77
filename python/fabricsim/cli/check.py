"""`fabricsim check`: balancers and transports held to the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from fabricsim.errors import ScenarioError

if TYPE_CHECKING:
    from fabricsim.conformance import Report
    from fabricsim.scenario.balancers import AnyBalancer
    from fabricsim.scenario.transports import AnyTransport


def check(
    *schemes: Annotated[
        str,
        Parameter(
            help="Balancers and transports, such as ofan, pofan:5 or dcsim; `all` for every one as it is by default."
        ),
    ],
) -> int:
    """Hold balancers and transports to the conformance suite: delivery, paths, losses, determinism, proven queues.

    Prints every finding of a single scheme, with the reason; of several a line each, and the findings that failed.

    Exit status: 0 all passed; 1 a finding failed; 2 bad input.

    For example:

        fabricsim check ofan
        fabricsim check pofan:5 reps:freezing=off
        fabricsim check dcsim:small_flows=direct
        fabricsim check all
    """
    from fabricsim.conformance import check as hold_to_suite

    reports = [hold_to_suite(scheme) for scheme in _schemes(schemes)]
    if len(reports) == 1:
        _show_findings(reports[0])
    else:
        _show_reports(reports)
    return 0 if all(report.passed for report in reports) else 1


def _schemes(names: tuple[str, ...]) -> list[AnyBalancer | AnyTransport]:
    from fabricsim.scenario import BALANCERS, balancer_from_text
    from fabricsim.scenario.transports import TRANSPORTS
    from fabricsim.scenario.transports.short_text import transport_from_text

    if not names:
        raise ScenarioError("", None, "balancers or transports (see `fabricsim list balancers`), or `all`")
    chosen: list[AnyBalancer | AnyTransport] = []
    for text in (text for name in names for text in ((*BALANCERS, *TRANSPORTS) if name == "all" else (name,))):
        is_transport = text.strip().lower().partition(":")[0] in TRANSPORTS
        chosen.append(transport_from_text(text) if is_transport else balancer_from_text(text))
    return chosen


def _show_findings(report: Report) -> None:
    from fabricsim.cli.terminal import show_table

    rows = [(one.name, one.outcome, one.asks, one.reason) for one in report.findings]
    show_table(f"{report.scheme}: {_sum(report)}", ("finding", "outcome", "asks", "why"), rows, numbers=False)


def _show_reports(reports: list[Report]) -> None:
    from fabricsim.cli.terminal import show_table

    rows = [(report.scheme, _sum(report)) for report in reports]
    show_table("conformance", ("scheme", "findings"), rows, numbers=False)
    failed = [(report.scheme, one.name, one.reason) for report in reports for one in report.failed]
    if failed:
        show_table("failed", ("scheme", "finding", "why"), failed, numbers=False)


def _sum(report: Report) -> str:
    counts = (f"{report.count('pass')} passed", f"{report.count('fail')} failed")
    aside = report.count("does not apply")
    return ", ".join(counts) + (f", {aside} did not apply" if aside else "")
