"""pFabric: hosts send a whole window at once, and ports keep the packets of the flows with the least left to send."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StrictBool, model_validator

from fabricsim.scenario.derived import MOST_PACKETS, Derived
from fabricsim.scenario.part import refusal
from fabricsim.scenario.ranges import Real, Whole
from fabricsim.scenario.transports.scheme import Discipline, Packets, StartJitter, TransportPart


class Pfabric(TransportPart):
    """pFabric: every packet carries what its flow has left; ports send the least first and drop the most when full.

    Hosts start with a window of one BDP, and every packet is acknowledged. A timeout starts the window anew.
    """

    summary: ClassVar[str] = "Flows with the least left go first at every port, and full ports drop those with most."
    source: ClassVar[str] = "Alizadeh et al. (pFabric), SIGCOMM 2013; windows as in the dcPIM simulator"
    differs: ClassVar[str] = (
        "control packets are never dropped while data waits; every ACK says all that has arrived, and holes are sent "
        "again after a timeout only; the window ends at BDP + 3 packets"
    )
    discipline: ClassVar[Discipline] = "pfabric"

    kind: Literal["pfabric"] = "pfabric"
    initial_window_packets: Packets = Field(
        default="auto",
        description="Window of a flow at its start. auto: 1 BDP (the pFabric paper), or the largest window if less.",
    )
    max_window_packets: Packets = Field(
        default="auto",
        description="Largest window of a flow. auto: BDP + 3 packets (the dcPIM simulator), or the first one if more.",
    )
    slow_start_threshold_packets: Annotated[int, Whole(1, MOST_PACKETS)] = Field(
        default=100_000,
        description="Window up to which a flow's window grows by 1 an ACK (slow start), at its start; beyond, by 1 a "
        "window. Half of the window after a timeout. The dcPIM simulator.",
    )
    rto_rtts: Annotated[float, Real(0.1, 10_000)] = Field(
        default=3.0,
        description="Time without an ACK after which a flow starts anew, in RTTs of a data frame and its ACK in an "
        "idle fabric. The pFabric paper: about 3; the dcPIM simulator: 7.",
    )
    probe_after_timeouts: Annotated[int, Whole(0, 10_000)] = Field(
        default=0,
        description="Timeouts in a row after which a flow sends probes, without payload, instead of data until one is "
        "answered; 0: never. The pFabric paper probes after 5, the dcPIM simulator never.",
    )
    nic_backpressure: StrictBool = Field(
        default=False,
        description="Whether flows wait for room in their host's port. Without it, all that windows allow is put there "
        "at once, and what exceeds the buffer is dropped, as in the dcPIM simulator.",
    )
    start_jitter: StartJitter = "uniform"

    @property
    def acks_every_packet(self) -> bool:
        """Whether every data packet that arrives is acknowledged by a packet of its own."""
        return True

    @model_validator(mode="after")
    def _check(self) -> Self:
        first, most = self.initial_window_packets, self.max_window_packets
        if first != "auto" and most != "auto" and first > most:
            raise refusal(most, f"at least initial_window_packets, {first}", "max_window_packets")
        return self

    def _auto(self, here: Derived) -> dict[str, Any]:
        first, most = self.initial_window_packets, self.max_window_packets
        return {
            "initial_window_packets": here.bdp_packets if most == "auto" else min(here.bdp_packets, most),
            "max_window_packets": here.bdp_packets + 3 if first == "auto" else max(here.bdp_packets + 3, first),
        }

    def lowered(self, here: Derived) -> dict[str, Any]:
        """Return the scheme as the core reads it."""
        fields = super().lowered(here)
        fields["rto_ps"] = round(fields.pop("rto_rtts") * here.data_rtt_ps)
        return fields
