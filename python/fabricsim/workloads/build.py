"""From a scenario's workload to its messages."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from fabricsim.errors import ScenarioError
from fabricsim.scenario import Scenario
from fabricsim.scenario import workloads as models
from fabricsim.workloads import all_to_all, collectives, incast, permutation
from fabricsim.workloads.dcpim_trace import read_dcpim_trace
from fabricsim.workloads.draws import Draws, Purpose
from fabricsim.workloads.htsim import read_htsim
from fabricsim.workloads.message_list import from_models, read_messages
from fabricsim.workloads.messages import MOST_PACKETS, Messages, Places
from fabricsim.workloads.poisson import arrivals
from fabricsim.workloads.size_distribution import built_in, read_sizes


def build(scenario: Scenario) -> Messages:
    """Return the messages of `scenario`'s workload on its fabric; random ones depend on run.seed alone.

    Raises `ScenarioError` if the workload does not fit the fabric or its file is wrong.
    """
    messages = _messages(scenario.workload, scenario)
    messages.check_fits(scenario, _places(scenario.workload))
    return messages


def _places(workload: models.Workload) -> Places | None:
    """Say in errors which message of which file does not fit, where messages come one by one."""
    if not isinstance(workload, models.MessageList):
        return None
    if workload.path is not None and workload.path.suffix != ".json":
        return Places(where=str(workload.path))
    where = "" if workload.path is None else str(workload.path)
    return Places(message=lambda row, field: f"messages.{row}.{field}", where=where)


@singledispatch
def _messages(workload: object, scenario: Scenario) -> Messages:
    """Return the messages of a workload; one function a model below."""
    raise NotImplementedError(f"{type(workload).__name__} on {scenario.fabric.kind}")


@_messages.register
def _permutation(workload: models.Permutation, scenario: Scenario) -> Messages:
    hosts = scenario.fabric.hosts_count
    dst = permutation.derangement(hosts, Draws(scenario.run.seed, Purpose.PERMUTATION))
    return Messages.from_arrays(np.arange(hosts), dst, int(workload.message))


@_messages.register
def _inter_pod(workload: models.InterPodPermutation, scenario: Scenario) -> Messages:
    hosts, pods = scenario.fabric.hosts_count, getattr(scenario.fabric, "pods_count", 0)
    if not pods:
        raise ScenarioError("workload.kind", workload.kind, "this kind on fabrics with pods only, as fat-tree")
    dst = permutation.inter_pod(pods, hosts // pods, Draws(scenario.run.seed, Purpose.INTER_POD_PERMUTATION))
    return Messages.from_arrays(np.arange(hosts), dst, int(workload.message))


@_messages.register
def _incast(workload: models.Incast, scenario: Scenario) -> Messages:
    draws = Draws(scenario.run.seed, Purpose.INCAST_SENDERS)
    src = incast.senders(scenario.fabric.hosts_count, workload.senders, workload.receiver, draws)
    return Messages.from_arrays(src, np.full(src.size, workload.receiver), int(workload.message))


@_messages.register
def _all_to_all(workload: models.AllToAll, scenario: Scenario) -> Messages:
    src, dst, rank = _pairs(workload.order, scenario)
    size = int(workload.message)
    if workload.per == "host":
        size = all_to_all.flow_bytes_of_host_bytes(size, scenario.fabric.hosts_count, int(scenario.frame.payload))
    return Messages.from_arrays(src, dst, size, rank=rank)


@_messages.register
def _infinite_all_to_all(workload: models.InfiniteAllToAll, scenario: Scenario) -> Messages:
    src, dst, rank = _pairs(workload.order, scenario)
    return Messages.from_arrays(src, dst, MOST_PACKETS * int(scenario.frame.payload), rank=rank)


def _pairs(order: models.Order, scenario: Scenario) -> all_to_all.Pairs:
    return all_to_all.pairs(scenario.fabric.hosts_count, order, Draws(scenario.run.seed, Purpose.ALL_TO_ALL_ORDER))


@_messages.register
def _all_to_all_v(workload: models.AllToAllV, scenario: Scenario) -> Messages:
    everyone = np.arange(scenario.fabric.hosts_count)
    return collectives.messages([everyone], workload.kind, workload, int(scenario.frame.payload), scenario.run.seed)


@_messages.register
def _collectives(workload: models.Collectives, scenario: Scenario) -> Messages:
    hosts, seed = scenario.fabric.hosts_count, scenario.run.seed
    draws = {purpose: Draws(seed, purpose) for purpose in (Purpose.COLLECTIVE_SIZES, Purpose.COLLECTIVE_HOSTS)}
    chosen = collectives.members(hosts, workload.count, workload.sizes, *draws.values())
    return collectives.messages(chosen, workload.pattern, workload, int(scenario.frame.payload), seed)


@_messages.register
def _poisson(workload: models.Poisson, scenario: Scenario) -> Messages:
    frame, seed, hosts = scenario.frame, scenario.run.seed, scenario.fabric.hosts_count
    if workload.path is None:
        sizes = built_in(workload.size_distribution)
    else:
        sizes = read_sizes(workload.path, int(workload.size_unit))
    wire_bytes = sizes.mean_bytes * (frame.data_bytes + int(frame.gap)) / int(frame.payload)
    rate_bps = workload.load * int(scenario.fabric.tier_links()["host_link"].rate) * hosts
    came = arrivals(
        hosts,
        wire_bytes * 8e12 / rate_bps,
        int(workload.duration),
        workload.messages_count,
        gap_draws=Draws(seed, Purpose.POISSON_GAPS),
        host_draws=Draws(seed, Purpose.POISSON_HOSTS),
    )
    size = sizes.of_uniforms(Draws(seed, Purpose.POISSON_SIZES).uniforms(came.src.size))
    return Messages.from_arrays(came.src, came.dst, size, start_ps=came.start_ps)


@_messages.register
def _message_list(workload: models.MessageList, _scenario: Scenario) -> Messages:
    return read_messages(workload.path) if workload.path is not None else from_models(workload.messages or ())


@_messages.register
def _dcpim_trace(workload: models.DcpimTrace, scenario: Scenario) -> Messages:
    return read_dcpim_trace(workload.path, int(scenario.frame.payload), scenario.fabric.hosts_count)


@_messages.register
def _htsim(workload: models.Htsim, scenario: Scenario) -> Messages:
    file, hosts = read_htsim(workload.path, workload.start_unit), scenario.fabric.hosts_count
    if file.hosts != hosts:
        raise ScenarioError(f"{workload.path}: Nodes", file.hosts, f"{hosts}, the hosts of the scenario's fabric")
    return file.messages
