"""Ofan section 4.1, footnote 4: what an order of the ports of its own for each pointer changes in the CCT.

Ofan with and without it on the same traffic and with the same first pointers, 432 hosts. The paper does not say how
large its all-to-all is; here a flow has 16 KiB.
"""

from fabricsim import AllToAll, Measure, Ofan, Permutation, Scenario
from fabricsim.study import Claim, Study, ratios

CCT = "cct_acked_us"
WORKLOADS = {"permutation": Permutation(message="1MiB"), "all-to-all": AllToAll(message="16KiB")}
ORDERS = {"xor": Ofan(port_order="xor"), "identity": Ofan(port_order="identity")}
PAPER_PERCENT = {"permutation": -0.2, "all-to-all": 0.1}
AXES = {"order": ORDERS, "workload": WORKLOADS}

STUDY = Study(
    title="CCT of Ofan with an order of the ports for each pointer over that with one order for all",
    source="Ofan section 4.1, footnote 4",
    base=Scenario(measure=Measure(queues=False)),
    grid={"order": "balancer", "workload": "workload", "seed": "run.seed"},
    tiers={
        "quick": {**AXES, "seed": range(1, 11)},
        "medium": {**AXES, "seed": range(1, 31)},
        "full": {**AXES, "seed": range(1, 101)},
    },
    columns=(CCT, "bound_us"),
)


def change(table, workload):
    """Give by how many percent the CCT is above that of the identity order."""
    with_order, without = ({"workload": workload, "order": order} for order in ORDERS)
    return ratios(table, CCT, with_order, without).percent


def of_sign(workload):
    def changes(table):
        found, paper = change(table, workload), PAPER_PERCENT[workload]
        percent = found.value - 100
        text = f"{percent:+.2f} ± {found.sem:.2f} %"
        if abs(percent) < 2 * found.sem and abs(percent - paper) < 2 * found.sem:
            return text, None
        return text, 2 * found.sem < percent * (1 if paper > 0 else -1) < 0.4

    return changes


CLAIMS = [
    Claim(
        says="permutation: orders of their own make the CCT smaller, by less than 0.4 % and more than two errors",
        where="section 4.1, footnote 4",
        paper="about -0.2 %",
        holds=of_sign("permutation"),
        tier="medium",
    ),
    Claim(
        says="all-to-all: orders of their own make the CCT larger, by less than 0.4 % and more than two errors",
        where="section 4.1, footnote 4",
        paper="about +0.1 %",
        holds=of_sign("all-to-all"),
        tier="medium",
        why="looked for in vain: with flows of 4, 8, 16 and 64 KiB, and hosts that visit the others at random or by "
        "shifts, the change stays within 0.06 %",
    ),
]


def plot(table, axes):
    found = [change(table, workload) for workload in WORKLOADS]
    axes[0].errorbar(
        list(WORKLOADS), [one.value - 100 for one in found], [one.sem for one in found], fmt="o", label="measured"
    )
    axes[0].plot(
        list(WORKLOADS), list(PAPER_PERCENT.values()), "_", color="black", markersize=18, label="the paper, about"
    )
    axes[0].axhline(0, color="black", linewidth=0.8)
    axes[0].set(ylabel="change of the CCT by port orders (%)", xlim=(-0.5, 1.5))
