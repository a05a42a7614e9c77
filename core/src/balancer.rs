//! Switch side of load balancing: which uplink a northbound packet takes. Called only when a packet has to go up, when its last bit has arrived.

mod ecmp;
mod jsq;
mod ofan;
mod pinned;
mod rsq;
mod simple_rr;

use crate::config::BalancerConfig;
use crate::error::Error;
use crate::fabric::{Fabric, ValidPorts};
use crate::packet::Packet;
use crate::port::Port;
use crate::units::Ps;
use ecmp::Ecmp;
use jsq::Jsq;
use ofan::Ofan;
use pinned::Pinned;
use rsq::Rsq;
use simple_rr::SimpleRr;

/// What a balancer may look at when it decides.
pub struct Choice<'a> {
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

impl Choice<'_> {
    /// Whether the destination can be reached through this uplink; without failures it can through all.
    #[inline(always)]
    fn allows(&self, port: u16) -> bool {
        self.valid.len() == self.uplinks.len() || self.valid.contains(port)
    }
}

/// A scheme at one switch.
pub trait Balancer {
    /// The uplink for this packet, one of `choice.valid`.
    fn pick(&mut self, choice: Choice<'_>) -> u16;
}

/// The closed set of schemes. Matched once a batch, so that the loop over packets is compiled for each scheme.
#[derive(Debug)]
pub enum SwitchBalancer {
    /// Hash of flow and entropy value; also what a host that sprays relies on.
    Ecmp(Ecmp),
    /// One pointer.
    SimpleRr(SimpleRr),
    /// Shortest queue.
    Jsq(Jsq),
    /// Random uplink.
    Rsq(Rsq),
    /// The path that the host chose.
    Pinned(Pinned),
    /// A pointer a destination.
    Ofan(Ofan),
}

impl SwitchBalancer {
    /// The scheme's state at every switch of the fabric, from the first edge on, drawn from the run's streams.
    ///
    /// # Errors
    /// [`Error::Value`] when a parameter is out of range.
    pub fn everywhere(config: BalancerConfig, fabric: &Fabric, seed: u64) -> Result<Vec<Self>, Error> {
        let ports_per_pipe = match config {
            BalancerConfig::Pofan { ports_per_pipe: 0 } => {
                return Err(Error::value("balancer.ports_per_pipe", 0, "at least 1"));
            }
            BalancerConfig::Pofan { ports_per_pipe } => ports_per_pipe,
            _ => u32::MAX,
        };
        let mut plans = ofan::Plans::new(ports_per_pipe);
        let at = |node| match config {
            // A core never chooses; it is given the scheme without state.
            _ if fabric.switch(node).up == 0 => Self::Pinned(Pinned::new(fabric, node)),
            BalancerConfig::Ecmp {} | BalancerConfig::Rps {} => Self::Ecmp(Ecmp::new(node, seed)),
            BalancerConfig::SimpleRr {} => Self::SimpleRr(SimpleRr::new(fabric, node, seed)),
            BalancerConfig::Jsq {} => Self::Jsq(Jsq::new(node, seed)),
            BalancerConfig::Rsq {} => Self::Rsq(Rsq::new(node, seed)),
            BalancerConfig::Drb {} => Self::Pinned(Pinned::new(fabric, node)),
            BalancerConfig::Ofan {} | BalancerConfig::Pofan { .. } => Self::Ofan(plans.ofan(fabric, node, seed)),
        };
        Ok((fabric.hosts()..fabric.tiers[3].end).map(at).collect())
    }
}

#[cfg(test)]
mod tests;
