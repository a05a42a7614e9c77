//! Switch side of load balancing: which uplink a northbound packet takes. Called only when a packet has to go up, when its last bit has arrived.

mod ar;
mod choice;
mod conga;
mod dlb;
mod drill;
mod ecmp;
mod everywhere;
mod flowlet;
mod jsq;
mod ofan;
mod pinned;
mod rsq;
mod sglb;
mod simple_rr;

use crate::fabric::{Reach, ValidPorts};
use crate::packet::Packet;
use crate::port::Port;
use crate::rng::Stream;
use crate::units::{NEVER, Ps};
pub use everywhere::everywhere;

/// What a balancer may look at when it decides.
pub struct Decision<'a> {
    /// When the packet's last bit arrived.
    pub now: Ps,
    /// The packet.
    pub packet: Packet,
    /// Destination edge switch at an edge switch, destination pod at an aggregation switch.
    pub key: u32,
    /// Local number of the port that it came in through.
    pub ingress: u32,
    /// Uplinks through which the destination can be reached; never empty.
    pub valid: &'a ValidPorts,
    /// All uplinks.
    pub uplinks: &'a mut [Port],
}

impl Decision<'_> {
    /// Whether the destination can be reached through this uplink; without failures it can through all.
    #[inline(always)]
    fn allows(&self, port: u16) -> bool {
        self.valid.len() == self.uplinks.len() || self.valid.contains(port)
    }

    /// Bytes that wait or are being sent at an uplink.
    #[inline(always)]
    fn queued_bytes(&mut self, port: u16) -> u64 {
        self.uplinks[usize::from(port)].queued_bytes(self.now)
    }
}

/// A scheme at one switch.
pub trait Balancer {
    /// The uplink for this packet, one of `decision.valid`.
    fn pick(&mut self, decision: Decision<'_>) -> u16;
}

/// A scheme that sees every packet of its switch, in both directions and in order of time, and may write into its path field.
pub trait Watchful {
    /// Time has come to `now`: every packet before it is in its port, down ports first in `ports`.
    fn advance(&mut self, now: Ps, reach: Reach<'_>, ports: &mut [Port]);

    /// The next moment at which it looks at the ports by itself.
    fn looks_at(&self) -> Ps {
        NEVER
    }

    /// The uplink for this packet, one of `decision.valid`. `packet` is what will be sent.
    fn climb(&mut self, decision: Decision<'_>, packet: &mut Packet) -> u16;

    /// A packet that came in through `ingress` goes down through `egress`.
    fn descend(&mut self, now: Ps, packet: &mut Packet, ingress: u32, egress: u32);
}

/// The closed set of schemes. Matched once a batch, so that the loop over packets is compiled for each scheme.
#[derive(Debug)]
pub enum SwitchBalancer {
    /// Hash of flow and entropy value; also what a host that sprays relies on.
    Ecmp(ecmp::Ecmp),
    /// One pointer.
    SimpleRr(simple_rr::SimpleRr),
    /// Shortest queue.
    Jsq(jsq::Jsq),
    /// Random uplink.
    Rsq(rsq::Rsq),
    /// Shortest of a few queues.
    Choice(choice::Choice),
    /// Shortest of a few queues and of the best seen last.
    Drill(drill::Drill),
    /// Quantised queues.
    Ar(ar::Ar),
    /// Local quality bands.
    Dlb(dlb::Dlb),
    /// A random uplink a burst.
    Flowlet(flowlet::Flowlet),
    /// The path that the host chose.
    Pinned(pinned::Pinned),
    /// A pointer a destination.
    Ofan(ofan::Ofan),
    /// A pointer a destination, which starts at the shortest queue.
    DynamicOfan(ofan::DynamicOfan),
    /// Least congested path.
    Conga(conga::Conga),
    /// Quality bands of whole paths.
    Sglb(sglb::Sglb),
}

/// Something to be done with the scheme of a switch, whichever it is.
pub trait Visit {
    /// With one that sees northbound packets only.
    fn balancer(&mut self, scheme: &mut impl Balancer);
    /// With one that sees all packets.
    fn watchful(&mut self, scheme: &mut impl Watchful);
}

impl SwitchBalancer {
    /// Does it.
    #[inline(always)]
    pub fn visit(&mut self, visit: &mut impl Visit) {
        match self {
            Self::Ecmp(scheme) => visit.balancer(scheme),
            Self::SimpleRr(scheme) => visit.balancer(scheme),
            Self::Jsq(scheme) => visit.balancer(scheme),
            Self::Rsq(scheme) => visit.balancer(scheme),
            Self::Choice(scheme) => visit.balancer(scheme),
            Self::Drill(scheme) => visit.balancer(scheme),
            Self::Ar(scheme) => visit.balancer(scheme),
            Self::Dlb(scheme) => visit.balancer(scheme),
            Self::Flowlet(scheme) => visit.balancer(scheme),
            Self::Pinned(scheme) => visit.balancer(scheme),
            Self::Ofan(scheme) => visit.balancer(scheme),
            Self::DynamicOfan(scheme) => visit.balancer(scheme),
            Self::Conga(scheme) => visit.watchful(scheme),
            Self::Sglb(scheme) => visit.watchful(scheme),
        }
    }

    /// How long nothing must have been under way before time may jump to the next event. Most schemes do not mind.
    pub fn settles_in(&self) -> Ps {
        if let Self::Sglb(scheme) = self { scheme.settles_in() } else { 0 }
    }

    /// Whether it has to see all packets.
    #[inline(always)]
    pub fn is_watchful(&self) -> bool {
        matches!(self, Self::Conga(_) | Self::Sglb(_))
    }
}

/// A uniformly random one of the valid uplinks.
#[inline(always)]
fn random(valid: &ValidPorts, stream: &mut Stream) -> u16 {
    valid.ports[stream.below(valid.len() as u64) as usize]
}

/// The cheapest of the ports in a mask, a uniformly random one among equals.
#[inline(always)]
fn cheapest(ports: u64, stream: &mut Stream, mut cost: impl FnMut(u16) -> u64) -> u16 {
    let (mut ties, mut least) = (0u64, u64::MAX);
    for port in members(ports) {
        let cost = cost(port);
        ties = if cost < least { 0 } else { ties };
        ties |= u64::from(cost <= least) << port;
        least = least.min(cost);
    }
    one_of(ties, stream)
}

/// A uniformly random one of the ports in a mask; nothing is drawn when there is no choice.
#[inline(always)]
fn one_of(mut ties: u64, stream: &mut Stream) -> u16 {
    let count = ties.count_ones();
    if count > 1 {
        for _ in 0..stream.below(count.into()) {
            ties &= ties - 1;
        }
    }
    ties.trailing_zeros() as u16
}

/// The ports in a mask, ascending.
#[inline(always)]
fn members(mut mask: u64) -> impl Iterator<Item = u16> {
    std::iter::from_fn(move || {
        let port = mask.trailing_zeros() as u16;
        let any = mask != 0;
        mask &= mask.wrapping_sub(1);
        any.then_some(port)
    })
}

#[cfg(test)]
mod tests;
