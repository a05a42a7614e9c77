"""A slow, obvious twin of the engine: one heap of events, and nothing shared with the Rust core but the model.

No windows, no rings, no lazy ports: a frame is put into its port's queue, begins service, leaves and arrives, each an
event. Written from the model's description (docs/explanation/model.md, balancers.md) and its papers, in plain
Python that can be checked by reading. Of the core it takes conventions only: how nodes, ports and flows are numbered
and which random stream is drawn when, so that both must give the same event trace.

Files: `streams` random numbers, `tree` nodes, links, paths and routing, `workload` flows, `events` what comes first
at one instant, `ports` and those that hold packets back (`holding`, `control_first`), `pfc`, `hosts`, `series`,
`simulation` a run. dcSim: `arbiter` its ports, `dcsim` and `dcsim_destination` its hosts, `turns` whose turn it is.
Windows: `window_host`, `window_sender`, `selective_repeat` under `controllers`, `nscc` or `swift`, and `new_reno`
with DCTCP's window. Load balancers: `schemes` what all are told and those that look at nothing, `queues`, `quality`,
`conga`, `spraying`, `rotation`, and `catalogue` all of them by name. `draws*` draw random scenarios, and `compare`
runs engine and twin on one.
"""

from twin.dcsim import COUNTS as DCSIM_COUNTS
from twin.simulation import run
from twin.window_host import COUNTS as WINDOW_COUNTS
from twin.workload import Outcome

__all__ = ["DCSIM_COUNTS", "WINDOW_COUNTS", "Outcome", "run"]
