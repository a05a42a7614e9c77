//! The messages of a run, sorted into what each host sends and receives, and what waits for what.

use crate::config::{Acks, FrameConfig, LastFrame};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::units::{NEVER, Ps};
use std::ops::Range;

/// The door's message columns. All of the first group have one entry a message.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// Sending host.
    pub src: Vec<u32>,
    /// Receiving host.
    pub dst: Vec<u32>,
    /// Payload.
    pub bytes: Vec<u64>,
    /// Earliest start.
    pub start: Vec<Ps>,
    /// Place in the host's round robin.
    pub rank: Vec<u32>,
    /// Dependencies: `dependents[i]` waits for `event` of `dependencies[i]`.
    pub dependents: Vec<u32>,
    /// See `dependents`.
    pub dependencies: Vec<u32>,
    /// See `dependents`: 0 received, 1 acknowledged.
    pub dependency_events: Vec<u8>,
    /// Activations that each trigger needs; 0: every activation starts the next target.
    pub trigger_counts: Vec<u32>,
    /// `activated[i]` is activated by `activation_events[i]` of message `activators[i]`.
    pub activated: Vec<u32>,
    /// See `activated`.
    pub activators: Vec<u32>,
    /// See `activated`.
    pub activation_events: Vec<u8>,
    /// `triggers_of_targets[i]` starts message `targets[i]`.
    pub triggers_of_targets: Vec<u32>,
    /// See `triggers_of_targets`.
    pub targets: Vec<u32>,
}

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
    /// The flow in `send` that each slot of `receive` belongs to.
    pub flow_of_receive_slot: Vec<u32>,
    /// `send` flows of each host begin here.
    pub send_base: Vec<u32>,
    /// `receive` flows of each host begin here.
    pub receive_base: Vec<u32>,
    /// Triggers.
    pub triggers: Vec<Trigger>,
    /// For each flow and event, where its effects begin; empty when nothing waits for anything.
    effect_base: Vec<u32>,
    effects: Vec<Effect>,
}

