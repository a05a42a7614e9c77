//! The messages of a run, sorted into what each host sends and receives, and what waits for what.

mod arrivals;
mod canonical;
mod messages;
mod subflows;

use crate::config::{Acks, FrameConfig, Split};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::units::{NEVER, Ps};
use arrivals::Arrivals;
pub use arrivals::MOST_LOGGED;
pub use messages::Messages;
use messages::frames;
use std::ops::Range;
pub use subflows::Subflows;

/// What happened to a message. The discriminant is the door's event number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// The receiver has everything.
    Received = 0,
    /// The sender has the last ACK.
    Acked = 1,
}

/// The sender's side of a flow. Sorted by host, so that a host's flows are one run.
#[derive(Clone, Debug)]
pub struct SendFlow {
    /// Address of the receiver.
    pub address: u32,
    /// The receiver's name for the flow.
    pub receive_slot: u32,
    /// Frames in all.
    pub packets: u32,
    /// Frames sent.
    pub sent: u32,
    /// Frames acknowledged.
    pub acked: u32,
    /// Size of the last frame.
    pub last_frame: u32,
    /// Dependencies and triggers still open.
    pub waits: u32,
    /// Earliest start, moved later by dependencies.
    pub ready_at: Ps,
    /// First data frame started.
    pub started_at: Ps,
    /// Last ACK received.
    pub last_acked_at: Ps,
}

impl SendFlow {
    /// Counts one open wait as over at `at`; whether it was the last.
    pub fn release(&mut self, at: Ps) -> bool {
        self.ready_at = self.ready_at.max(at);
        self.waits -= 1;
        self.waits == 0
    }

    /// A frame of the flow leaves its host; the first says when the flow has started.
    #[inline(always)]
    pub fn note_start(&mut self, now: Ps) {
        if self.started_at == NEVER {
            self.started_at = now;
        }
    }

    /// Size of the data frame of this number, where a full one has `full_frame` bytes.
    #[inline(always)]
    pub fn frame_bytes(&self, psn: u32, full_frame: u32) -> u32 {
        if psn + 1 == self.packets { self.last_frame } else { full_frame }
    }
}

/// The receiver's side of a flow. Sorted by host.
#[derive(Clone, Debug)]
pub struct ReceiveFlow {
    /// Address of the sender.
    pub address: u32,
    /// The sender's name for the flow.
    pub send_slot: u32,
    /// Frames in all.
    pub packets: u32,
    /// Frames received.
    pub received: u32,
    /// First frame received.
    pub first_at: Ps,
    /// Last frame received.
    pub last_at: Ps,
}

/// What a completion sets off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// One wait less for this flow.
    Release(u32),
    /// One activation of this trigger.
    Activate(u32),
}

/// A trigger's state.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// Activations still needed; 0 from the start: every activation starts the next target.
    pub needed: u32,
    /// Whether every activation starts the next target.
    pub is_multishot: bool,
    /// Flows to start, in order.
    pub targets: Vec<u32>,
}

/// Flows by host and the graph of what waits for what.
#[derive(Debug)]
pub struct Workload {
    /// All flows, by sending host.
    pub send: Vec<SendFlow>,
    /// All flows, by receiving host.
    pub receive: Vec<ReceiveFlow>,
    /// Row of the message that each flow in `send` is.
    pub row: Vec<u32>,
    /// The collective of each flow in `send`.
    pub collective: Vec<u32>,
    /// The flow in `send` that each slot of `receive` belongs to.
    pub flow_of_receive_slot: Vec<u32>,
    /// `send` flows of each host begin here.
    pub send_base: Vec<u32>,
    /// `receive` flows of each host begin here.
    pub receive_base: Vec<u32>,
    /// In which order packets have arrived.
    pub arrivals: Arrivals,
    /// How each flow is divided over paths; empty when it is not.
    pub subflows: Vec<Subflows>,
    /// Triggers.
    pub triggers: Vec<Trigger>,
    /// For each flow and event, where its effects begin; empty when nothing waits for anything.
    effect_base: Vec<u32>,
    effects: Vec<Effect>,
}

