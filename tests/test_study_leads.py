"""`leads`: ratios to one scheme along an axis, held against numbers computed by hand."""

from __future__ import annotations

import polars as pl
import pytest

from fabricsim.study import leads

ROWS = [
    # transport, size, seed, cct
    ("dcsim", 1, 1, 10.0), ("dcsim", 1, 2, 20.0), ("dcsim", 2, 1, 30.0), ("dcsim", 2, 2, 30.0),
    ("dcpim", 1, 1, 20.0), ("dcpim", 1, 2, 30.0), ("dcpim", 2, 1, 60.0), ("dcpim", 2, 2, 60.0),
    ("phost", 1, 1, 8.0), ("phost", 1, 2, 16.0), ("phost", 2, 1, 33.0), ("phost", 2, 2, 36.0),
]  # fmt: skip
TABLE = pl.DataFrame(ROWS, schema=["transport", "size", "seed", "cct"], orient="row")


def test_ratios_are_of_the_same_seed_at_every_value_of_the_axis() -> None:
    found = leads(TABLE, "cct", "size", "dcsim", ("dcpim", "phost"))
    values = {other: [along[size].value for size in (1, 2)] for other, along in found.ratios.items()}
    assert values == {"dcpim": [pytest.approx(1.75), 2], "phost": [pytest.approx(0.8), pytest.approx(1.15)]}
    assert str(found).startswith("dcPIM 1.75 ± 0.25 at 1, 2.00 ± 0.00 at 2; pHost 0.80 ± 0.00 at 1")
    assert str(found.smallest()) == "dcPIM 1.75 ± 0.25 at 1; pHost 0.80 ± 0.00 at 1"
    assert found.reduction() == pytest.approx((3 / 7 + 1 / 2 + (1 - 1.25) + 3 / 23) / 4)


@pytest.mark.parametrize(
    ("others", "least", "expected"),
    [
        (("dcpim",), 1, True),
        (("dcpim",), 1.5, None),  # 1.75 lies one error above
        (("dcpim",), 1.8, False),
        (("dcpim", "phost"), 1, False),
    ],
)
def test_ahead_everywhere(others: tuple[str, ...], least: float, expected: bool | None) -> None:
    assert leads(TABLE, "cct", "size", "dcsim", others).verdict(least)[1] is expected


def test_an_axis_may_be_cut_to_some_values_and_others_fixed() -> None:
    split = TABLE.with_columns(order=pl.lit("random"))
    found = leads(split, "cct", "size", "dcsim", ("phost",), values=(2,), order="random")
    assert list(found.ratios["phost"]) == [2]
    assert found.everywhere() is True
    for wrong in ({"order": "index"}, {"values": ()}):
        with pytest.raises(LookupError):
            leads(split, "cct", "size", "dcsim", ("phost",), **wrong)
