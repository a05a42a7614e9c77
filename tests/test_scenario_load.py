"""Scenario files: layers, overrides, and what is said about bad ones."""

from pathlib import Path

import pytest

from fabricsim.errors import ScenarioError
from fabricsim.scenario import (
    FatTree,
    Htsim,
    Incast,
    LeafSpine,
    Link,
    Ofan,
    Permutation,
    Pofan,
    Rsq,
    Scenario,
    balancer_from_text,
    scenario_from_mapping,
    scenario_from_toml,
    scenario_to_toml,
)

CONTRACT = """
preset = "ofan-paper"        # optional; everything below overrides it
[fabric]
kind = "fat-tree"
radix = 8
rate = "400Gbps"
latency = "250ns"
[workload]
kind = "permutation"
message = "2MiB"
[balancer]
kind = "pofan"
ports_per_pipe = 2
[transport]
kind = "paced"
load = 0.5
[run]
seed = 7
threads = 1
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_contracts_file(tmp_path: Path) -> None:
    scenario = scenario_from_toml(written(tmp_path, CONTRACT))
    assert scenario.fabric == FatTree(radix=8, rate="400Gbps", latency="250ns")
    assert scenario.workload == Permutation(message="2MiB")
    assert scenario.balancer == Pofan(ports_per_pipe=2)
    assert scenario.transport.load == 0.5
    assert (scenario.run.seed, scenario.run.threads) == (7, 1)
    assert scenario_from_toml(written(tmp_path, scenario_to_toml(scenario))) == scenario


@pytest.mark.parametrize("text", ["", "\ufeff", "# nothing\r\n", "[fabric]\r\n", 'preset = "ofan-paper"'])
def test_empty_files_are_the_defaults(tmp_path: Path, text: str) -> None:
    assert scenario_from_toml(written(tmp_path, text)) == Scenario()


def test_overrides_win_and_need_no_quotes(tmp_path: Path) -> None:
    path = written(tmp_path, CONTRACT)
    overrides = ["balancer.kind=rsq", "workload.message=100kB", "run.seed=3", "fabric.radix = 4", "measure.trace=true"]
    scenario = scenario_from_toml(path, overrides)
    assert scenario.balancer == Rsq()
    assert int(scenario.workload.message) == 100_000
    assert (scenario.run.seed, scenario.fabric.radix, scenario.measure.trace) == (3, 4, True)
    as_mapping = {"balancer.kind": "rsq", "workload.message": "100kB", "run.seed": 3, "fabric.radix": 4}
    assert scenario_from_toml(path, {**as_mapping, "measure.trace": True}) == scenario


def test_short_form_of_balancers() -> None:
    assert scenario_from_mapping({}, ["balancer=pofan:2"]).balancer == Pofan(ports_per_pipe=2)
    assert scenario_from_mapping({"balancer": {"kind": "pofan"}}, ["balancer=ofan"]).balancer == Ofan()
    assert balancer_from_text(" POFAN:1 ") == Pofan(ports_per_pipe=1)


def test_changing_the_kind_keeps_what_the_new_kind_has(tmp_path: Path) -> None:
    path = written(tmp_path, CONTRACT)
    incast = scenario_from_toml(path, ["workload.kind=incast", "workload.senders=3"])
    assert incast.workload == Incast(senders=3, message="2MiB")
    assert scenario_from_toml(path, ["fabric.kind=leaf-spine"]).fabric == LeafSpine(
        radix=8, rate="400Gbps", latency="250ns"
    )
    # The preset itself must come through many loads unchanged.
    assert scenario_from_mapping({"preset": "ofan-paper"}) == Scenario()


def test_lists_and_tables_in_overrides() -> None:
    scenario = scenario_from_mapping(
        {},
        [
            'fabric.links_down=[["edge-0", "agg-1"]]',
            'fabric.host_link={rate="100Gbps", latency="1us"}',
            'fabric.agg_core_link.rate="1Tbps"',
            "fabric.agg_core_link.latency=2us",
        ],
    )
    assert scenario.fabric.links_down == (("edge-0", "agg-1"),)
    assert [int(link.rate) for link in scenario.fabric.tier_links().values()] == [10**11, 8 * 10**11, 10**12]


def test_an_override_of_one_value_in_a_table_keeps_the_rest(tmp_path: Path) -> None:
    path = written(tmp_path, '[fabric.host_link]\nrate = "100Gbps"\nlatency = "1us"\n')
    link = scenario_from_toml(path, ["fabric.host_link.rate=200Gbps"]).fabric.host_link
    assert link == Link(rate="200Gbps", latency="1us")


def test_inputs_are_left_as_they_are() -> None:
    mapping = {"preset": "ofan-paper", "fabric": {"radix": 8}}
    scenario_from_mapping(mapping, ["fabric.rate=1Gbps", "preset=ofan-paper"])
    assert mapping == {"preset": "ofan-paper", "fabric": {"radix": 8}}


def test_a_files_own_paths_are_relative_to_it(tmp_path: Path) -> None:
    path = written(tmp_path, '[workload]\nkind = "htsim"\npath = "a.cm"\n')
    assert scenario_from_toml(path).workload == Htsim(path=tmp_path / "a.cm")
    assert scenario_from_toml(path, ["workload.path=b.cm"]).workload == Htsim(path="b.cm")


MALFORMED = {
    '[fabric]\nkind="fat-tree"\nradix=7': "fabric.radix: got 7; allowed: an even integer from 2 to 128 (FILE)",
    "[fabric]\nradix=0": "fabric.radix: got 0; allowed: an even integer",
    "[fabric]\nradix=12.0": "fabric.radix: got 12.0; allowed: an even integer",
    '[fabric]\nradix="12"': 'fabric.radix: got "12"; allowed: an even integer',
    "[fabric]\nradix=true": "fabric.radix: got true; allowed: an even integer",
    "[fabric]\nradix=1e400": "fabric.radix: got Infinity; allowed: an even integer",
    "[fabric]\nradix=1979-05-27": "fabric.radix: got a date; allowed: an even integer",
    "[fabric]\nraddix=8": 'fabric.raddix: got the unknown name "raddix" (did you mean "radix"?); allowed: radix, rate,',
    "[fabrik]\nradix=8": 'fabrik: got the unknown name "fabrik" (did you mean "fabric"?); allowed: fabric, workload,',
    "radix=8": 'radix: got the unknown name "radix"; allowed: fabric, workload,',
    "fabric=8": "fabric: got 8; allowed: a table of named values",
    '[fabric]\nkind="fattree"': 'got "fattree"; allowed: one of fat-tree, leaf-spine (did you mean "fat-tree"?)',
    "[fabric]\nkind=3": "fabric.kind: got 3; allowed: one of fat-tree, leaf-spine",
    '[fabric]\nrate="800GBps"': "GBps counts bytes: did you mean Gbps?",
    "[fabric]\nrate=800": "fabric.rate: got 800; allowed: a rate as a text with a unit",
    '[fabric]\nlatency="0ns"': 'fabric.latency: got "0ps"; allowed: a duration from 1ps to 1s',
    "[fabric]\nedge_oversubscription=5": "edge_oversubscription: got 5; allowed: a divisor of radix/2 = 6: 1, 2, 3, 6",
    '[fabric]\nlinks_down=[["edge-0","agg-99"]]': 'fabric.links_down.0: got "agg-99"; allowed: agg-0 to agg-71',
    '[fabric]\nhost_link={rate="1Gbps"}': "fabric.host_link.latency: got nothing; allowed: a value",
    '[fabric]\nhost_link={rate="1Gbps",latency="1ns",mtu=1}': 'fabric.host_link.mtu: got the unknown name "mtu"',
    "[workload]\nmessage=1048576": 'did you mean "1048576B"?',
    '[workload]\nmessage="1.5B"': 'workload.message: got "1.5B"; allowed: a size of a whole number of bytes',
    '[workload]\nmessage="-1MiB"': 'workload.message: got "-1MiB"; allowed: a size of 0 or more',
    '[workload]\nkind="incast"\nsenders=0': "workload.senders: got 0; allowed: an integer from 1",
    '[workload]\nkind="htsim"': "workload.path: got nothing; allowed: a value",
    '[workload]\nkind="permutaton"': '(did you mean "permutation"?)',
    '[balancer]\nkind="ofan"\nports_per_pipe=4': 'balancer.ports_per_pipe: got the unknown name "ports_per_pipe"',
    "[transport]\nload=nan": 'transport.load: got NaN; allowed: a number from 1e-6 to 1, or "rho-max:path"',
    "[transport]\nload=0": "transport.load: got 0; allowed: a number from 1e-6 to 1",
    '[transport]\nacks="none"': 'transport.acks: got "none"; allowed: "per-packet" or "off"',
    '[port]\nbuffer="1kB"': 'port.buffer: got "1kB"; allowed: at least the largest frame, 4158B, or "infinite"',
    '[port]\nbuffer="none"': 'or "infinite"',
    "[measure]\ntrace=1": "measure.trace: got 1; allowed: true or false",
    "[run]\nseed=18446744073709551616": "run.seed: got 18446744073709551616; allowed: an integer from 0",
    "[run]\nthreads=0": 'run.threads: got 0; allowed: an integer from 1 to 1024, or "auto"',
    'preset="ofan_paper"': 'got the unknown name "ofan_paper" (did you mean "ofan-paper"?); allowed: ofan-paper',
    "preset=1": "preset: got 1; allowed: ofan-paper",
    "[fabric\nradix=8": "a TOML file (",
    "deep=" + "[" * 20_000: "a TOML file (",
    "[fabric]\nradix=8\nradix=8": "a TOML file (",
    "[fabric]\nradix=" + "9" * 5000: "a TOML file (",
}


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: text[:40])
def test_malformed_files_get_one_clear_error(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        scenario_from_toml(path)
    message = str(caught.value)
    assert MALFORMED[text].replace("FILE", str(path)) in message
    assert str(path) in message
    assert "\n" not in message


def test_several_errors_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path, "[fabric]\nradix=7\n[run]\nseed=-1\n")
    with pytest.raises(ScenarioError) as caught:
        scenario_from_toml(path, ["run.threads=0"])
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in lines] == ["fabric.radix", "run.seed", "run.threads"]
    assert lines[0].endswith(f"({path})")
    assert lines[2].endswith("(--set run.threads)")
    assert [other.field for other in caught.value.others] == ["run.seed", "run.threads"]


def test_unreadable_files(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(ScenarioError, match="a file that can be read"):
            scenario_from_toml(path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="a TOML file"):
        scenario_from_toml(binary)


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("fabric.radix", 'got "fabric.radix"; allowed: name=value'),
        ("=8", 'got "=8"; allowed: name=value'),
        ("fabric.radix=", 'fabric.radix: got ""; allowed: an even integer'),
        ("fabric.radix=eight", 'fabric.radix: got "eight"; allowed: an even integer'),
        ("fabric.radix=8\nrun.seed=1", "fabric.radix: got "),
        ("fabric.radix.x=8", "fabric.radix: got "),
        ("fabric=8", "fabric: got 8; allowed: a table"),
        ("fabrik.radix=8", '(did you mean "fabric"?)'),
        ("balancer=pofn:4", '(did you mean "pofan"?)'),
        ("balancer=pofan:0", "balancer.ports_per_pipe: got 0; allowed: an integer from 1 to 128"),
        ("balancer=pofan:", 'balancer: got "pofan:"'),
        ("balancer=rsq:4", 'balancer: got "rsq:4"'),
        ("preset=ofan", "preset: got the unknown name"),
        (".=1", "got the unknown name"),
    ],
)
def test_bad_overrides_name_the_option(override: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_mapping({}, [override], where="scenario.toml")
    assert says in str(caught.value)
    assert "--set" in caught.value.where
