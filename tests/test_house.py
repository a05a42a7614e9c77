"""The house rules that a machine can check: layers of the core, one list of balancers everywhere, length of files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core" / "src"
MAX_LINES = 250

# A module may use modules of earlier layers and, within its own layer, anything that does not close a circle.
LAYERS = (
    ("error", "units", "id", "rng", "packet", "hash"),
    ("config",),
    ("link", "fabric", "order", "congestion"),
    ("discipline", "port", "balancer", "spreader", "transport", "workload", "measure"),
    ("switch", "host"),
    ("audit", "window"),
    ("run",),
    ("lib",),
)
LAYER_OF = {module: number for number, modules in enumerate(LAYERS) for module in modules}


def without_tests(rust: str) -> str:
    """The text before the file's unit tests, which may use anything."""
    return re.split(r"^#\[cfg\(test\)\]\s*\n(?:#\[.*\]\s*\n)*mod ", rust, maxsplit=1, flags=re.MULTILINE)[0]


def used_modules(rust: str) -> set[str]:
    """Top-level modules of this crate that a Rust text names: `crate::a::b`, `use crate::{a, b::c}`."""
    code = re.sub(r"//.*", "", rust)
    modules = set(re.findall(r"\bcrate::([a-z_]\w*)", code))
    for group in re.findall(r"\bcrate::\{(.*?)\};", code, flags=re.DOTALL):
        flat = group
        while "{" in flat:
            flat = re.sub(r"\{[^{}]*\}", "", flat)
        modules |= {entry.strip().split("::")[0] for entry in flat.split(",") if entry.strip()}
    return modules


def core_files() -> list[Path]:
    """The core's files without those that hold nothing but tests."""
    return [path for path in CORE.rglob("*.rs") if path.stem != "tests"]


def core_arrows() -> dict[str, set[str]]:
    """Which top-level module of the core uses which others."""
    arrows: dict[str, set[str]] = {}
    for path in core_files():
        module = path.relative_to(CORE).parts[0].removesuffix(".rs")
        if module != "lib":
            arrows.setdefault(module, set()).update(used_modules(without_tests(path.read_text())) - {module})
    return arrows


