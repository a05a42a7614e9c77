"""Ofan's memory against the figures that the paper prints for switches of 64 ports."""

import pytest

from fabricsim.theory import pointer_memory


def test_a_switch_of_64_ports_needs_what_the_paper_says() -> None:
    """Section 4.1: 4K pointers of 5 bits, 2.5 KB, at the edge; 126 in 79 B above; a permutation of 160 bits."""
    memory = pointer_memory(64)
    assert (memory.edge_pointers_count, memory.agg_pointers_count, memory.pointer_bits) == (4096, 126, 5)
    assert (memory.edge_bytes, memory.agg_bytes, memory.order_bytes) == (2560, 79, 20)


def test_eight_pipes_have_eight_times_the_pointers() -> None:
    """Section 5.1: 32K pointers at an edge switch with pipes of 4 ports; a short pipe at radix 12 is one too."""
    assert pointer_memory(64, 4).edge_pointers_count == 32 * 1024
    assert pointer_memory(12, 4).agg_pointers_count == 2 * pointer_memory(12).agg_pointers_count
    assert pointer_memory(12, 6) == pointer_memory(12)


@pytest.mark.parametrize(("radix", "ports"), [(5, None), (2, None), (8, 0)])
def test_what_is_no_switch_is_refused(radix: int, ports: int | None) -> None:
    with pytest.raises(ValueError, match="allowed: "):
        pointer_memory(radix, ports)
