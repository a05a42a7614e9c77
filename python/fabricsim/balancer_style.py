"""How figures show each balancer and each transport: colour, marker, line and name, the same in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# The first six, and the colours of what has no style of its own, are Okabe and Ito's and Tol's: apart for every kind of
# colour vision. The others need the marker too. Dashed: one path a flow.
_STYLES: dict[str, tuple[str, str, str]] = {
    "ofan": ("#0072B2", "o", "-"),
    "pofan:4": ("#E69F00", "s", "-"),
    "drb": ("#009E73", "D", "-"),
    "rsq": ("#D55E00", "^", "-"),
    "jsq": ("#CC79A7", "v", "-"),
    "simple-rr": ("#56B4E9", "P", "-"),
    "pofan:1": ("#7A3E00", "<", "-"),
    "pofan:2": ("#B5651D", ">", "-"),
    "pofan:8": ("#F5CF6B", "s", "-"),
    "ethereal": ("#78C000", "h", "-"),
    "rps": ("#A9746E", "d", "-"),
    "reps": ("#882255", "X", "-"),
    "ar": ("#000000", "*", "-"),
    "choice": ("#999933", "p", "-"),
    "drill": ("#DDCC77", "H", "-"),
    "conga": ("#332288", "^", "-."),
    "dlb": ("#44AA99", "v", "-."),
    "sglb": ("#AA44DD", "D", "-."),
    "ecmp": ("#7F7F7F", "x", "--"),
    "flowlet": ("#B0B0B0", "+", "--"),
    "dcsim": ("#0072B2", "o", "-"),
    "dcpim": ("#009E73", "D", "-"),
    "phost": ("#E69F00", "s", "-"),
    "pfabric": ("#CC3311", "^", "-"),
    "paced": ("#7F7F7F", "x", "-"),
}
_OTHERS = ("#117733", "#661100", "#6699CC", "#AA4466", "#888800", "#CC3311", "#4477AA", "#BBCC33")

_NAMES = {
    "ofan": "Ofan", "pofan": "POfan", "drb": "DRB", "ethereal": "Ethereal", "rsq": "RSQ", "rps": "RPS", "reps": "REPS",
    "ar": "AR", "jsq": "JSQ", "simple-rr": "SimpleRR", "choice": "CHOICE", "drill": "DRILL", "conga": "CONGA",
    "dlb": "DLB", "sglb": "SGLB", "ecmp": "ECMP", "flowlet": "flowlets",
    "dcsim": "dcSim", "dcpim": "dcPIM", "phost": "pHost", "pfabric": "pFabric", "paced": "paced",
}  # fmt: skip


def colours(balancers: Iterable[str]) -> dict[str, str]:
    """Give each name its colour: a balancer or transport its own, anything else one of eight others by its place."""
    balancers = list(balancers)
    others = [name for name in balancers if _known(name) is None]
    rest = {name: _OTHERS[place % len(_OTHERS)] for place, name in enumerate(others)}
    return {name: rest.get(name) or style(name)["color"] for name in balancers}


def style(name: str) -> dict[str, Any]:
    """Return colour, marker and line of a name such as "ofan", "pofan:4" or "dcsim", as matplotlib's keyword arguments.

    With other parameters it is shown as its kind; what is neither balancer nor transport gets the first of the other
    colours, and so does a transport over another balancer than its usual one.
    """
    known = _known(name)
    colour, marker, line = _STYLES[known] if known else (_OTHERS[0], "o", "-")
    return {"color": colour, "marker": marker, "linestyle": line, "markersize": 4.5}


def display_name(name: str) -> str:
    """Return the name that papers use: "4Ofan" for "pofan:4", "SimpleRR" for "simple-rr"."""
    kind, _, parameters = name.partition(":")
    if kind == "pofan" and parameters:
        return f"{parameters.split(':')[0]}Ofan"
    return _NAMES.get(kind, name)


def _known(name: str) -> str | None:
    short = ":".join(name.split(":")[:2])
    kind = name.partition(":")[0]
    return next((known for known in (short, kind) if known in _STYLES), "pofan:4" if kind == "pofan" else None)
