"""Open-loop arrivals and distributions of sizes, against the Poisson process and what the files state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from fabricsim.errors import ScenarioError
from fabricsim.scenario import FatTree, Frame, Poisson, Run, Scenario
from fabricsim.workloads import Messages, build
from fabricsim.workloads.draws import Draws, Purpose
from fabricsim.workloads.poisson import arrivals
from fabricsim.workloads.size_distribution import SizeDistribution, built_in, read_sizes

SIGNIFICANCE = 1e-3
PLAIN = Frame(payload="1000B", header="0B", gap="0B")


def built(seed: int = 1, frame: Frame = PLAIN, **fields: Any) -> Messages:
    return build(Scenario(fabric=FatTree(radix=4), frame=frame, workload=Poisson(**fields), run=Run(seed=seed)))


def drawn(sizes: SizeDistribution, count: int, seed: int = 1) -> Any:
    return sizes.of_uniforms(Draws(seed, Purpose.POISSON_SIZES).uniforms(count))


def gaps(start: Any) -> Any:
    return np.diff(np.concatenate([[0], start.astype(np.float64)]))


def test_arrivals_are_a_poisson_process() -> None:
    mean = 1e6
    came = arrivals(
        16, mean, 10**10, None, gap_draws=Draws(1, Purpose.POISSON_GAPS), host_draws=Draws(1, Purpose.POISSON_HOSTS)
    )
    # 10,000 expected, standard deviation 100.
    assert came.start_ps.size == pytest.approx(10_000, abs=400)
    assert kstest(gaps(came.start_ps) / mean, "expon").pvalue > SIGNIFICANCE
    assert np.all(came.start_ps[1:] >= came.start_ps[:-1])
    assert came.start_ps[-1] <= 10**10


def test_each_hosts_arrivals_are_a_poisson_process() -> None:
    """A 16th of the messages at a host: gaps 16 times as long, a coefficient of variation of 1, within 4 SE."""
    mean = 1e6
    came = arrivals(
        16, mean, 10**11, None, gap_draws=Draws(2, Purpose.POISSON_GAPS), host_draws=Draws(2, Purpose.POISSON_HOSTS)
    )
    for host in (0, 7, 15):
        own = gaps(came.start_ps[came.src == host])
        assert own.mean() == pytest.approx(16 * mean, rel=4 / own.size**0.5)
        # The variance of an exponential sample's deviation over its mean is about 1/n.
        assert own.std() / own.mean() == pytest.approx(1, abs=4 / own.size**0.5)
        assert abs(np.corrcoef(own[1:], own[:-1])[0, 1]) < 4 / own.size**0.5


def test_pairs_of_hosts_are_equally_likely() -> None:
    came = arrivals(
        4, 1e6, 3 * 10**9, None, gap_draws=Draws(3, Purpose.POISSON_GAPS), host_draws=Draws(3, Purpose.POISSON_HOSTS)
    )
    counts = np.zeros((4, 4), int)
    np.add.at(counts, (came.src, came.dst), 1)
    assert np.all(np.diagonal(counts) == 0)
    assert chisquare(counts[~np.eye(4, dtype=bool)]).pvalue > SIGNIFICANCE


def test_offered_load_is_what_was_asked_for() -> None:
    """16 hosts of 800 Gb/s at 0.5 in 100 ms: 80 GB in messages of 1140.98 * 1460 bytes (the mean below): 48,024."""
    messages = built(size_distribution="web-search", load=0.5, duration="100ms", seed=4)
    expected = 80e9 / (1140.98 * 1460)
    assert len(messages) == pytest.approx(expected, abs=4 * expected**0.5)
    size = messages.bytes.astype(np.float64)
    assert size.sum() == pytest.approx(80e9, abs=4 * (expected * np.mean(size**2)) ** 0.5)


def test_headers_and_gaps_take_part_of_the_load() -> None:
    """A frame of 1000 bytes with 200 of header and 50 of gap carries 0.8: a load of 1 is that of 0.8 without them."""
    wide = Frame(payload="1000B", header="200B", gap="50B")
    assert built(frame=wide, load=1.0) == built(load=0.8)


def test_the_first_messages_only() -> None:
    all_of_them = built(duration="10ms")
    few = built(duration="10ms", messages_count=50)
    assert len(few) == 50
    for name in ("src", "dst", "bytes", "start_ps"):
        np.testing.assert_array_equal(getattr(few, name), getattr(all_of_them, name)[:50])


def test_a_longer_duration_adds_messages_and_changes_none() -> None:
    short, long = built(duration="2ms"), built(duration="20ms")
    assert len(short) < len(long)
    for name in ("src", "dst", "bytes", "start_ps"):
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name)[: len(short)])


def test_the_same_seed_gives_the_same_messages() -> None:
    assert built(seed=5) == built(seed=5)
    assert built(seed=5) != built(seed=6)


@pytest.mark.parametrize(
    ("name", "knots", "mean_packets"),
    [
        # Means by hand, in packets: the first knot whole, the middle of each piece times its fraction.
        (
            "web-search",
            {
                6: 0.15,
                13: 0.2,
                19: 0.3,
                33: 0.4,
                53: 0.53,
                133: 0.6,
                667: 0.7,
                1333: 0.8,
                3333: 0.9,
                6667: 0.97,
                20000: 1,
            },
            0.9 + 0.475 + 1.6 + 2.6 + 5.59 + 6.51 + 40 + 100 + 233.3 + 350 + 400.005,
        ),
        (
            "data-mining",
            {1: 0.5, 2: 0.6, 3: 0.7, 7: 0.8, 267: 0.9, 2107: 0.95, 66667: 0.99, 666667: 1},
            0.5 + 0.15 + 0.25 + 0.5 + 13.7 + 59.35 + 1375.48 + 3666.67,
        ),
    ],
)
def test_built_in_sizes(name: str, knots: dict[int, float], mean_packets: float) -> None:
    sizes = built_in(name)
    assert dict(zip((sizes.size // 1460).tolist(), sizes.fraction.tolist(), strict=True)) == knots
    assert np.all(sizes.size % 1460 == 0)
    # Whole bytes are rounded up: half a byte more at most.
    assert sizes.mean_bytes == pytest.approx(mean_packets * 1460, abs=0.5)
    many = drawn(sizes, 100_000)
    error = many.std() / many.size**0.5
    assert many.mean() == pytest.approx(sizes.mean_bytes, abs=4 * error)
    # Dvoretzky, Kiefer, Wolfowitz: no farther than sqrt(ln(2/p) / 2n) but with probability p.
    bound = (np.log(2 / SIGNIFICANCE) / 2 / many.size) ** 0.5
    places = np.unique(np.concatenate([sizes.size, np.geomspace(sizes.size[0], sizes.size[-1], 200).astype(int)]))
    stated = np.interp(places, sizes.size, sizes.fraction)
    found = np.searchsorted(np.sort(many), places, side="right") / many.size
    assert np.abs(found - stated).max() < bound


def test_sizes_by_hand(tmp_path: Path) -> None:
    """A quarter is 10 bytes, one uniform over 11 to 14, nothing up to 20, a quarter 20, and one 21 or 22."""
    path = tmp_path / "sizes.cdf"
    path.write_text("# size fraction\n10 0.25\n14\t0.5  # so far\n\n20 0.5\n20 x 0.75\n22 1.0\n")
    sizes = read_sizes(path)
    uniforms = np.array([0, 0.24, 0.25, 0.3125 - 1e-9, 0.3125 + 1e-9, 0.49, 0.51, 0.74, 0.76, 0.874, 0.876, 1 - 2**-53])
    assert sizes.of_uniforms(uniforms).tolist() == [10, 10, 10, 11, 12, 14, 20, 20, 21, 21, 22, 22]
    assert sizes.mean_bytes == 0.25 * (10 + 12.5 + 20 + 21.5)
    assert drawn(sizes, 40_000).mean() == pytest.approx(sizes.mean_bytes, abs=4 * 5 / 200)


def test_a_file_of_sizes_in_packets(tmp_path: Path) -> None:
    path = tmp_path / "search.cdf"
    path.write_text("\n".join(f"{size // 1460} 1 {fraction}" for size, fraction in _knots("web-search")))
    in_packets = built(size_distribution="file", path=path, size_unit="1460B")
    assert in_packets == built(size_distribution="web-search")


def _knots(name: str) -> list[tuple[int, float]]:
    sizes = built_in(name)
    return list(zip(sizes.size.tolist(), sizes.fraction.tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", 'sizes.cdf: got "no lines"; allowed: 1 on the last line'),
        ("# 1 1\n", 'got "no lines"'),
        ("100 0.5\n200 0.9\n", "sizes.cdf:2: fraction: got 0.9; allowed: 1 on the last line"),
        ("100 0.5\n\n90 1\n", 'sizes.cdf:3: size: got "90"; allowed: a whole number from 100 to'),
        ("100 0.5\n200 0.4\n", 'sizes.cdf:2: fraction: got "0.4"; allowed: a number from 0.5 to 1'),
        ("0 0\n10000 15\n", 'sizes.cdf:2: fraction: got "15"; allowed: a number from 0 to 1 (not in percent)'),
        ("100 nan\n", 'sizes.cdf:1: fraction: got "nan"; allowed: a number from 0 to 1'),
        ("100 half\n", 'sizes.cdf:1: fraction: got "half"; allowed: a number from 0 to 1'),
        ("1.5 1\n", 'sizes.cdf:1: size: got "1.5"; allowed: a whole number'),
        ("-1 1\n", 'sizes.cdf:1: size: got "-1"; allowed: a whole number'),
        ("100\n", 'sizes.cdf:1: got "100"; allowed: a size and a fraction, or a size, anything and a fraction'),
        ("1 2 3 1\n", 'sizes.cdf:1: got "1 2 3 1"; allowed: a size and a fraction'),
        ("0 1\n", "sizes.cdf:1: size: got 0; allowed: a last size of 1 or more"),
    ],
)
def test_file_of_sizes_that_is_malformed(tmp_path: Path, text: str, error: str) -> None:
    path = tmp_path / "sizes.cdf"
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        built(size_distribution="file", path=path)
    assert error in str(caught.value)
    assert "\n" not in str(caught.value)


def test_file_of_sizes_that_cannot_be_read(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none.cdf", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(ScenarioError, match=why):
            read_sizes(path)
    (tmp_path / "binary.cdf").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="a text file"):
        read_sizes(tmp_path / "binary.cdf")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"load": 0}, "load: got 0; allowed: a number from 1e-6 to 1"),
        ({"load": 1.5}, "load: got 1.5; allowed: a number from 1e-6 to 1"),
        ({"size_distribution": "file"}, 'path: got nothing; allowed: a file with size_distribution = "file"'),
        ({"path": "a.cdf"}, 'path: got "a.cdf"; allowed: none, but with size_distribution = "file"'),
        (
            {"size_unit": "1460B"},
            'size_unit: got "1460B"; allowed: a unit of sizes with size_distribution = "file" only',
        ),
        ({"messages_count": 0}, "messages_count: got 0; allowed: an integer from 1 to 100000000"),
        ({"duration": "0s"}, 'duration: got "0ps"; allowed: a duration from 1ns to'),
    ],
)
def test_what_is_refused(fields: dict[str, Any], error: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Poisson(**fields)
    assert error in str(caught.value)


def test_more_messages_than_memory_holds_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"workload\.duration: got .*; allowed: a time in which 100000000 messages"):
        built(duration="1000s", size_distribution="web-search", load=1)
    assert len(built(duration="1000s", messages_count=10)) == 10


def test_a_time_in_which_nothing_arrives() -> None:
    with pytest.raises(ScenarioError, match='workload: got "no messages"'):
        built(duration="1ns", load=1e-6)
