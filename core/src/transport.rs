//! What hosts do: when they send what, what they answer, and what they do about losses. A transport lives in the hosts alone; it meets the rest in packets.

mod check;
mod dcpim;
mod dcsim;
mod flows;
mod paced;
mod pfabric;
mod phost;
mod received;
mod rotation;
mod rules;
mod starts;
mod windowed;

use crate::config::TransportConfig;
use crate::fabric::{Fabric, Routes};
use crate::packet::Slot;
use crate::port::{Port, Space};
use crate::units::Ps;
use crate::workload::{Effect, Event, ReceiveFlow, SendFlow, Workload};
pub use check::check;
pub use dcpim::Dcpim;
pub use dcsim::{Dcsim, clock_rate};
pub use flows::{Counts, Flows};
pub use paced::Paced;
pub use pfabric::Pfabric;
pub use phost::Phost;
pub use rules::HostRules;
pub use windowed::{NewReno, NewRenoRules, SelectiveRepeat, SelectiveRepeatRules, Windowed};

/// Effects that leave the host: they take one link latency.
pub type Signals = Vec<(Ps, Effect)>;

/// Everything that a host touches besides itself during a window.
pub struct Surroundings<'a, 'space> {
    /// Rules of the run.
    pub rules: &'a HostRules,
    /// The fabric.
    pub fabric: &'a Fabric,
    /// What routing knows of it.
    pub routes: &'a Routes,
    /// The graph of dependencies.
    pub workload: &'a Workload,
    /// The host's NIC.
    pub port: &'a mut Port,
    /// Flows that it sends, the first being number `send_base`.
    pub send: &'a mut [SendFlow],
    /// Number of the first flow in `send`.
    pub send_base: u32,
    /// Flows that it receives, the first being number `receive_base`.
    pub receive: &'a mut [ReceiveFlow],
    /// Number of the first flow in `receive`.
    pub receive_base: u32,
    /// Where rings grow.
    pub space: &'a mut Space<'space>,
    /// Effects on other hosts.
    pub signals: &'a mut Signals,
}

/// What one host does.
pub trait Transport {
    /// When it will next do something, if nothing arrives: send, or mind that something is overdue.
    fn next_at(&self, port: &Port) -> Ps;

    /// Does it. `now` is [`Transport::next_at`].
    fn act(&mut self, now: Ps, around: &mut Surroundings<'_, '_>);

    /// A packet has arrived. Whether that completes a flow for this host.
    fn receive(&mut self, slot: Slot, around: &mut Surroundings<'_, '_>) -> bool;

    /// Counts one open wait of a flow of this host as over at `at`.
    fn release(&mut self, flow: u32, send: &mut SendFlow, at: Ps);

    /// What it keeps of each flow; nothing without loss recovery.
    fn flows(&self) -> Option<&Flows>;

    /// What it has counted of all its flows together.
    fn counts(&self) -> &Counts;

    /// Congestion window and bytes in flight of a flow that is under way.
    fn window_of(&self, _own: usize, _send: &SendFlow) -> Option<(u64, u64)> {
        None
    }
}

impl<T: Transport> Transport for Box<T> {
    #[inline(always)]
    fn next_at(&self, port: &Port) -> Ps {
        (**self).next_at(port)
    }

    #[inline(always)]
    fn act(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        (**self).act(now, around);
    }

    #[inline(always)]
    fn receive(&mut self, slot: Slot, around: &mut Surroundings<'_, '_>) -> bool {
        (**self).receive(slot, around)
    }

    fn release(&mut self, flow: u32, send: &mut SendFlow, at: Ps) {
        (**self).release(flow, send, at);
    }

    fn flows(&self) -> Option<&Flows> {
        (**self).flows()
    }

    fn counts(&self) -> &Counts {
        (**self).counts()
    }

    fn window_of(&self, own: usize, send: &SendFlow) -> Option<(u64, u64)> {
        (**self).window_of(own, send)
    }
}

/// Names of what a transport counts besides what all count (`Counts::own`, in order), and of what it takes the maximum of.
pub fn count_names(config: TransportConfig) -> (&'static [&'static str], Option<&'static str>) {
    match config {
        TransportConfig::Paced { .. } => (&[], None),
        TransportConfig::Dcsim { .. } => (&dcsim::COUNTS, Some("sim_rtt_max_ps")),
        TransportConfig::Pfabric { .. } => (&pfabric::COUNTS, None),
        TransportConfig::Phost { .. } => (&phost::COUNTS, None),
        TransportConfig::Dcpim { .. } => (&dcpim::COUNTS, None),
        TransportConfig::Dctcp { .. } => (&windowed::COUNTS, None),
        TransportConfig::ConstantWindow { .. }
        | TransportConfig::Nscc { .. }
        | TransportConfig::Swift { .. }
        | TransportConfig::Mswift { .. } => (&windowed::COUNTS[..2], None),
    }
}

/// A completion at this host: acts at once on its own flows, one link latency later on anything else.
fn set_off<T: Transport>(host: &mut T, flow: u32, event: Event, at: Ps, around: &mut Surroundings<'_, '_>) {
    for &effect in around.workload.effects(flow, event) {
        let own = match effect {
            Effect::Release(target) => {
                around.send.get_mut(target.wrapping_sub(around.send_base) as usize).map(|send| (target, send))
            }
            Effect::Activate(_) => None,
        };
        match own {
            Some((target, send)) => host.release(target, send, at),
            None => around.signals.push((at + around.rules.signal_latency, effect)),
        }
    }
}
