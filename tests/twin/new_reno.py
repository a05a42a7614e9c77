"""DCTCP as htsim has it (Ofan section 6.5): NewReno's recovery, and a window that gives way to marks.

RFC 6582 recovery, RFC 6298 timer, Alizadeh et al. (SIGCOMM 2010) and RFC 8257 marks. Windows are in bytes and whole
numbers, a segment is a frame, and each packet is acknowledged by a cumulative ACK.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from twin.window_sender import Sender
from twin.workload import Flow, Packet

if TYPE_CHECKING:
    from twin.simulation import Run


class NewReno(Sender):
    def __init__(self, run: Run, flow: Flow, may_send: Callable[[], None]) -> None:
        super().__init__(run, flow, may_send)
        self.rules = run.config["transport"]
        self.mss = run.full_frame
        self.window = self.threshold = self.looks_after = self.first_window
        self.alpha: float = self.rules["initial_alpha"]
        self.seen = self.marked = 0
        paths = len(run.tree.shortest_paths(flow.src, flow.dst)) if self.rules["counts_paths"] else 0
        self.duplicates_of_a_loss: int = self.rules["duplicate_acks"] + paths
        self.duplicates = 0
        self.goes_on_with = 0
        """The packet after the last that was sent, or sent all over again after a timeout."""
        self.hole: int | None = None
        self.recovers_until: int | None = None
        self.recovered_until = 0
        self.mean_rtt: int | None = None
        self.deviation = 0
        self.timer_since = 0

    @property
    def window_bytes(self) -> int:
        return self.window

    @property
    def bytes_in_flight(self) -> int:
        return sum(self.flow.sizes[psn] for psn in self.sent_at if psn not in self.known)

    # What may be sent

    def next(self) -> int | None:
        if self.hole is not None:
            return self.hole
        end = self.first_missing * self.mss + self.window
        fits = end >= (self.goes_on_with + 1) * self.mss
        return self.goes_on_with if fits and self.goes_on_with < self.flow.packets else None

    def send(self, psn: int, path: Any) -> None:
        super().send(psn, path)
        if self.goes_on_with == self.first_missing:
            self.timer_since = self.run.now
        if self.hole is None:
            self.goes_on_with = psn + 1
        self.hole = None
        self.set_timer()

    # What ACKs say

    def receive_ack(self, ack: Packet) -> None:
        assert ack.said
        acked = self.first_missing
        said = next(psn for psn in range(self.flow.packets + 1) if psn not in ack.said.arrived)
        rtt = self.round_trip(ack)
        self.learn(ack)
        self.count_mark(ack.is_marked)
        if rtt is not None:
            self.sample(rtt)
        if said > acked:
            self.goes_on_with = max(self.goes_on_with, said)
            self.timer_since = self.run.now
            self.progress((said - acked) * self.mss)
        elif said == acked and acked < self.first_new:
            self.duplicate()
        self.set_timer()

    def progress(self, newly: int) -> None:
        """A new cumulative ACK."""
        self.duplicates = 0
        self.rto = max((self.mean_rtt or 0) + 4 * self.deviation, self.rules["rto_ps"])
        if self.hole in self.known:
            self.hole = None
        if self.recovers_until is None:
            step = min(newly, self.mss)
            self.window += step if self.window < self.threshold else self.mss * step // self.window
            self.window = min(self.window, self.max_window)
        elif self.first_missing < self.recovers_until:
            self.window = max(self.window - newly, 0) + self.mss
            self.hole = self.first_missing
        else:
            under_way = (self.first_new - self.first_missing) * self.mss
            self.window = min(self.threshold, under_way + self.mss)
            self.recovers_until = None

    def duplicate(self) -> None:
        if self.recovers_until is not None:
            self.window += self.mss
            return
        self.duplicates += 1
        if self.duplicates == self.duplicates_of_a_loss and self.first_missing >= self.recovered_until:
            self.threshold = max(self.window // 2, 2 * self.mss)
            self.window = self.threshold + 3 * self.mss
            self.seen = self.marked = 0
            self.hole = self.first_missing
            self.recovers_until = self.recovered_until = self.first_new
            self.run.counts["fast_retransmits_count"] += 1

    def count_mark(self, is_marked: bool) -> None:
        self.seen += 1
        if is_marked:
            self.marked += 1
            self.threshold = min(self.threshold, self.window)
        if self.seen * self.mss >= self.looks_after:
            self.alpha += self.rules["gain"] * (self.marked / self.seen - self.alpha)
            if self.alpha > 0 and (self.rules["reduces_unmarked"] or self.marked):
                self.window = max(int(self.window * (1 - self.alpha / 2)), self.mss)
                self.threshold = self.window
            self.seen = self.marked = 0
            self.looks_after = self.window

    def receive_nack(self, psn: int) -> None:
        """Only the first hole is filled at once."""
        if psn == self.first_missing:
            self.hole = psn
            self.set_timer()

    # Timeouts

    def sample(self, rtt: int) -> None:
        """RFC 6298, section 2, in whole picoseconds. The RTO follows with the next cumulative ACK."""
        if self.mean_rtt is None:
            self.mean_rtt, self.deviation = rtt, rtt // 2
        else:
            self.deviation += abs(self.mean_rtt - rtt) // 4 - self.deviation // 4
            self.mean_rtt += rtt // 8 - self.mean_rtt // 8

    @property
    def expires_at(self) -> int | None:
        is_under_way = self.goes_on_with > self.first_missing or self.hole is not None
        return self.timer_since + self.rto if is_under_way and not self.is_complete else None

    def set_timer(self) -> None:
        if self.expires_at is not None:
            self.at(max(self.expires_at, self.run.now), self.look_at_timer)

    def look_at_timer(self) -> None:
        if self.expires_at is None or self.expires_at > self.run.now:
            return
        self.threshold = max(self.window // 2, 2 * self.mss)
        self.window = self.mss
        self.rto *= 2
        self.timer_since = self.run.now
        self.duplicates, self.recovers_until, self.recovered_until = 0, None, self.first_new
        self.hole, self.goes_on_with = self.first_missing, self.first_missing + 1
        self.give_up(self.hole)
        self.set_timer()
        self.may_send()
