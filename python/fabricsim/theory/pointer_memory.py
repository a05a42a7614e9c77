"""What Ofan's pointers take up in a switch (Ofan paper, sections 4.1 and 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

_SIZE_CLASSES = 2


@dataclass(frozen=True)
class PointerMemory:
    """Pointers of one edge and one aggregation switch, and the bytes that they take, rounded up.

    `pointer_bits`: a pointer names an uplink. `order_bytes`: the one permutation that all orders of ports are made of.
    """

    edge_pointers_count: int
    agg_pointers_count: int
    pointer_bits: int
    edge_bytes: int
    agg_bytes: int
    order_bytes: int


def pointer_memory(radix: int, ports_per_pipe: int | None = None) -> PointerMemory:
    """Return the memory of Ofan in a k-ary fat tree, or of POfan with pipes of `ports_per_pipe` down-facing ports.

    An edge switch has a pointer for each edge switch and size class, an aggregation switch one for each other pod and
    size class, both as many times as there are pipes. k = 64: 4,096 pointers of 5 bits in 2.5 kB, 126 in 79 B, and 20 B
    of port order.

    Raises `ValueError` for a radix that is not even and at least 4, and for pipes of no ports.
    """
    if radix < 4 or radix % 2:
        raise ValueError(f"radix: got {radix}; allowed: an even number of at least 4")
    if ports_per_pipe is not None and ports_per_pipe < 1:
        raise ValueError(f"ports_per_pipe: got {ports_per_pipe}; allowed: at least 1, or None for one pipe")
    uplinks = radix // 2
    pipes = 1 if ports_per_pipe is None else -(-uplinks // ports_per_pipe)
    bits = (uplinks - 1).bit_length()
    edge = pipes * _SIZE_CLASSES * radix * uplinks
    agg = pipes * _SIZE_CLASSES * (radix - 1)
    return PointerMemory(edge, agg, bits, *(-(-count * bits // 8) for count in (edge, agg, uplinks)))
