"""NSCC, the congestion control of Ultra Ethernet's senders, as `uec.cpp` of uet-htsim has it; with a median MNSCC."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twin.controllers import Controller, Feedback, Samples

if TYPE_CHECKING:
    from twin.selective_repeat import SelectiveRepeat


class Nscc(Controller):
    """Whole numbers, rounded down."""

    def __init__(self, sender: SelectiveRepeat) -> None:
        super().__init__(sender)
        self.window: int = sender.first_window
        self.target: int = self.rules["target_ps"]
        self.average = 0
        self.samples = Samples()
        self.increments = self.received = 0
        """To be added, over the window; bytes acknowledged since the last time."""
        self.adjusted_at = self.decreased_at = -math.inf
        self.near_idle_bytes = 0
        self.is_fast = False
        self.period_ends_at: int | None = None
        self.achieved = 0
        """Bytes acknowledged in the period of quick adapt."""
        self.heard_of = self.to_ignore = 0
        """Bytes heard of since the last quick adapt, and how many of them were sent before."""
        self.has_trimmed = False

    def clamp(self) -> None:
        self.window = max(min(self.window, self.max_window), self.rules["min_window_bytes"])

    def acked(self, feedback: Feedback) -> None:
        self.achieved += feedback.newly
        self.received += feedback.newly
        self.heard_of += feedback.newly
        if feedback.rtt is None:
            delay = self.average
        else:
            if feedback.rtt < self.base_rtt:
                self.max_window = self.max_window * feedback.rtt // self.base_rtt
                self.base_rtt = feedback.rtt
            delay = feedback.rtt - self.base_rtt
            self.sample(delay, feedback.is_marked)
        delay, average = self.estimates(delay)
        if self.quick_adapt(feedback.is_marked, delay > self.rules["quick_adapt_above_ps"]):
            return
        if feedback.is_marked and delay >= self.target:
            self.decrease(average)
        elif delay >= self.target:
            self.increments += int(self.rules["fair_bytes"] * feedback.newly)
        elif not feedback.is_marked:
            self.increase(feedback.newly, delay)
        self.clamp()
        self.fulfil()
        self.clamp()

    def sample(self, delay: int, is_marked: bool) -> None:
        self.samples.add(self.base_rtt + delay, min(self.window // self.frame, self.rules["median_samples"]))
        # A long delay without a mark is that of a queue which has gone.
        counts = delay if is_marked or delay <= self.target else 0.25 * self.base_rtt
        gain = self.rules["delay_gain"]
        self.average = int(gain * counts + (1 - gain) * self.average)

    def estimates(self, delay: int) -> tuple[int, int]:
        """Delay and average delay; a median of round trips stands for both."""
        if self.rules["median_samples"] == 0:
            return delay, self.average
        median = self.samples.median
        estimate = self.average if median is None else median - self.base_rtt
        return estimate, estimate

    def quick_adapt(self, is_marked: bool, is_severe: bool) -> bool:
        """Whether that is all that the signal is good for."""
        now, is_handled = self.run.now, False
        if is_marked and self.heard_of < self.to_ignore:
            is_handled = True
        elif self.period_ends_at is None or now > self.period_ends_at:
            few = self.achieved < self.max_window >> self.rules["quick_adapt_shift"]
            if self.period_ends_at is not None and (self.has_trimmed or is_severe) and few:
                self.window = max(self.achieved, self.rules["min_window_bytes"])
                self.heard_of, self.to_ignore = 0, self.sender.bytes_in_flight
                self.has_trimmed = False
                is_handled = True
            self.achieved = 0
            self.period_ends_at = now + self.base_rtt + self.target
        if is_handled:
            self.increments = self.received = 0
        return is_handled

    def increase(self, newly: int, delay: int) -> None:
        if delay < self.rules["fast_below_ps"]:
            self.near_idle_bytes += newly
            self.is_fast = self.is_fast or self.near_idle_bytes > self.window
        else:
            self.near_idle_bytes, self.is_fast = 0, False
        if self.is_fast:
            self.window += int(self.rules["fast_scale"] * newly)
        else:
            missing_us = (self.target - delay) / 1e6
            self.increments += int(self.rules["proportional_bytes_per_us"] * newly * missing_us)

    def decrease(self, average: int) -> None:
        self.near_idle_bytes, self.is_fast = 0, False
        if average > self.target and self.run.now - self.decreased_at > self.base_rtt:
            factor = 1 - self.rules["decrease_gain"] * ((average - self.target) / average)
            self.window = int(self.window * max(factor, self.rules["least_factor"]))
            self.decreased_at = self.run.now

    def fulfil(self) -> None:
        """Increments become part of the window after so many bytes or so long."""
        since = self.run.now - self.adjusted_at
        if self.received > self.rules["adjust_bytes"] or since > self.rules["adjust_ps"]:
            self.window += self.increments // self.window
            self.increments = self.received = 0
            if since >= self.rules["adjust_ps"]:
                self.window += int(self.rules["eta_bytes"])
                self.adjusted_at = self.run.now

    def nacked(self, size: int) -> None:
        self.heard_of += size
        self.sample(self.rules["network_rtt_ps"], is_marked=True)
        self.has_trimmed = True
        if not self.quick_adapt(is_marked=True, is_severe=True):
            self.window -= size
            self.clamp()

    def timed_out(self, size: int) -> None:
        self.window = max(self.window - size, self.rules["min_window_bytes"])
