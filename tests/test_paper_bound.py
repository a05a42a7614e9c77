"""Appendix A of the Ofan paper: the lower bound of a permutation, and the pair of hosts that comes closest to it."""

from __future__ import annotations

import polars as pl
import pytest
from paper import PAYLOAD_BYTES, Record, show

from fabricsim import (
    BALANCERS,
    FatTree,
    Measure,
    Messages,
    Paced,
    Permutation,
    Run,
    Scenario,
    balancer_from_text,
    bound_ps,
    simulate,
)
from fabricsim.workloads import build

# Constants of the paper's example, in ps, for a path of six links (docs/explanation/model.md, "Timing").
DATA_PS, ACK_PS, GAP_PS, PROPAGATION_PS, LINKS = 41_580, 640, 200, 3_000_000, 6
PACKETS = 256


def first_ack_after(links: int = LINKS) -> int:
    """i1, equation 8: data packets that a host sends before its first ACK."""
    return -(-(PROPAGATION_PS + (links - 1) * DATA_PS) // (DATA_PS + GAP_PS)) + 1


def appendix_ps(packets: int) -> int:
    """The appendix, formula by formula, as docs/explanation/measures.md writes it out."""
    i1 = min(packets, first_ack_after())
    i2 = packets - i1 + 1
    data, ack = DATA_PS + GAP_PS, ACK_PS + GAP_PS
    first = PROPAGATION_PS + LINKS * DATA_PS + (i1 - 1) * data + ack

    def acked(i: int) -> int:
        if i <= i2:
            return first + (i - 1) * (data + ack)
        return max(acked(i2) + (i - i2) * ack, acked(i - (i1 - 1)) + (LINKS - 1) * ACK_PS + PROPAGATION_PS)

    return acked(packets)


@pytest.mark.parametrize(
    ("packets", "us"),
    [(119, 11.21800), (256, 17.05694), (418, 23.96138), (1024, 49.78910), (1533, 71.48268), (4096, 180.71774)],
)
def test_the_bound_is_that_of_the_paper(packets: int, us: float, record_property: Record) -> None:
    """17.05694 us is printed in the paper, the other values follow from its formulas, all rounded to 10 ps."""
    scenario = Scenario(fabric=FatTree(radix=12), workload=Permutation(message=f"{packets * PAYLOAD_BYTES}B"))
    bound = bound_ps(scenario, build(scenario))
    show(record_property, f"bound at m = {packets}, us", bound / 1e6, f"{us:.5f}")
    assert bound == appendix_ps(packets) == round(us * 1e6)


def pair(radix: int) -> Messages:
    """The first host sends to the last one and the last one to the first."""
    last = radix**3 // 4 - 1
    return Messages.from_arrays([0, last], [last, 0], PACKETS * PAYLOAD_BYTES)


def test_the_three_modes_of_a_pair(record_property: Record) -> None:
    """Figure 15: i1 = 78 data packets, then data and ACKs in turn, and ACK i2 = 179 follows the last data packet."""
    scenario = Scenario(fabric=FatTree(radix=4), transport=Paced(start_jitter="none"), measure=Measure(trace=True))
    results = simulate(scenario, pair(4))
    assert results.trace is not None
    for host in ("host-0", "host-15"):
        link = results.ports["from"].to_list().index(host)
        sent = results.trace.filter(pl.col("link") == link).sort("at_ps")["kind"].to_list()
        i1, acks = sent.index("ack"), sent[: len(sent) - sent[::-1].index("data")].count("ack")
        show(record_property, f"i1, i2 of {host}", (i1, acks + 1), "78, 179")
        assert i1 == first_ack_after() == 78
        assert sent[i1:-i1] == ["ack", "data"] * (PACKETS - i1)
        assert acks + 1 == PACKETS - i1 + 1 == 179


@pytest.mark.parametrize(("radix", "runs"), [(4, 400), (8, 1000)])
def test_the_best_isolated_pair_comes_within_a_ten_thousandth_of_the_bound(
    radix: int, runs: int, record_property: Record
) -> None:
    """As in the paper: the smallest CCT of many runs over all balancers; it has 17.0587 (k = 4) and 17.0609 us.

    How close the best comes is a matter of the hosts' jitters: with k = 8, where 1 run in 700 gets below 17.061 us, one
    set of 1,000 in five has none. The other side is certain: the bound less one gap is the least time there is.
    """
    scenarios = [
        Scenario(
            fabric=FatTree(radix=radix),
            balancer=balancer_from_text(kind),
            measure=Measure(queues=False),
            run=Run(seed=seed, threads=1),
        )
        for kind in BALANCERS
        for seed in range(-(-runs // len(BALANCERS)))
    ]
    messages = pair(radix)
    smallest = min(simulate(scenario, messages).summary["cct_acked_us"] for scenario in scenarios)
    show(record_property, f"smallest CCT of a pair, k = {radix}, us", smallest, "17.0567 to 17.061")
    assert len(scenarios) >= runs
    assert 17.0567 <= smallest <= 17.061
