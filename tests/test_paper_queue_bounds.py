"""Edge uplinks of 432 hosts keep within what the Ofan paper proves, for short and long messages (appendices C to H)."""

from __future__ import annotations

import polars as pl
import pytest
from paper import DATA_FRAME_BYTES, Record, message, show

from fabricsim import (
    FatTree,
    InterPodPermutation,
    Paced,
    Permutation,
    Run,
    Scenario,
    balancer_from_text,
    simulate,
)
from fabricsim.theory import edge_uplink_most_packets

RADIX = 12
SIZES = (64, 256, 1024, 4096)


def largest_bytes(balancer: str, packets: int, *, acks: bool, northbound: bool) -> dict[str, int]:
    """The largest queue of each stage."""
    workload = InterPodPermutation if northbound else Permutation
    scenario = Scenario(
        fabric=FatTree(radix=RADIX),
        workload=workload(message=message(packets)),
        balancer=balancer_from_text(balancer),
        transport=Paced(acks="per-packet" if acks else "off"),
        run=Run(seed=packets, threads=1),
    )
    return dict(simulate(scenario).ports.group_by("stage").agg(pl.col("max_queue_bytes").max()).iter_rows())


@pytest.mark.parametrize("packets", SIZES)
@pytest.mark.parametrize(("balancer", "most"), [("drb", 7), ("ofan", 7), ("pofan:4", 7), ("ethereal", 37)])
def test_no_edge_uplink_exceeds_its_bound(balancer: str, most: int, packets: int, record_property: Record) -> None:
    """w + 1 packets for DRB, Ofan and POfan, k^2/4 + 1 for Ethereal; with ACKs and without, in whole data frames."""
    assert most == edge_uplink_most_packets(balancer.partition(":")[0], RADIX)
    for acks, northbound in ((True, False), (False, True)):
        largest = largest_bytes(balancer, packets, acks=acks, northbound=northbound)["edge-agg"] // DATA_FRAME_BYTES
        what = f"largest edge uplink of {balancer}, m = {packets}, {'with' if acks else 'without'} ACKs"
        show(record_property, what, largest, f"at most {most}")
        assert 1 <= largest <= most


@pytest.mark.parametrize("packets", SIZES)
@pytest.mark.parametrize("balancer", ["simple-rr", "jsq"])
def test_oblivious_rotation_never_has_a_frame_wait_on_the_way_up(
    balancer: str, packets: int, record_property: Record
) -> None:
    """All hosts northbound, no ACKs: an uplink holds the frame that it sends and none besides (appendix C, step 5)."""
    largest = largest_bytes(balancer, packets, acks=False, northbound=True)
    for stage in ("edge-agg", "agg-core"):
        show(record_property, f"largest {stage} queue of {balancer}, m = {packets}, bytes", largest[stage], "one frame")
        assert largest[stage] == DATA_FRAME_BYTES


def test_schemes_without_such_a_bound_exceed_all_of_them(record_property: Record) -> None:
    """Else the tests above would pass whatever the scheme."""
    for balancer in ("rsq", "ecmp"):
        largest = largest_bytes(balancer, 1024, acks=False, northbound=True)["edge-agg"] // DATA_FRAME_BYTES
        show(record_property, f"largest edge uplink of {balancer}, m = 1024", largest, "above 37")
        assert largest > 37
    # Rotation is not enough by itself: with ACKs in between uplinks fill.
    assert largest_bytes("simple-rr", 1024, acks=True, northbound=True)["edge-agg"] > 2 * DATA_FRAME_BYTES
