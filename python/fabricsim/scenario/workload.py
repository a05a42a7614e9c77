"""What is sent: the workload models, one a `kind`. `fabricsim.workloads.build` turns them into messages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from fabricsim.scenario.part import Part, refusal
from fabricsim.scenario.ranges import Whole
from fabricsim.scenario.units import Bytes, Duration

_LARGEST_HOST = 2**32 - 1

MessageBytes = Annotated[
    Bytes, Field(description='Payload of each message, such as "1MiB"; the default is the Ofan paper\'s (section 6).')
]


class Permutation(Part):
    """Every host sends one message to a host other than itself, and receives one: a uniformly random derangement.

    Source: Ofan paper, section 6.
    """

    summary: ClassVar[str] = "Every host sends one message and receives one: a random derangement."
    source: ClassVar[str] = "Ofan section 6"

    kind: Literal["permutation"] = "permutation"
    message: MessageBytes = Bytes("1MiB")


class InterPodPermutation(Part):
    """A uniformly random permutation in which every message leaves its pod (three-level fabrics only).

    Source: Ofan paper, section 3.2 and Fig. 3.
    """

    summary: ClassVar[str] = "A random permutation in which every message leaves its pod."
    source: ClassVar[str] = "Ofan section 3.2, Fig. 3"

    kind: Literal["inter-pod-permutation"] = "inter-pod-permutation"
    message: MessageBytes = Bytes("1MiB")


class AllToAll(Part):
    """Every host sends one message to every other host, all at once; its NIC takes them in turns.

    Source: Ofan paper, Fig. 5b (`per = "flow"`) and 5c (`per = "host"`); the sizes and the order are this project's.
    """

    summary: ClassVar[str] = "Every host sends to every other host, all at once."
    source: ClassVar[str] = "Ofan section 6, Fig. 5b and 5c"

    kind: Literal["all-to-all"] = "all-to-all"
    per: Literal["flow", "host"] = Field(
        "flow",
        description='Whether `message` is the size of each flow ("flow") or what a host sends in all ("host": it is '
        "split over the other hosts and rounded up to whole packets).",
    )
    message: Annotated[Bytes, Field(description='Payload of each flow, or of each host, such as "16KiB".')] = Bytes(
        "16KiB"
    )
    order: Literal["random", "shift"] = Field(
        "random",
        description='Each host\'s visiting order: its own random one ("random", which avoids synchronised incast), or '
        'host i visits i+1, i+2, ... ("shift").',
    )


class Incast(Part):
    """Several hosts, drawn at random, send one message each to one receiver at once."""

    summary: ClassVar[str] = "Several random hosts send to one host at once."
    source: ClassVar[str] = "Ofan section 6.6 (incast)"

    kind: Literal["incast"] = "incast"
    senders: Annotated[int, Whole(1, _LARGEST_HOST)] = Field(
        8, description="How many hosts send; at most the fabric's hosts less the receiver."
    )
    receiver: Annotated[int, Whole(0, _LARGEST_HOST)] = Field(0, description="Number of the receiving host.")
    message: MessageBytes = Bytes("1MiB")


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
        "delivered",
        description='"delivered": its receiver has everything; "acked": its sender has the last ACK.',
    )


class Message(Part):
    """One message of a `MessageList`."""

    src: Annotated[int, Whole(0, _LARGEST_HOST)] = Field(description="Sending host.")
    dst: Annotated[int, Whole(0, _LARGEST_HOST)] = Field(description="Receiving host, not the sending one.")
    bytes: Annotated[
        Bytes,
        BeforeValidator(_bytes_from_number),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, Bytes.text_schema()]}),
    ] = Field(description='Payload: an integer in bytes, or a text such as "1MiB". 0 travels as one header-only frame.')
    start: Duration = Field(Duration("0ps"), description="Earliest start.")
    rank: Annotated[int, Whole(0, _LARGEST_HOST)] = Field(
        0, description="Place in the sender's round-robin order among messages of the same start (ties: dst, bytes)."
    )
    id: Annotated[str | int | None, BeforeValidator(_check_id_if_any)] = Field(
        None, description="Name by which `after` of other messages refers to it; unique."
    )
    after: tuple[After, ...] = Field((), description="What must have happened before it starts.")


class MessageList(Part):
    """Messages given one by one, here or in a file (.json, .npz, .parquet), with starts and dependencies."""

    summary: ClassVar[str] = "Messages given one by one, with starts and dependencies."
    source: ClassVar[str] = "none; a format of fabricsim"

    kind: Literal["messages"] = "messages"
    messages: tuple[Message, ...] | None = Field(None, description="The messages; not together with `path`.")
    path: Path | None = Field(
        None,
        description="File to read them from: .json (a list like `messages`), .npz (arrays named as in "
        "`Messages.from_arrays`) or .parquet (columns src, dst, bytes, start_ps, rank).",
    )

    @model_validator(mode="after")
    def _one_source(self) -> MessageList:
        if self.messages is None and self.path is None:
            raise refusal(None, "either `messages` or `path`", field="messages")
        if self.messages is not None and self.path is not None:
            raise refusal(str(self.path), "either `messages` or `path`, not both", field="path")
        return self


class Htsim(Part):
    """A traffic matrix of the htsim simulators (`.cm`), triggers and barriers included."""

    summary: ClassVar[str] = "A traffic matrix of the htsim simulators (.cm)."
    source: ClassVar[str] = "htsim"

    kind: Literal["htsim"] = "htsim"
    path: Path = Field(description="The .cm file. Its `Nodes` must be the fabric's number of hosts.")
    start_unit: Literal["us", "ps"] = Field(
        "us",
        description="Unit of `start` in the file. htsim's tools disagree: uet-htsim and csg swift read microseconds, "
        "csg ndp, eqds and hpcc picoseconds.",
    )


Workload = Annotated[
    Permutation | InterPodPermutation | AllToAll | Incast | MessageList | Htsim, Field(discriminator="kind")
]
"""Any workload model; `kind` says which."""
