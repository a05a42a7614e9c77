"""Random scenarios with every kind of part, drawn from the ranges that their models declare."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from fabricsim.scenario import (
    BALANCERS,
    TRANSPORTS,
    AllToAll,
    AllToAllV,
    Bytes,
    Collectives,
    DcpimTrace,
    Deployment,
    Duration,
    FatTree,
    Frame,
    Htsim,
    Incast,
    InfiniteAllToAll,
    InterPodPermutation,
    LeafSpine,
    Link,
    Loss,
    Measure,
    MessageList,
    PacketCount,
    Permutation,
    Pfc,
    Poisson,
    Port,
    Rate,
    Run,
    Scenario,
    SharedBuffer,
)
from fabricsim.scenario.combinations import MOST_INTERVALS, balancers_of
from fabricsim.scenario.ranges import Ascending, Between, Real, Whole
from fabricsim.scenario.transports.scheme import LONGEST_WAIT
from fabricsim.scenario.transports.window import WindowSize


def values(field: FieldInfo) -> st.SearchStrategy[Any]:
    """Any value that the field takes."""
    if get_origin(field.annotation) is Literal:
        return st.sampled_from(get_args(field.annotation))
    if field.annotation is bool:
        return st.booleans()
    (limits,) = field.metadata
    words = st.sampled_from(limits._texts) if limits._texts else st.nothing()
    return words | _in(limits)


def _in(limits: Any) -> st.SearchStrategy[Any]:
    """Any value of a range."""
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
        case WindowSize():
            # Large enough for a frame, whatever the frame and the fabric.
            return st.integers(2**20, 2**40).map(Bytes) | st.integers(1, 2**20).map(PacketCount)
    raise AssertionError(f"no strategy for {limits}")


def built(model: Any) -> st.SearchStrategy[Any]:
    # Each field is at its default in half of the draws.
    fields = {
        name: st.just(field.default) | values(field) for name, field in model.model_fields.items() if name != "kind"
    }
    return st.fixed_dictionaries(fields).map(_fitted).map(lambda drawn: model(**drawn))


def _fitted(drawn: dict[str, Any]) -> dict[str, Any]:
    """Advertise at samples, at the one before; start with no more than the largest window."""
    if "advertise_interval" in drawn:
        advertise, sample = drawn["advertise_interval"], drawn["sample_interval"]
        drawn["advertise_interval"] = Duration(max(1, advertise // sample) * sample)
    windows = [drawn.get(name, "auto") for name in ("initial_window_packets", "max_window_packets")]
    if "auto" not in windows:
        drawn["initial_window_packets"], drawn["max_window_packets"] = sorted(windows)
    ends = [drawn.get(f"flow_scaling_{end}_packets", 0) for end in ("from", "to")]
    if ends[1] and not ends[0] * 1.1 < ends[1]:
        drawn |= {"flow_scaling_from_packets": 1.0, "flow_scaling_to_packets": max(2.0, ends[1])}
    if type(drawn.get("initial_window")) is not type(drawn.get("max_window")):
        drawn |= {"initial_window": "auto"} if "initial_window" in drawn else {}
    elif "initial_window" in drawn:
        drawn["initial_window"], drawn["max_window"] = sorted((drawn["initial_window"], drawn["max_window"]))
    return drawn


ON_SWITCHES = [kind for kind, model in BALANCERS.items() if model.where == "switch"]

balancers = st.sampled_from(list(BALANCERS)).flatmap(lambda kind: built(BALANCERS[kind]))
ANY_TRANSPORT = tuple(TRANSPORTS)
transports = st.sampled_from(ANY_TRANSPORT).flatmap(lambda kind: built(TRANSPORTS[kind]))

rates = st.integers(10**6, 10**14).map(Rate)
latencies = st.integers(1, 10**12).map(Duration)
links = st.none() | st.builds(Link, rate=rates, latency=latencies)
sizes = st.integers(0, 2**40).map(Bytes)
orders = st.sampled_from(["random", "index", "shift"])
losses = st.lists(
    st.builds(
        Loss,
        packet=st.sampled_from(get_args(Loss.model_fields["packet"].annotation)),
        probability=st.integers(0, 10**6).map(lambda ppm: ppm / 10**6),
    ),
    max_size=2,
    unique_by=lambda loss: loss.packet,
)


@st.composite
def fabrics(draw: st.DrawFn) -> FatTree | LeafSpine:
    half = draw(st.integers(1, 6))
    ratio = draw(st.sampled_from([d for d in range(1, half + 1) if half % d == 0]))
    rate = draw(rates)
    shared: dict[str, Any] = {"radix": 2 * half, "rate": rate, "latency": draw(latencies), "host_link": draw(links)}
    lower, upper, model = draw(st.sampled_from([("edge", "agg", FatTree), ("leaf", "spine", LeafSpine)]))
    down = [(f"{lower}-0", f"{upper}-0")] if draw(st.booleans()) else []
    degraded = [{"link": (f"{lower}-1", f"{upper}-0"), "rate": Rate(10**6)}] if half > 1 and draw(st.booleans()) else []
    shared |= {"links_down": down, "links_degraded": degraded, "losses": draw(losses)}
    if draw(st.booleans()):
        changed = {"link": (f"{upper}-0", f"{lower}-0"), "state": "up" if down else "down", "at": draw(latencies)}
        shared |= {"link_events": [changed], "reconvergence_delay": draw(latencies)}
    if model is LeafSpine:
        return LeafSpine(**shared, oversubscription=ratio)
    slow = draw(st.sampled_from([1.0, 0.0]) | st.floats(10**6 / rate, 1))
    return FatTree(**shared, edge_oversubscription=ratio, even_cores_rate_fraction=slow)


workloads = st.one_of(
    st.builds(Permutation, message=sizes),
    st.builds(InterPodPermutation, message=sizes),
    st.builds(AllToAll, per=st.sampled_from(["flow", "host"]), message=sizes, order=orders),
    st.builds(AllToAllV, message=sizes, order=orders),
    st.builds(InfiniteAllToAll, duration=st.integers(10**3, 10**15).map(Duration), order=orders),
    st.builds(
        Collectives,
        count=st.integers(1, 9),
        sizes=st.lists(st.integers(2, 64), min_size=1, max_size=3),
        pattern=st.sampled_from(["all-to-all-v", "all-to-all", "permutation"]),
        message=sizes,
        order=orders,
    ),
    st.builds(Poisson, load=st.floats(1e-6, 1), messages_count=st.none() | st.integers(1, 10**8)),
    st.builds(Incast, senders=st.integers(1, 7), receiver=st.integers(0, 7), message=sizes),
    st.just(MessageList(messages=[{"src": 0, "dst": 1, "bytes": 5, "id": "a"}, {"src": 1, "dst": 0, "bytes": "1kB"}])),
    st.builds(Htsim, path=st.sampled_from(["a b.cm", "ä\"'\\.cm"]), start_unit=st.sampled_from(["us", "ps"])),
    st.builds(DcpimTrace, path=st.just("a.txt")),
)
frames = st.builds(
    Frame,
    payload=st.integers(1, 2**16).map(Bytes),
    header=st.integers(0, 200).map(Bytes),
    ack=st.integers(1, 200).map(Bytes),
    gap=st.integers(0, 200).map(Bytes),
    last_frame=st.sampled_from(["full", "short"]),
)
runs = st.builds(
    Run,
    seed=st.integers(0, 2**64 - 1),
    threads=st.just("auto") | st.integers(1, 1024),
    time_limit=st.integers(1, 10**18).map(Duration),
)


@st.composite
def deployments(draw: st.DrawFn, kinds: list[str]) -> Deployment:
    """Switches that run one of these kinds."""
    return Deployment(
        balancer=draw(built(BALANCERS[draw(st.sampled_from(kinds))])),
        placement=draw(st.sampled_from(["random-switches", "all-edge"])),
        fraction=draw(st.floats(0, 1)),
        seed=draw(st.none() | st.integers(0, 2**64 - 1)),
    )


large = st.integers(2**20, 2**40).map(Bytes)
steps = st.fixed_dictionaries({"ecn_at": st.sampled_from(["dequeue", "enqueue"])})
slopes = st.tuples(large, large).map(lambda ends: {"ecn_threshold": min(ends), "ecn_full_threshold": max(ends)})
limits = st.fixed_dictionaries({"buffer": st.sampled_from(["auto", "infinite"]) | large})
shared = st.builds(SharedBuffer, size=large, alpha=st.floats(1, 1000)).map(lambda one: {"shared_buffer": one})
control_first = st.sampled_from(["off", "arriving", "random"]).map(lambda how: {"control_first": True, "trimming": how})
pauses = st.builds(Pfc, xoff=st.just("auto") | large).map(lambda one: {"pfc": one})


@st.composite
def ports(draw: st.DrawFn, transport: Any) -> Port:
    """Ports that go with the transport."""
    if transport.discipline != "fifo":
        return Port(buffer=draw(st.just("infinite") | large), ecn_threshold=draw(st.sampled_from(["auto", "none"])))
    kinds = [limits, shared, *([control_first, pauses] if transport.has_window else [])]
    marks = st.fixed_dictionaries({"ecn_threshold": st.sampled_from(["auto", "none"]) | large})
    return Port(**draw(st.one_of(kinds)), **draw(steps), **draw(marks | slopes))


@st.composite
def measures(draw: st.DrawFn, run: Run, edge: str, has_window: bool) -> Measure:
    shortest = max(1000, -(-int(run.time_limit) // MOST_INTERVALS))
    interval = draw(st.none() | st.integers(shortest, LONGEST_WAIT).map(Duration))
    ports = [None, f"{edge}-0/host-0", f"host-0/{edge}-0"] if interval else [None]
    flags = {"queues": draw(st.booleans()), "trace": draw(st.booleans())}
    messages = [(), (0,)] if interval and has_window else [()]
    watched = {"watched_port": draw(st.sampled_from(ports)), "watched_messages": draw(st.sampled_from(messages))}
    most_rows = draw(st.none() | st.integers(2, 1000)) if interval else None
    return Measure(**flags, **watched, interval=interval, most_rows=most_rows)


@st.composite
def scenarios(draw: st.DrawFn, kinds: tuple[str, ...] = ANY_TRANSPORT) -> Scenario:
    """Any scenario of these kinds of transport, with parts that go together."""
    fabric, transport, run = draw(fabrics()), draw(built(TRANSPORTS[draw(st.sampled_from(kinds))])), draw(runs)
    going = balancers_of(transport.kind)
    mixing = [kind for kind in ON_SWITCHES if kind in going and kind not in ("conga", "sglb", "ecmp")]
    frame, port = draw(frames), draw(ports(transport))
    if transport.discipline != "fifo" or port.control_first:
        frame = frame.replace(ack=min(frame.ack, Bytes(frame.data_bytes)))
    return Scenario(
        fabric=fabric,
        workload=draw(workloads),
        balancer=draw(built(BALANCERS[draw(st.sampled_from(going))])),
        deployment=draw(st.none() | deployments(mixing)) if mixing and transport.kind != "dcsim" else None,
        transport=transport,
        frame=frame,
        port=port,
        measure=draw(measures(run, list(fabric.nodes_count)[1], transport.has_window)),
        run=run,
    )
