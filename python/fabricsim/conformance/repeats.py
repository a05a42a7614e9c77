"""What a result depends on: the seed. And what it does not: threads, and what is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim.conformance.cases import TIME_LIMIT, Lab
from fabricsim.conformance.sound import Fault
from fabricsim.scenario import Duration, FatTree, LeafSpine, Measure, Run
from fabricsim.workloads import build

if TYPE_CHECKING:
    from fabricsim.results import Results

_TREES = (FatTree(radix=6, links_down=(("edge-0", "agg-1"),)), LeafSpine(radix=8))
_EVERYTHING = Measure(trace=True, interval=Duration("1us"))


def seed_decides(lab: Lab) -> str:
    """Run the same seed twice, and others: they give other results, though all hosts start at once."""
    hashes: set[str] = set()
    for fabric in _TREES:
        messages = build(lab.scenario(fabric, packets=30))  # else the seed would draw them too
        runs = [lab.run(fabric, messages, seed=seed, transport=lab.in_step) for seed in (1, 1, 2, 3)]
        _same(runs[0], runs[1], "a second run with the same seed")
        found = {run.summary["result_hash"] for run in runs}
        if len(found) == 1:
            raise Fault("seeds 1, 2 and 3 give the same result: nothing that is drawn depends on the seed")
        hashes |= found
    return f"{len(hashes)} results of {3 * len(_TREES)} seeds, each the same when run again"


def threads_do_not_matter(lab: Lab) -> str:
    """Flows, links, every interval and every reception."""
    for fabric in _TREES:
        alone, *together = (
            lab.run(
                fabric,
                packets=30,
                port=lab.tight,
                measure=_EVERYTHING,
                run=Run(threads=threads, time_limit=TIME_LIMIT),
            )
            for threads in (1, 2, 4)
        )
        for results in together:
            _same(alone, results, f"a run on {results.totals['threads']} threads")
    return f"result {alone.summary['result_hash'][:8]} with 1, 2 and 4 threads"


def measures_do_not_matter(lab: Lab) -> str:
    """Queues measured or not, traced or not: the same flows."""
    for fabric in _TREES:
        bare, *measured = (
            lab.run(fabric, packets=30, port=lab.tight, measure=Measure(queues=queues, trace=trace))
            for queues, trace in ((False, False), (True, False), (False, True), (True, True))
        )
        for results in measured:
            if not results.flows.equals(bare.flows):
                raise Fault("measuring queues, or tracing, changes when messages are delivered")
    return f"result {bare.summary['result_hash'][:8]} with and without"


def _same(one: Results, other: Results, what: str) -> None:
    if one.summary["result_hash"] != other.summary["result_hash"] or not one.flows.equals(other.flows):
        raise Fault(f"{what} gives other flows")
    if not one.ports.equals(other.ports):
        raise Fault(f"{what} loads other links")
    if one.series is not None and (other.series is None or not one.series.equals(other.series)):
        raise Fault(f"{what} delivers or drops in other intervals")
    assert one.trace is not None, "the suite traces what it reads"
    assert other.trace is not None, "the suite traces what it reads"
    if not one.trace.equals(other.trace):
        raise Fault(f"{what} has packets elsewhere, or at other times")
