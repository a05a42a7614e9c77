"""Switch-side schemes that look at queues and loads: the switch's own, or what others tell it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.balancers.scheme import ACKS_AS_DATA, BalancerPart, Where
from fabricsim.scenario.ranges import Ascending, Between, Real, Whole
from fabricsim.scenario.units import Bytes, Duration

_SAMPLED = "Uplinks whose queues are compared, drawn at random for every packet; all where there are fewer."
_NOMINAL = (
    "Buffer that the levels are shares of, whatever `port.buffer` is: 800kB a port in Ofan section 6. With 64 KiB "
    "payloads 6.4MB keeps the first level above one frame."
)
_LOAD_GAIN = "Weight of the newest sample in the average load, which looks back over `sample_interval` / `load_gain`."

Interval = Annotated[Duration, Between(Duration("1ns"), Duration("1s"))]
Buffer = Annotated[Bytes, Between(Bytes("1B"), Bytes("1000TB"))]


class Jsq(BalancerPart):
    """Join the shortest queue: the uplink with the fewest bytes queued, ties broken at random."""

    summary: ClassVar[str] = "Sends each packet to the uplink with the shortest queue in bytes, random ties."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "Ofan section 3.1, Table 1, Theorem 2, Appendix C"
    state_per_switch: ClassVar[str] = "none; reads its queues, exact and current"
    growth_up: ClassVar[str] = "Θ(1)"
    growth_down: ClassVar[str] = "Θ(m)"

    kind: Literal["jsq"] = "jsq"
    acks: Literal["as-data", "random"] = Field(default="as-data", description=ACKS_AS_DATA)


class Choice(BalancerPart):
    """The power of d choices: the shortest of a few queues, drawn at random for every packet."""

    summary: ClassVar[str] = "Sends each packet to the shorter of two random uplinks (power of two choices)."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "Ofan section 3.2, Table 1; Ghorbani et al. (DRILL), SIGCOMM 2017"
    state_per_switch: ClassVar[str] = "none; reads its queues"
    differs: ClassVar[str] = "the Ofan paper does not say how many choices: here 2"
    short: ClassVar[tuple[str, ...]] = ("ports_sampled",)

    kind: Literal["choice"] = "choice"
    ports_sampled: Annotated[int, Whole(1, 64)] = Field(default=2, description=_SAMPLED)


class Drill(BalancerPart):
    """DRILL(d, m): the shortest of d random queues and of the m that were shortest at the packet before."""

    summary: ClassVar[str] = "The shortest of two random queues and the one remembered from the packet before."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "Ghorbani et al. (DRILL), SIGCOMM 2017; Ofan section 3.2, Table 1"
    state_per_switch: ClassVar[str] = "1 remembered uplink"
    differs: ClassVar[str] = (
        "one engine a switch, hence one memory; no decomposition into symmetric components where links are down"
    )
    short: ClassVar[tuple[str, ...]] = ("ports_sampled", "ports_remembered")

    kind: Literal["drill"] = "drill"
    ports_sampled: Annotated[int, Whole(1, 64)] = Field(default=2, description=_SAMPLED)
    ports_remembered: Annotated[int, Whole(1, 64)] = Field(
        default=1, description="Uplinks remembered: the shortest of those compared for the packet before."
    )


class Ar(BalancerPart):
    """Adaptive routing: a random one of the uplinks whose queue, in four levels, is at the lowest."""

    summary: ClassVar[str] = "A random one of the uplinks whose queue is at the lowest of four levels."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "Ofan sections 3.1 and 3.2, Table 1 (quanta 5-10-20%); NVIDIA Spectrum-X adaptive routing"
    state_per_switch: ClassVar[str] = "a level of 2 bits, and its age, per uplink"
    differs: ClassVar[str] = (
        "the paper does not say what the quanta are shares of where buffers have no limit (here 800 kB), how old a "
        "level may be (here 100 ns), or what ACKs do (here a random uplink)"
    )

    kind: Literal["ar"] = "ar"
    nominal_buffer: Buffer = Field(default=Bytes("800kB"), description=_NOMINAL)
    level_fractions: Annotated[tuple[float, ...], Ascending(3, 0, 1)] = Field(
        default=(0.05, 0.1, 0.2),
        description="Shares of the nominal buffer at which the second to fourth level begin. Ofan Table 1.",
    )
    refresh: Annotated[Duration, Between(Duration("0ps"), Duration("1s"))] = Field(
        default=Duration("100ns"),
        description="Age at which a level is read anew, when a packet asks for it. The public htsim code has 100ns.",
    )
    acks: Literal["random", "as-data"] = Field(
        default="random",
        description="ACKs take a random uplink, as small packets do in the public htsim code, or follow levels too.",
    )


class Conga(BalancerPart):
    """CONGA for packets: the uplink whose path, as the far switch feeds it back, is least loaded at its worst link."""

    summary: ClassVar[str] = "The uplink with the least loaded path, by rate estimates that ACKs and data bring back."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = "Alizadeh et al. (CONGA), SIGCOMM 2014; Ofan Table 1 (adapted to packets)"
    state_per_switch: ClassVar[str] = (
        "a rate estimate per port; 2 metrics per uplink and edge switch (aggregation: pod); an uplink per flow"
    )
    differs: ClassVar[str] = (
        "decides per packet, not per flowlet (Ofan Table 1); on three levels the edge has a table of edge switches and "
        "the aggregation one of pods, and a packet's note goes to one of the two, in turn; a note counts in full up to "
        "the age `aging` and then as 0, where CONGA lets it fade; time constants are for 800 Gbps instead of 10; a "
        "rate counts what is handed to a port, also what that drops"
    )

    kind: Literal["conga"] = "conga"
    dre_interval: Interval = Field(
        default=Duration("1us"),
        description="Interval at which the discounting rate estimator of a port decays.",
    )
    dre_gain: Annotated[float, Real(0.001, 1)] = Field(
        default=0.2,
        description="Share that decays: an estimate looks back over `dre_interval` / `dre_gain`, 5 us, about one RTT.",
    )
    aging: Interval = Field(
        default=Duration("50us"), description="Age at which a metric that no packet has refreshed counts as 0."
    )


class Dlb(BalancerPart):
    """Dynamic load balancing: the uplink of least cost, half its recent load and half its queue, in eight bands."""

    summary: ClassVar[str] = "The uplink of the best band by its own load and queue, random ties."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = (
        "Ofan section 3.1, Table 1 (the two local signals of SGLB); Broadcom DLB, as vendors describe it"
    )
    state_per_switch: ClassVar[str] = "a load average and a band of 3 bits per uplink"
    differs: ClassVar[str] = "no full description is public: bands, weights and intervals are this project's"

    kind: Literal["dlb"] = "dlb"
    nominal_buffer: Buffer = Field(default=Bytes("800kB"), description=_NOMINAL)
    sample_interval: Interval = Field(
        default=Duration("250ns"),
        description="Age at which loads and queues are sampled anew, by the next packet that goes up.",
    )
    load_gain: Annotated[float, Real(0.001, 1)] = Field(
        default=0.25,
        description=_LOAD_GAIN,
    )


class Sglb(BalancerPart):
    """SGLB: as DLB, but a path's cost also counts what the switches further on advertise."""

    summary: ClassVar[str] = "DLB with the costs that the switches further along the path advertise."
    where: ClassVar[Where] = "switch"
    source: ClassVar[str] = (
        "Qi et al. (SGLB), SIGCOMM 2025, of which only the summary is free to read; Ofan section 3.1, Table 1"
    )
    state_per_switch: ClassVar[str] = (
        "edge: a cost per uplink and pod, and one per uplink and edge switch; aggregation: one per uplink and pod"
    )
    differs: ClassVar[str] = "which five signals SGLB combines, and how, is not public: read its figures as qualitative"

    kind: Literal["sglb"] = "sglb"
    nominal_buffer: Buffer = Field(default=Bytes("800kB"), description=_NOMINAL)
    sample_interval: Interval = Field(
        default=Duration("250ns"), description="Interval at which loads and queues are sampled."
    )
    load_gain: Annotated[float, Real(0.001, 1)] = Field(
        default=0.25,
        description=_LOAD_GAIN,
    )
    advertise_interval: Interval = Field(
        default=Duration("1us"),
        description="Interval at which a switch advertises its costs; they arrive one link latency a hop later.",
    )
