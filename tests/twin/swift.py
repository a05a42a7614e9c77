# ruff: noqa: ARG002 - a controller may leave unused what it is told
"""Swift (Kumar et al., SIGCOMM 2020, algorithm 1), and MSwift, which takes the median of samples (arXiv 2509.07907)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twin.controllers import Controller, Feedback, Samples

if TYPE_CHECKING:
    from twin.selective_repeat import SelectiveRepeat


class Swift(Controller):
    """`window` is in bytes, in floating point."""

    def __init__(self, sender: SelectiveRepeat) -> None:
        super().__init__(sender)
        self.window = float(self.window)
        hops = len(self.run.tree.shortest_paths(sender.flow.src, sender.flow.dst)[0])
        self.base_target: int = self.base_rtt + self.rules["base_target_ps"] + hops * self.rules["hop_target_ps"]
        self.smoothed_rtt: int | None = None
        self.decreased_at = self.timed_out_at = -math.inf
        self.timeouts = 0
        """In a row; those within one RTT count as one."""
        self.latest: int | None = None

    @property
    def packets(self) -> float:
        return self.window / self.frame

    @property
    def rtt(self) -> int:
        return self.base_rtt if self.smoothed_rtt is None else self.smoothed_rtt

    @property
    def pace(self) -> int:
        return int(self.rtt * self.frame / self.window) if self.window < self.frame else 0

    @property
    def target(self) -> float:
        """Higher for small windows."""
        most, least = self.rules["flow_scaling_from_packets"], self.rules["flow_scaling_to_packets"]
        whole = float(self.rules["flow_scaling_ps"])
        scale = whole / (1 / math.sqrt(most) - 1 / math.sqrt(least))
        scaling = scale / math.sqrt(self.packets) - scale / math.sqrt(least)
        return self.base_target + min(max(scaling, 0.0), whole)

    @property
    def may_decrease(self) -> bool:
        return self.run.now - self.decreased_at >= self.rtt

    @property
    def signal(self) -> int | None:
        """The delay that counts."""
        return self.latest

    def sample(self, rtt: int) -> None:
        self.latest = rtt

    def decreased(self) -> None:
        """An ACK has lessened the window."""

    def change(self, window: float) -> None:
        self.window = max(min(window, float(self.max_window)), self.rules["min_window_packets"] * self.frame)

    def acked(self, feedback: Feedback) -> None:
        """Without a sample of its own an ACK is judged by those before, and lessens nothing."""
        self.timeouts = 0
        may_decrease = self.may_decrease
        if feedback.rtt is not None:
            self.sample(feedback.rtt)
            rtt = feedback.rtt if self.smoothed_rtt is None else (7 * self.smoothed_rtt + feedback.rtt) // 8
            self.smoothed_rtt = rtt
        signal, target = self.signal, self.target
        if signal is None:
            return
        if signal < target:
            increase = self.rules["increase_packets"] * feedback.newly
            self.change(self.window + increase * (1.0 if self.window < self.frame else self.frame / self.window))
        elif may_decrease and feedback.rtt is not None:
            factor = 1 - self.rules["decrease_gain"] * (signal - target) / signal
            if self.multiply(max(factor, 1 - self.rules["most_decrease"])):
                self.decreased()

    def multiply(self, factor: float) -> bool:
        """Whether that is less."""
        before = self.window
        self.change(self.window * factor)
        if self.window < before:
            self.decreased_at = self.run.now
        return self.window < before

    def nacked(self, size: int) -> None:
        self.timeouts = 0
        if self.may_decrease:
            self.multiply(1 - self.rules["most_decrease"])

    def timed_out(self, size: int) -> None:
        if self.run.now - self.timed_out_at < self.rtt:
            return
        self.timed_out_at = self.run.now
        self.timeouts += 1
        if self.timeouts >= self.rules["reset_after_timeouts"]:
            self.multiply(0)
        elif self.may_decrease:
            self.multiply(1 - self.rules["most_decrease"])


class MSwift(Swift):
    def __init__(self, sender: SelectiveRepeat) -> None:
        super().__init__(sender)
        self.samples = Samples()

    @property
    def signal(self) -> int | None:
        return self.samples.median

    def sample(self, rtt: int) -> None:
        self.samples.add(rtt, int(min(self.packets, self.rules["median_samples"])))

    def decreased(self) -> None:
        if self.rules["flushes_on_decrease"]:
            self.samples = Samples()
