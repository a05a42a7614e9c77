"""What every congestion controller is told, the one that does not listen, and medians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twin.selective_repeat import SelectiveRepeat


@dataclass(frozen=True)
class Feedback:
    """What an ACK says: bytes that it is the first to acknowledge, the mark of the packet that it answers, its RTT."""

    newly: int
    is_marked: bool
    rtt: int | None


class Controller:
    """How many bytes may be in flight: a window that stays as it is."""

    def __init__(self, sender: SelectiveRepeat) -> None:
        self.sender, self.run, self.rules = sender, sender.run, sender.run.config["transport"]
        self.frame: int = sender.full_frame
        self.base_rtt: int = sender.base_rtt
        self.window: float = sender.first_window
        self.max_window = sender.max_window

    @property
    def pace(self) -> int:
        """How long after one frame the next may be sent, where the window is less than a frame."""
        return 0

    def acked(self, feedback: Feedback) -> None:
        """An ACK has come, and the sender knows what it says."""

    def nacked(self, size: int) -> None:
        """Of a packet of this size the header has arrived alone."""

    def timed_out(self, size: int) -> None:
        """A packet of this size has timed out."""


class Samples:
    """The latest so many samples, of which the (lower) median counts."""

    def __init__(self) -> None:
        self.recent: list[int] = []

    def add(self, sample: int, most: int) -> None:
        self.recent = [*self.recent, sample][-max(most, 1) :]

    @property
    def median(self) -> int | None:
        return sorted(self.recent)[(len(self.recent) - 1) // 2] if self.recent else None
