"""NSCC: the network-signal congestion control of Ultra Ethernet, by marks and queueing delay."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.derived import Derived
from fabricsim.scenario.ranges import Between, Real, Whole
from fabricsim.scenario.transports.scheme import LONGEST_WAIT, Wait
from fabricsim.scenario.transports.window import LARGEST_SIZE, ControlledPart, Gain, Size
from fabricsim.scenario.units import Bytes, Duration

REFERENCE_BDP_BYTES = 150_000
"""BDP of the network that NSCC's constants were tuned on: 100 Gbps and 12 us (UEC's htsim)."""

REFERENCE_RTT_US = 12

_STEEPEST, _FASTEST = 1e12, 1e6


class Nscc(ControlledPart):
    """NSCC: marks and delay make four cases, in which a window grows, grows to be fair, shrinks, or stays.

    Its parameters scale with the network: here RTT is `network_rtt`, BDP what a host sends in it, a is BDP over 150,000
    bytes, T is `target`, mss a packet's payload and MTU its frame.
    """

    summary: ClassVar[str] = "Windows by marks and queueing delay in four cases, as Ultra Ethernet specifies."
    source: ClassVar[str] = "UEC's htsim (ultraethernet/uet-htsim), uec.cpp; Ofan section 6.5"
    differs: ClassVar[str] = (
        "the base RTT of a flow starts as that of its own two hosts (an option there), not as the network's; no "
        "receiver credits"
    )
    reacts_to_marks: ClassVar[bool] = True

    kind: Literal["nscc"] = "nscc"
    network_rtt: Wait = Field(
        default="auto",
        description="RTT of a data frame and its ACK on the longest path of an idle fabric. auto: so, as computed.",
    )
    target: Wait = Field(
        default="auto",
        description="Queueing delay that the scheme aims at, T. auto: RTT, or 0.75 RTT where ports trim.",
    )
    proportional_bytes_per_us: Annotated[float | Literal["auto"], Real(0, _STEEPEST, word="auto")] = Field(
        default="auto",
        description="Unmarked and delayed less than T: growth a BDP for each us below T, alpha. auto: 4 mss a / 12 us.",
    )
    fair: Size = Field(
        default="auto", description="Unmarked and delayed more than T: growth an RTT, fi. auto: 5 mss a."
    )
    eta: Size = Field(default="auto", description="Growth an RTT in any case. auto: 0.15 mss a.")
    fast_scale: Annotated[float | Literal["auto"], Real(0, _FASTEST, word="auto")] = Field(
        default="auto",
        description="After a whole window with hardly any delay: growth for each byte acknowledged. auto: 0.25 a.",
    )
    fast_below: Annotated[Duration, Between(Duration("0ps"), LONGEST_WAIT)] = Field(
        default=Duration("1us"), description="Delay below which there is hardly any."
    )
    decrease_gain: Gain = Field(
        default=0.8,
        description="Marked and delayed more than T: weight of the mean delay's excess in the decrease, gamma.",
    )
    least_factor: Gain = Field(default=0.5, description="Share of the window that is left after a decrease, at least.")
    delay_gain: Gain = Field(default=0.0125, description="Weight of a new delay in its moving average.")
    adjust_interval: Wait = Field(
        default="auto", description="Longest time for which growth is gathered before the window grows. auto: RTT."
    )
    adjust_size: Size = Field(
        default="auto", description="Most bytes received for which growth is gathered. auto: 8 MTU."
    )
    quick_adapt_above: Wait = Field(
        default="auto",
        description="Delay above which the window becomes what arrived in the last RTT and T, if that was little. "
        "auto: 4 T.",
    )
    quick_adapt_shift: Annotated[int, Whole(0, 63)] = Field(
        default=3, description="How little: less than the largest window over 2 to this power."
    )
    min_window: Size = Field(default="auto", description="Least window. auto: 1 MTU.")
    median_samples: Annotated[int, Whole(0, 2**16)] = Field(
        default=0,
        description="Delays of which the median stands for the latest one, as in MNSCC (arXiv:2509.07907); 0: the "
        "latest, as in NSCC.",
    )

    def _auto(self, here: Derived) -> dict[str, Any]:
        rtt = here.data_rtt_ps if self.network_rtt == "auto" else int(self.network_rtt)
        shortened = 3 * rtt // 4 if here.trims else rtt
        target = shortened if self.target == "auto" else int(self.target)
        scale = rtt * here.rates_bps[0] / 8e12 / REFERENCE_BDP_BYTES
        segment = here.payload_bytes * scale
        return {
            **super()._auto(here),
            "network_rtt": Duration(rtt),
            "target": Duration(shortened),
            "proportional_bytes_per_us": min(4 * segment / REFERENCE_RTT_US, _STEEPEST),
            "fair": _size(5 * segment),
            "eta": _size(0.15 * segment),
            "fast_scale": min(0.25 * scale, _FASTEST),
            "adjust_interval": Duration(rtt),
            "adjust_size": Bytes(8 * here.data_bytes),
            "quick_adapt_above": Duration(4 * target),
            "min_window": Bytes(here.data_bytes),
        }

    def lowered(self, here: Derived) -> dict[str, Any]:
        """Return the scheme as the core reads it, with every "auto" decided."""
        fields = super().lowered(here)
        fields["adjust_ps"] = fields.pop("adjust_interval_ps")
        fields["adjust_bytes"] = fields.pop("adjust_size_bytes")
        return fields


def _size(exact: float) -> Bytes:
    return Bytes(min(max(1, round(exact)), LARGEST_SIZE))
