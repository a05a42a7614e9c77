"""Lowering: from a scenario to the configuration that the core reads (its contract is in `bindings/README.md`)."""

from __future__ import annotations

import os
from typing import Any

from fabricsim.errors import ScenarioError
from fabricsim.scenario.derived import Derived, derived
from fabricsim.scenario.fabric import FatTree, LeafSpine
from fabricsim.scenario.links import directed_link
from fabricsim.scenario.pfc import lowered_pfc
from fabricsim.scenario.scenario import Scenario
from fabricsim.scenario.transports import Paced

_HOSTS_WORTH_THREADS = 2000


def core_config(scenario: Scenario) -> dict[str, Any]:
    """Return the core's configuration as plain JSON values: bytes, bit/s and ps as integers, every field present.

    `run.threads = "auto"` becomes 1 below 2,000 hosts, where the threads would mostly wait for each other, else the
    number of the machine's cores. The workload is not in it: messages go to the core as arrays. Failed links and
    switches of a deployment are drawn here. Raises `ScenarioError` if that cannot be done, or `transport.load` is no
    number yet (it takes the messages, too: `fabricsim.offered_load.with_load`).
    """
    frame, transport = scenario.frame, scenario.transport
    if isinstance(transport, Paced) and isinstance(transport.load, str):
        raise ScenarioError("transport.load", transport.load, "a number, once the messages are known")
    here = derived(scenario)
    return {
        "seed": scenario.run.seed,
        "threads": threads_of(scenario),
        "time_limit_ps": scenario.time_limit_ps,
        "fabric": _fabric(_with_failures(scenario)),
        "frame": {
            "payload_bytes": int(frame.payload),
            "header_bytes": int(frame.header),
            "ack_bytes": int(frame.ack),
            "gap_bytes": int(frame.gap),
            "last_frame": frame.last_frame,
        },
        "port": _port(scenario, here),
        "balancer": scenario.balancer.lowered(),
        "deployments": _deployments(scenario),
        "transport": transport.lowered(here),
        "measure": _measure(scenario),
    }


def threads_of(scenario: Scenario) -> int:
    """Return how many threads a run uses: `run.threads` with auto decided."""
    if scenario.run.threads != "auto":
        return scenario.run.threads
    return 1 if scenario.fabric.hosts_count < _HOSTS_WORTH_THREADS else os.cpu_count() or 1


def _with_failures(scenario: Scenario) -> FatTree | LeafSpine:
    if scenario.fabric.failures is None:
        return scenario.fabric.links_listed()
    from fabricsim.failures import with_failures

    return with_failures(scenario.fabric, scenario.run.seed)


def _port(scenario: Scenario, here: Derived) -> dict[str, Any]:
    port, full, shared = scenario.port, scenario.port.ecn_full_threshold, scenario.port.shared_buffer
    order = {"kind": "control-first", "trimming": port.trimming} if port.control_first else None
    return {
        "buffer_bytes": scenario.buffer_bytes,
        "ecn_threshold_bytes": scenario.ecn_threshold_bytes,
        "ecn_full_bytes": None if full == "none" else int(full),
        "ecn_at": port.ecn_at,
        "shared_buffer": None if shared is None else {"bytes": int(shared.size), "alpha": shared.alpha},
        "pfc": lowered_pfc(scenario),
        "discipline": order or scenario.transport.lowered_discipline(here),
    }


def _measure(scenario: Scenario) -> dict[str, Any]:
    measure, watched = scenario.measure, scenario.measure.watched_port
    return {
        "queues": measure.queues,
        "trace": measure.trace,
        "interval_ps": None if measure.interval is None else int(measure.interval),
        "most_rows": measure.most_rows,
        "watched_port": None if watched is None else list(directed_link(scenario.fabric, watched, "watched_port")),
        "watched_messages": list(measure.watched_messages),
    }


def _deployments(scenario: Scenario) -> list[dict[str, Any]]:
    if scenario.deployment is None:
        return []
    from fabricsim.deployment import deployed_switches

    switches = deployed_switches(scenario.deployment, scenario.fabric, scenario.run.seed)
    return [{"switches": switches, "balancer": scenario.deployment.balancer.lowered()}] if switches else []


def _fabric(fabric: FatTree | LeafSpine) -> dict[str, Any]:
    if isinstance(fabric, FatTree):
        shape = {
            "pods": fabric.pods_count,
            "edges_per_pod": fabric.edges_per_pod,
            "hosts_per_edge": fabric.hosts_per_edge,
            "aggs_per_pod": fabric.aggs_per_pod,
            "cores_per_agg": fabric.cores_per_agg,
        }
    else:
        shape = {
            "leaves": fabric.leaves_count,
            "hosts_per_leaf": fabric.hosts_per_edge,
            "spines": fabric.spines_count,
        }
    links = {
        name: {"rate_bps": int(link.rate), "latency_ps": int(link.latency)}
        for name, link in fabric.tier_links().items()
    }
    degraded = [{"link": list(slower.link), "rate_bps": int(slower.rate)} for slower in fabric.links_degraded]
    down = [list(ends) for ends in fabric.links_down]
    events = [{"at_ps": int(event.at), "link": list(event.link), "state": event.state} for event in fabric.link_events]
    losses = [{"packet": loss.packet, "ppm": loss.ppm} for loss in fabric.losses]
    changes = {"losses": losses, "link_events": events, "reconvergence_delay_ps": int(fabric.reconvergence_delay)}
    return {"kind": fabric.kind, **shape, **links, "links_down": down, "links_degraded": degraded, **changes}
