"""dcPIM: hosts match senders with receivers in rounds, as the input queues of a switch do, and then send by tokens."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fabricsim.errors import ScenarioError
from fabricsim.scenario.derived import Derived
from fabricsim.scenario.ranges import Real, Whole
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


class Dcpim(TransportPart):
    """dcPIM: in each epoch hosts request, grant and accept channels for the next, and send over them by tokens.

    Matching for an epoch runs beside the data of the one before; all hosts keep time together. Short flows need none.
    Here BDP is the product of RTT_p and the hosts' rate in packets, and T the time of a full data frame and its gap.
    """

    summary: ClassVar[str] = "Senders and receivers are matched in rounds for each epoch; short flows start without."
    source: ClassVar[str] = "Cai et al. (dcPIM), SIGCOMM 2022; windows and priorities as in the dcPIM simulator"
    differs: ClassVar[str] = (
        "what short flows lose is sent again by matching; an unanswered announcement is repeated after `retry`"
    )
    discipline: ClassVar[Discipline] = "strict-priority"

    kind: Literal["dcpim"] = "dcpim"
    rounds: Annotated[int, Whole(1, 64)] = Field(
        default=4, description="Rounds of matching in an epoch, r. The dcPIM paper."
    )
    channels: Annotated[int, Whole(1, 64)] = Field(
        default=4, description="Channels that a host's rate is shared into, k. The dcPIM paper."
    )
    beta: Annotated[float, Real(1, 100)] = Field(
        default=1.3,
        description="Length of a round in `control_rtt`; an epoch is `rounds` of them, in which control packets "
        "queue a little. The dcPIM paper.",
    )
    control_rtt: Wait = Field(
        default="auto", description="RTT of control packets, cRTT. auto: on the longest path of an idle fabric."
    )
    short_packets: Threshold = Field(
        default="auto",
        description="Packets of the longest flow that is short: sent at once, without a match. auto: 1 BDP, which is "
        "87 packets in the setting of dcSim; without the switches' latency it would be less, and flows of 87 long.",
    )
    window_packets: Tokens = Field(
        default="auto",
        description="Tokens that a flow with all channels may have out; with fewer, their share. auto: 1 BDP.",
    )
    resend_timeout: Wait = Field(
        default="auto", description="Time from a flow's last token to new ones for what is missing. auto: BDP T."
    )
    retry: Wait = Field(default="auto", description=RETRY)
    start_jitter: StartJitter = "uniform"

    def _auto(self, here: Derived) -> dict[str, Any]:
        bdp = here.bdp_packets
        return {
            "control_rtt": Duration(here.control_rtt_ps),
            "short_packets": bdp,
            "window_packets": min(bdp, MOST_TOKENS),
            "resend_timeout": Duration(bdp * here.frame_ps),
            "retry": Duration(10 * here.propagation_rtt_ps),
        }

    def lowered(self, here: Derived) -> dict[str, Any]:
        """Return the scheme as the core reads it.

        Raises `ScenarioError` for a round in which the farthest hosts cannot hear of each other: they would never be
        matched.
        """
        fields = super().lowered(here)
        fields["round_ps"] = round(fields.pop("beta") * fields.pop("control_rtt_ps"))
        if fields["round_ps"] < here.control_rtt_ps:
            least = Duration(here.control_rtt_ps)
            raise ScenarioError("transport.control_rtt", self.control_rtt, f"at least {least} with beta, or auto")
        return fields
