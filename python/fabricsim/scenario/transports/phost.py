"""pHost: receivers hand out tokens, one a packet, and senders send by them."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.derived import Derived
from fabricsim.scenario.transports.scheme import (
    MOST_TOKENS,
    RETRY,
    Discipline,
    StartJitter,
    Threshold,
    Tokens,
    TransportPart,
    Wait,
)
from fabricsim.scenario.units import Duration


class Phost(TransportPart):
    """pHost: a flow announces itself, and its receiver sends it a token a packet, to the flow with least left first.

    Here BDP is the product of RTT_p and the hosts' rate in packets, and T the time of a full data frame and its gap.
    """

    summary: ClassVar[str] = "Receivers give each packet a token, at their own rate; short flows start without."
    source: ClassVar[str] = "Gao et al. (pHost), CoNEXT 2015; windows and timeouts as in the dcPIM simulator"
    differs: ClassVar[str] = (
        "priorities of data are two, for flows of up to `free_tokens` packets and longer ones; tokens of short flows "
        "expire together; of flows with as much left, the one without a token for longest is next; RTSs and final ACKs "
        "that are lost are sent again after `retry`"
    )
    discipline: ClassVar[Discipline] = "strict-priority"

    kind: Literal["phost"] = "phost"
    free_tokens: Threshold = Field(
        default="auto",
        description="Packets of the longest flow that counts as short: it has a token for each packet from the start, "
        "and a higher priority. "
        "auto: 1 BDP, which is 87 packets in the setting of dcSim; without the switches' latency it would be less, "
        "and flows of 87 long.",
    )
    window_packets: Tokens = Field(
        default="auto",
        description="Tokens of a flow that may be ahead of the largest whose packet has arrived. auto: 1 BDP, as in "
        "the dcPIM simulator; then a few packets of queueing stop a flow for `window_timeout`, which 2 BDP avoid.",
    )
    window_timeout: Wait = Field(
        default="auto", description="How long a flow whose window is full gets no tokens. auto: 3 BDP T."
    )
    resend_timeout: Wait = Field(
        default="auto",
        description="Time from a flow's last token to new ones for the packets that are missing. auto: (BDP + 2) T.",
    )
    token_lifetime: Wait = Field(
        default="auto",
        description="How long a sender may use a token after its arrival. auto: 1.5 T (pHost).",
    )
    retry: Wait = Field(default="auto", description=RETRY)
    start_jitter: StartJitter = "uniform"

    def _auto(self, here: Derived) -> dict[str, Any]:
        bdp, frame_ps = here.bdp_packets, here.frame_ps
        return {
            "free_tokens": bdp,
            "window_packets": min(bdp, MOST_TOKENS),
            "window_timeout": Duration(3 * bdp * frame_ps),
            "resend_timeout": Duration((bdp + 2) * frame_ps),
            "token_lifetime": Duration((3 * frame_ps + 1) // 2),
            "retry": Duration(10 * here.propagation_rtt_ps),
        }
