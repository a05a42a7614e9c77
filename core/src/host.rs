//! A host: one of the transports, brought through a window.

use crate::config::{Config, TransportConfig};
use crate::congestion::mswift::MSwift;
use crate::congestion::nscc::Nscc;
use crate::congestion::swift::Swift;
use crate::congestion::{Constant, rules};
use crate::fabric::Fabric;
use crate::link::Incoming;
use crate::port::Port;
use crate::transport::{
    Counts, Dcpim, Dcsim, Flows, HostRules, NewReno, NewRenoRules, Paced, Pfabric, Phost, SelectiveRepeat, SelectiveRepeatRules,
    Surroundings, Transport, Windowed,
};
use crate::units::Ps;
use crate::workload::{SendFlow, Workload};

/// The closed set of transports. Matched once a window, so that the loop over packets is compiled for each.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the hosts of a run are all of one kind, and the fastest should not have to be looked for"
)]
pub enum Host {
    /// At a fixed rate.
    Paced(Paced),
    /// A Sim first.
    Dcsim(Box<Dcsim>),
    /// With windows.
    Pfabric(Box<Pfabric>),
    /// With tokens.
    Phost(Box<Phost>),
    /// Matched in rounds.
    Dcpim(Box<Dcpim>),
    /// With windows that stay as they are.
    ConstantWindow(Box<Windowed<SelectiveRepeat<Constant>>>),
    /// As TCP does, by marks.
    Dctcp(Box<Windowed<NewReno>>),
    /// By marks and delay.
    Nscc(Box<Windowed<SelectiveRepeat<Nscc>>>),
    /// By delay.
    Swift(Box<Windowed<SelectiveRepeat<Swift>>>),
    /// By the median of delays.
    Mswift(Box<Windowed<SelectiveRepeat<MSwift>>>),
}

const KIND: &str = "rules are those of the kind that was matched";

macro_rules! each {
    ($host:expr, $transport:ident => $body:expr) => {
        match $host {
            Host::Paced($transport) => $body,
            Host::Dcsim($transport) => $body,
            Host::Pfabric($transport) => $body,
            Host::Phost($transport) => $body,
            Host::Dcpim($transport) => $body,
            Host::ConstantWindow($transport) => $body,
            Host::Dctcp($transport) => $body,
            Host::Nscc($transport) => $body,
            Host::Swift($transport) => $body,
            Host::Mswift($transport) => $body,
        }
    };
}

impl Host {
    /// Host number `host`, with its start jitter drawn.
    pub fn new(config: &Config, fabric: &Fabric, workload: &mut Workload, host: u32, port: &Port, shared: &HostRules) -> Self {
        macro_rules! windowed {
            ($own:expr) => {
                Box::new(Windowed::new(config, $own, fabric, workload, host, port, shared))
            };
        }
        match config.transport {
            TransportConfig::Paced { .. } => Self::Paced(Paced::new(config, fabric, workload, host, port, shared)),
            TransportConfig::Dcsim { .. } => Self::Dcsim(Box::new(Dcsim::new(config, fabric, workload, host, port, shared))),
            TransportConfig::Pfabric { .. } => Self::Pfabric(Box::new(Pfabric::new(config, workload, host, port, shared))),
            TransportConfig::Phost { .. } => Self::Phost(Box::new(Phost::new(config, workload, host, port, shared))),
            TransportConfig::Dcpim { .. } => Self::Dcpim(Box::new(Dcpim::new(config, workload, host, port, shared))),
            TransportConfig::Dctcp { rto_ps, duplicate_acks, counts_paths, .. } => {
                let window = rules::dctcp(config.transport).expect(KIND);
                let own = NewRenoRules { least_rto: rto_ps, duplicate_acks, counts_paths, window };
                Self::Dctcp(windowed!(own))
            }
            TransportConfig::ConstantWindow { rto_ps: rto, .. } => {
                Self::ConstantWindow(windowed!(SelectiveRepeatRules { rto, controller: () }))
            }
            TransportConfig::Nscc { rto_ps: rto, .. } => {
                let controller = rules::nscc(config.transport).expect(KIND);
                Self::Nscc(windowed!(SelectiveRepeatRules { rto, controller }))
            }
            TransportConfig::Swift { rto_ps: rto, .. } => {
                let controller = rules::swift(config.transport).expect(KIND);
                Self::Swift(windowed!(SelectiveRepeatRules { rto, controller }))
            }
            TransportConfig::Mswift { rto_ps: rto, .. } => {
                let controller = rules::mswift(config.transport).expect(KIND);
                Self::Mswift(windowed!(SelectiveRepeatRules { rto, controller }))
            }
        }
    }

    /// When it will next do something, if nothing arrives.
    pub fn next_at(&self, port: &Port) -> Ps {
        each!(self, transport => transport.next_at(port))
    }

    /// Counts one open wait of a flow of this host as over at `at`.
    pub fn release(&mut self, flow: u32, send: &mut SendFlow, at: Ps) {
        each!(self, transport => transport.release(flow, send, at));
    }

    /// What it has counted of all its flows together.
    pub fn counts(&self) -> &Counts {
        each!(self, transport => transport.counts())
    }

    /// Windows and bytes in flight of all its flows that are under way.
    pub fn windows(&self, send: &[SendFlow]) -> (u64, u64) {
        let of_all = |host: &Self| {
            let all = send.iter().enumerate().filter_map(|(own, flow)| host.window_of(own, flow));
            all.fold((0, 0), |(window, in_flight), own| (window + own.0, in_flight + own.1))
        };
        if self.has_windows() { of_all(self) } else { (0, 0) }
    }

    fn has_windows(&self) -> bool {
        !matches!(self, Self::Paced(_) | Self::Dcsim(_) | Self::Pfabric(_) | Self::Phost(_) | Self::Dcpim(_))
    }

    /// Window and bytes in flight of a flow; nothing before it begins, when it is complete, and where there are no windows.
    pub fn window_of(&self, own: usize, send: &SendFlow) -> Option<(u64, u64)> {
        each!(self, transport => transport.window_of(own, send))
    }

    /// What it keeps of each flow.
    pub fn flows(&self) -> Option<&Flows> {
        each!(self, transport => transport.flows())
    }

    /// Lives through the window: what arrives at `t` is known to what is sent at `t`. Returns the number of flows that completed here.
    #[inline(always)]
    pub fn run_window(&mut self, until: Ps, incoming: &mut Incoming, around: &mut Surroundings<'_, '_>) -> u64 {
        each!(self, transport => live(transport, until, incoming, around))
    }
}

#[inline(never)]
fn live<T: Transport>(transport: &mut T, until: Ps, incoming: &mut Incoming, around: &mut Surroundings<'_, '_>) -> u64 {
    let mut completed = 0;
    loop {
        let act_at = transport.next_at(around.port);
        let arrival_limit = until.min(act_at.saturating_add(1));
        if let Some(slot) = incoming.take_before(arrival_limit) {
            completed += u64::from(transport.receive(slot, around));
        } else if act_at < until {
            transport.act(act_at, around);
        } else {
            return completed;
        }
    }
}
