//! Priority flow control: a switch counts what came in by each of its ports and has not left, and pauses who sends it more than it can pass on.
//!
//! *Source*: IEEE 802.1Qbb. A frame counts from the arrival of its last bit until its last bit has left. Above `xoff` the neighbour is paused, at or below `xon` it may go on;
//! a frame that would go beyond `xoff` and the headroom is dropped. A pause frame takes no capacity and is heard its own time and a link latency later; a dead link does not
//! silence it. Where control goes first it is neither counted nor paused. *State*: a number for each frame that waits. *Cost*: each start is looked for among all ports.

use crate::config::PfcConfig;
use crate::packet::Packet;
use crate::port::{Port, Space};
use crate::units::{NEVER, Ps};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What the port at the other end of an input hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Local number of the input.
    pub input: u32,
    /// When it acts.
    pub at: Ps,
    /// Whether the port is paused, or may go on.
    pub pauses: bool,
}

/// A frame that came in by an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entered {
    input: u32,
    bytes: u32,
}

#[derive(Debug)]
struct Input {
    bytes: u64,
    pauses: bool,
    /// From a decision to the moment at which it acts: a pause frame's time and the latency.
    delay: Ps,
}

/// What one switch counts.
#[derive(Debug)]
pub struct Ingress {
    limits: PfcConfig,
    counts_control: bool,
    inputs: Vec<Input>,
    /// For each output, what waits to leave by it, in the order in which it will.
    waiting: Vec<VecDeque<Entered>>,
    /// When each output next starts a frame.
    starts: Vec<Ps>,
    /// Frames on the wire: when they have left, by which output.
    departures: BinaryHeap<Reverse<(Ps, u32, Entered)>>,
    heard: Vec<Heard>,
}

impl Ingress {
    /// Nothing has come yet. `delays` has an entry for each port: from a decision to the moment at which the neighbour acts on it.
    pub fn new(limits: PfcConfig, counts_control: bool, delays: impl IntoIterator<Item = Ps>) -> Self {
        let inputs: Vec<Input> = delays.into_iter().map(|delay| Input { bytes: 0, pauses: false, delay }).collect();
        Self {
            limits,
            counts_control,
            waiting: inputs.iter().map(|_| VecDeque::new()).collect(),
            starts: vec![NEVER; inputs.len()],
            inputs,
            departures: BinaryHeap::new(),
            heard: Vec::new(),
        }
    }

    /// When the next frame leaves that has started.
    pub fn next_departure_at(&self) -> Ps {
        self.departures.peek().map_or(NEVER, |departure| departure.0.0)
    }

    /// What neighbours hear of what has happened since this was asked last, in order of time for each of them.
    pub fn take_heard(&mut self) -> impl Iterator<Item = Heard> {
        self.heard.drain(..)
    }

    /// The outputs may have heard of pauses of their own.
    #[cold]
    pub(super) fn begin_window(&mut self, ports: &[Port]) {
        for (start, port) in self.starts.iter_mut().zip(ports) {
            *start = port.next_start_at();
        }
    }

    /// Starts all that starts before `now`, and takes off the counts what has left by then.
    #[cold]
    pub(super) fn advance(&mut self, now: Ps, ports: &mut [Port]) {
        for (output, start) in (0..).zip(&mut self.starts) {
            while *start < now {
                let port = &mut ports[output as usize];
                let started = port.start_marking(*start).filter(|packet| self.counts_control || !packet.is_control());
                if let Some(entered) = started.and_then(|_| self.waiting[output as usize].pop_front()) {
                    self.departures.push(Reverse((port.left_at(), output, entered)));
                }
                *start = port.next_start_at();
            }
        }
        while let Some(&Reverse((left, _, entered))) = self.departures.peek().filter(|departure| departure.0.0 <= now) {
            self.departures.pop();
            self.take_off(entered, left);
        }
    }

    /// A packet that came in by `input` at `now`, to which all has been brought, goes on by `output`.
    #[cold]
    pub(super) fn pass(&mut self, now: Ps, packet: Packet, input: u32, output: u32, ports: &mut [Port], space: &mut Space<'_>) {
        let port = &mut ports[output as usize];
        if (self.counts_control || !packet.is_control()) && !port.is_dead() {
            let own = &mut self.inputs[input as usize];
            let with_it = own.bytes + u64::from(packet.bytes());
            if with_it > self.limits.xoff_bytes + self.limits.headroom_bytes {
                return port.drop(packet);
            }
            own.bytes = with_it;
            self.waiting[output as usize].push_back(Entered { input, bytes: packet.bytes() });
            if with_it > self.limits.xoff_bytes && !own.pauses {
                own.pauses = true;
                self.heard.push(Heard { input, at: now + own.delay, pauses: true });
            }
        }
        port.push(now, packet, space);
        self.starts[output as usize] = port.next_start_at();
    }

    fn take_off(&mut self, entered: Entered, left: Ps) {
        let own = &mut self.inputs[entered.input as usize];
        own.bytes -= u64::from(entered.bytes);
        if own.bytes <= self.limits.xon_bytes && own.pauses {
            own.pauses = false;
            self.heard.push(Heard { input: entered.input, at: left + own.delay, pauses: false });
        }
    }

    /// The link of an output goes down at `now`, to which all has been brought: what has not left by it is gone.
    pub fn lose(&mut self, now: Ps, output: u32) {
        let mut gone: Vec<Entered> = self.waiting[output as usize].drain(..).collect();
        self.departures.retain(|&Reverse((left, own, entered))| {
            let is_lost = own == output && left > now;
            if is_lost {
                gone.push(entered);
            }
            !is_lost
        });
        gone.into_iter().for_each(|entered| self.take_off(entered, now));
    }
}

#[cfg(test)]
mod tests;
