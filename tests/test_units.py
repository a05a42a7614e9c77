"""Sizes, rates and durations: exact both ways, and no unit is ever guessed."""

import contextlib
import copy
import json
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricsim.errors import ScenarioError
from fabricsim.scenario.part import Part
from fabricsim.scenario.units import LARGEST, Bytes, Duration, Quantity, Rate

CLASSES = [Bytes, Rate, Duration]


class Holder(Part):
    size: Bytes = Bytes("1MiB")
    rate: Rate = Rate("800Gbps")
    time: Duration = Duration("500ns")


@pytest.mark.parametrize(
    ("quantity", "text", "number"),
    [
        (Bytes, "1MiB", 1_048_576),
        (Bytes, "100kB", 100_000),
        (Bytes, "100KB", 100_000),
        (Bytes, "1MB", 1_000_000),
        (Bytes, "1.5KiB", 1536),
        (Bytes, "0.001kB", 1),
        (Bytes, " 64 B ", 64),
        (Bytes, "0B", 0),
        (Bytes, "5GB", 5_000_000_000),
        (Rate, "800Gbps", 800_000_000_000),
        (Rate, "1.6Tbps", 1_600_000_000_000),
        (Rate, "400Gb/s", 400_000_000_000),
        (Rate, "2.5Gbit/s", 2_500_000_000),
        (Duration, "500ns", 500_000),
        (Duration, "0.2ns", 200),
        (Duration, "17.05694us", 17_056_940),
        (Duration, "1µs", 1_000_000),
        (Duration, "1s", 10**12),
    ],
)
def test_texts_are_read_exactly(quantity: type[Quantity], text: str, number: int) -> None:
    assert int(quantity(text)) == number


def test_a_text_that_floats_would_round_is_exact() -> None:
    # 0.1 + 0.2 trouble: as a double, 8192.0000000000000001 kB is 8192 kB; exactly, it is no whole number of bytes.
    with pytest.raises(ScenarioError, match="whole number of bytes"):
        Bytes("8192.0000000000000001kB")
    assert int(Bytes("9007199254740993B")) == 2**53 + 1


@pytest.mark.parametrize(
    ("quantity", "text", "says"),
    [
        (Bytes, "100", 'did you mean "100B"'),
        (Bytes, "1.5B", "a whole number of bytes"),
        (Bytes, "1Mb", "counts bits: did you mean MB?"),
        (Bytes, "1mib", 'did you mean "1MiB"'),
        (Bytes, "-1B", "0 or more"),
        (Bytes, "1e6B", "a text with a unit"),
        (Bytes, "", "a text with a unit"),
        (Bytes, "B", "a text with a unit"),
        (Bytes, "1 2B", "a text with a unit"),
        (Bytes, "١B", "a text with a unit"),
        (Bytes, "1_000B", "a text with a unit"),
        (Bytes, "9223372036854775808B", "at most"),
        (Bytes, "9" * 5000 + "B", "a text with a unit"),
        (Rate, "100GBps", "did you mean Gbps?"),
        (Rate, "100GB/s", "did you mean Gbps?"),
        (Rate, "100gbps", 'did you mean "100Gbps"'),
        (Rate, "0.5bps", "a whole number of bit/s"),
        (Rate, "100G", "a text with a unit"),
        (Duration, "0.5ps", "a whole number of picoseconds"),
        (Duration, "5min", "from ps to s"),
        (Duration, "nan", "a text with a unit"),
        (Duration, "infs", "a text with a unit"),
    ],
)
def test_wrong_texts_are_refused_with_a_hint(quantity: type[Quantity], text: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        quantity(text)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("quantity", CLASSES)
@pytest.mark.parametrize("value", [True, 1.0, float("nan"), None, -1, 2**63, b"1B", [1]])
def test_other_types_are_refused(quantity: type[Quantity], value: object) -> None:
    with pytest.raises(ScenarioError):
        quantity(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [1_048_576, 1.5, True, None, Rate("1bps"), pytest.param(10**5000, id="huge"), "1Gbps", ["1MiB"]]
)
def test_models_take_no_bare_number_and_no_other_unit(value: object) -> None:
    with pytest.raises(ScenarioError, match=r"^size: got "):
        Holder(size=value)


def test_a_bare_number_gets_the_text_it_may_have_meant() -> None:
    with pytest.raises(ScenarioError, match='did you mean "1048576B"'):
        Holder(size=1_048_576)


@given(st.sampled_from(CLASSES), st.integers(0, LARGEST))
def test_canonical_text_reads_back(quantity: type[Quantity], number: int) -> None:
    value = quantity(number)
    assert int(quantity(str(value))) == number
    assert str(quantity(str(value))) == str(value)


@given(st.sampled_from(CLASSES), st.integers(0, 10**12), st.integers(0, 6), st.data())
def test_decimal_texts_agree_with_fractions(
    quantity: type[Quantity], digits: int, places: int, data: st.DataObject
) -> None:
    unit, scale = data.draw(st.sampled_from(list(quantity.units.items())))
    number = f"{digits:0{places + 1}d}"
    text = (number[:-places] + "." + number[-places:] if places else number) + unit
    exact = Fraction(digits, 10**places) * scale
    if exact.denominator == 1 and exact <= LARGEST:
        assert int(quantity(text)) == exact
    else:
        with pytest.raises(ScenarioError):
            quantity(text)


@given(st.sampled_from(CLASSES), st.text(max_size=12))
def test_any_text_is_read_or_refused_with_one_error(quantity: type[Quantity], text: str) -> None:
    with contextlib.suppress(ScenarioError):
        assert 0 <= quantity(text) <= LARGEST


@given(st.integers(0, LARGEST), st.integers(0, LARGEST), st.integers(0, LARGEST))
def test_models_round_trip_through_json_and_python(size: int, rate: int, time: int) -> None:
    holder = Holder(size=Bytes(size), rate=Rate(rate), time=Duration(time))
    text = holder.model_dump_json()
    assert all(isinstance(value, str) for value in json.loads(text).values())
    assert Holder.model_validate_json(text) == holder
    assert Holder.model_validate(holder.model_dump()) == holder


def test_quantities_are_integers_that_copy_pickle_and_print() -> None:
    size = Bytes("4KiB")
    assert size == 4096
    assert size * 2 == 8192
    assert hash(size) == hash(4096)
    assert (f"{size}", f"{size:,}", repr(size)) == ("4KiB", "4,096", "Bytes('4KiB')")
    for twin in (copy.deepcopy(size), pickle.loads(pickle.dumps(size))):
        assert type(twin) is Bytes
        assert twin == size


def test_json_schema_pattern_accepts_what_is_read() -> None:
    import re

    for quantity in CLASSES:
        pattern = re.compile(quantity.text_schema()["pattern"])
        for text in (str(quantity(10**9)), quantity.example, f"1.5{list(quantity.units)[1]}"):
            assert pattern.search(text)
            quantity(text)
        for text in ("100", "nan", "-1" + quantity.base, "1 furlong"):
            assert not pattern.search(text)
