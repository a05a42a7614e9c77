"""The load that hosts offer, where a scenario asks for the highest that its fabric can carry (rho_max)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fabricsim.scenario import Scenario
    from fabricsim.theory.rho_max import Reading
    from fabricsim.workloads import Messages

_READINGS: dict[str, Reading] = {"rho-max:path": "path", "rho-max:hop": "hop", "rho-max:lp": "lp"}


def with_load(scenario: Scenario, messages: Messages) -> Scenario:
    """Return the scenario with `transport.load` a number: itself, or with rho_max of its fabric and these messages.

    rho_max is that of the links alive at the start (Ofan sections 2.2 and 6.2), random failures included; link events
    do not count. A host that sends several messages shares its rate among them by their bytes. Raises `ScenarioError`
    where some message has no path, or the fabric carries less than the least load that there may be.
    """
    from fabricsim.scenario.transports import LEAST_LOAD, Paced

    transport = scenario.transport
    if not isinstance(transport, Paced) or not isinstance(load := transport.load, str):
        return scenario
    from fabricsim.errors import ScenarioError
    from fabricsim.failures import with_failures
    from fabricsim.theory.rho_max import rho_max

    fabric = with_failures(scenario.fabric, scenario.run.seed)
    highest = rho_max(fabric, messages.src, messages.dst, _READINGS[load], shares(messages))
    if highest < LEAST_LOAD:
        allowed = (
            f"a number, or a fabric that carries more: {load} is {highest:.3g} here, below {LEAST_LOAD:g}, the least"
        )
        raise ScenarioError("transport.load", load, allowed)
    return scenario.replace(transport=transport.replace(load=highest))


def shares(messages: Messages) -> NDArray[np.float64]:
    """Return each message's share of what its host sends, by bytes; equal shares where a host sends no bytes at all."""
    sizes = messages.bytes.astype(np.float64)
    hosts = int(messages.src.max(initial=0)) + 1
    total = np.bincount(messages.src, sizes, hosts)[messages.src]
    count = np.bincount(messages.src, minlength=hosts)[messages.src]
    return np.where(total > 0, sizes / np.maximum(total, 1), 1 / np.maximum(count, 1))
