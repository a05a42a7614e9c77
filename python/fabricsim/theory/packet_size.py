"""Which packet size is best: small packets waste the link on headers, large ones wait longer in queues.

Ofan paper, theorem 6 and appendix G. A packet of P bytes on the link carries P - H of the message's D bytes; H is
header and gap, 62 + 20 bytes by default. Queues hold a constant number of packets on the way (alpha, 10 by default)
when the balancer keeps them bounded, or beta sqrt(m) of them, m = D/(P - H), when it sprays (theorem 1, section 6.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

HEADER_BYTES = 82
QUEUE_PACKETS = 10.0
RATE_GBPS = 800.0
RTT_US = 6.0
"""Propagation there and back over six links of 0.5 us (section 6)."""


def cct_us(
    payload_bytes: ArrayLike,
    message_bytes: float,
    queue_packets: float = QUEUE_PACKETS,
    *,
    header_bytes: float = HEADER_BYTES,
    rate_gbps: float = RATE_GBPS,
    rtt_us: float = RTT_US,
) -> Any:
    """Return the modelled completion time in us: (P/C) (D/(P-H) + alpha) + RTT (eqs. 19 to 21).

    `payload_bytes`, P - H, may be an array; the result has its shape.
    """
    payload = np.asarray(payload_bytes, np.float64)
    packets = message_bytes / payload + queue_packets
    return _found((payload + header_bytes) * 8e-3 / rate_gbps * packets + rtt_us)


def spraying_cct_us(
    payload_bytes: ArrayLike,
    message_bytes: float,
    queue_coefficient: float,
    *,
    header_bytes: float = HEADER_BYTES,
    rate_gbps: float = RATE_GBPS,
    rtt_us: float = RTT_US,
) -> Any:
    """Return the modelled completion time in us when queues hold `queue_coefficient` sqrt(m) packets on the way.

    The paper states only how the optimum scales (section 6.1), so the coefficient has no default.
    """
    payload = np.asarray(payload_bytes, np.float64)
    packets = message_bytes / payload
    time = (payload + header_bytes) * 8e-3 / rate_gbps * (packets + queue_coefficient * np.sqrt(packets))
    return _found(time + rtt_us)


def optimal_payload_bytes(
    message_bytes: float, queue_packets: float = QUEUE_PACKETS, header_bytes: float = HEADER_BYTES
) -> float:
    """Return the payload at which `cct_us` is least, sqrt(H D / alpha) bytes (theorem 6)."""
    return float((header_bytes * message_bytes / queue_packets) ** 0.5)


def optimal_spraying_payload_bytes(
    message_bytes: float, queue_coefficient: float, header_bytes: float = HEADER_BYTES
) -> float:
    """Return the payload at which `spraying_cct_us` is least; it grows as D^(1/3) (section 6.1).

    Zeroing the derivative gives u^3 - H u = 2 H sqrt(D) / beta for the payload u^2: one positive root, near
    (2 H / beta)^(2/3) D^(1/3) once that is far above H.
    """
    roots = np.roots([1, 0, -header_bytes, -2 * header_bytes * message_bytes**0.5 / queue_coefficient])
    # The product of the roots is positive and their sum zero: exactly one has a positive real part.
    return float(roots.real.max() ** 2)


def _found(time: Any) -> Any:
    return time if time.ndim else float(time)
