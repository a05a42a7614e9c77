//! AR, adaptive routing on quantised queues: a random one of the valid uplinks whose queue is at the lowest of four levels.
//!
//! *Source*: Ofan paper, Table 1 ("quanta 5-10-20 %") and section 3.1 (queues grow about as sqrt(m)); Spectrum-X style adaptive routing. *Differs*: the
//! paper says neither what the quanta are fractions of when buffers are infinite (here: a nominal 800 kB, docs/explanation/balancers.md), nor how stale a
//! level may be (here: read anew when it is older than 100 ns), nor what ACKs do (here: a random uplink). *State*: a level for each uplink.
//! *Cost*: reads w levels, each now and then a queue.

use super::{Balancer, Decision, cheapest, random};
use crate::config::AckRouting;
use crate::error::Error;
use crate::fabric::Fabric;
use crate::rng::{Purpose, Stream};
use crate::units::Ps;

/// Where levels begin, and how long one is believed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    from_bytes: [u64; 3],
    refresh: Ps,
    acks: AckRouting,
}

impl Levels {
    pub(super) fn new(buffer: u64, fractions: [f64; 3], refresh: Ps, acks: AckRouting, field: &str) -> Result<Self, Error> {
        let ascends = fractions.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends || !fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)) {
            let allowed = "three ascending fractions of the buffer, 0 to 1";
            return Err(Error::value(format!("{field}.level_fractions"), format!("{fractions:?}"), allowed));
        }
        Ok(Self { from_bytes: fractions.map(|fraction| (fraction * buffer as f64).round() as u64), refresh, acks })
    }

    fn of(&self, queued: u64) -> u8 {
        self.from_bytes.iter().map(|&from| u8::from(queued >= from)).sum()
    }
}

/// Adaptive routing at one switch.
#[derive(Debug)]
pub struct Ar {
    levels: Levels,
    /// For each uplink, its level and until when that is believed.
    seen: Box<[(u8, Ps)]>,
    stream: Stream,
}

impl Ar {
    pub(super) fn new(levels: Levels, fabric: &Fabric, node: u32, seed: u64) -> Self {
        let seen = vec![(0, 0); fabric.switch(node).up as usize].into();
        Self { levels, seen, stream: Stream::new(seed, Purpose::Balancer, u64::from(node)) }
    }
}

impl Balancer for Ar {
    #[inline(always)]
    fn pick(&mut self, mut decision: Decision<'_>) -> u16 {
        let valid = decision.valid;
        if self.levels.acks == AckRouting::Random && decision.packet.is_control() {
            return random(valid, &mut self.stream);
        }
        let (levels, seen) = (self.levels, &mut self.seen);
        cheapest(valid.mask, &mut self.stream, |port| {
            let (level, until) = &mut seen[usize::from(port)];
            if decision.now >= *until {
                (*level, *until) = (levels.of(decision.queued_bytes(port)), decision.now + levels.refresh);
            }
            u64::from(*level)
        })
    }
}