def arrows_back(arrows: dict[str, set[str]]) -> list[str]:
    return [
        f"{module} -> {used}"
        for module, targets in sorted(arrows.items())
        for used in sorted(targets & LAYER_OF.keys())
        if LAYER_OF[used] > LAYER_OF[module]
    ]


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """Modules that use themselves by way of others."""

    def reachable(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            fresh = arrows.get(todo.pop(), set()) - seen
            seen |= fresh
            todo += fresh
        return seen

    return sorted(module for module in arrows if module in reachable(module))


def test_every_core_module_has_a_layer() -> None:
    assert core_arrows().keys() - LAYER_OF.keys() == set(), "give the new module a place in LAYERS"


def test_no_arrow_back_in_the_core() -> None:
    assert arrows_back(core_arrows()) == []


def test_no_circle_in_the_core() -> None:
    assert circles(core_arrows()) == []


def test_the_layer_checks_find_an_arrow_back_and_a_circle() -> None:
    rust = (
        "use crate::{units::Bytes, window::{self, Batch}};\n// crate::run\n#[cfg(test)]\nmod tests { use crate::run; }"
    )
    arrows = {"link": used_modules(without_tests(rust)), "window": {"link"}}
    assert arrows["link"] == {"units", "window"}
    assert arrows_back(arrows) == ["link -> window"]
    assert circles(arrows) == ["link", "window"]


# POfan is Ofan with a parameter, and shares its file; "pinned" is how switches obey a path that a host chose.
FILE_OF = {"pofan": "ofan"}
NO_SCHEME = {"pinned", "everywhere", "in_flight", "tests"}


def balancer_lists() -> dict[str, set[str]]:
    """The kinds of balancer as each of the four places has them."""
    from fabricsim import scenario

    config = (CORE / "config" / "balancer.rs").read_text()
    enum = re.search(r"pub enum BalancerConfig \{\n(.*?)^\}", config, flags=re.MULTILINE | re.DOTALL)
    assert enum is not None
    variants = re.findall(r"^    ([A-Z]\w*) \{", enum[1], flags=re.MULTILINE)
    files = {path.stem for room in ("balancer", "spreader") for path in (CORE / room).glob("*.rs")}
    kinds = {"_".join(re.findall("[A-Z][a-z]*", name)).lower() for name in variants}
    in_files = {kind for kind in kinds if FILE_OF.get(kind, kind) in files} | (files - NO_SCHEME)
    page = (ROOT / "docs" / "explanation" / "balancers.md").read_text()
    return {
        "core/src/balancer/, core/src/spreader/": {kind.replace("_", "-") for kind in in_files},
        "core/src/config.rs": {kind.replace("_", "-") for kind in kinds},
        "python/fabricsim/scenario/balancers/": set(scenario.BALANCERS),
        "docs/explanation/balancers.md": set(re.findall(r"^## `([a-z-]+)`", page, flags=re.MULTILINE)),
    }


def test_the_four_lists_of_balancers_agree() -> None:
    lists = balancer_lists()
    every = set().union(*lists.values())
    missing = {place: sorted(every - kinds) for place, kinds in lists.items() if kinds != every}
    assert missing == {}


# The transports with windows share one `Transport`; each is a controller of windows. The others serve several.
NAME_OF = {"constant": "constant-window"}
NO_CONTROLLER = {"rules", "median", "tests"}


def transport_lists() -> dict[str, set[str]]:
    """The kinds of transport as each of the four places has them."""
    from fabricsim import scenario

    config = (CORE / "config" / "transport.rs").read_text()
    enum = re.search(r"pub enum TransportConfig \{\n(.*?)^\}", config, flags=re.MULTILINE | re.DOTALL)
    assert enum is not None
    variants = re.findall(r"^    ([A-Z]\w*) \{", enum[1], flags=re.MULTILINE)
    kinds = {"-".join(re.findall("[A-Z][a-z]*", name)).lower() for name in variants}
    implements = re.compile(r"^impl Transport for \w+ \{", flags=re.MULTILINE)
    files = {path.stem for path in (CORE / "transport").glob("*.rs") if implements.search(path.read_text())}
    files |= {NAME_OF.get(path.stem, path.stem) for path in (CORE / "congestion").glob("*.rs")} - NO_CONTROLLER
    page = (ROOT / "docs" / "explanation" / "transports.md").read_text()
    return {
        "core/src/transport/, core/src/congestion/": files,
        "core/src/config/transport.rs": kinds,
        "python/fabricsim/scenario/transports/": set(scenario.TRANSPORTS),
        "docs/explanation/transports.md": set(re.findall(r"^## `([a-z-]+)`", page, flags=re.MULTILINE)),
    }


def test_the_four_lists_of_transports_agree() -> None:
    lists = transport_lists()
    every = set().union(*lists.values())
    missing = {place: sorted(every - kinds) for place, kinds in lists.items() if kinds != every}
    assert missing == {}


SOURCES = sorted(
    path.relative_to(ROOT)
    for folder, pattern in (
        ("core", "*.rs"),
        ("bindings", "*.rs"),
        ("python", "*.py"),
        ("tests", "*.py"),
        ("benchmarks", "*.py"),
        ("docs", "*.py"),
    )
    for path in (ROOT / folder).rglob(pattern)
    if path.name != "tests.rs"
)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_file_has_one_job_and_so_at_most_250_lines(path: Path) -> None:
    text = (ROOT / path).read_text()
    rust = path.suffix == ".rs"
    comment = "//" if rust else "#"
    lines = [line.strip() for line in (without_tests(text) if rust else text).splitlines()]
    count = sum(line != "" and not line.startswith(comment) for line in lines)
    assert count <= MAX_LINES, (
        f"{path} has {count} lines without comments and unit tests: which of its jobs can move out?"
    )


ROOMS = ("core", "bindings", "python", "studies", "hardware", "tests", "benchmarks", "docs")


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_says_what_is_here_how_to_add_and_how_it_is_tested(room: str) -> None:
    readme = (ROOT / room / "README.md").read_text()
    assert 5 <= readme.count("\n") <= 140
    for words in ("add", "test"):
        assert words in readme.lower()
