"""The order in which a host visits its messages."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def ranks_in_order(src: ArrayLike) -> NDArray[np.int64]:
    """Return for each message how many of its sender's come before it in the list, shape (messages,)."""
    senders = np.asarray(src)
    order = np.argsort(senders, kind="stable")
    ordered = senders[order]
    first = np.searchsorted(ordered, ordered)
    ranks = np.empty(senders.size, np.int64)
    ranks[order] = np.arange(senders.size) - first
    return ranks
