"""What is known without simulating: queue models, growth laws, the best packet size, rho_max, memory of pointers.

And dcSim's token bucket and RTT_max.
"""

from fabricsim.theory.growth import (
    PROVEN_GROWTH,
    Exponent,
    Growth,
    edge_uplink_most_packets,
    fit_exponent,
    northbound_probability,
    pointer_ratio,
    safe_probability,
    spraying_least_mean_packets,
    sticky_least_mean_packets,
    sticky_probability,
)
from fabricsim.theory.layers import Layer, agg_load, agg_pointers, drb_layers, edge_load, edge_pointers, ofan_layers
from fabricsim.theory.ndd1 import (
    gaussian_mean_packets,
    gaussian_tail,
    ndd1_distribution,
    ndd1_mean_packets,
    ndd1_tail,
)
from fabricsim.theory.packet_size import (
    cct_us,
    optimal_payload_bytes,
    optimal_spraying_payload_bytes,
    spraying_cct_us,
)
from fabricsim.theory.pointer_memory import PointerMemory, pointer_memory
from fabricsim.theory.rho_max import Reading, link_loads, rho_max
from fabricsim.theory.rtt_max import lone_flow_ps, rtt_max_ps
from fabricsim.theory.token_bucket import (
    TOKEN_FACTOR,
    sim_rate_bps,
    sims_and_datas_utilisation_fraction,
    token_interval_ps,
)

__all__ = [
    "PROVEN_GROWTH",
    "TOKEN_FACTOR",
    "Exponent",
    "Growth",
    "Layer",
    "PointerMemory",
    "Reading",
    "agg_load",
    "agg_pointers",
    "cct_us",
    "drb_layers",
    "edge_load",
    "edge_pointers",
    "edge_uplink_most_packets",
    "fit_exponent",
    "gaussian_mean_packets",
    "gaussian_tail",
    "link_loads",
    "lone_flow_ps",
    "ndd1_distribution",
    "ndd1_mean_packets",
    "ndd1_tail",
    "northbound_probability",
    "ofan_layers",
    "optimal_payload_bytes",
    "optimal_spraying_payload_bytes",
    "pointer_memory",
    "pointer_ratio",
    "rho_max",
    "rtt_max_ps",
    "safe_probability",
    "sim_rate_bps",
    "sims_and_datas_utilisation_fraction",
    "spraying_cct_us",
    "spraying_least_mean_packets",
    "sticky_least_mean_packets",
    "sticky_probability",
    "token_interval_ps",
]
