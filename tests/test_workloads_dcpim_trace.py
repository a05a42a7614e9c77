"""Flow traces of the dcPIM simulator: by hand, and what is wrong with a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricsim.errors import ScenarioError
from fabricsim.scenario import DcpimTrace, FatTree, Frame, Scenario, scenario_from_toml
from fabricsim.workloads import build, read_dcpim_trace

TRACE = """\
0 1.000000000 1.1 1.1 38 1.1 1.1 0 5
1 1.000000000 1.1 1.1 2 1.1 1.1 3 0

2 1.000001234567 x y 1 z z 0 4\r
3 1.5e0 - - 4294967295 - - 3 1
"""


def read(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "flows.dat"
    path.write_bytes(text.encode())
    return path


def test_trace_by_hand(tmp_path: Path) -> None:
    messages = read_dcpim_trace(read(tmp_path, TRACE), 9000)
    assert messages.src.tolist() == [0, 3, 0, 3]
    assert messages.dst.tolist() == [5, 0, 4, 1]
    assert messages.bytes.tolist() == [38 * 9000, 2 * 9000, 9000, 4294967295 * 9000]
    assert messages.start_ps.tolist() == [0, 0, 1_234_567, 500_000_000_000]
    assert messages.rank.tolist() == [0, 0, 1, 1]
    assert messages.collective.tolist() == [0] * 4


def test_starts_are_rounded_to_a_picosecond(tmp_path: Path) -> None:
    text = "0 1.0000000000015 1 1 1 1 1 0 1\n1 1.00000000000249999 1 1 1 1 1 0 1\n"
    assert read_dcpim_trace(read(tmp_path, text), 1).start_ps.tolist() == [2, 2]


def test_in_a_scenario_file(tmp_path: Path) -> None:
    """The path is relative to the scenario's, and a packet is one of its own."""
    read(tmp_path, TRACE)
    (tmp_path / "a.toml").write_text(
        'fabric = {radix = 4}\nframe = {payload = "1460B"}\nworkload = {kind = "dcpim-trace", path = "flows.dat"}\n'
    )
    assert build(scenario_from_toml(tmp_path / "a.toml")).bytes.tolist()[:3] == [38 * 1460, 2 * 1460, 1460]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("0 1.0 1 1 5 1 1 0", 'flows.dat:2: got "8 columns"; allowed: id, start_s, x, x, size_packets, x, x, src, dst'),
        ("0 0.5 1 1 5 1 1 0 1", 'flows.dat:2: start_s: got "0.5"; allowed: a time in seconds from 1'),
        ("0 nan 1 1 5 1 1 0 1", 'flows.dat:2: start_s: got "nan"'),
        ("0 inf 1 1 5 1 1 0 1", 'flows.dat:2: start_s: got "inf"'),
        ("0 soon 1 1 5 1 1 0 1", 'flows.dat:2: start_s: got "soon"'),
        ("0 1e999999999 1 1 5 1 1 0 1", 'flows.dat:2: start_s: got "1e999999999"'),
        ("0 1.0 1 1 0 1 1 0 1", 'flows.dat:2: size_packets: got "0"; allowed: a whole number from 1 to 4294967295'),
        ("0 1.0 1 1 2.5 1 1 0 1", 'flows.dat:2: size_packets: got "2.5"'),
        ("0 1.0 1 1 5 1 1 -1 1", 'flows.dat:2: src: got "-1"; allowed: a whole number from 0 to'),
        ("0 1.0 1 1 5 1 1 0 16", "flows.dat:2: dst: got 16; allowed: a host from 0 to 15"),
        ("0 1.0 1 1 5 1 1 7 7", "flows.dat:2: dst: got 7; allowed: a host other than src 7"),
    ],
)
def test_line_that_is_wrong(tmp_path: Path, line: str, error: str) -> None:
    path = read(tmp_path, f"0 1.0 1 1 5 1 1 0 1\n{line}\n")
    with pytest.raises(ScenarioError) as caught:
        build(Scenario(fabric=FatTree(radix=4), workload=DcpimTrace(path=path), frame=Frame(payload="1000B")))
    assert error in str(caught.value)
    assert str(path) in str(caught.value)


def test_file_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="No such file"):
        read_dcpim_trace(tmp_path / "none.dat", 1)
    with pytest.raises(ScenarioError, match=r'flows\.dat: got "no lines"'):
        read_dcpim_trace(read(tmp_path, "\n\n"), 1)
    (tmp_path / "flows.dat").write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioError, match="a text file"):
        read_dcpim_trace(tmp_path / "flows.dat", 1)
