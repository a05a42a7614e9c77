"""Swift: a window that follows a target delay."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fabricsim.scenario.derived import Derived
from fabricsim.scenario.part import refusal
from fabricsim.scenario.ranges import Between, Real, Whole
from fabricsim.scenario.transports.scheme import LONGEST_WAIT
from fabricsim.scenario.transports.window import ControlledPart, Gain
from fabricsim.scenario.units import Duration

_Target = Annotated[Duration, Between(Duration("0ps"), LONGEST_WAIT)]
_Cwnd = Annotated[float, Real(0.001, 1_000_000)]


class TargetDelayPart(ControlledPart):
    """Base of Swift and MSwift: below its target delay a window grows by packets, above it shrinks in proportion."""

    increase_packets: Annotated[float, Real(0, 10_000)] = Field(
        default=1.0, description="Growth of the window an RTT in which delays are below the target. htsim."
    )
    decrease_gain: Gain = Field(
        default=0.8, description="Weight of the delay's excess over the target in a decrease, beta. htsim."
    )
    most_decrease: Gain = Field(
        default=0.5, description="Largest share by which a window shrinks at once, which it does once an RTT. htsim."
    )
    base_target: _Target = Field(
        default=Duration("500ns"),
        description="Target of the delay beyond the base RTT. htsim has a target of 20 us, RTT included, and the "
        "papers name none for such a fabric. 500 ns are 50 kB of queue at 800 Gbps, below the Ofan paper's marks; the "
        "sweep of studies/ofan/fig12 shows that it is in the range which gives that paper's section 6.5.",
    )
    hop_target: _Target = Field(
        default=Duration("0us"),
        description="What each link of a path adds to the target. 0: the base RTT is that of the pair already.",
    )
    flow_scaling: Annotated[Duration | Literal["auto"], Between(Duration("0ps"), LONGEST_WAIT, word="auto")] = Field(
        default="auto",
        description="What small windows add to the target, at most, since many flows share a queue then. auto: 5 times "
        "`base_target` (htsim).",
    )
    flow_scaling_from_packets: _Cwnd = Field(
        default=0.1, description="Window, in packets, up to which all of `flow_scaling` is added. htsim."
    )
    flow_scaling_to_packets: _Cwnd = Field(
        default=100.0, description="Window from which nothing is added; between them it falls as 1/sqrt(window). htsim."
    )
    min_window_packets: Annotated[float, Real(1e-6, 1000)] = Field(
        default=0.01, description="Least window; below 1, packets are paced apart."
    )
    reset_after_timeouts: Annotated[int, Whole(1, 10_000)] = Field(
        default=5, description="Timeouts in a row after which the window falls to the least. htsim."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        least, most = self.flow_scaling_from_packets, self.flow_scaling_to_packets
        if not least * (1 + 1e-6) < most:
            raise refusal(most, f"more than flow_scaling_from_packets, {least:g}", "flow_scaling_to_packets")
        return self

    def _auto(self, here: Derived) -> dict[str, Any]:
        return {**super()._auto(here), "flow_scaling": Duration(min(5 * self.base_target, LONGEST_WAIT))}


class Swift(TargetDelayPart):
    """Swift: each ACK's delay is held against a target.

    Packets that come out of order are no sign of loss here, unlike in the paper: what is lost is sent again after a
    timeout.
    """

    summary: ClassVar[str] = "A window that follows the delay of the latest packet towards a target."
    source: ClassVar[str] = "Kumar et al. (Swift), SIGCOMM 2020; public htsim code"
    differs: ClassVar[str] = (
        "no recovery by duplicate ACKs, which spraying would set off; delays include both directions, hosts take none; "
        "flows start with the largest window"
    )

    kind: Literal["swift"] = "swift"
