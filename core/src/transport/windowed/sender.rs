//! What a sender of the window family decides by itself: which packet comes next, and what an ACK means for that.

use super::outstanding::Outstanding;
use crate::congestion::Route;
use crate::units::Ps;
use crate::workload::{SendFlow, Subflows};

/// What an ACK has told of a flow's packets.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// When it has come.
    pub now: Ps,
    /// Bytes of frames that it is the first to acknowledge.
    pub newly_bytes: u64,
    /// Whether the packet that it answers was marked.
    pub is_marked: bool,
    /// Round trip of the packet that it answers; none when that was sent more than once or had been acknowledged before.
    pub rtt: Option<Ps>,
    /// Whether, when it was sent, less had arrived without a hole than is known now: it was overtaken.
    pub is_old: bool,
}

/// Sizes of a flow's frames.
#[derive(Clone, Copy)]
pub struct Frames<'a> {
    /// A full one.
    pub full: u32,
    /// How the flow is divided over paths, if it is.
    pub subflows: Option<&'a Subflows>,
}

impl Frames<'_> {
    /// Size of that of a packet.
    #[inline(always)]
    pub fn bytes(self, flow: &SendFlow, psn: u32) -> u32 {
        self.subflows.and_then(|subflows| subflows.frame_bytes(psn)).unwrap_or_else(|| flow.frame_bytes(psn, self.full))
    }
}

/// The sending side of a flow.
pub trait Sender {
    /// What the flows of a run have in common.
    type Rules: Copy + std::fmt::Debug;

    /// The state of a new flow over a route with so many paths.
    fn new(rules: &Self::Rules, route: &Route, paths: u32) -> Self;

    /// The packet that may leave now.
    fn next(&self, flow: &SendFlow, out: &Outstanding, now: Ps, frames: Frames<'_>) -> Option<u32>;

    /// That packet has left, and `out` knows.
    fn sent(&mut self, psn: u32, now: Ps, out: &Outstanding);

    /// An ACK has come. `out` has been brought up to date.
    fn acked(&mut self, rules: &Self::Rules, report: &Report, out: &mut Outstanding);

    /// The header of a packet has arrived alone.
    fn nacked(&mut self, rules: &Self::Rules, psn: u32, now: Ps, out: &mut Outstanding);

    /// When it next wants to do something, if nothing comes: [`crate::units::NEVER`] when nothing is under way.
    fn wakes_at(&self, rules: &Self::Rules, out: &mut Outstanding) -> Ps;

    /// That moment has come. The packet that has been given up, if one has.
    fn wake(&mut self, rules: &Self::Rules, now: Ps, out: &mut Outstanding) -> Option<u32>;

    /// Bytes that may be in flight.
    fn window(&self) -> u64;

    /// How often it has sent again without waiting for a timeout.
    fn fast_retransmits(&self) -> u64 {
        0
    }
}
