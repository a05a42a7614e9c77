"""What transports with a congestion window share: windows, base RTTs, timeouts, and when receivers acknowledge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import JsonSchemaValue

from fabricsim.scenario.derived import Derived
from fabricsim.scenario.lowering import lowered
from fabricsim.scenario.part import refusal
from fabricsim.scenario.ranges import Allowed, Between, Real
from fabricsim.scenario.transports.scheme import LONGEST_WAIT, Discipline, StartJitter, TransportPart, Wait
from fabricsim.scenario.units import Bytes, Duration, PacketCount, Quantity

_BDPS = Real(0.001, 100)
LARGEST_WINDOW = Bytes("1000TB")

LARGEST_SIZE = Bytes("1TB")
Size = Annotated[Bytes | Literal["auto"], Between(Bytes("1B"), LARGEST_SIZE, word="auto")]
"""A size that follows from the fabric unless given."""

Gain = Annotated[float, Real(0, 1)]


@dataclass(frozen=True)
class WindowSize(Allowed):
    """A window: a number of BDPs of the flow, a size in bytes of whole data frames, or a number of packets."""

    word: str | tuple[str, ...] | None = None

    @property
    def _values(self) -> str:
        return f'{_BDPS.words} (BDPs), a size such as "{Bytes(937_998)}", a count such as "{PacketCount.example}"'

    def _check(self, value: object) -> float | Quantity:
        if isinstance(value, str) and value.strip().endswith(("packet", "packets")):
            value = PacketCount.validate(value, self._beside)
        elif isinstance(value, str):
            try:
                value = Bytes(value)
            except ValueError:
                raise refusal(value, self.words) from None
        if isinstance(value, Bytes | PacketCount):
            if not 1 <= value <= LARGEST_WINDOW:
                raise refusal(str(value), self.words)
            return value
        if isinstance(value, bool | Quantity) or not isinstance(value, int | float):
            raise refusal(value, self.words)
        if not _BDPS.low <= value <= _BDPS.high:
            raise refusal(value, self.words)
        return float(value)

    def _json_schema(self) -> JsonSchemaValue:
        number = {"type": "number", "minimum": _BDPS.low, "maximum": _BDPS.high}
        return {"anyOf": [number, Bytes.text_schema(), PacketCount.text_schema()]}


WindowValue = float | Bytes | PacketCount
Window = Annotated[WindowValue, WindowSize()]


def window_bytes(window: WindowValue, here: Derived) -> int:
    """Return a window in bytes of whole data frames; BDPs are those of the longest path."""
    if isinstance(window, Bytes):
        return int(window)
    return int(window) * here.data_bytes if isinstance(window, PacketCount) else round(window * here.data_bdp_bytes)


def _lowered(window: WindowValue, here: Derived) -> dict[str, float | int]:
    return {"bytes": window_bytes(window, here)} if isinstance(window, Quantity) else {"bdp": window}


class WindowPart(TransportPart):
    """Base of the transports with a congestion window: what limits a flow is how much of it is under way.

    Lost packets are sent again, before new ones. Ports are first in, first out, or let control frames go first
    (`port.control_first`). Windows count whole data frames, header included.
    """

    discipline: ClassVar[Discipline] = "fifo"
    has_window: ClassVar[bool] = True
    base_rtt: Annotated[
        Duration | Literal["pair", "network"], Between(Duration("1ps"), LONGEST_WAIT, word=("pair", "network"))
    ] = Field(
        default="pair",
        description="RTT of a full data frame and its ACK in an idle fabric, from which BDPs and delays count. pair: "
        "of the flow's own two hosts; network: of the longest path, as UEC's htsim has it unless told otherwise.",
    )
    rto: Wait = Field(
        default="auto",
        description="Time after which an unacknowledged packet is sent again: the oldest of a flow first. auto: "
        "15 us + 6 times the time in which a port's buffer drains at a host's rate, 63 us for 800kB at 800 Gbps (UEC's "
        "htsim), and 10 ms where buffers have no limit: what waits there is not lost, and htsim's 100 us would send an "
        "incast many times.",
    )
    ack_every: Annotated[Bytes | Literal["packet"], Between(Bytes("1B"), Bytes("1GB"), word="packet")] = Field(
        default="packet",
        description="An ACK for each data packet (Ofan Appendix A), or after so many bytes of data frames (UEC's htsim "
        "has 16384B); then at once for a marked packet, a copy, a flow's first and last one, a retransmission, and one "
        "after which its sender has to wait.",
    )
    start_jitter: StartJitter = "uniform"

    @property
    def acks_every_packet(self) -> bool:
        """Whether every data packet that arrives is acknowledged by a packet of its own."""
        return self.ack_every == "packet"

    @property
    def largest_window(self) -> WindowValue:
        """The largest window of a flow, as given."""
        raise NotImplementedError

    @property
    def first_window(self) -> WindowValue:
        """The window of a flow at its start, as given."""
        raise NotImplementedError

    def remarks(self, here: Derived) -> dict[str, Any]:
        """Return what the fields at "auto" come to, and windows in bytes on the longest path."""
        windows = {name: Bytes(window_bytes(window, here)) for name, window in self.windows.items()}
        return {**self.decided(here), **windows}

    @property
    def windows(self) -> dict[str, WindowValue]:
        """The fields that are windows, by name."""
        raise NotImplementedError

    def _auto(self, here: Derived) -> dict[str, Any]:
        return {"rto": Duration(min(here.rto_ps, LONGEST_WAIT))}

    def lowered(self, here: Derived) -> dict[str, Any]:
        """Return the scheme as the core reads it, with every "auto" decided."""
        fields = {**dict(self), **self.decided(here)}
        fields = {name: value for name, value in fields.items() if name not in self.windows}
        given = fields.pop("base_rtt")
        base_rtt = here.data_rtt_ps if given == "network" else given
        fields["ack_every"] = Bytes(1) if self.ack_every == "packet" else self.ack_every
        return {
            **lowered(fields),
            "base_rtt_ps": None if base_rtt == "pair" else int(base_rtt),
            "max_window": _lowered(self.largest_window, here),
            "initial_window": _lowered(self.first_window, here),
        }

    def reported(self, here: Derived) -> dict[str, Any]:
        """Return what a run was made with; windows, and the base RTT if it is the pair's, are of the longest path."""
        fields = super().reported(here)
        for name, window in (("max_window", self.largest_window), ("initial_window", self.first_window)):
            del fields[name]
            fields[f"{name}_bytes"] = window_bytes(window, here)
        return {**fields, "base_rtt_ps": fields["base_rtt_ps"] or here.data_rtt_ps, "bdp_bytes": here.data_bdp_bytes}


class ControlledPart(WindowPart):
    """Base of the transports whose windows follow what ACKs say."""

    max_window: Window = Field(
        default=1.5,
        description="Largest window of a flow: 1.5 BDP as UEC's htsim has it, of the flow's own base RTT.",
    )
    initial_window: Annotated[WindowValue | Literal["auto"], WindowSize(word="auto")] = Field(
        default="auto", description="Window of a flow at its start. auto: the largest (UEC's htsim)."
    )

    @property
    def largest_window(self) -> WindowValue:
        """The largest window of a flow, as given."""
        return self.max_window

    @property
    def first_window(self) -> WindowValue:
        """The window of a flow at its start, as given."""
        return self.max_window if self.initial_window == "auto" else self.initial_window

    @property
    def windows(self) -> dict[str, WindowValue]:
        """The fields that are windows, by name."""
        return {"max_window": self.largest_window, "initial_window": self.first_window}
