"""What transports derive from the fabric: RTTs, the BDP, times of frames and tokens, dcSim's RTT_max. In one place.

`transport` fields at "auto" become numbers by these; `derived(scenario)` is what they are in a scenario.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricsim.scenario.scenario import Scenario

MOST_PACKETS = 2**31 - 1
"""Most packets that a window or threshold counts; a BDP above it (terabits over seconds) is cut to it."""

LOSSLESS_RTO_PS = 10_000_000_000
"""RTO where buffers drop nothing, so that only links lose: 10 ms, longer than an incast of 400 hosts' windows waits."""

FULL_QUEUES_FRAMES = 28
"""Data frames of port buffer from which on dcSim's queues have their full size: 250 kB of 9 kB frames (section 4)."""


@dataclass(frozen=True)
class Derived:
    """Times in ps and sizes in bytes and packets that follow from a fabric, its frames and its buffers.

    Of the longest path (`hops` links one way, with `rates_bps` of each), as the links were bought: slower or dead ones
    do not count. `bdp_packets` and `frame_ps` are at the rate of the hosts' links. `buffer_bytes`: of a port, None for
    no limit; of a shared buffer, what a port may hold alone. `trims`: whether ports cut packets that find it full.
    """

    rates_bps: tuple[int, ...]
    propagation_rtt_ps: int
    data_bytes: int
    payload_bytes: int
    small_bytes: int
    gap_bytes: int
    buffer_bytes: int | None
    trims: bool

    @property
    def hops(self) -> int:
        """Links of the longest path, one way."""
        return len(self.rates_bps)

    @property
    def frame_ps(self) -> int:
        """Time of a full data frame and its gap at a host's port, T."""
        return round(self._time_ps(self.data_bytes + self.gap_bytes, self.rates_bps[0]))

    @property
    def bdp_packets(self) -> int:
        """Full data frames in `propagation_rtt_ps` at a host's rate, rounded up: the papers' BDP."""
        exact = self.propagation_rtt_ps / self._time_ps(self.data_bytes, self.rates_bps[0])
        return min(-(-exact.numerator // exact.denominator), MOST_PACKETS)

    @property
    def data_rtt_ps(self) -> int:
        """RTT of a full data frame and its ACK where nothing else is sent, store and forward on every link."""
        return self._rtt_ps(self.data_bytes + self.small_bytes)

    @property
    def data_bdp_bytes(self) -> int:
        """Bytes that a host sends in `data_rtt_ps`: the BDP of transports with windows, in whole data frames' bytes."""
        return round(Fraction(self.data_rtt_ps * self.rates_bps[0], 8 * 10**12))

    @property
    def rto_ps(self) -> int:
        """RTO of UEC's htsim, 15 us and 6 times a port's buffer at a host's rate; `LOSSLESS_RTO_PS` without limit."""
        if self.buffer_bytes is None:
            return LOSSLESS_RTO_PS
        return 15_000_000 + round(6 * self._time_ps(self.buffer_bytes, self.rates_bps[0]))

    @property
    def control_rtt_ps(self) -> int:
        """RTT of two control frames where nothing else is sent: dcPIM's cRTT."""
        return self._rtt_ps(2 * self.small_bytes)

    def token_interval_ps(self, token_factor: float) -> int:
        """Return the time between two tokens of dcSim at a host's port, to the nearest ps (dcSim section 2.3)."""
        from fabricsim.theory.token_bucket import token_interval_ps

        sizes = (self.data_bytes, self.small_bytes, token_factor, self.gap_bytes)
        return round(token_interval_ps(self.rates_bps[0], *sizes))

    def rtt_max_ps(self, queue_packets: int, token_factor: float) -> int:
        """Return RTT_max (dcSim Theorem 2); with links of several rates, each counts by its own."""
        from fabricsim.theory.rtt_max import rtt_max_ps

        waits = (
            rtt_max_ps(
                self.rates_bps.count(rate),
                0,
                rate,
                self.data_bytes,
                self.small_bytes,
                queue_packets=queue_packets,
                token_factor=token_factor,
                gap_bytes=self.gap_bytes,
            )
            for rate in set(self.rates_bps)
        )
        return self.propagation_rtt_ps + sum(waits)

    def scaled_queue(self, queue_packets: int) -> int:
        """Return the packets of a queue that shrinks with the port's buffer below 28 data frames; 1 at least."""
        full = FULL_QUEUES_FRAMES * self.data_bytes
        if self.buffer_bytes is None or self.buffer_bytes >= full:
            return queue_packets
        return max(1, (2 * queue_packets * self.buffer_bytes + full) // (2 * full))

    def _rtt_ps(self, size_bytes: int) -> int:
        return self.propagation_rtt_ps + round(sum(self._time_ps(size_bytes, rate) for rate in self.rates_bps))

    @staticmethod
    def _time_ps(size_bytes: int, rate_bps: int) -> Fraction:
        return Fraction(size_bytes * 8 * 10**12, rate_bps)


def derived(scenario: Scenario) -> Derived:
    """Return what follows from the scenario's fabric, frames and ports."""
    fabric, frame, buffer, shared = scenario.fabric, scenario.frame, scenario.buffer_bytes, scenario.port.shared_buffer
    if shared is not None:
        # Alone it may fill alpha times what it leaves free.
        buffer = int(shared.size * shared.alpha / (1 + shared.alpha))
    up = [int(link.rate) for link in fabric.tier_links().values()][: fabric.diameter_links // 2]
    return Derived(
        rates_bps=(*up, *reversed(up)),
        propagation_rtt_ps=2 * int(fabric.propagation_ps(0, fabric.hosts_count - 1)),
        data_bytes=frame.data_bytes,
        payload_bytes=int(frame.payload),
        small_bytes=int(frame.ack),
        gap_bytes=int(frame.gap),
        buffer_bytes=buffer,
        trims=scenario.port.trimming != "off",
    )
