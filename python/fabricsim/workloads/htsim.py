"""Reads htsim's connection matrices (`.cm`), a clear superset of what htsim itself reads.

Also accepted: tabs, several spaces, CRLF, `#` comments anywhere, sizes beyond 2^31, exact fractions in `start`,
`recv_done_trigger` (which never fires in htsim), and several `*_done_trigger` of a kind on one line (htsim keeps the
last). Refused with a message: `prio`, `msg` and `addon` (nothing here could honour them; give every message an id of
its own), `failure` lines (set fabric.links_down), a `count` that nothing would use, and everything that makes htsim
crash, hang or lose flows: counts that do not match, ids that are 0 or repeated, triggers that never fire. A size of 0
is a message of one header-only frame. The order of a host's lines is its NIC's visiting order (`rank`).

A oneshot or barrier with one activator or one target, or whose parties are all on one host, becomes dependencies (which
act at once within a host); every other trigger stays one, and counts as acting across hosts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from fabricsim.errors import ScenarioError
from fabricsim.workloads.messages import ACKED, DELIVERED, LATEST_START_PS, Messages, Places
from fabricsim.workloads.ranks import ranks_in_order
from fabricsim.workloads.triggers import lowered

StartUnit = Literal["us", "ps"]
_PS = {"us": 10**6, "ps": 1}
_HEADERS = ("Nodes", "Connections", "Triggers", "Failures")
_TYPES = ("oneshot", "multishot", "barrier")
_DONE = {"send_done_trigger": ACKED, "recv_done_trigger": DELIVERED}
_FLOW_WORDS = ("id", "start", "size", "trigger", *_DONE)
_REFUSED = {
    "prio": "no prio: receivers here have no pull queue to order",
    "msg": "no msg: connections are not reused; give each message an id of its own",
    "addon": "no addon: it has no effect in htsim either",
}
_LARGEST = 2**63 - 1


class HtsimFile(NamedTuple):
    """What a `.cm` file holds: the number of hosts of its fabric, and the messages."""

    hosts: int
    messages: Messages


def read_htsim(path: str | Path, start_unit: StartUnit = "us") -> HtsimFile:
    """Read a `.cm` file.

    `start_unit` is the unit of `start`: htsim's tools disagree (uet-htsim and csg swift: microseconds, the default; csg
    ndp, eqds and hpcc: picoseconds). Raises `ScenarioError` as `file.cm:LINE: field: got ...; allowed: ...`.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScenarioError("workload.path", path, f"a readable file ({error.strerror})") from None
    except ValueError:  # no UTF-8, or a NUL in the path
        raise ScenarioError("workload.path", path, "a text file") from None
    return _Reader(str(path), _PS[start_unit]).read(text)


class _Trigger(NamedTuple):
    """A trigger line: where, and how many activations fire it (0: multishot)."""

    line: int
    needed: int


