"""From a scenario's workload to its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabricsim.errors import ScenarioError
from fabricsim.scenario import workload as models
from fabricsim.workloads import all_to_all, incast, permutation
from fabricsim.workloads.draws import Draws, Purpose
from fabricsim.workloads.htsim import read_htsim
from fabricsim.workloads.message_list import from_models, read_messages
from fabricsim.workloads.messages import Messages, Places

if TYPE_CHECKING:
    from fabricsim.scenario import Scenario

    _Drawn = models.Permutation | models.InterPodPermutation | models.AllToAll | models.Incast


def build(scenario: Scenario) -> Messages:
    """Return the messages of `scenario`'s workload on its fabric; random ones depend on run.seed alone.

    Raises `ScenarioError` if the workload does not fit the fabric or its file is wrong.
    """
    messages = _messages(scenario)
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


def _messages(scenario: Scenario) -> Messages:
    workload = scenario.workload
    if isinstance(workload, models.MessageList):
        return read_messages(workload.path) if workload.path is not None else from_models(workload.messages or ())
    if isinstance(workload, models.Htsim):
        return _htsim(workload, scenario.fabric.hosts_count)
    src, dst, rank, size = _drawn(workload, scenario)
    return Messages.from_arrays(src, dst, size, rank=rank)


def _drawn(workload: _Drawn, scenario: Scenario) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | int, int]:
    """Return src, dst, rank and size of messages that all start at 0."""
    hosts, seed, size = scenario.fabric.hosts_count, scenario.run.seed, int(workload.message)
    everyone = np.arange(hosts)
    match workload:
        case models.Permutation():
            return everyone, permutation.derangement(hosts, Draws(seed, Purpose.PERMUTATION)), 0, size
        case models.InterPodPermutation():
            pods = getattr(scenario.fabric, "pods_count", 0)
            if not pods:
                raise ScenarioError("workload.kind", workload.kind, "this kind on fabrics with pods only, as fat-tree")
            draws = Draws(seed, Purpose.INTER_POD_PERMUTATION)
            return everyone, permutation.inter_pod(pods, hosts // pods, draws), 0, size
        case models.AllToAll():
            src, dst, rank = all_to_all.pairs(hosts, workload.order, Draws(seed, Purpose.ALL_TO_ALL_ORDER))
            if workload.per == "host":
                size = all_to_all.flow_bytes_of_host_bytes(size, hosts, int(scenario.frame.payload))
            return src, dst, rank, size
        case models.Incast():
            draws = Draws(seed, Purpose.INCAST_SENDERS)
            senders = incast.senders(hosts, workload.senders, workload.receiver, draws)
            return senders, np.full(senders.size, workload.receiver), 0, size


def _htsim(workload: models.Htsim, hosts: int) -> Messages:
    file = read_htsim(workload.path, workload.start_unit)
    if file.hosts != hosts:
        raise ScenarioError(f"{workload.path}: Nodes", file.hosts, f"{hosts}, the hosts of the scenario's fabric")
    return file.messages
