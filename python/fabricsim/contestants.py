"""What a comparison compares: load balancers under one transport, or transports, each over a balancer that suits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fabricsim.errors import ScenarioError

if TYPE_CHECKING:
    from fabricsim.scenario import Scenario
    from fabricsim.scenario.balancers import AnyBalancer
    from fabricsim.scenario.transports import AnyTransport

By = Literal["balancer", "transport"]
"""The part of the scenario that a comparison varies, and the column of its tables that names it."""

_OVER = "/"  # a colon begins a parameter, a comma another transport


@dataclass(frozen=True)
class Contestant:
    """One of those compared: its name in tables and figures, and the parts of the scenario that it replaces."""

    label: str
    parts: dict[str, Any]

    def scenario(self, base: Scenario, seed: int) -> Scenario:
        """Return what is run."""
        return base.replace(**self.parts, run=base.run.replace(seed=seed))


def of_balancer(balancer: AnyBalancer) -> Contestant:
    """Return a balancer as a contestant, under the short text that names it, such as `pofan:4`."""
    from fabricsim.scenario import balancer_text

    return Contestant(balancer_text(balancer), {"balancer": balancer})


def of_transport(transport: AnyTransport, balancer: AnyBalancer | None = None) -> Contestant:
    """Return a transport as a contestant, `dcpim`, or over another balancer than its usual one: `dcpim/simple-rr`."""
    from fabricsim.scenario import balancer_text
    from fabricsim.scenario.transports.short_text import transport_text

    usual = usual_balancer(transport)
    chosen = usual if balancer is None else balancer
    over = "" if chosen == usual else _OVER + balancer_text(chosen)
    return Contestant(transport_text(transport) + over, {"transport": transport, "balancer": chosen})


def transport_contestant(text: str, where: str = "") -> Contestant:
    """Read `dcpim`, `phost:window_packets=198` or, over another balancer than the usual one, `dcpim/simple-rr`.

    Raises `ScenarioError`.
    """
    from fabricsim.scenario import balancer_from_text
    from fabricsim.scenario.combinations import balancers_of
    from fabricsim.scenario.transports.short_text import transport_from_text

    name, over, under = text.partition(_OVER)
    transport = transport_from_text(name, where)
    balancer = balancer_from_text(under, where) if over else None
    if balancer is not None and balancer.kind not in (kinds := balancers_of(transport.kind)):
        raise ScenarioError("balancer.kind", balancer.kind, f"under {transport.kind}: {', '.join(kinds)}", where)
    return of_transport(transport, balancer)


def usual_balancer(transport: AnyTransport) -> AnyBalancer:
    """Return the balancer over which a transport runs unless told otherwise.

    dcSim's hosts draw random paths (dcSim section 2.4); switches spray the packets of pFabric, pHost and dcPIM at
    random, as fair to compare with those; paced hosts and those with windows stand for the Ofan paper.
    """
    from fabricsim.scenario import Ofan, Rps, Rsq

    if transport.kind == "paced" or transport.has_window:
        return Ofan()
    return Rps() if transport.kind == "dcsim" else Rsq()
