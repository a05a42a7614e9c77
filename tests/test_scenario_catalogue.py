"""What can be listed and explained, the public names, and what importing them costs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fabricsim
from fabricsim import scenario
from fabricsim.catalogue import GROWTH_CONDITIONS, catalogue, entry, measured
from fabricsim.cli.discover import explain, list_names
from fabricsim.errors import ScenarioError
from fabricsim.scenario import KINDS, FatTree, FatTreeFailures, LeafSpineFailures, Scenario, scenario_from_mapping
from fabricsim.scenario.combinations import balancers_of
from fabricsim.study.files import known_studies, load


def test_every_kind_has_one_complete_entry() -> None:
    entries = {known.name: known for known in catalogue()}
    assert len(entries) == len(catalogue())
    for part, kinds in KINDS.items():
        assert {name for name, known in entries.items() if known.part == part} == set(kinds)
    for known in catalogue():
        assert known.summary.endswith(".")
        assert all(parameter.meaning and parameter.allowed for parameter in known.parameters), known.name
        if known.part == "balancer":
            assert known.where in ("switch", "host")
            assert all((known.source, known.state_per_switch, known.growth_up, known.growth_down, known.differs))
        if known.part == "transport":
            assert all((known.source, known.discipline, known.differs))


def test_growth_is_table_1_of_the_ofan_paper() -> None:
    table = {
        "simple-rr": ("Θ(1)", "Θ(m)"),
        "jsq": ("Θ(1)", "Θ(m)"),
        "rps": ("Θ(√m)", "Θ(√m)"),
        "rsq": ("Θ(√m)", "Θ(√m)"),
        "drb": ("Θ(1)", "Θ(1)"),
        "ethereal": ("Θ(1)", "Θ(1)"),
        **dict.fromkeys(("conga", "choice", "drill", "dlb", "sglb", "reps", "ar"), ("not proved", "not proved")),
        "pofan": ("Θ(1)", "Θ(1)"),
        "ofan": ("Θ(1)", "Θ(1)"),
    }
    assert {name: (entry(name).growth_up, entry(name).growth_down) for name in table} == table
    assert {name for name in table if entry(name).where == "host"} == {"rps", "reps", "drb", "ethereal"}


def test_printed_defaults_are_values_that_load() -> None:
    for known in catalogue():
        for parameter in known.parameters:
            if parameter.default is None or parameter.default in ("none", "[]"):
                continue
            required = {"path": "a.cm"} if known.name in ("htsim", "dcpim-trace") else {}
            required |= {"path": "a.json"} if known.name == "messages" else {}
            required |= {"balancer": {"kind": "rsq"}} if known.name == "deployment" else {}
            fields = {**({"kind": known.name} if known.part in KINDS else {}), **required}
            if known.name == "failures":
                kind = "leaf-spine" if parameter.name.startswith("leaf") else "fat-tree"
                plain = {"fabric": {"kind": kind, "failures": {}}}
            else:
                plain = {known.part: fields}
                if known.part == "transport":
                    plain["balancer"] = {"kind": balancers_of(known.name)[0]}
            built = scenario_from_mapping(plain, [f"{known.part}.{parameter.name}={parameter.default}"])
            assert built == scenario_from_mapping(plain)


def test_measured_facts_are_shown_where_there_are_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {"instructions_per_packet_hop": 321.4, "growth_exponent": 0.513, "growth_exponent_sem": 0.02}
    (tmp_path / "measured.json").write_text(json.dumps({"rsq": values, "jsq": {"growth_exponent": 1}}))
    monkeypatch.setattr("fabricsim.catalogue.MEASURED", tmp_path / "measured.json")
    measured.cache_clear()
    try:
        shown = {}
        for name in ("rsq", "jsq", "ofan"):
            explain(name)
            shown[name] = capsys.readouterr().out
    finally:
        monkeypatch.undo()
        measured.cache_clear()
    assert "measured growth: largest queue m^(0.51 ± 0.02) (with ACKs, 432 hosts" in shown["rsq"]
    assert "measured cost:   321 instructions a packet-hop\n" in shown["rsq"]
    assert "largest queue m^(1.00) (" in shown["jsq"]
    assert "measured cost" not in shown["jsq"]
    assert "measured" not in shown["ofan"]


def test_growth_was_measured_as_it_says() -> None:
    file = load("ofan/fig04", known_studies()["ofan/fig04"])
    full, fitted_from = file.study.tiers["full"], vars(sys.modules[file.plot.__module__])["FITTED_FROM"]
    hosts = FatTree(radix=full["radix"][0]).hosts_count  # type: ignore[index]
    largest = max(full["message_bytes"])
    words = f"with ACKs, {hosts} hosts, messages of {fitted_from} to {largest}: studies/ofan/fig04"
    assert words == GROWTH_CONDITIONS


def test_failures_are_explained() -> None:
    known = entry("failures")
    assert known.part == "fabric.failures"
    assert {one.name for one in known.parameters} == {
        *FatTreeFailures.model_fields, *LeafSpineFailures.model_fields,
    }  # fmt: skip


def test_measured_facts_are_of_balancers() -> None:
    assert measured().keys() <= KINDS["balancer"].keys()


def test_transports_are_listed_with_what_their_ports_do(capsys: pytest.CaptureFixture[str]) -> None:
    list_names("transports")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    for words in (["dcsim", "dcsim"], ["dcpim", "strict-priority"], ["pfabric", "pfabric"], ["paced", "fifo"]):
        assert any(line[:2] == words for line in lines), words
    explain("dcsim")
    assert "ports:           dcsim\n" in capsys.readouterr().out


def test_names_are_found_and_unknown_ones_answered() -> None:
    assert entry("pofan:4").name == "pofan"
    assert entry(" Fat-Tree").part == "fabric"
    with pytest.raises(ScenarioError, match=r'"offan" \(did you mean "ofan"\?\)'):
        entry("offan")


def test_public_names_are_those_of_their_modules() -> None:
    assert set(scenario.__all__) <= set(fabricsim.__all__)
    assert fabricsim.Scenario is Scenario
    assert set(fabricsim.__all__) <= set(dir(fabricsim))
    with pytest.raises(AttributeError, match="no attribute 'Scenari'"):
        _ = fabricsim.Scenari


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, fabricsim; assert 'pydantic' not in sys.modules; fabricsim.Scenario(); fabricsim.core_config;"
        "heavy = {'numpy', 'polars', 'networkx', 'matplotlib', 'plotly', 'scipy', 'rich'} & set(sys.modules);"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
