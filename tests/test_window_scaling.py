"""What must come of a transport with windows when all times double, when links get longer, when ACKs get fewer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fabricsim import Bytes, Duration, FatTree, Messages, Port, Run, Scenario, balancer_from_text, simulate
from fabricsim.results import Results
from fabricsim.scenario import Link, Measure, PacketCount, Rate
from fabricsim.scenario.transports import ConstantWindow, Dctcp, Mswift, Nscc, Swift
from fabricsim.scenario.transports.window import WindowPart

KINDS: tuple[type[WindowPart], ...] = (ConstantWindow, Dctcp, Nscc, Swift, Mswift)
# To a host under the same edge switch, in the same pod, in another pod: by the links of the path.
FAR = {2: 1, 4: 2, 6: 15}


def us(value: float) -> Duration:
    return Duration(round(value * 1_000_000))


def slowed(kind: type[WindowPart], factor: int) -> WindowPart:
    """The transport with its constants in time `factor` times as long; what follows from the fabric does by itself."""
    step: dict[str, Any] = {"start_jitter": "none", "rto": us(1000 * factor)}
    own: dict[type[WindowPart], dict[str, Any]] = {
        # 4 * 4096 B * a / 12 us, with a = 625,332 B / 150,000 B; a us counts half when time goes half as fast.
        Nscc: {"proportional_bytes_per_us": 5691.9 / factor, "fast_below": us(factor)},
        Swift: {"base_target": us(1.5 * factor)},
        Mswift: {"base_target": us(1.5 * factor)},
    }
    return kind(**step, **own.get(kind, {}))


def tree(factor: int = 1, latency_ps: int = 500_000) -> FatTree:
    cable = {"rate": Rate(800_000_000_000 // factor), "latency": Duration(latency_ps * factor)}
    return FatTree(radix=4, **{f"{tier}_link": Link(**cable) for tier in ("host", "edge_agg", "agg_core")})


def crowd(factor: int) -> Messages:
    """A message from each of 16 hosts to any other, several to some. With ECMP no two packets meet at one instant."""
    draw = np.random.default_rng(10)
    src = np.arange(16)
    dst = (src + draw.integers(1, 16, 16)) % 16
    starts = draw.choice(20_000, 16, replace=False)
    return Messages.from_arrays(src, dst, draw.integers(1, 250, 16) * 4096, start_ps=starts * factor)


def crowded(kind: type[WindowPart], balancer: str, factor: int, buffer: str) -> Results:
    scenario = Scenario(
        fabric=tree(factor),
        balancer=balancer_from_text(balancer),
        transport=slowed(kind, factor),
        port=Port(buffer=Bytes(buffer), ecn_threshold=Bytes("40kB")),
        measure=Measure(trace=True),
        run=Run(threads=1, time_limit="1s"),
    )
    return simulate(scenario, crowd(factor))


def completions(results: Results) -> NDArray[np.int64]:
    flows = results.flows
    return np.concatenate([(flows[f"last_{end}_ps"] - flows["start_ps"]).to_numpy() for end in ("delivered", "acked")])


def has_ties(results: Results) -> bool:
    """Whether two packets reach a node at one instant: a hash of the time settles which is first, so doubling shows."""
    assert results.trace is not None
    into = results.ports["to"].to_numpy()[results.trace["link"].to_numpy()]
    arrivals = list(zip(results.trace["at_ps"].to_list(), into.tolist(), strict=True))
    return len(set(arrivals)) < len(arrivals)


@pytest.mark.parametrize("buffer", ["60kB", "10MB"])
def test_a_constant_window_takes_exactly_twice_the_time_where_all_takes_twice_the_time(buffer: str) -> None:
    """Every packet everywhere, also those that are dropped and sent again."""
    one, two = (crowded(ConstantWindow, "ecmp", factor, buffer) for factor in (1, 2))
    assert not has_ties(one)
    assert (one.summary["drops_count"]["data"] > 500) == (buffer == "60kB")
    assert one.trace is not None
    assert two.trace is not None
    np.testing.assert_array_equal(2 * one.trace["at_ps"].to_numpy(), two.trace["at_ps"].to_numpy())
    for name in ("link", "flow", "psn", "kind"):
        assert one.trace[name].equals(two.trace[name])
    np.testing.assert_array_equal(2 * completions(one), completions(two))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("buffer", ["60kB", "10MB"])
def test_controllers_take_twice_the_time_once_their_constants_do(kind: type[WindowPart], buffer: str) -> None:
    """Each flow, within 1 %."""
    one, two = (crowded(kind, "ecmp", factor, buffer) for factor in (1, 2))
    assert one.summary["marks_count"] > 100
    np.testing.assert_allclose(completions(two) / completions(one), 2, rtol=0.01)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("balancer", ["ofan", "jsq", "drb"])
def test_so_they_do_on_the_whole_where_packets_meet(kind: type[WindowPart], balancer: str) -> None:
    """Sprayed packets come at one instant at times, and then take turns by chance: the mean flow, within 1 %."""
    one, two = (crowded(kind, balancer, factor, "10MB") for factor in (1, 2))
    assert has_ties(one)
    assert completions(two).mean() / completions(one).mean() == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("links", FAR)
def test_longer_links_add_their_latency_to_a_packet_exactly(kind: type[WindowPart], links: int) -> None:
    """And to its ACK once more; in an idle fabric the first window is out before anything comes back."""
    took = []
    for latency_ps in (500_000, 723_457):
        scenario = Scenario(fabric=tree(1, latency_ps), transport=kind(start_jitter="none"), run=Run(threads=1))
        took.append(completions(simulate(scenario, Messages.from_arrays([0], [FAR[links]], 4096))))
    assert (took[1] - took[0]).tolist() == [links * 223_457, 2 * links * 223_457]


def by_hand(links: int, packets: int) -> int:
    """Last ACK of a lone flow in ps: 41.58 ns a frame and 0.2 ns after it, 0.64 ns an ACK, 500 ns a link each way."""
    return (packets - 1) * 41_780 + links * (41_580 + 500_000) + links * (640 + 500_000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ack_every", ["packet", "4159B", "16384B", "123456B", "1GB"])
def test_a_lone_flow_ends_on_time_however_few_acks_there_are(kind: type[WindowPart], ack_every: str) -> None:
    """A window holds 225 packets and the first ACK is back after 151: the flow never waits, so all is as by hand.

    The first packet, the last and one for which a window was full are answered at once.
    """
    scenario = Scenario(
        fabric=tree(),
        transport=kind(start_jitter="none", ack_every=ack_every, rto=us(10_000)),
        port=Port(ecn_threshold="none"),
        run=Run(threads=1),
    )
    packets = 200
    results = simulate(scenario, Messages.from_arrays([0], [15], packets * 4096))
    assert results.flows["last_acked_ps"].to_list() == [by_hand(6, packets)]
    counts = results.summary["transport_counts"]
    every = 1 if ack_every == "packet" else -(-int(Bytes(ack_every)) // 4158)
    # The first packet, then one of `every`, and the last whether it is its turn or not.
    wanted = packets if every == 1 else 1 + (packets - 1) // every + ((packets - 1) % every > 0)
    assert counts["acks_sent_count"] == wanted
    assert counts["duplicates_count"] == counts["data_timeouts_count"] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [1, 2, 3, 7])
def test_acks_due_after_more_than_a_window_do_not_stop_a_flow(kind: type[WindowPart], window: int) -> None:
    """The packet that fills the window asks for its ACK, so no timeout is needed; a round trip a window at the most."""
    size = PacketCount(f"{window} packets")
    windows = {"window": size} if kind is ConstantWindow else {"max_window": size}
    packets = 40
    for every in (1, window, window + 1, 3 * window + 1, 1000):
        transport = kind(**windows, ack_every=Bytes(every * 4158), start_jitter="none", rto=us(10_000))
        scenario = Scenario(fabric=tree(), transport=transport, run=Run(threads=1))
        results = simulate(scenario, Messages.from_arrays([0], [15], packets * 4096))
        assert results.summary["transport_counts"]["data_timeouts_count"] == 0
        round_trips = -(-packets // window)
        assert results.flows["last_acked_ps"][0] <= round_trips * by_hand(6, window), (every, window)


@pytest.mark.parametrize("window", [1, 2, 3, 7])
def test_a_small_window_is_a_round_trip_each(window: int) -> None:
    """n windows of w packets and an ACK a packet: (n - 1) round trips of one packet, and one of w packets."""
    transport = ConstantWindow(window=PacketCount(f"{window} packets"), start_jitter="none")
    scenario = Scenario(fabric=tree(), transport=transport, run=Run(threads=1))
    results = simulate(scenario, Messages.from_arrays([0], [15], 20 * window * 4096))
    assert results.flows["last_acked_ps"].to_list() == [19 * by_hand(6, 1) + by_hand(6, window)]
