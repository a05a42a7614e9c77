"""The questions of the conformance suite, to balancers and to transports, and how one is put to a scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricsim.conformance import delivery, failures, queues, repeats, transports, windows
from fabricsim.conformance.cases import DoesNotApply, Lab
from fabricsim.conformance.report import Finding
from fabricsim.conformance.sound import Fault
from fabricsim.contestants import usual_balancer
from fabricsim.scenario.transports import TransportPart

if TYPE_CHECKING:
    from fabricsim.scenario.balancers import AnyBalancer
    from fabricsim.scenario.transports import AnyTransport


@dataclass(frozen=True)
class Question:
    """A name, what it asks, and the function that looks: it returns in words what it saw, or raises `Fault`."""

    name: str
    asks: str
    look: Callable[[Lab], str]


SUITE = (
    Question("delivery", "does every packet and every byte arrive exactly once", delivery.everything_once),
    Question("paths", "does every packet take a shortest path", delivery.shortest_paths),
    Question("order", "does every link deliver in the order in which packets came", delivery.links_in_order),
    Question("one uplink", "do switches with a single uplink work", delivery.one_uplink),
    Question("64 uplinks", "do switches with the most uplinks that there may be work", delivery.most_uplinks),
    Question("two levels", "do leaf-spine trees work", delivery.two_levels),
    Question("odd radices", "do 3, 5 and 6 uplinks work, which are no powers of two", delivery.odd_radices),
    Question("oversubscription", "do switches with fewer uplinks than hosts work", delivery.oversubscription),
    Question("dead links", "are links that are down kept clear of, and nothing lost for them", failures.dead_links),
    Question("link events", "is every frame accounted for when links die and are repaired", failures.link_events),
    Question("rerouting", "is an uplink that died avoided as soon as routing has converged", failures.rerouting),
    Question("seed", "does the seed decide the result, and nothing else", repeats.seed_decides),
    Question("threads", "do 2 and 4 threads give the result of one", repeats.threads_do_not_matter),
    Question("measures", "is the result the same whatever is measured", repeats.measures_do_not_matter),
    Question("edge uplinks", "do their queues keep within the proven bound", queues.edge_uplinks),
)


TRANSPORT_SUITE = (
    Question("delivery", "does every packet and every byte arrive once", transports.everything_once),
    Question("long messages", "do messages of many windows arrive", transports.long_messages),
    Question("losses", "is what links lose, of any kind of packet, made good", transports.losses),
    Question("full buffers", "is what buffers drop made good, and nothing stuck", transports.full_buffers),
    Question("incast", "do messages arrive that all go to one host at once", transports.incast),
    Question("link events", "is what dies with a link made good", transports.link_events),
    Question("chains", "do messages start when those they wait for are delivered or acknowledged", transports.chains),
    Question("counts", "are reordering, delay and retransmissions counted right", transports.counts),
    Question("few ACKs", "does a flow go on that is acknowledged now and then", windows.few_acks),
    Question("trimming", "is what ports cut to its header made good, with NACKs and without", windows.trimming),
    Question("pauses", "does all arrive at once where ports pause each other and drop nothing", windows.pauses),
    Question("seed", "does the seed decide the result, and nothing else", repeats.seed_decides),
    Question("threads", "do 2 and 4 threads give the result of one", repeats.threads_do_not_matter),
    Question("measures", "is the result the same whatever is measured", repeats.measures_do_not_matter),
)


def suite_of(scheme: AnyBalancer | AnyTransport) -> tuple[tuple[Question, ...], Lab]:
    """Return the questions for a scheme, and the lab that it is put into."""
    if isinstance(scheme, TransportPart):
        return TRANSPORT_SUITE, Lab(usual_balancer(scheme), scheme)
    return SUITE, Lab(scheme)


def find(question: Question, scheme: AnyBalancer | AnyTransport) -> Finding:
    """Put one question to a scheme. What goes wrong in a run, whatever it is, is the answer."""
    try:
        seen = question.look(suite_of(scheme)[1])
    except DoesNotApply as why:
        return Finding(question.name, question.asks, "does not apply", str(why))
    except (Fault, ValueError, RuntimeError) as wrong:
        return Finding(question.name, question.asks, "fail", " ".join(str(wrong).split()))
    return Finding(question.name, question.asks, "pass", seen)
