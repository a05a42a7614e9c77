//! All packets of a window in one order, for a scheme that sees them all, and for ports that share a buffer or are held up by each other's packets.

use super::{Ingress, Moment};
use crate::balancer::{Balancer, Decision, Visit, Watchful};
use crate::fabric::{Reach, SwitchShape};
use crate::order::Key;
use crate::packet::Packet;
use crate::port::{Port, Space};
use crate::units::Ps;

/// The packets, sorted, and what they meet.
pub(super) struct InOrder<'a, 'space> {
    pub(super) moment: Moment<'a>,
    pub(super) keys: &'a [Key],
    pub(super) until: Ps,
    pub(super) shape: &'a SwitchShape,
    pub(super) reach: Reach<'a>,
    pub(super) ports: &'a mut [Port],
    pub(super) space: &'a mut Space<'space>,
    pub(super) ingress: Option<&'a mut Ingress>,
    pub(super) stranded: [u64; 2],
}

/// A scheme that does not mind what it is shown besides.
struct Plain<'a>(&'a mut dyn FnMut(Decision<'_>) -> u16);

impl Watchful for Plain<'_> {
    fn advance(&mut self, _now: Ps, _reach: Reach<'_>, _ports: &mut [Port]) {}

    fn climb(&mut self, decision: Decision<'_>, _packet: &mut Packet) -> u16 {
        (self.0)(decision)
    }

    fn descend(&mut self, _now: Ps, _packet: &mut Packet, _ingress: u32, _egress: u32) {}
}

/// Lets a scheme look at the ports at all its moments up to `now`, as they are then.
fn look(scheme: &mut impl Watchful, now: Ps, reach: Reach<'_>, ingress: &mut Ingress, ports: &mut [Port]) {
    loop {
        let at = scheme.looks_at();
        if at > now {
            return;
        }
        ingress.advance(at, ports);
        scheme.advance(at, reach, ports);
    }
}

impl Visit for InOrder<'_, '_> {
    // One loop for all of them: it is rare that they get here.
    fn balancer(&mut self, scheme: &mut impl Balancer) {
        self.watchful(&mut Plain(&mut |decision| scheme.pick(decision)));
    }

    #[inline(never)]
    fn watchful(&mut self, scheme: &mut impl Watchful) {
        let down = self.shape.down;
        let mut ingress = self.ingress.take();
        if let Some(ingress) = &mut ingress {
            ingress.begin_window(self.ports);
        }
        for &key in self.keys {
            let (now, mut packet) = self.moment.of(key);
            if let Some(ingress) = &mut ingress {
                look(scheme, now, self.reach, ingress, self.ports);
                ingress.advance(now, self.ports);
            }
            scheme.advance(now, self.reach, self.ports);
            let destination = packet.address() >> self.shape.prefix_shift;
            let source = key.ingress();
            let egress = if source < down && self.shape.up > 0 && destination != self.shape.prefix {
                let valid = self.reach.of(destination);
                if valid.is_empty() {
                    self.stranded[packet.class()] += 1;
                    continue;
                }
                let uplinks = &mut self.ports[down as usize..];
                let decision = Decision { now, packet, key: destination, ingress: source, valid, uplinks };
                down + u32::from(scheme.climb(decision, &mut packet))
            } else {
                let egress = packet.address() >> self.shape.down_shift & self.shape.down_mask;
                scheme.descend(now, &mut packet, source, egress);
                egress
            };
            match &mut ingress {
                Some(ingress) => ingress.pass(now, packet, source, egress, self.ports, self.space),
                None => self.ports[egress as usize].push(now, packet, self.space),
            }
        }
        if let Some(ingress) = &mut ingress {
            look(scheme, self.until - 1, self.reach, ingress, self.ports);
            ingress.advance(self.until, self.ports);
        }
        scheme.advance(self.until - 1, self.reach, self.ports);
    }
}