@dataclass
class _Reader:
    path: str
    unit_ps: int
    headers: dict[str, int] = field(default_factory=dict)
    header_lines: dict[str, int] = field(default_factory=dict)
    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    id_lines: dict[int, int] = field(default_factory=dict)
    triggers: dict[int, _Trigger] = field(default_factory=dict)
    uses: list[tuple[int, int, str]] = field(default_factory=list)
    line: int = 0

    def read(self, text: str) -> HtsimFile:
        body = False
        for self.line, raw in enumerate(text.split("\n"), start=1):
            words = raw.partition("#")[0].split()
            if not words:
                continue
            head = words[0]
            if "->" in head:
                body = True
                self._flow(words)
            elif head == "trigger":
                body = True
                self._trigger(words)
            elif head == "failure":
                self._fail("failure", " ".join(words), "no failure lines: set fabric.links_down of the scenario")
            elif body or head not in _HEADERS:
                words_here = "SRC->DST or trigger" if body else f"{', '.join(_HEADERS)}, SRC->DST or trigger"
                self._fail("line", head, f"a line that begins with {words_here}")
            else:
                self._header(words)
        return self._finish()

    def _header(self, words: list[str]) -> None:
        name = words[0]
        if name in self.headers:
            self._fail(name, "a second one", "one line of each header")
        if len(words) != 2:
            self._fail(name, " ".join(words[1:]) or None, "one number")
        self.header_lines[name] = self.line
        self.headers[name] = self._number(name, words[1], least=1 if name == "Nodes" else 0)
        if name == "Failures" and self.headers[name]:
            self._fail(name, self.headers[name], "0: set fabric.links_down of the scenario")

    def _flow(self, words: list[str]) -> None:
        row = len(self.src)
        src, _, dst = words[0].partition("->")
        self.src.append(self._host("src", src))
        self.dst.append(self._host("dst", dst))
        if self.src[row] == self.dst[row]:
            self._fail("dst", self.dst[row], f"a host other than src {self.src[row]}")
        given: dict[str, int] = {}
        values = iter(words[1:])
        for word in values:
            if word not in _FLOW_WORDS:
                self._fail(word if word in _REFUSED else "keyword", word, _REFUSED.get(word, ", ".join(_FLOW_WORDS)))
            value = next(values, None)
            if word in given and word not in _DONE:
                self._fail(word, value, "one value a flow")
            if word == "start":
                given[word] = self._moment(value)
            else:
                given[word] = self._number(word, value, least=0 if word == "size" else 1)
            if word in _DONE or word == "trigger":
                self.uses.append((row, given[word], word))
        self._check_flow(given)
        self.lines.append(self.line)
        self.size.append(given["size"])
        self.start.append(given.get("start", 0))

    def _check_flow(self, given: dict[str, int]) -> None:
        if "size" not in given:
            self._fail("size", None, "size and a number of bytes")
        if "start" in given and "trigger" in given:
            self._fail("start", f"start and trigger {given['trigger']}", "either start or trigger, not both")
        if "start" not in given and "trigger" not in given:
            self._fail("start", None, "start and a time, or trigger and an id")
        if "trigger" in given and "id" not in given:
            self._fail("id", None, "an id, since the flow is started by a trigger")
        if "id" in given and self.id_lines.setdefault(given["id"], self.line) != self.line:
            self._fail("id", given["id"], f"an id of its own (line {self.id_lines[given['id']]} has it)")

    def _trigger(self, words: list[str]) -> None:
        number = count = kind = None
        values = iter(words[1:])
        for word in values:
            if word in _TYPES and kind is None:
                kind = word
            elif word == "id" and number is None:
                number = self._number("trigger id", next(values, None), least=1)
            elif word == "count" and count is None:
                count = self._number("count", next(values, None), least=1, most=2**32 - 1)
            else:
                self._fail("keyword", word, "id N, one of oneshot, multishot or barrier, and count K, each once")
        if number is None:
            self._fail("trigger id", None, "id and a number")
        if kind is None:
            self._fail(f"trigger {number}", None, "oneshot, multishot or barrier")
        if kind == "barrier" and count is None:
            self._fail("count", None, "count and a number of activations, since it is a barrier")
        if count is not None and (kind == "multishot" or (kind == "oneshot" and count != 1)):
            self._fail("count", count, f"no count on a {kind}")
        if number in self.triggers:
            self._fail("trigger id", number, f"an id of its own (line {self.triggers[number].line} has it)")
        self.triggers[number] = _Trigger(self.line, 0 if kind == "multishot" else count or 1)

    def _finish(self) -> HtsimFile:
        lines = {"Connections": len(self.src), "Triggers": len(self.triggers)}
        if not self.headers and not any(lines.values()):
            raise ScenarioError(self.path, "no lines", "Nodes, Connections and flows, as htsim's .cm")
        for name in ("Nodes", "Connections"):
            if name not in self.headers:
                raise ScenarioError(f"{self.path}: {name}", None, f"a header line {name} and a number")
        for name, count in lines.items():
            if self.headers.get(name, 0) != count:
                self.line = self.header_lines.get(name, 1)
                noun = {"Connections": "flows", "Triggers": "triggers"}[name]
                self._fail(name, self.headers.get(name, 0), f"{count}, as many as there are {noun} below")
        numbers = {number: index for index, number in enumerate(self.triggers)}
        fires: list[tuple[int, int, int]] = []
        targets: list[tuple[int, int]] = []
        for row, number, word in self.uses:
            if number not in numbers:
                self.line = self.lines[row]
                self._fail(word, number, "the id of a trigger line")
            if word == "trigger":
                targets.append((numbers[number], row))
            else:
                fires.append((numbers[number], row, _DONE[word]))
        trigger_lines = list(self.triggers.items())
        places = Places(
            message=lambda row, name: f"{self.path}:{self.lines[row]}: {name}",
            trigger=lambda index: f"{self.path}:{trigger_lines[index][1].line}: trigger {trigger_lines[index][0]}",
            name=lambda row: f"the flow of line {self.lines[row]}",
        )
        edges = dict(zip(("fire_trigger", "fire_message", "fire_event"), zip(*fires, strict=True), strict=False))
        edges |= zip(("target_trigger", "target_message"), zip(*targets, strict=True), strict=False)
        edges["trigger_count"] = tuple(trigger.needed for trigger in self.triggers.values())
        messages = Messages.from_arrays(
            self.src,
            self.dst,
            self.size,
            hosts=self.headers["Nodes"],
            places=places,
            start_ps=self.start,
            rank=ranks_in_order(self.src),
            **edges,
        )
        return HtsimFile(self.headers["Nodes"], lowered(messages, places))

    def _host(self, name: str, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            self._fail(name, text or None, "a host number: SRC->DST, without spaces")
        hosts = self.headers.get("Nodes")
        if hosts is not None and int(text) >= hosts:
            self._fail(name, int(text), f"a host from 0 to {hosts - 1} (Nodes {hosts})")
        return int(text)

    def _number(self, name: str, text: str | None, least: int, most: int = _LARGEST) -> int:
        if text is None or not (text.isascii() and text.isdigit() and len(text) < 20) or not least <= int(text) <= most:
            unit = " of bytes, without a unit" if name == "size" else ""
            self._fail(name, text, f"a whole number{unit}, from {least} to {most}")
        return int(text)

    def _moment(self, text: str | None) -> int:
        whole, _, fraction = (text or "").partition(".")
        digits = whole + fraction
        if not (whole and digits.isascii() and digits.isdigit() and len(digits) < 40):
            self._fail("start", text, "a number of 0 or more")
        scale: int = 10 ** len(fraction)
        start_ps, rest = divmod(int(digits) * self.unit_ps, scale)
        if rest or start_ps > LATEST_START_PS:
            self._fail("start", text, f"a whole number of picoseconds, at most {LATEST_START_PS}")
        return start_ps

    def _fail(self, name: str, value: object, allowed: str) -> NoReturn:
        raise ScenarioError(f"{self.path}:{self.line}: {name}", value, allowed)
