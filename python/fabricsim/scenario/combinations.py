"""Which parts of a scenario go together: transports with balancers and ports, measures with fabric and time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim.scenario.balancers import BALANCERS
from fabricsim.scenario.derived import derived
from fabricsim.scenario.links import directed_link
from fabricsim.scenario.part import refusal
from fabricsim.scenario.pfc import check_headroom
from fabricsim.scenario.transports import TRANSPORTS, Dcsim
from fabricsim.scenario.transports.window import LARGEST_WINDOW, WindowPart, window_bytes
from fabricsim.scenario.units import Bytes

if TYPE_CHECKING:
    from fabricsim.scenario.scenario import Scenario

MOST_INTERVALS = 1_000_000
"""Most rows of a run's series."""

SPRAYERS_OF_SIMS = ("rps", "drb")
"""Balancers that let a Data follow its Sim: the host names the path, and the same name leads over the same links."""


def check(scenario: Scenario) -> None:
    """Refuse parts that do not go together, in a validator of the scenario."""
    _check_balancer(scenario)
    _check_frame(scenario)
    _check_deployment(scenario)
    _check_port(scenario)
    _check_order(scenario)
    _check_windows(scenario)
    _check_measure(scenario)


def balancers_of(transport: str) -> tuple[str, ...]:
    """Return the kinds of balancer that a kind of transport goes with; the usual one first where they are few."""
    if transport == "paced" or TRANSPORTS[transport].has_window:
        return tuple(BALANCERS)
    if transport == "dcsim":
        return SPRAYERS_OF_SIMS
    # Their packets carry a priority where hosts' schemes write paths and CONGA its metrics.
    of_switches = (kind for kind, model in BALANCERS.items() if model.where == "switch" and kind != "conga")
    return tuple(sorted(of_switches, key=lambda kind: kind != "rsq"))


def _check_balancer(scenario: Scenario) -> None:
    transport, allowed = scenario.transport.kind, balancers_of(scenario.transport.kind)
    if scenario.balancer.kind not in allowed:
        words = f"one of {', '.join(allowed)} where transport.kind is {transport}"
        raise refusal(scenario.balancer.kind, words, "balancer.kind")


def _check_frame(scenario: Scenario) -> None:
    """Tokens, Sims and ACKs go before data: where they were larger, they alone would fill the links."""
    frame, transport = scenario.frame, scenario.transport
    if (transport.discipline != "fifo" or scenario.port.control_first) and frame.data_bytes < frame.ack:
        where = "port.control_first is true" if scenario.port.control_first else f"transport.kind is {transport.kind}"
        words = f"no more than a data frame, {frame.data_bytes}B, where {where}"
        raise refusal(str(frame.ack), words, "frame.ack")


def _check_deployment(scenario: Scenario) -> None:
    if scenario.deployment is None:
        return
    if scenario.transport.kind == "dcsim":
        allowed = "no deployment where transport.kind is dcsim: every switch has to follow the path that the host names"
        raise refusal(scenario.deployment.balancer.kind, allowed, "deployment.balancer.kind")
    allowed_kinds = balancers_of(scenario.transport.kind)
    if scenario.deployment.balancer.kind not in allowed_kinds:
        words = f"one of {', '.join(allowed_kinds)} where transport.kind is {scenario.transport.kind}"
        raise refusal(scenario.deployment.balancer.kind, words, "deployment.balancer.kind")
    _check_mixture(scenario, scenario.deployment.balancer.kind)


def _check_mixture(scenario: Scenario, deployed: str) -> None:
    scenario_balancer = scenario.balancer
    kinds = {scenario_balancer.kind, deployed}
    allowed = ""
    if kinds <= {"conga", "sglb"}:
        allowed = "one of conga and sglb, and once: cores take part in them, and in one scheme only"
    elif "conga" in kinds and "ecmp" in kinds:
        allowed = "conga not beside ecmp: it writes into the field of a packet that ecmp hashes"
    elif "conga" in kinds and scenario_balancer.where == "host":
        allowed = "conga beside schemes of switches only: it writes into the field that hosts choose paths by"
    if allowed:
        words = f"{allowed} (balancer.kind is {scenario_balancer.kind})"
        raise refusal(deployed, words, "deployment.balancer.kind")


