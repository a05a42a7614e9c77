"""dcSim: each Data packet takes the path, and the place in the queues, that a small Sim packet found free for it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool

from fabricsim.errors import ScenarioError
from fabricsim.scenario.derived import Derived
from fabricsim.scenario.ranges import Real, Whole
from fabricsim.scenario.transports.scheme import Discipline, Packets, StartJitter, TransportPart, Wait
from fabricsim.scenario.units import Duration


class Dcsim(TransportPart):
    """dcSim: a Sim runs ahead of each Data over a random path; the Data follows RTT_max after it over the same path.

    Ports serve Sims, Sim-Acks, Data-Acks and Data in this order of priority, Sims one a token: at a lower rate than
    they come, they are dropped early, and Data are not.
    """

    summary: ClassVar[str] = "A small Sim explores a random path; the Data follows RTT_max later, if it got through."
    source: ClassVar[str] = "dcSim, section 2"
    differs: ClassVar[str] = (
        "buckets start full, and a token is spent when the Sim starts on the wire; a Sim is outstanding from its "
        "creation, so that Equation 3 holds within the host's queue too; Data time out after 10 RTT_max; Data-Acks "
        "come 3 RTT_p after a Data at the latest; each of these where the paper names no number"
    )
    discipline: ClassVar[Discipline] = "dcsim"

    kind: Literal["dcsim"] = "dcsim"
    queue_packets: Annotated[int, Whole(1, 1024)] = Field(
        default=12,
        description="Packets that each of a port's queues of Sims, Sim-Acks and Data-Acks holds, B, beside the one on "
        "the wire; Data have the rest of the port's buffer. dcSim section 4.",
    )
    scale_queues: StrictBool = Field(
        default=True,
        description="Shrink `queue_packets` in proportion where the port's buffer is below 28 data frames (dcSim "
        "section 4: 250kB of 9 kB frames), to the nearest packet and not below 1.",
    )
    bucket_packets: Annotated[int | Literal["auto"], Whole(1, 1024, word="auto")] = Field(
        default="auto",
        description="Tokens that a port's bucket of Sims holds. auto: as many as `queue_packets` (dcSim section 2.3).",
    )
    token_factor: Annotated[float, Real(0, 100)] = Field(
        default=2.1,
        description="Small packets that go with each Data, in the token rate C/(alpha + token_factor), where alpha is "
        "the size of a Data in small packets: its Sim, a Sim-Ack and its share of Data-Acks. dcSim Equation 2; 1 is "
        "Theorem 1, which leaves acknowledgments out.",
    )
    wait_fraction: Annotated[float, Real(0, 1)] = Field(
        default=1.0,
        description="Share of RTT_max, from the start of its Sim, after which a Data is due, though not before the "
        "Sim-Ack is there. 0 is Async dcSim, which sends at the Sim-Ack (dcSim section 4, Fig. 12 and 13).",
    )
    rtt_max: Wait = Field(
        default="auto",
        description="Largest RTT of a Sim, after which it counts as lost. auto: Theorem 2 of dcSim, on the longest "
        "path.",
    )
    data_timeout: Wait = Field(
        default="auto",
        description="How long a sent Data goes unacknowledged before it waits at the head of its flow again. dcSim "
        "section 2.4 says large; auto is 10 `rtt_max`.",
    )
    ack_every: Annotated[int, Whole(1, 2**20)] = Field(
        default=16, description="Data of a flow for each Data-Ack; the last one is acknowledged at once. dcSim 2.3."
    )
    ack_interval: Wait = Field(
        default="auto",
        description="Longest time that a received Data waits for its Data-Ack. dcSim section 2.4 asks for a lowest "
        "frequency; auto is 3 RTT_p, the latency of the longest path there and back.",
    )
    small_flows: Literal["simulated", "direct"] = Field(
        default="simulated",
        description="Whether flows of fewer packets than `direct_below_packets` go without Sims, at the lowest "
        "priority. dcSim suggests it and does not evaluate it.",
    )
    direct_below_packets: Packets = Field(
        default="auto",
        description='With `small_flows = "direct"`: packets of the least flow with Sims. auto: 1 BDP.',
    )
    clock_drift_ppm: Annotated[float, Real(0, 1000)] = Field(
        default=0.0,
        description="How much faster or slower the hosts' clocks run, at most, in millionths: their tokens and waits. "
        "dcSim section 4, Fig. 9e: up to 40.",
    )
    clock_drift: Literal["uniform", "extreme"] = Field(
        default="uniform",
        description="With `clock_drift_ppm`: each host's drift is drawn evenly from the range, or is one of its ends.",
    )
    start_jitter: StartJitter = "uniform"

    def queue_packets_of(self, here: Derived) -> int:
        """Return B, shrunk with the port's buffer where `scale_queues` says so."""
        return here.scaled_queue(self.queue_packets) if self.scale_queues else self.queue_packets

    def data_buffer_bytes(self, here: Derived) -> int | None:
        """Return what the port's buffer has beside the three small queues, in bytes (below 0: nothing); None: all."""
        if here.buffer_bytes is None:
            return None
        return here.buffer_bytes - 3 * self.queue_packets_of(here) * here.small_bytes

    def _auto(self, here: Derived) -> dict[str, Any]:
        queue = self.queue_packets_of(here)
        rtt_max = here.rtt_max_ps(queue, self.token_factor) if self.rtt_max == "auto" else int(self.rtt_max)
        return {
            "bucket_packets": queue,
            "rtt_max": Duration(rtt_max),
            "data_timeout": Duration(10 * rtt_max),
            "ack_interval": Duration(3 * here.propagation_rtt_ps),
            "direct_below_packets": here.bdp_packets,
        }

    def lowered(self, here: Derived) -> dict[str, Any]:
        """Return the scheme as the core reads it: what belongs to ports is in the discipline.

        Raises `ScenarioError` for an `rtt_max` in which no Sim between the farthest hosts can be acknowledged.
        """
        fields = super().lowered(here)
        if fields["rtt_max_ps"] < here.control_rtt_ps:
            least = Duration(here.control_rtt_ps)
            raise ScenarioError("transport.rtt_max", self.rtt_max, f"at least {least}, a Sim's RTT in an idle fabric")
        for of_ports in ("queue_packets", "scale_queues", "bucket_packets", "token_factor"):
            del fields[of_ports]
        fields["wait_ps"] = round(fields.pop("wait_fraction") * fields["rtt_max_ps"])
        if fields.pop("small_flows") == "simulated":
            fields["direct_below_packets"] = 0
        return fields

    def lowered_discipline(self, here: Derived) -> dict[str, Any]:
        """Return what ports do under it, as the core reads it."""
        queue = self.queue_packets_of(here)
        return {
            "kind": self.discipline,
            "queue_packets": queue,
            "bucket_packets": queue if self.bucket_packets == "auto" else self.bucket_packets,
            "token_factor": self.token_factor,
            "data_buffer_bytes": self.data_buffer_bytes(here),
        }
