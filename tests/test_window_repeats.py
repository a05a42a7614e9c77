"""A run of hosts with windows is the same on any number of threads, whatever is measured, in any order of the list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_window_losses import WINDOWED

from fabricsim import BALANCERS, Bytes, Duration, FatTree, Messages, Port, Run, Scenario, balancer_from_text, simulate
from fabricsim.results import Results
from fabricsim.scenario import LinkEvent, Loss, Measure, Pfc, SharedBuffer
from fabricsim.scenario.transports import TRANSPORTS

EVERYTHING = Measure(trace=True, interval=Duration("1us"), watched_port="edge-0/host-0", watched_messages=(0, 3, 30))
SMALL = Bytes("60kB")
LOSSES = tuple(Loss(packet=kind, probability=0.01) for kind in ("data", "ack", "data-ack", "trimmed", "nack"))
EVENTS = tuple(
    LinkEvent(at=Duration(at), link=link, state=state)  # type: ignore[arg-type]
    for at, link, state in (("3us", ("edge-0", "agg-0"), "down"), ("9us", ("edge-0", "agg-0"), "up"))
)

# What windows and their ports can do, each with a transport of its own so that all are combined with something.
FEATURES: dict[str, tuple[str, dict[str, Any]]] = {
    "tail drops": ("constant-window", {"port": Port(buffer=SMALL)}),
    "coalesced ACKs": ("nscc:ack_every=16384B", {"port": Port(buffer=SMALL, ecn_threshold="none")}),
    "losses": ("mswift", {"fabric": {"losses": LOSSES}}),
    "links that come and go": ("nscc", {"fabric": {"link_events": EVENTS}}),
    "linear marks": ("dctcp", {"port": Port(ecn_threshold=Bytes("10kB"), ecn_full_threshold=Bytes("90kB"))}),
    "marks on arrival": ("dctcp", {"port": Port(ecn_threshold=Bytes("20kB"), ecn_at="enqueue")}),
    "control first": ("nscc", {"port": Port(buffer=SMALL, control_first=True)}),
    "control first, linear marks": (
        "nscc",
        {"port": Port(control_first=True, ecn_threshold=Bytes("10kB"), ecn_full_threshold=Bytes("90kB"))},
    ),
    "trimming": ("nscc", {"port": Port(buffer=SMALL, control_first=True, trimming="arriving")}),
    "random trimming and losses": (
        "swift",
        {"port": Port(buffer=SMALL, control_first=True, trimming="random"), "fabric": {"losses": LOSSES}},
    ),
    "shared buffer": ("constant-window", {"port": Port(shared_buffer=SharedBuffer(size="200kB", alpha=0.5))}),
    "pauses": ("constant-window", {"port": Port(pfc=Pfc(xoff="8kB", xon="4kB"))}),
    "pauses of data only": ("mswift", {"port": Port(pfc=Pfc(xoff="8kB", xon="4kB"), control_first=True)}),
}


def scenario(kind: str, fabric: dict[str, Any] | None = None, **parts: Any) -> Scenario:
    from fabricsim.scenario.transports.short_text import transport_from_text

    chosen: dict[str, Any] = {"measure": EVERYTHING, "run": Run(threads=1, time_limit="1s")}
    tree = FatTree(radix=4, **(fabric or {}))
    return Scenario(fabric=tree, transport=transport_from_text(kind), **{**chosen, **parts})


def crossing(order: np.ndarray[Any, Any] | None = None) -> Messages:
    """40 messages of up to 150 packets among 16 hosts, half of them to hosts 0 and 1; in any order of the list."""
    draw = np.random.default_rng(5)
    src = draw.integers(2, 16, 40)
    dst = np.where(np.arange(40) % 2 == 0, np.arange(40) // 2 % 2, (src + draw.integers(1, 16, 40)) % 16)
    sizes, starts = draw.permutation(40) * 16_000 + 1, draw.integers(0, 2_000_000, 40)
    rows = np.arange(40) if order is None else order
    return Messages.from_arrays(src[rows], dst[rows], sizes[rows], start_ps=starts[rows])


def assert_same(one: Results, other: Results) -> None:
    assert one.summary["status"] == other.summary["status"] == "done"
    assert one.summary["transport_counts"] == other.summary["transport_counts"]
    for name in ("flows", "ports", "series", "trace", "windows"):
        table, again = getattr(one, name), getattr(other, name)
        assert table is not None
        assert table.equals(again), name


@pytest.mark.parametrize("feature", FEATURES)
def test_threads_do_not_show(feature: str) -> None:
    kind, parts = FEATURES[feature]
    one, *others = (
        simulate(scenario(kind, **parts).replace(run=Run(threads=threads, time_limit="1s")), crossing())
        for threads in (1, 2, 3)
    )
    assert_happens(feature, one)
    for other in others:
        assert_same(one, other)


def assert_happens(feature: str, results: Results) -> None:
    """What is said to be repeated has taken place."""
    ports, flows = results.ports, results.flows
    seen = {
        name: int(ports[name].sum()) for name in ("marks", "dropped_data_count", "lost_data_count", "trimmed_count")
    }
    if "marks" in feature:
        assert 0 < seen["marks"] < ports["data_frames_count"].sum()
    if "drops" in feature or "buffer" in feature:
        assert seen["dropped_data_count"] > 0
    if "loss" in feature or "links" in feature:
        assert seen["lost_data_count"] > 0
    if "trimming" in feature:
        assert seen["trimmed_count"] > 0
    if "pauses" in feature:
        assert results.summary["paused_us"] > 0
    if "ACKs" in feature:
        assert results.summary["transport_counts"]["acks_sent_count"] < 0.7 * flows["packets_count"].sum()


@pytest.mark.parametrize("feature", FEATURES)
def test_what_is_measured_does_not_show(feature: str) -> None:
    kind, parts = FEATURES[feature]
    full = simulate(scenario(kind, **parts), crossing())
    for measure in (Measure(queues=False), Measure(), Measure(interval=Duration("1700ns"))):
        other = simulate(scenario(kind, **parts, measure=measure), crossing())
        assert other.flows.equals(full.flows)
        assert other.summary["transport_counts"] == full.summary["transport_counts"]
        for name in ("data_bytes", "control_frames_count", "marks", "drops", "trimmed_count", "paused_us"):
            assert other.ports[name].equals(full.ports[name]), name
        if measure.queues:
            assert other.ports["max_queue_bytes"].equals(full.ports["max_queue_bytes"])


@pytest.mark.parametrize("kind", WINDOWED)
@pytest.mark.parametrize("balancer", ["ofan", "reps", "flowlet"])
def test_the_order_of_the_list_does_not_show(kind: str, balancer: str) -> None:
    order = np.random.default_rng(6).permutation(40)
    base = scenario(kind, balancer=balancer_from_text(balancer), measure=Measure())
    listed, shuffled = simulate(base, crossing()), simulate(base, crossing(order))
    for name in ("start_ps", "last_delivered_ps", "last_acked_ps", "retransmitted_packets_count"):
        np.testing.assert_array_equal(listed.flows[name].to_numpy()[order], shuffled.flows[name].to_numpy())
    assert listed.ports.equals(shuffled.ports)


@pytest.mark.parametrize("balancer", BALANCERS)
def test_threads_do_not_show_under_any_balancer(balancer: str) -> None:
    base = scenario("nscc", balancer=balancer_from_text(balancer), port=Port(buffer=SMALL))
    one, other = (simulate(base.replace(run=Run(threads=threads, time_limit="1s")), crossing()) for threads in (1, 3))
    assert_same(one, other)


def test_every_kind_is_repeated() -> None:
    assert {kind.partition(":")[0] for kind, _ in FEATURES.values()} == set(WINDOWED) <= set(TRANSPORTS)
