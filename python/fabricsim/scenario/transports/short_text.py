"""Transports as short texts, for command lines and tables: `dcsim`, `phost:window_packets=198`."""

from __future__ import annotations

from fabricsim.scenario.balancers.short_text import part_from_text, part_text
from fabricsim.scenario.transports import TRANSPORTS, AnyTransport


def transport_from_text(text: str, where: str = "") -> AnyTransport:
    """Return the transport that a short text names: a kind, then `field=value` of any parameters, after colons.

    `transport_text` is the inverse. Raises `ScenarioError`; `where` says in it where the text came from.
    """
    transport: AnyTransport = part_from_text(text, "transport", TRANSPORTS, where)
    return transport


def transport_text(transport: AnyTransport) -> str:
    """Return a transport's short text: its kind, and of its parameters those that are not at their defaults."""
    return part_text(transport)
