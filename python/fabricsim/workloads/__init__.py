"""Workloads: who sends what to whom, when. `build(scenario)` gives the messages of a run."""

from fabricsim.workloads.build import build
from fabricsim.workloads.dcpim_trace import read_dcpim_trace
from fabricsim.workloads.htsim import HtsimFile, read_htsim
from fabricsim.workloads.htsim_writer import write_htsim
from fabricsim.workloads.message_list import read_messages, write_messages
from fabricsim.workloads.messages import Messages

__all__ = [
    "HtsimFile",
    "Messages",
    "build",
    "read_dcpim_trace",
    "read_htsim",
    "read_messages",
    "write_htsim",
    "write_messages",
]
