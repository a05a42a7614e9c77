//! Where flows begin: what of a flow is under way, what is acknowledged, and what is sent next.
//!
//! *Source*: pFabric paper, section 4.2.

use super::window::Window;
use super::words::Told;
use crate::transport::received::Received;
use crate::units::{NEVER, Ps};

/// One flow.
#[derive(Clone, Debug)]
pub(super) struct Source {
    packets: u32,
    window: Window,
    acked: Received,
    /// What has been sent at least once.
    sent: Received,
    /// The first packet that has not been handed over since the last timeout, or one before it that is acknowledged.
    next: u32,
    /// Packets handed over since the last timeout and not acknowledged when the first hole was last filled.
    in_flight: u32,
    /// Those of them that have been acknowledged since, beyond the hole.
    beyond: u32,
    /// Timeouts since the last ACK.
    timeouts: u32,
    is_probing: bool,
    /// When it will wait no longer; never while nothing is under way.
    pub(super) times_out_at: Ps,
}

impl Source {
    pub(super) fn new(packets: u32, window: Window) -> Self {
        Self {
            packets,
            window,
            acked: Received::default(),
            sent: Received::default(),
            next: 0,
            in_flight: 0,
            beyond: 0,
            timeouts: 0,
            is_probing: false,
            times_out_at: NEVER,
        }
    }

    /// Packets that are not acknowledged.
    #[inline(always)]
    pub(super) fn left(&self) -> u32 {
        self.packets - self.acked.count()
    }

    pub(super) fn has_in_flight(&self) -> bool {
        self.in_flight > 0
    }

    pub(super) fn is_probing(&self) -> bool {
        self.is_probing
    }

    /// Whether the window allows another packet, and there is one.
    #[inline(always)]
    pub(super) fn may_send(&self) -> bool {
        // What is neither acknowledged nor under way lies at `next` or beyond.
        !self.is_probing && self.in_flight < self.window.packets() && self.in_flight - self.beyond < self.left()
    }

    /// The next packet, which is then under way.
    #[inline(always)]
    pub(super) fn next(&mut self) -> u32 {
        while self.acked.contains(self.next) {
            self.next += 1;
        }
        self.in_flight += 1;
        self.next += 1;
        self.next - 1
    }

    /// A packet is sent; whether it had not been.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, psn: u32) -> bool {
        self.sent.insert(psn)
    }

    /// An ACK has come; whether what the flow waits for is another packet now, or may be sent now.
    pub(super) fn acknowledge(&mut self, told: Told) -> bool {
        let (was_probing, was_below) = (self.is_probing, self.acked.below());
        (self.is_probing, self.timeouts) = (false, 0);
        (was_below..told.below).chain(told.beyond).for_each(|psn| {
            let is_new = self.acked.insert(psn);
            self.beyond += u32::from(is_new && psn < self.next);
        });
        let is_filled = self.acked.below() > was_below;
        if is_filled {
            self.in_flight -= self.beyond;
            self.beyond = 0;
            self.window.grow();
        }
        was_probing || is_filled
    }

    /// What is under way is given up. After `probe_after` timeouts in a row, if not 0, nothing is sent until an ACK comes.
    pub(super) fn time_out(&mut self, probe_after: u32) {
        (self.next, self.in_flight, self.beyond, self.times_out_at) = (self.acked.below(), 0, 0, NEVER);
        if self.is_probing {
            return;
        }
        self.window.collapse();
        self.timeouts += 1;
        self.is_probing = self.timeouts == probe_after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(packets: u32, window: u32) -> Source {
        Source::new(packets, Window::new(window, window, 100_000))
    }

    fn send(source: &mut Source) -> Vec<u32> {
        let mut sent = Vec::new();
        while source.may_send() {
            sent.push(source.next());
        }
        sent
    }

    fn told(below: u32, beyond: impl Into<Option<u32>>) -> Told {
        Told { below, beyond: beyond.into() }
    }

    /// Window 4 of 10 packets; 1 and 3 are lost. ACKs beyond the hole do not open the window until the hole is filled.
    #[test]
    fn the_window_waits_for_the_hole() {
        let mut source = source(10, 4);
        assert_eq!(send(&mut source), [0, 1, 2, 3]);
        assert!(source.acknowledge(told(1, None)));
        assert_eq!(send(&mut source), [4]);
        for _ in 0..2 {
            assert!(!source.acknowledge(told(1, 2)), "1 is still what it waits for");
            assert!(send(&mut source).is_empty() && source.left() == 8);
        }
        // The timeout: a window of 1, from the first hole. What was under way may still be acknowledged.
        source.time_out(0);
        assert_eq!(send(&mut source), [1]);
        assert!(!source.acknowledge(told(1, 4)));
        assert!(send(&mut source).is_empty() && source.left() == 7);
        // The hole is filled: a window of 2, and 2 and 4 are not sent again.
        assert!(source.acknowledge(told(3, None)));
        assert_eq!((send(&mut source), source.left()), (vec![3, 5], 6));
        // Half of 4 was 2: from there windows grow slowly, to 2.5, 2.9, 3.2.
        assert!(source.acknowledge(told(5, None)));
        assert_eq!(send(&mut source), [6]);
        assert!(source.acknowledge(told(7, None)));
        assert_eq!(send(&mut source), [7, 8]);
        assert!(source.acknowledge(told(8, None)));
        assert_eq!((send(&mut source), source.has_in_flight()), (vec![9], true));
        assert!(source.acknowledge(told(10, None)));
        assert_eq!((send(&mut source), source.left(), source.has_in_flight()), (vec![], 0, false));
    }

    /// Probes after two timeouts in a row; any ACK ends them, even one that says nothing new, and the flow starts with a window of 1.
    #[test]
    fn probes_after_some_timeouts_in_a_row() {
        let mut source = source(10, 4);
        send(&mut source);
        source.time_out(2);
        assert_eq!((source.is_probing(), send(&mut source)), (false, vec![0]));
        assert!(source.acknowledge(told(1, None)));
        send(&mut source);
        source.time_out(2);
        assert!(!source.is_probing(), "not in a row");
        send(&mut source);
        source.time_out(2);
        source.time_out(2);
        source.time_out(2);
        assert_eq!((source.is_probing(), send(&mut source)), (true, vec![]));
        assert!(source.acknowledge(told(1, None)));
        assert_eq!((source.is_probing(), send(&mut source)), (false, vec![1]));
    }
}
