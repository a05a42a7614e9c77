"""Random balancers of every kind, drawn from the ranges that their models declare."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from fabricsim.scenario import BALANCERS, Duration
from fabricsim.scenario.ranges import Ascending, Between, Real, Whole


def values(field: FieldInfo) -> st.SearchStrategy[Any]:
    """Any value that the field takes."""
    if get_origin(field.annotation) is Literal:
        return st.sampled_from(get_args(field.annotation))
    (limits,) = field.metadata
    match limits:
        case Whole():
            return st.integers(limits.low, limits.high)
        case Real():
            return st.floats(limits.low, limits.high)
        case Between():
            return st.integers(limits.low, limits.high).map(type(limits.low))
        case Ascending():
            numbers = st.floats(limits.low, limits.high)
            return st.lists(numbers, min_size=limits.count, max_size=limits.count, unique=True).map(sorted).map(tuple)
    raise AssertionError(f"no strategy for {limits}")


def built(kind: str) -> st.SearchStrategy[Any]:
    model = BALANCERS[kind]
    # Each field is at its default in half of the draws.
    fields = {
        name: st.just(field.default) | values(field) for name, field in model.model_fields.items() if name != "kind"
    }
    return st.fixed_dictionaries(fields).map(_at_samples).map(lambda drawn: model(**drawn))


def _at_samples(drawn: dict[str, Any]) -> dict[str, Any]:
    """Advertise at samples, at the one before."""
    if "advertise_interval" in drawn:
        advertise, sample = drawn["advertise_interval"], drawn["sample_interval"]
        drawn["advertise_interval"] = Duration(max(1, advertise // sample) * sample)
    return drawn


ON_SWITCHES = [kind for kind, model in BALANCERS.items() if model.where == "switch"]

balancers = st.sampled_from(list(BALANCERS)).flatmap(built)
switch_balancers = st.sampled_from(ON_SWITCHES).flatmap(built)
