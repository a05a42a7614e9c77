"""Links that change in mid-run: names, order, and what is refused."""

import pytest

from fabricsim import FatTree, LeafSpine, Scenario, core_config
from fabricsim.errors import ScenarioError


def event(at: object, link: object, state: str) -> dict[str, object]:
    return {"at": at, "link": link, "state": state}


def test_events_are_kept_under_the_links_own_names_in_any_order() -> None:
    fabric = FatTree(
        radix=4,
        links_down=[("edge-1", "agg-0")],
        link_events=[
            event("9us", ("agg-0", "edge-0"), "up"),
            event("5us", ("ToR-0", "fabric-0"), "down"),
            event("0us", ("edge-1", "agg-0"), "up"),
        ],
        reconvergence_delay="100us",
    )
    lowered = core_config(Scenario(fabric=fabric))["fabric"]
    assert lowered["link_events"] == [
        {"at_ps": 9_000_000, "link": ["edge-0", "agg-0"], "state": "up"},
        {"at_ps": 5_000_000, "link": ["edge-0", "agg-0"], "state": "down"},
        {"at_ps": 0, "link": ["edge-1", "agg-0"], "state": "up"},
    ]
    assert lowered["reconvergence_delay_ps"] == 100_000_000
    assert core_config(Scenario())["fabric"]["link_events"] == []


@pytest.mark.parametrize(
    ("events", "field", "says"),
    [
        ([event("1us", ("edge-0", "agg-4"), "down")], "0.link", "two neighbours"),
        ([event("1us", ("edge-0", "agg-99"), "down")], "0.link", "agg-0 to agg-7"),
        ([event("1us", ("host-0", "edge-0"), "down")], "0.link", "links between switches"),
        ([event("1us", ("edge-0", "agg-0"), "up")], "0.state", '"down" (the link is up already)'),
        ([event("1us", ("edge-1", "agg-1"), "down")], "0.state", '"up" (the link is down already)'),
        (
            [event("2us", ("edge-0", "agg-0"), "down"), event("1us", ("agg-0", "edge-0"), "down")],
            "0.state",
            '"up" (the link is down already)',
        ),
        (
            [event("1us", ("edge-0", "agg-0"), "down"), event("1us", ("edge-0", "agg-0"), "up")],
            "1.at",
            "one event of a link at a time",
        ),
        ([event("-1us", ("edge-0", "agg-0"), "down")], "0.at", "of 0 or more"),
        ([event(5, ("edge-0", "agg-0"), "down")], "0.at", "did you mean"),
        ([event("1us", ("edge-0", "agg-0"), "dead")], "0.state", '"down" or "up"'),
    ],
)
def test_wrong_events_name_their_row(events: object, field: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        FatTree(radix=4, links_down=[("edge-1", "agg-1")], link_events=events)
    assert caught.value.field == f"link_events.{field}"
    assert says in caught.value.allowed


def test_a_link_may_change_often() -> None:
    states = ["down", "up"] * 5
    events = [event(f"{at}us", ("leaf-0", "spine-0"), state) for at, state in enumerate(states)]
    assert len(LeafSpine(radix=4, link_events=reversed(events)).link_events) == 10
