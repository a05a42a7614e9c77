"""Configurations of dcSim for tests that knock straight at the door."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from door import Config, configure, link

RTT_MAX_PS = 22_041_216
"""Theorem 2 of the dcSim paper, of three tiers with jumbo frames at 800 Gb/s: see `paper_dcsim.py`."""
HOP = link(800, 650_000)


def dcsim(fabric: Config, *, losses: Iterable[Config] = (), **changes: Any) -> Config:
    """The dcSim paper's settings on any fabric, without start jitter. `changes`: fields by name, of any part."""
    config = configure(fabric | {"losses": list(losses)}, "rps", limit_ps=10**10, measure={"trace": True})
    config["frame"] |= {"payload_bytes": 9000, "header_bytes": 0, "gap_bytes": 0}
    config["port"]["discipline"] = {
        "kind": "dcsim", "queue_packets": 12, "bucket_packets": 12, "token_factor": 2.1, "data_buffer_bytes": None,
    }  # fmt: skip
    config["transport"] = {
        "kind": "dcsim", "rtt_max_ps": RTT_MAX_PS, "wait_ps": RTT_MAX_PS, "data_timeout_ps": 10 * RTT_MAX_PS,
        "ack_every": 16, "ack_interval_ps": 23_400_000, "direct_below_packets": 0, "clock_drift_ppm": 0.0,
        "clock_drift": "uniform", "start_jitter": "none",
    }  # fmt: skip
    parts = ("transport", "measure", "balancer", "fabric")
    for part in (config, config["port"]["discipline"], *(config[part] for part in parts)):
        part |= {name: changes.pop(name) for name in list(changes) if name in part}
    assert not changes
    return config
