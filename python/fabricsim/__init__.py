"""fabricsim: a packet-level simulator of AI-training networks.

    from fabricsim import FatTree, Ofan, Permutation, Scenario, simulate
    results = simulate(Scenario(fabric=FatTree(radix=8), workload=Permutation(message="1MiB"), balancer=Ofan()))

Every public name is here; each is loaded when it is first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricsim.bounds import bound_ps as bound_ps
    from fabricsim.bounds import ideal_fct_ps as ideal_fct_ps
    from fabricsim.conformance import check as check
    from fabricsim.errors import BoundViolationError as BoundViolationError
    from fabricsim.errors import ScenarioError as ScenarioError
    from fabricsim.errors import UnfinishedError as UnfinishedError
    from fabricsim.results import Results as Results
    from fabricsim.run import simulate as simulate
    from fabricsim.run import simulate_many as simulate_many
    from fabricsim.scenario import *  # noqa: F403
    from fabricsim.workloads import Messages as Messages

    __version__: str

_HOMES = {
    "bounds": ("bound_ps", "ideal_fct_ps"),
    "conformance": ("check",),
    "errors": ("BoundViolationError", "ScenarioError", "UnfinishedError"),
    "results": ("Results",),
    "run": ("simulate", "simulate_many"),
    "scenario": (
        "After", "AllToAll", "AllToAllV", "Ar", "Balancer", "BALANCERS", "Bytes", "Choice", "Collectives", "Conga",
        "ConstantWindow", "Dcpim", "DcpimTrace", "Dcsim", "Dctcp", "DegradedLink", "Deployment", "Dlb", "Drb", "Drill",
        "Duration", "Ecmp", "Ethereal", "Fabric", "FatTree", "FatTreeFailures", "Flowlet", "Frame", "Htsim", "Incast",
        "InfiniteAllToAll", "InterPodPermutation", "Jsq", "KINDS", "LeafSpine", "LeafSpineFailures", "Link",
        "LinkEvent", "Loss", "Measure", "Message", "MessageList", "Mswift", "Nscc", "Ofan", "Paced", "PacketCount",
        "Permutation", "Pfabric", "Pfc", "Phost", "Pofan", "Poisson", "Port", "PRESETS", "Rate", "Reps", "Rps", "Rsq",
        "Run", "Scenario", "Sglb", "SharedBuffer", "SimpleRr", "Swift", "Transport", "TRANSPORTS", "Workload",
        "balancer_from_text", "balancer_text", "core_config", "scenario_from_mapping", "scenario_from_toml",
        "scenario_schema", "scenario_to_toml",
    ),
    "workloads": ("Messages",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME, "__version__"])  # noqa: PLE0605

if not TYPE_CHECKING:  # a type checker reads the imports above; with this in sight it would take any name for known

    def __getattr__(name: str) -> object:
        if name == "__version__":
            found = _version()
        elif name in _HOME:
            found = getattr(import_module(f"fabricsim.{_HOME[name]}"), name)
        else:
            raise AttributeError(f"module 'fabricsim' has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("fabricsim")
    except PackageNotFoundError:  # a checkout on the path that was never installed
        return "0+checkout"