impl Workload {
    /// Sorts the messages and checks every column.
    ///
    /// # Errors
    /// [`Error::Message`] for columns of unequal length, hosts out of range, a message to its own host, more packets than fit, a reference to a message or
    /// trigger that does not exist, a wait for an ACK when there are none; [`Error::Disconnected`] when no path is left.
    pub fn new(messages: &Messages, fabric: &Fabric, frame: &FrameConfig, acks: Acks) -> Result<Self, Error> {
        messages.check(fabric, frame, acks)?;
        let count = messages.src.len();
        let mut row: Vec<u32> = (0..count as u32).collect();
        // The order of rows carries no meaning: flows are numbered by what they are, so that shuffled lists give the same run.
        row.sort_by_key(|&row| {
            let row = row as usize;
            (messages.src[row], messages.start[row], messages.rank[row], messages.dst[row], messages.bytes[row])
        });
        let mut flow_of_row = vec![0; count];
        for (flow, &row) in row.iter().enumerate() {
            flow_of_row[row as usize] = flow as u32;
        }
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
                let (packets, last_frame) = frames(messages.bytes[row], frame);
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
            row,
            flow_of_receive_slot: by_receiver,
            triggers: Vec::new(),
            effect_base: Vec::new(),
            effects: Vec::new(),
        };
        workload.connect(messages, &flow_of_row);
        Ok(workload)
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

/// Frames of a message and the size of the last one. A message of 0 bytes travels as one header.
fn frames(bytes: u64, frame: &FrameConfig) -> (u64, u32) {
    let payload = u64::from(frame.payload_bytes);
    let packets = bytes.div_ceil(payload).max(1);
    let last_payload = match frame.last_frame {
        _ if bytes == 0 => 0,
        LastFrame::Full => payload,
        LastFrame::Short => bytes - (packets - 1) * payload,
    };
    (packets, frame.header_bytes + last_payload as u32)
}

impl Messages {
    fn check(&self, fabric: &Fabric, frame: &FrameConfig, acks: Acks) -> Result<(), Error> {
        let (rows, hosts) = (self.src.len(), fabric.hosts());
        let lengths = [
            ("dst", self.dst.len(), rows),
            ("bytes", self.bytes.len(), rows),
            ("start_ps", self.start.len(), rows),
            ("rank", self.rank.len(), rows),
            ("dep_on", self.dependencies.len(), self.dependents.len()),
            ("dep_event", self.dependency_events.len(), self.dependents.len()),
            ("fire_message", self.activators.len(), self.activated.len()),
            ("fire_event", self.activation_events.len(), self.activated.len()),
            ("target_message", self.targets.len(), self.triggers_of_targets.len()),
        ];
        for (field, got, wanted) in lengths {
            if got != wanted {
                return Err(Error::value(format!("messages.{field}"), format!("{got} entries"), format!("{wanted} entries")));
            }
        }
        if rows == 0 || rows > u32::MAX as usize / 2 {
            return Err(Error::value("messages", format!("{rows} messages"), "1 to 2^31 - 1 messages"));
        }
        let wrong = |field, row, got: String, allowed: String| Error::Message { field, row, got, allowed };
        for row in 0..rows {
            let (src, dst) = (self.src[row], self.dst[row]);
            for (field, host) in [("src", src), ("dst", dst)] {
                if host >= hosts {
                    return Err(wrong(field, row, host.to_string(), format!("a host, 0 to {}", hosts - 1)));
                }
            }
            if src == dst {
                return Err(wrong("dst", row, dst.to_string(), "another host than src".into()));
            }
            let (packets, _) = frames(self.bytes[row], frame);
            if packets > u64::from(u32::MAX) {
                let most = u64::from(u32::MAX) * u64::from(frame.payload_bytes);
                return Err(wrong("bytes", row, self.bytes[row].to_string(), format!("0 to {most}")));
            }
            if self.start[row] > NEVER / 4 {
                return Err(wrong("start_ps", row, self.start[row].to_string(), format!("0 to {}", NEVER / 4)));
            }
            self.check_path(fabric, row)?;
        }
        self.check_references(rows as u32, acks)
    }

    fn check_path(&self, fabric: &Fabric, row: usize) -> Result<(), Error> {
        let (src, dst) = (self.src[row], self.dst[row]);
        let (there, back) = (fabric.edge_of(src), fabric.edge_of(dst));
        let unreachable = |from: u32, to: u32| fabric.valid_ports(from, fabric.switch(to).prefix).is_empty();
        if there != back && (unreachable(there, back) || unreachable(back, there)) {
            return Err(Error::Disconnected { row, src, dst, cut: fabric.cut_between(src, dst) });
        }
        Ok(())
    }

    fn check_references(&self, rows: u32, acks: Acks) -> Result<(), Error> {
        let triggers = self.trigger_counts.len() as u32;
        let references = [
            ("dep_message", &self.dependents, rows),
            ("dep_on", &self.dependencies, rows),
            ("fire_trigger", &self.activated, triggers),
            ("fire_message", &self.activators, rows),
            ("target_trigger", &self.triggers_of_targets, triggers),
            ("target_message", &self.targets, rows),
        ];
        for (field, column, limit) in references {
            if let Some(row) = column.iter().position(|&reference| reference >= limit) {
                let allowed = format!("a number below {limit}");
                return Err(Error::Message { field, row, got: column[row].to_string(), allowed });
            }
        }
        for (field, events) in [("dep_event", &self.dependency_events), ("fire_event", &self.activation_events)] {
            let last = if acks == Acks::Off { Event::Received } else { Event::Acked } as u8;
            if let Some(row) = events.iter().position(|&event| event > last) {
                let allowed = match acks {
                    Acks::Off => "0 (received); 1 (acked) needs transport.acks = per-packet",
                    Acks::PerPacket => "0 (received) or 1 (acked)",
                };
                return Err(Error::Message { field, row, got: events[row].to_string(), allowed: allowed.into() });
            }
        }
        Ok(())
    }
}
