"""What a run depends on and what it does not, how it ends, and what it says to bad input."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from door import Columns, assert_same, configure, fat_tree, leaf_spine, link, messages, permutation, run

from fabricsim import scenario

BALANCERS = tuple("pofan:2" if kind == "pofan" else kind for kind in scenario.BALANCERS)
UNEVEN = fat_tree(6, edge_agg_link=link(400, 300_000), links_down=[["edge-0", "agg-1"]])


def tangle(hosts: int, rows: int, seed: int) -> Columns:
    """Messages of all sizes, several a host, with dependencies and triggers; no two alike."""
    draw = np.random.default_rng(seed)
    src = draw.integers(0, hosts, rows)
    dst = (src + draw.integers(1, hosts, rows)) % hosts
    sizes = draw.permutation(rows) * 700
    dependent = draw.integers(rows // 2, rows, rows // 4)
    return messages(
        src,
        dst,
        map(int, sizes),
        map(int, draw.integers(0, 10**6, rows)),
        dep_message=dependent,
        dep_on=draw.integers(0, rows // 2, rows // 4),
        dep_event=draw.integers(0, 2, rows // 4),
        trigger_count=[2, 0],
        fire_trigger=[0, 0, 1, 1],
        fire_message=[0, 1, 2, 3],
        fire_event=[0, 1, 0, 1],
        target_trigger=[0, 0, 1, 1],
        target_message=[rows - 1, rows - 2, rows - 3, rows - 4],
    )


def shuffled(columns: Columns, order: np.ndarray[Any, Any]) -> Columns:
    """The same messages in the order of rows `order`."""
    place = np.argsort(order).astype(np.uint32)
    moved = {name: columns[name][order] for name in ("src", "dst", "bytes", "start_ps", "rank")}
    moved |= {name: place[columns[name]] for name in ("dep_message", "dep_on", "fire_message", "target_message")}
    return columns | moved


@pytest.mark.parametrize("balancer", BALANCERS)
def test_any_number_of_threads_gives_the_same_bytes(balancer: str) -> None:
    columns = tangle(54, 150, 1)
    marks = {"ecn_threshold_bytes": 8000, "buffer_bytes": 60_000}
    one, *more = (
        run(configure(UNEVEN, balancer, threads=threads, port=marks, measure={"trace": True}), columns)
        for threads in (1, 2, 3, 4, 8)
    )
    assert len(one["trace"]["at_ps"]) > 10_000
    assert one["ports"]["marked_count"].sum() > 0
    for other in more:  # how far a ring had to grow depends on when its consumer got to it
        assert_same(one, other, but=("threads", "peak_rings_bytes"))


@pytest.mark.parametrize("balancer", BALANCERS)
def test_the_order_of_the_list_means_nothing(balancer: str) -> None:
    columns = tangle(54, 120, 2)
    order = np.random.default_rng(3).permutation(120)
    one = run(configure(UNEVEN, balancer), columns)
    other = run(configure(UNEVEN, balancer), shuffled(columns, order))
    for name, column in one["flows"].items():
        np.testing.assert_array_equal(column[order], other["flows"][name], err_msg=name)
    for name, column in one["ports"].items():
        np.testing.assert_array_equal(column, other["ports"][name], err_msg=name)


@pytest.mark.parametrize("balancer", BALANCERS)
@pytest.mark.parametrize("buffer_bytes", [None, 20_000])
def test_to_measure_changes_nothing(balancer: str, buffer_bytes: int | None) -> None:
    columns = tangle(54, 120, 4)
    outputs = [
        run(
            configure(UNEVEN, balancer, port={"buffer_bytes": buffer_bytes}, measure={"queues": on, "trace": on}),
            columns,
        )
        for on in (True, False)
    ]
    for name, column in outputs[0]["flows"].items():
        np.testing.assert_array_equal(column, outputs[1]["flows"][name], err_msg=name)
    for name in ("data_bytes", "control_frames_count", "dropped_data_count", "dropped_control_count"):
        np.testing.assert_array_equal(outputs[0]["ports"][name], outputs[1]["ports"][name], err_msg=name)
    assert outputs[0]["ports"]["max_queue_bytes"].any()
    assert len(outputs[1]["trace"]["at_ps"]) == 0


@pytest.mark.parametrize("balancer", BALANCERS)
def test_the_seed_names_the_run(balancer: str) -> None:
    columns = permutation(54, 1, 30)
    one, again, other = (run(configure(fat_tree(6), balancer, seed), columns) for seed in (1, 1, 2))
    assert_same(one, again)
    assert not np.array_equal(one["flows"]["last_acked_at_ps"], other["flows"]["last_acked_at_ps"])


def test_a_run_over_its_time_limit_says_so() -> None:
    output = run(configure(fat_tree(4), limit_ps=4_000_000), permutation(16, 1, 200))
    assert output["status"] == "time-limit"
    assert 0 < output["flows"]["delivered_packets_count"].sum() < 16 * 200
    assert 4_000_000 <= output["totals"]["end_at_ps"] <= 4_500_000


@pytest.mark.parametrize(
    "edges",
    [
        {"dep_message": [0, 1], "dep_on": [1, 0], "dep_event": [0, 0]},
        {"dep_message": [1], "dep_on": [1], "dep_event": [1]},
        {
            "trigger_count": [2],
            "target_trigger": [0],
            "target_message": [1],
            "fire_trigger": [0],
            "fire_message": [0],
            "fire_event": [0],
        },
        {"trigger_count": [0], "target_trigger": [0], "target_message": [1]},
    ],
    ids=["cycle", "itself", "too few activations", "no activation"],
)
def test_what_waits_for_ever_is_stuck(edges: dict[str, list[int]]) -> None:
    output = run(configure(fat_tree(4)), messages([0, 0, 2], [3, 2, 1], 8192, **edges))
    assert output["status"] == "stuck"
    assert output["flows"]["delivered_packets_count"][1] == 0
    assert output["flows"]["delivered_packets_count"][2] == 2


def test_dependencies_act_at_once_at_home_and_after_the_smallest_latency_elsewhere() -> None:
    """Row 0 goes from host 0 to 15. Rows 1 (at its receiver) and 2 (elsewhere) wait for its arrival, rows 3 (at its
    sender) and 4 (elsewhere) for its ACK."""
    waits = {"dep_message": [1, 2, 3, 4], "dep_on": [0, 0, 0, 0], "dep_event": [0, 0, 1, 1]}
    fabric = fat_tree(4, edge_agg_link=link(800, 123_000))
    output = run(
        configure(fabric, transport={"start_jitter": "none"}),
        messages([0, 15, 9, 0, 9], [15, 3, 1, 2, 5], 4096, **waits),
    )
    delivered_at = 6 * 41_580 + 4 * 500_000 + 2 * 123_000
    # Host 15 has row 1 to send when the packet is there, and begins with data: the ACK waits for one frame and its gap.
    acked_at = delivered_at + 41_780 + 6 * 640 + 4 * 500_000 + 2 * 123_000
    starts = output["flows"]["started_at_ps"].tolist()
    assert starts == [0, delivered_at, delivered_at + 123_000, acked_at, acked_at + 123_000]


def test_a_cut_pair_is_named_with_the_links_that_cut_it() -> None:
    fabric = fat_tree(4, links_down=[["edge-0", "agg-0"], ["edge-0", "agg-1"], ["agg-7", "core-3"]])
    with pytest.raises(ValueError, match=r"host-0.*host-15.*edge-0/agg-0.*edge-0/agg-1"):
        run(configure(fabric), messages([5, 0], [6, 15], 4096))
    assert run(configure(fabric), messages([5, 0], [6, 1], 4096))["status"] == "done"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("threads", 0),
        ("time_limit_ps", 0),
        ("frame.payload_bytes", 0),
        ("frame.payload_bytes", 2**20),
        ("frame.ack_bytes", 0),
        ("port.buffer_bytes", 100),
        ("transport.load", 0.0),
        ("transport.load", 1.5),
        ("balancer.ports_per_pipe", 0),
        ("fabric.pods", 0),
        ("fabric.aggs_per_pod", 1000),
        ("fabric.host_link.rate_bps", 0),
        ("fabric.agg_core_link.latency_ps", 0),
        ("fabric.links_down", [["edge-0", "agg-99"]]),
        ("fabric.links_down", [["host-0", "edge-0"]]),
        ("fabric.links_down", [["agg-0", "edge-0"]]),
    ],
)
def test_a_bad_value_is_refused_by_name(path: str, value: object) -> None:
    config = configure(fat_tree(4), "pofan:2")
    *parts, name = path.split(".")
    place = config
    for part in parts:
        place[part] = dict(place[part])
        place = place[part]
    place[name] = value
    with pytest.raises(ValueError, match=path.replace(".", r"\.")) as caught:
        run(config, messages([0], [1], 1))
    assert "allowed" in str(caught.value)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("src", 16, "messages.src"),
        ("dst", 99, "messages.dst"),
        ("dst", 0, "messages.dst"),
        ("bytes", 2**63, "messages.bytes"),
        ("start_ps", 2**64 - 1, "messages.start_ps"),
        ("dep_on", 7, "messages.dep_on"),
        ("dep_event", 2, "messages.dep_event"),
        ("fire_trigger", 5, "messages.fire_trigger"),
        ("target_message", 3, "messages.target_message"),
    ],
)
def test_a_bad_message_is_refused_by_column(column: str, value: int, words: str) -> None:
    edges = {"dep_message": [1], "dep_on": [0], "dep_event": [0], "trigger_count": [1], "fire_trigger": [0]}
    edges |= {"fire_message": [0], "fire_event": [0], "target_trigger": [0], "target_message": [1]}
    columns = messages([0, 1], [1, 2], 1, **edges)
    columns[column][0] = value
    with pytest.raises(ValueError, match=words):
        run(configure(fat_tree(4)), columns)


@pytest.mark.parametrize("change", [{"colour": 1}, {"balancer": {"kind": "best"}}, {"transport": {"kind": "paced"}}])
def test_unknown_and_missing_fields_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="config: "):
        run(configure(fat_tree(4)) | change, messages([0], [1], 1))


@pytest.mark.parametrize("name", ["src", "dep_event", "target_message"])
def test_a_wrong_column_is_refused(name: str) -> None:
    columns = messages([0], [1], 1)
    with pytest.raises(ValueError, match=f"messages.{name}"):
        run(configure(fat_tree(4)), columns | {name: columns[name].astype(np.int16)})
    with pytest.raises(ValueError, match=f"messages.{name}"):
        run(configure(fat_tree(4)), {key: column for key, column in columns.items() if key != name})


def endless() -> tuple[dict[str, Any], Columns]:
    """A run of minutes: 50 GB from each of 128 hosts."""
    config = configure(fat_tree(8), limit_ps=10**15)
    return config, permutation(128, 1, 12_000_000)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_progress_callback_that_raises_stops_the_run(threads: int) -> None:
    config, columns = endless()
    calls = []

    def watch(*seen: int) -> None:
        calls.append(seen)
        if len(calls) == 3:
            raise LookupError("enough")

    begun = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        run(config | {"threads": threads}, columns, watch)
    assert time.monotonic() - begun < 5
    times = [at for at, _, _ in calls]
    assert 0 < times[0] < times[1] < times[2]
    assert {(finished, total) for _, finished, total in calls} == {(0, 128)}


def test_an_interrupt_from_the_keyboard_stops_the_run() -> None:
    config, columns = endless()
    pressed_at: list[float] = []

    def press() -> None:
        pressed_at.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.3, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(config, columns)
    assert time.monotonic() - pressed_at[0] < 1
    timer.join()


def test_the_interpreter_lock_is_free_during_a_run() -> None:
    """Another thread gets to count while the engine works."""
    beats: list[float] = []
    over = threading.Event()

    def beat() -> None:
        while not over.wait(0.005):
            beats.append(time.monotonic())

    thread = threading.Thread(target=beat)
    thread.start()
    begun = time.monotonic()
    run(configure(leaf_spine(8, 8, 8)), permutation(64, 1, 4000))
    ended = time.monotonic()
    over.set()
    thread.join()
    during = sum(begun < at < ended for at in beats)
    assert during > (ended - begun) / 0.005 / 10
    assert during >= 3
