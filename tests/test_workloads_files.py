"""Message files that are broken in ways a reader of archives and columns may trip over: one clear error each."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fabricsim import FatTree, MessageList, Scenario, ScenarioError
from fabricsim.workloads import build, read_htsim, read_messages

GOOD: dict[str, Any] = {"src": [0, 1] * 500, "dst": [1, 2] * 500, "bytes": [1] * 1000}


def saved(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **{**GOOD, **arrays})
    return file.getvalue()


def spoilt(place: int, much: int) -> bytes:
    data = bytearray(saved())
    data[place : place + much] = bytes(255 - byte for byte in data[place : place + much])
    return bytes(data)


def claiming(rows: int) -> bytes:
    header, archive = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (rows,)})  # type: ignore[no-untyped-call]
    with zipfile.ZipFile(archive, "w") as file:
        for name in GOOD:
            file.writestr(f"{name}.npy", header.getvalue())
    return archive.getvalue()


def lone_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "a .npz file"),
        (b"PK\x03\x04garbage", "a .npz file"),
        (saved()[:-30], "a .npz file"),
        (spoilt(60, 8), "a .npz file"),
        (spoilt(2, 2), "a .npz file"),
        (lone_array(), "a .npz file"),
        (claiming(10**15), "a .npz file (Unable to allocate"),
        (saved(places=[1]), 'places: got the unknown name "places"; allowed: src, dst'),
        (saved(cls=[1]), 'cls: got the unknown name "cls"; allowed: src, dst'),
        (saved(hosts=[1]), 'hosts: got the unknown name "hosts"; allowed: src, dst'),
        (saved(strat_ps=[1]), '(did you mean "start_ps"?)'),
        (saved(bytes=[0.5] * 1000), 'bytes: got "float64"; allowed: integers'),
    ],
)
def test_archive_that_is_broken(tmp_path: Path, data: bytes, error: str) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(data)
    with pytest.raises(ScenarioError) as caught:
        read_messages(path)
    assert error in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_null_in_a_column_is_named(tmp_path: Path) -> None:
    pl.DataFrame({"src": [0, None], "dst": [1, 2], "bytes": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ScenarioError, match=r"src: got nothing; allowed: an integer in every row"):
        read_messages(tmp_path / "a.parquet")


def test_a_parquet_file_is_read_by_its_own_name_not_as_a_pattern(tmp_path: Path) -> None:
    for name, size in (("a1", 1), ("a[1]", 2)):
        pl.DataFrame({"src": [0], "dst": [1], "bytes": [size]}).write_parquet(tmp_path / f"{name}.parquet")
    assert read_messages(tmp_path / "a[1].parquet").bytes.tolist() == [2]
    (tmp_path / "b.parquet").mkdir()
    with pytest.raises(ScenarioError, match="Is a directory"):
        read_messages(tmp_path / "b.parquet")


def test_a_byte_order_mark_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf[{"src": 0, "dst": 1, "bytes": 5}]')
    assert read_messages(tmp_path / "a.json").bytes.tolist() == [5]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"messages":' * 100_000, "nested too deeply"),
        ('[{"src": 0, "dst": 1, "bytes": 5, "bytes": 6}]', '"bytes" stands twice'),
    ],
    ids=["lists", "objects", "twice"],
)
def test_json_too_deep_or_ambiguous(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ScenarioError, match=error):
        read_messages(tmp_path / "a.json")


def test_a_path_that_no_file_can_have() -> None:
    for read, ending in ((read_htsim, "cm"), (read_messages, "npz"), (read_messages, "json")):
        with pytest.raises(ScenarioError):
            read(f"a\0b.{ending}")
        with pytest.raises(ScenarioError, match="No such file"):
            read(f"none.{ending}")


def test_a_host_that_the_fabric_lacks_is_found_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"src": 0, "dst": 1, "bytes": 1}, {"src": 0, "dst": 99, "bytes": 1}]))
    np.savez(tmp_path / "a.npz", src=[0, 0], dst=[1, 99], bytes=1)
    for name, field in (("a.json", "messages.1.dst"), ("a.npz", "dst[1]")):
        scenario = Scenario(fabric=FatTree(radix=4), workload=MessageList(path=tmp_path / name))
        with pytest.raises(ScenarioError) as caught:
            build(scenario)
        assert str(caught.value) == f"{field}: got 99; allowed: a host from 0 to 15 ({tmp_path / name})"


def test_a_huge_barrier_on_one_host_is_refused_by_its_line(tmp_path: Path) -> None:
    """As dependencies it would be 25 million, which is what takes the memory."""
    flows = [f"0->1 id {number} start 0 size 1 send_done_trigger 1" for number in range(1, 5001)]
    flows += [f"0->2 id {number} trigger 1 size 1" for number in range(5001, 10_001)]
    lines = ["Nodes 16", "Connections 10000", "Triggers 1", *flows, "trigger id 1 barrier count 5000"]
    (tmp_path / "a.cm").write_text("\n".join(lines))
    with pytest.raises(ScenarioError, match=r"a\.cm:10004: trigger 1: got .*; allowed: at most 10000000 pairs in all"):
        read_htsim(tmp_path / "a.cm")
