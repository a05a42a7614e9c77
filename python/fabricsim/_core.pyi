"""Types of the compiled core: the one door, described in bindings/README.md."""

from collections.abc import Callable, Mapping
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

class CoreFlows(TypedDict):
    packets_count: NDArray[np.uint32]
    started_at_ps: NDArray[np.uint64]
    first_delivered_at_ps: NDArray[np.uint64]
    last_delivered_at_ps: NDArray[np.uint64]
    last_acked_at_ps: NDArray[np.uint64]
    delivered_packets_count: NDArray[np.uint32]
    acked_packets_count: NDArray[np.uint32]
    retransmitted_packets_count: NDArray[np.uint32]
    reordered_packets_count: NDArray[np.uint32]
    delay_ps: NDArray[np.uint64]

class CoreLanes(TypedDict, total=False):
    sim_frames_count: NDArray[np.uint64]
    sim_ack_frames_count: NDArray[np.uint64]
    data_ack_frames_count: NDArray[np.uint64]
    dropped_sim_count: NDArray[np.uint64]
    dropped_sim_ack_count: NDArray[np.uint64]
    dropped_data_ack_count: NDArray[np.uint64]
    max_waiting_sim_packets: NDArray[np.uint32]
    max_waiting_sim_ack_packets: NDArray[np.uint32]
    max_waiting_data_ack_packets: NDArray[np.uint32]
    max_waiting_data_packets: NDArray[np.uint32]

class CorePorts(CoreLanes):
    from_tier: NDArray[np.uint8]
    from_index: NDArray[np.uint32]
    to_tier: NDArray[np.uint8]
    to_index: NDArray[np.uint32]
    rate_bps: NDArray[np.uint64]
    latency_ps: NDArray[np.uint64]
    data_bytes: NDArray[np.uint64]
    control_bytes: NDArray[np.uint64]
    data_frames_count: NDArray[np.uint64]
    control_frames_count: NDArray[np.uint64]
    max_queue_bytes: NDArray[np.uint64]
    queue_byte_ps: NDArray[np.float64]
    dropped_data_count: NDArray[np.uint64]
    dropped_control_count: NDArray[np.uint64]
    marked_count: NDArray[np.uint64]
    lost_data_count: NDArray[np.uint64]
    lost_control_count: NDArray[np.uint64]
    trimmed_count: NDArray[np.uint64]
    paused_ps: NDArray[np.uint64]

class CoreSeries(TypedDict):
    end_ps: NDArray[np.uint64]
    delivered_data_bytes: NDArray[np.uint64]
    delivered_packets_count: NDArray[np.uint64]
    reordered_packets_count: NDArray[np.uint64]
    sent_data_packets_count: NDArray[np.uint64]
    dropped_data_count: NDArray[np.uint64]
    dropped_control_count: NDArray[np.uint64]
    port_data_frames_count: NDArray[np.uint64]
    port_control_frames_count: NDArray[np.uint64]
    port_sim_frames_count: NDArray[np.uint64]
    port_data_waiting_packets: NDArray[np.uint64]
    port_sim_waiting_packets: NDArray[np.uint64]
    queued_bytes: NDArray[np.uint64]
    max_queue_bytes: NDArray[np.uint64]
    window_bytes: NDArray[np.uint64]
    in_flight_bytes: NDArray[np.uint64]
    marked_count: NDArray[np.uint64]

class CoreWindows(TypedDict):
    end_ps: NDArray[np.uint64]
    message: NDArray[np.uint32]
    window_bytes: NDArray[np.uint64]
    in_flight_bytes: NDArray[np.uint64]
    acked_packets_count: NDArray[np.uint64]

class CoreTrace(TypedDict):
    at_ps: NDArray[np.uint64]
    link: NDArray[np.uint32]
    flow: NDArray[np.uint32]
    psn: NDArray[np.uint32]
    kind: NDArray[np.uint8]

class CoreOutput(TypedDict):
    status: Literal["done", "stuck", "time-limit"]
    flows: CoreFlows
    ports: CorePorts
    series: CoreSeries
    windows: CoreWindows
    transport: dict[str, int]
    totals: dict[str, int]
    trace: CoreTrace

def run(
    config_json: str,
    messages: Mapping[str, NDArray[np.generic]],
    progress: Callable[[int, int, int], None] | None,
) -> CoreOutput: ...
