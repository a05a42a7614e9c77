"""Priority flow control (IEEE 802.1Qbb): a switch pauses the port that sends it more than it can forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Between
from fabricsim.scenario.units import Bytes

if TYPE_CHECKING:
    from fabricsim.scenario.scenario import Scenario

_Size = Annotated[Bytes | Literal["auto"], Between(Bytes("0B"), Bytes("1000TB"), word="auto")]


class Pfc(Part):
    """Pauses of PFC: each switch counts the bytes that came in by each of its ports and have not left.

    Source: IEEE 802.1Qbb, which leaves the thresholds open.
    """

    xoff: _Size = Field(
        default="auto",
        description="Bytes of a port above which the other end is paused. auto: two data frames above `xon`.",
    )
    xon: _Size = Field(
        default="auto",
        description="Bytes of a port at or below which the other end may go on. auto: what its link carries until the "
        "first frame after the pause arrives, so that no link idles; not above `xoff`.",
    )
    headroom: _Size = Field(
        default="auto",
        description="Room above `xoff`, beyond which frames are dropped. auto: what can still arrive, which is what "
        "the fastest or longest link carries in two latencies and a pause frame's time, and two of the largest frames.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.xon != "auto" and self.xoff != "auto" and self.xon > self.xoff:
            raise refusal(str(self.xon), f"at most xoff, {self.xoff}", "xon")
        return self


@dataclass(frozen=True)
class PfcBytes:
    """The thresholds of PFC in a scenario, in bytes; `least_headroom` is what can arrive after a pause was sent."""

    xoff: int
    xon: int
    headroom: int
    least_headroom: int


def pfc_bytes(scenario: Scenario) -> PfcBytes | None:
    """Return what the thresholds come to in the scenario; None without PFC."""
    pfc = scenario.port.pfc
    if pfc is None:
        return None
    pause = int(scenario.frame.ack)
    frame = max(scenario.frame.data_bytes, pause)
    # The pause has to be sent and to travel there; what left before it acts travels back.
    links = scenario.fabric.tier_links().values()
    under_way = max(-(-2 * int(link.latency) * int(link.rate) // (8 * 10**12)) for link in links) + pause
    xon = under_way if pfc.xoff == "auto" else min(under_way, int(pfc.xoff))
    xon = xon if pfc.xon == "auto" else int(pfc.xon)
    xoff = xon + 2 * frame if pfc.xoff == "auto" else int(pfc.xoff)
    # One frame crosses the threshold, and one more may have begun at the other end.
    least = under_way + 2 * frame
    return PfcBytes(xoff, xon, least if pfc.headroom == "auto" else int(pfc.headroom), least)


def lowered_pfc(scenario: Scenario) -> dict[str, int] | None:
    """Return the thresholds as the core reads them."""
    here = pfc_bytes(scenario)
    if here is None:
        return None
    return {"xoff_bytes": here.xoff, "xon_bytes": here.xon, "headroom_bytes": here.headroom}


def check_headroom(scenario: Scenario) -> None:
    """Refuse a headroom in which frames would be dropped."""
    here = pfc_bytes(scenario)
    if here is not None and here.headroom < here.least_headroom:
        needed = Bytes(here.least_headroom)
        words = f'at least {needed}, which can arrive after a pause was sent, or "auto"'
        raise refusal(str(Bytes(here.headroom)), words, "port.pfc.headroom")