impl Workload {
    /// Sorts the messages and checks every column. With `split`, messages are divided into subflows.
    ///
    /// # Errors
    /// [`Error::Message`] for columns of unequal length, hosts out of range, a message to its own host, more packets than fit, a reference to a message or
    /// trigger that does not exist, a wait for an ACK when there are none; [`Error::Disconnected`] when no path is left.
    pub fn new(
        messages: &Messages,
        fabric: &Fabric,
        frame: &FrameConfig,
        acks: Acks,
        split: Option<Split>,
    ) -> Result<Self, Error> {
        messages.check(fabric, frame, acks)?;
        let count = messages.src.len();
        let row = canonical::order(messages);
        let mut flow_of_row = vec![0; count];
        for (flow, &row) in row.iter().enumerate() {
            flow_of_row[row as usize] = flow as u32;
        }
        let subflows = split.map(|split| subflows::divide(messages, &row, fabric, frame, split)).unwrap_or_default();
        let mut by_receiver: Vec<u32> = (0..count as u32).collect();
        by_receiver.sort_by_key(|&flow| messages.dst[row[flow as usize] as usize]);
        let mut receive_slot = vec![0; count];
        for (slot, &flow) in by_receiver.iter().enumerate() {
            receive_slot[flow as usize] = slot as u32;
        }
        let address = |host: u32| fabric.addressing.address(host);
        let send = (0..count)
            .map(|flow| {
                let row = row[flow] as usize;
                let (whole, last_frame) = frames(messages.bytes[row], frame);
                let packets = subflows.get(flow).and_then(Subflows::packets).unwrap_or(whole);
                SendFlow {
                    address: address(messages.dst[row]),
                    receive_slot: receive_slot[flow],
                    packets: packets as u32,
                    sent: 0,
                    acked: 0,
                    last_frame,
                    waits: 0,
                    ready_at: messages.start[row],
                    started_at: NEVER,
                    last_acked_at: NEVER,
                }
            })
            .collect::<Vec<_>>();
        let receive = by_receiver
            .iter()
            .map(|&flow| ReceiveFlow {
                address: address(messages.src[row[flow as usize] as usize]),
                send_slot: flow,
                packets: send[flow as usize].packets,
                received: 0,
                first_at: NEVER,
                last_at: NEVER,
            })
            .collect();
        let hosts = fabric.hosts() as usize;
        let mut workload = Self {
            send,
            receive,
            send_base: run_starts(&messages.src, hosts),
            receive_base: run_starts(&messages.dst, hosts),
            collective: row.iter().map(|&row| messages.collective[row as usize]).collect(),
            row,
            flow_of_receive_slot: by_receiver,
            arrivals: Arrivals::default(),
            subflows,
            triggers: Vec::new(),
            effect_base: Vec::new(),
            effects: Vec::new(),
        };
        workload.connect(messages, &flow_of_row);
        Ok(workload)
    }

    /// Keeps a log of arrivals: the ACKs of the window family refer to it.
    pub fn log_arrivals(&mut self) {
        self.arrivals = Arrivals::new(self);
    }

    /// What a completed flow sets off.
    #[inline(always)]
    pub fn effects(&self, flow: u32, event: Event) -> &[Effect] {
        if self.effect_base.is_empty() {
            return &[];
        }
        let place = flow as usize * 2 + event as usize;
        &self.effects[self.effect_base[place] as usize..self.effect_base[place + 1] as usize]
    }

    /// Flows that a host sends.
    pub fn sent_by(&self, host: usize) -> Range<u32> {
        self.send_base[host]..self.send_base[host + 1]
    }

    /// Slots of the flows that a host receives.
    pub fn received_by(&self, host: usize) -> Range<u32> {
        self.receive_base[host]..self.receive_base[host + 1]
    }

    fn connect(&mut self, messages: &Messages, flow_of_row: &[u32]) {
        if messages.dependents.is_empty() && messages.trigger_counts.is_empty() {
            return;
        }
        let mut edges = Vec::with_capacity(messages.dependents.len() + messages.activated.len());
        for (edge, &dependent) in messages.dependents.iter().enumerate() {
            let dependent = flow_of_row[dependent as usize];
            self.send[dependent as usize].waits += 1;
            let dependency = flow_of_row[messages.dependencies[edge] as usize];
            edges.push((dependency * 2 + u32::from(messages.dependency_events[edge]), Effect::Release(dependent)));
        }
        for (edge, &trigger) in messages.activated.iter().enumerate() {
            let activator = flow_of_row[messages.activators[edge] as usize];
            edges.push((activator * 2 + u32::from(messages.activation_events[edge]), Effect::Activate(trigger)));
        }
        self.triggers = messages
            .trigger_counts
            .iter()
            .map(|&count| Trigger { needed: count, is_multishot: count == 0, targets: Vec::new() })
            .collect();
        for (edge, &trigger) in messages.triggers_of_targets.iter().enumerate() {
            let target = flow_of_row[messages.targets[edge] as usize];
            self.send[target as usize].waits += 1;
            self.triggers[trigger as usize].targets.push(target);
        }
        edges.sort_by_key(|&(place, _)| place);
        self.effect_base = vec![0; self.send.len() * 2 + 1];
        for &(place, _) in &edges {
            self.effect_base[place as usize + 1] += 1;
        }
        for place in 1..self.effect_base.len() {
            self.effect_base[place] += self.effect_base[place - 1];
        }
        self.effects = edges.into_iter().map(|(_, effect)| effect).collect();
    }
}

/// Where each host's run begins in a list sorted by host; one entry more than hosts.
fn run_starts(host_of: &[u32], hosts: usize) -> Vec<u32> {
    let mut base = vec![0; hosts + 1];
    for &host in host_of {
        base[host as usize + 1] += 1;
    }
    for host in 0..hosts {
        base[host + 1] += base[host];
    }
    base
}
