"""A constant window: no congestion control, but loss recovery."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from fabricsim.scenario.transports.window import Window, WindowPart, WindowValue


class ConstantWindow(WindowPart):
    """Every flow may have one window of data under way, whatever happens."""

    summary: ClassVar[str] = "A window that stays as it is; lost packets are sent again."
    source: ClassVar[str] = "UEC's htsim (ultraethernet/uet-htsim), sender_cc_algo constant"

    kind: Literal["constant-window"] = "constant-window"
    window: Window = Field(default=1.5, description="Window of a flow. UEC's htsim: 1.5 BDP.")

    @property
    def largest_window(self) -> WindowValue:
        """The window, as given."""
        return self.window

    @property
    def first_window(self) -> WindowValue:
        """The window, as given."""
        return self.window

    @property
    def windows(self) -> dict[str, WindowValue]:
        """The one field that is a window."""
        return {"window": self.window}