def _check_port(scenario: Scenario) -> None:
    port, transport = scenario.port, scenario.transport
    largest = max(scenario.frame.data_bytes, scenario.frame.ack)
    if isinstance(port.buffer, Bytes) and port.buffer < largest:
        raise refusal(str(port.buffer), f'at least the largest frame, {largest}B, or "infinite"', "port.buffer")
    if port.shared_buffer is not None and min(1, port.shared_buffer.alpha) * port.shared_buffer.size < largest:
        words = f"it, and alpha times it, at least the largest frame, {largest}B"
        raise refusal(str(port.shared_buffer.size), words, "port.shared_buffer.size")
    if not isinstance(transport, Dcsim) or scenario.buffer_bytes is None:
        return
    here = derived(scenario)
    left = transport.data_buffer_bytes(here)
    if left is not None and left < here.data_bytes:
        small = scenario.buffer_bytes - left
        words = f'at least {small + here.data_bytes}B, or "infinite": a data frame of {here.data_bytes}B beside '
        words += f"{small}B for Sims, Sim-Acks and Data-Acks"
        raise refusal(str(port.buffer), words, "port.buffer")


def _check_order(scenario: Scenario) -> None:
    """Refuse what only some ports can do: those that are first in, first out, and those that hosts with windows use."""
    port, transport = scenario.port, scenario.transport
    if transport.discipline != "fifo":
        words = f"where transport.kind is {transport.kind}: its ports mark nothing"
        if port.ecn_threshold not in ("auto", "none"):
            raise refusal(str(port.ecn_threshold), f'"auto" or "none" {words}', "port.ecn_threshold")
        if port.ecn_full_threshold != "none":
            raise refusal(str(port.ecn_full_threshold), f'"none" {words}', "port.ecn_full_threshold")
        if port.shared_buffer is not None:
            words = f"none where transport.kind is {transport.kind}: its ports have an order of their own"
            raise refusal("a table", words, "port.shared_buffer")
    windows = ", ".join(kind for kind, model in TRANSPORTS.items() if model.has_window)
    if not transport.has_window and port.control_first:
        raise refusal(True, f"false unless transport.kind is one of {windows}", "port.control_first")
    if not transport.has_window and port.pfc is not None:
        raise refusal("a table", f"none unless transport.kind is one of {windows}", "port.pfc")
    threshold = scenario.ecn_threshold_bytes
    if port.ecn_full_threshold != "none" and (threshold is None or port.ecn_full_threshold < threshold):
        words = "at least port.ecn_threshold, which has to be a size" if threshold is None else f"at least {threshold}B"
        raise refusal(str(port.ecn_full_threshold), words, "port.ecn_full_threshold")
    check_headroom(scenario)


def _check_windows(scenario: Scenario) -> None:
    """Refuse windows that let no packet out, and a first one above the largest."""
    transport = scenario.transport
    if not isinstance(transport, WindowPart):
        return
    here = derived(scenario)
    largest, first = (window_bytes(one, here) for one in (transport.largest_window, transport.first_window))
    for field, given in transport.windows.items():
        if window_bytes(given, here) > LARGEST_WINDOW and not isinstance(given, float):
            raise refusal(str(given), f"at most {LARGEST_WINDOW}", f"transport.{field}")
        if window_bytes(given, here) < here.data_bytes:
            words = f"at least a data frame, {here.data_bytes}B ({given} is {window_bytes(given, here)}B)"
            raise refusal(str(given), words, f"transport.{field}")
    if first > largest:
        words = f"at most max_window, {transport.largest_window}"
        raise refusal(str(transport.first_window), words, "transport.initial_window")


def _check_measure(scenario: Scenario) -> None:
    measure = scenario.measure
    if measure.watched_port is not None:
        directed_link(scenario.fabric, measure.watched_port, "measure.watched_port")
    if measure.watched_messages and not scenario.transport.has_window:
        words = f"none where transport.kind is {scenario.transport.kind}, which has no windows"
        raise refusal(list(measure.watched_messages), words, "measure.watched_messages")
    if measure.interval is None or measure.most_rows is not None:
        return
    if int(measure.interval) * MOST_INTERVALS < scenario.time_limit_ps:
        rows = -(-scenario.time_limit_ps // int(measure.interval))
        words = f"at most {MOST_INTERVALS:,} intervals until run.time_limit, not {rows:,}: set a longer "
        words += "interval, an earlier limit, or most_rows"
        raise refusal(str(measure.interval), words, "measure.interval")
