"""Egress ports of switches: how much they hold, what they mark, what they cut, and when they are paused."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.pfc import Pfc
from fabricsim.scenario.ranges import Between, Real
from fabricsim.scenario.units import Bytes

_SIZE = (Bytes("1B"), Bytes("1000TB"))


class SharedBuffer(Part):
    """One buffer for all ports of a switch: each may hold `alpha` times what is free, so thresholds move.

    Source: Choudhury and Hahne, dynamic queue length thresholds, IEEE/ACM ToN 1998.
    """

    size: Annotated[Bytes, Between(*_SIZE)] = Field(description="Bytes that the ports of a switch share.")
    alpha: Annotated[float, Real(0.001, 1000)] = Field(
        default=1.0, description="Most bytes of a port's queue over those that are free in the switch."
    )


class Port(Part):
    """Buffer, marking and flow control of every switch port. Default: what the paper of the transport has.

    Under paced hosts there is no limit, and marks only where something reacts to them. Transports with windows have the
    Ofan paper's buffers and thresholds (section 6, footnote 6). In both, ports are first in, first out. The other
    transports bring an order of their own, for hosts' ports too, which then have the same buffer, and no marks.

    Paced hosts do not react to marks, and marking exactly costs time on every packet: who wants them counted asks for
    them.
    """

    buffer: Annotated[Bytes | Literal["auto", "infinite"], Between(*_SIZE, word=("auto", "infinite"))] = Field(
        default="auto",
        description="Frames that would make the queue exceed this are dropped; the frame being sent counts. Under "
        "dcsim four queues share it and the frame being sent does not count; under pfabric, phost and dcpim a frame of "
        "the least priority is dropped. auto: 800kB, or 100 data frames where those are more, under transports with "
        "windows (Ofan section 6), unless `shared_buffer` or `pfc` takes its place; else no limit (Ofan section 2.2). "
        "dcSim section 4 has 500kB.",
    )
    ecn_threshold: Annotated[Bytes | Literal["auto", "none"], Between(*_SIZE, word=("auto", "none"))] = Field(
        default="auto",
        description="A data frame that leaves more than this queued, itself included, is marked (and counted). "
        "auto: 80kB, or 10 data frames where those are more, if the transport (dctcp, nscc) or the balancer (reps) "
        "reacts to marks, else none; half the buffer at most. Ofan section 6 has 80kB, and 10 packets where they are "
        "of 64 KB.",
    )
    ecn_full_threshold: Annotated[Bytes | Literal["none"], Between(*_SIZE, word="none")] = Field(
        default="none",
        description="Queue from which every data frame is marked, where between `ecn_threshold` and it the probability "
        "rises from 0 to 1. none: as `ecn_threshold`, a step.",
    )
    ecn_at: Literal["dequeue", "enqueue"] = Field(
        default="dequeue",
        description="Which queue counts: the one when the frame's last bit leaves, itself included (htsim), or the one "
        "that it finds and itself (RFC 8257 section 3.1).",
    )
    control_first: StrictBool = Field(
        default=False,
        description="Control frames (ACKs, NACKs) go before data, at hosts too, and have a buffer of their own of "
        "twice `buffer`: with transports with windows only. UEC's htsim.",
    )
    trimming: Literal["off", "arriving", "random"] = Field(
        default="off",
        description="With `control_first`: data that finds the buffer full loses its payload and goes on as a control "
        "frame, for which the receiver sends a NACK. arriving: the frame that arrives; random: that one or the last in "
        "the queue, evenly (UEC's htsim).",
    )
    shared_buffer: SharedBuffer | None = Field(
        default=None, description="A buffer that the ports of a switch share, in place of `buffer`."
    )
    pfc: Pfc | None = Field(
        default=None, description="Pause frames instead of drops, with transports with windows; in place of `buffer`."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.trimming != "off" and not self.control_first:
            raise refusal(self.trimming, '"off" unless control_first is true', "trimming")
        if self.shared_buffer is not None and self.pfc is not None:
            raise refusal("a table", "none beside pfc, which drops nothing", "shared_buffer")
        for name in ("shared_buffer", "pfc"):
            if getattr(self, name) is not None and self.buffer not in ("auto", "infinite"):
                raise refusal(str(self.buffer), f'"auto" or "infinite" beside {name}', "buffer")
        if self.shared_buffer is not None and self.control_first:
            raise refusal("a table", "none where control_first is true", "shared_buffer")
        if self.trimming != "off" and (self.pfc is not None or self.buffer == "infinite"):
            raise refusal(self.trimming, '"off" where buffers have no limit', "trimming")
        full, threshold = self.ecn_full_threshold, self.ecn_threshold
        if full != "none" and isinstance(threshold, Bytes) and full < threshold:
            raise refusal(str(full), f"at least ecn_threshold, {threshold}", "ecn_full_threshold")
        return self
