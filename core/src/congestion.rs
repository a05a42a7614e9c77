//! Congestion control: how many bytes of a flow may be in flight. A controller knows nothing of sequence numbers, losses or paths; the sender (`transport::windowed`) tells it what
//! comes back.

mod constant;
pub mod dctcp;
mod median;
pub mod mswift;
pub mod nscc;
pub mod rules;
pub mod swift;

use crate::units::Ps;
pub use constant::Constant;

/// What a controller may know of its flow before it begins.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// RTT of a full data frame and its ACK where nothing else is sent.
    pub base_rtt: Ps,
    /// Links, one way.
    pub hops: u32,
    /// Largest window, in bytes.
    pub max_window: u64,
    /// First window, in bytes.
    pub initial_window: u64,
    /// A full data frame, in bytes.
    pub frame: u32,
}

/// What an ACK says.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// When it has come.
    pub now: Ps,
    /// Bytes of data frames that it is the first to acknowledge.
    pub newly: u64,
    /// Whether the packet that it answers was marked (RFC 3168).
    pub is_marked: bool,
    /// Round trip of the packet that it answers; none when that was sent more than once or had been acknowledged before.
    pub rtt: Option<Ps>,
    /// Bytes in flight after it.
    pub in_flight: u64,
}

/// What limits a flow's bytes in flight.
pub trait Controller {
    /// What the flows of a run have in common.
    type Rules: Copy + std::fmt::Debug;

    /// The state of a new flow.
    fn new(rules: &Self::Rules, route: &Route) -> Self;

    /// An ACK has come.
    fn acked(&mut self, rules: &Self::Rules, feedback: &Feedback);

    /// The receiver has had the header only of a packet of so many bytes, of which so many are now in flight.
    fn nacked(&mut self, rules: &Self::Rules, bytes: u64, in_flight: u64, now: Ps);

    /// A packet of so many bytes has not been acknowledged in time.
    fn timed_out(&mut self, rules: &Self::Rules, bytes: u64, in_flight: u64, now: Ps);

    /// Bytes that may be in flight.
    fn window(&self) -> u64;

    /// Where the window is below one frame: how long after one frame the next may start, and nothing else be in flight.
    fn pace(&self) -> Option<Ps> {
        None
    }
}

#[cfg(test)]
mod tests;
