"""`fabricsim check`: balancers held to the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from fabricsim.errors import ScenarioError

if TYPE_CHECKING:
    from fabricsim.conformance import Report
    from fabricsim.scenario.balancers import AnyBalancer


def check(
    *balancers: Annotated[
        str, Parameter(help="Balancers, such as ofan or pofan:5; `all` for every one as it is by default.")
    ],
) -> int:
    """Hold balancers to the conformance suite: delivery, paths, failures, determinism, proven queues.

    Prints every finding of a single balancer, with the reason; of several a line each, and the findings that failed.

    Exit status: 0 all passed; 1 a finding failed; 2 bad input.

    For example:

        fabricsim check ofan
        fabricsim check pofan:5 reps:freezing=off
        fabricsim check all
    """
    from fabricsim.conformance import check as hold_to_suite

    chosen = _balancers(balancers)
    reports = [hold_to_suite(balancer) for balancer in chosen]
    if len(reports) == 1:
        _show_findings(reports[0])
    else:
        _show_reports(reports)
    return 0 if all(report.passed for report in reports) else 1


def _balancers(names: tuple[str, ...]) -> list[AnyBalancer]:
    from fabricsim.scenario import BALANCERS, balancer_from_text

    if not names:
        raise ScenarioError("", None, "balancers (see `fabricsim list balancers`), or `all`")
    return [balancer_from_text(text) for name in names for text in (BALANCERS if name == "all" else [name])]


def _show_findings(report: Report) -> None:
    from fabricsim.cli.terminal import show_table

    rows = [(one.name, one.outcome, one.asks, one.reason) for one in report.findings]
    show_table(f"{report.balancer}: {_sum(report)}", ("finding", "outcome", "asks", "why"), rows, numbers=False)


def _show_reports(reports: list[Report]) -> None:
    from fabricsim.cli.terminal import show_table

    rows = [(report.balancer, _sum(report)) for report in reports]
    show_table("conformance", ("balancer", "findings"), rows, numbers=False)
    failed = [(report.balancer, one.name, one.reason) for report in reports for one in report.failed]
    if failed:
        show_table("failed", ("balancer", "finding", "why"), failed, numbers=False)


def _sum(report: Report) -> str:
    counts = (f"{report.count('pass')} passed", f"{report.count('fail')} failed")
    aside = report.count("does not apply")
    return ", ".join(counts) + (f", {aside} did not apply" if aside else "")
