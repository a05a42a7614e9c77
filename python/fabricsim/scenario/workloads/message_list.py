"""Messages given one by one, with starts and dependencies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Whole
from fabricsim.scenario.units import Bytes, Duration
from fabricsim.scenario.workloads.workload_kind import LARGEST_HOST, Host, WorkloadKind


def _bytes_from_number(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool | Bytes) and 0 <= value < 2**63:
        return Bytes(value)
    return value


def _check_id(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise refusal(value, "a text or an integer")
    return value


def _check_id_if_any(value: object) -> object:
    return None if value is None else _check_id(value)


class After(Part):
    """An event of an earlier message that a message waits for."""

    id: Annotated[str | int, BeforeValidator(_check_id)] = Field(description="The other message's id.")
    event: Literal["delivered", "acked"] = Field(
        default="delivered",
        description='"delivered": its receiver has everything; "acked": its sender has the last ACK.',
    )


class Message(Part):
    """One message of a `MessageList`."""

    src: Host = Field(description="Sending host.")
    dst: Host = Field(description="Receiving host, not the sending one.")
    bytes: Annotated[
        Bytes,
        BeforeValidator(_bytes_from_number),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, Bytes.text_schema()]}),
    ] = Field(description='Payload: an integer in bytes, or a text such as "1MiB". 0 travels as one header-only frame.')
    start: Duration = Field(default=Duration("0ps"), description="Earliest start.")
    rank: Annotated[int, Whole(0, LARGEST_HOST)] = Field(
        default=0,
        description="Place in the sender's round-robin order among messages of the same start (ties: dst, bytes).",
    )
    collective: Annotated[int, Whole(0, LARGEST_HOST)] = Field(
        default=0, description="Number of the collective that it belongs to; its completion time is measured of each."
    )
    id: Annotated[str | int | None, BeforeValidator(_check_id_if_any)] = Field(
        default=None, description="Name by which `after` of other messages refers to it; unique."
    )
    after: tuple[After, ...] = Field(default=(), description="What must have happened before it starts.")


class MessageList(WorkloadKind):
    """Messages given one by one, here or in a file (.json, .npz, .parquet), with starts and dependencies."""

    summary: ClassVar[str] = "Messages given one by one, with starts and dependencies."
    source: ClassVar[str] = "none; a format of fabricsim"

    kind: Literal["messages"] = "messages"
    messages: tuple[Message, ...] | None = Field(default=None, description="The messages; not together with `path`.")
    path: Path | None = Field(
        default=None,
        description="File to read them from: .json (a list like `messages`), .npz (arrays named as in "
        "`Messages.from_arrays`) or .parquet (columns src, dst, bytes, start_ps, rank, collective).",
    )

    @model_validator(mode="after")
    def _one_source(self) -> MessageList:
        if self.messages is None and self.path is None:
            raise refusal(None, "either `messages` or `path`", field="messages")
        if self.messages is not None and self.path is not None:
            raise refusal(str(self.path), "either `messages` or `path`, not both", field="path")
        return self
