//! A buffer that the ports of a switch share: a port may fill so much more, the more is free.
//!
//! *Source*: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", ToN 1998: a frame is dropped where its port's queue with it would
//! exceed `alpha` times what is free, or where it does not fit. Frames count until their last bit has left. *State*: the frames that have not left. *Cost*: each frame goes
//! through a heap.

use crate::units::Ps;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The buffer of one switch.
#[derive(Debug)]
pub struct Pool {
    bytes: u64,
    alpha: f64,
    used_bytes: u64,
    /// When each frame leaves, the port that it leaves by, and its size.
    departures: BinaryHeap<Reverse<(Ps, u32, u32)>>,
}

impl Pool {
    /// An empty buffer.
    pub fn new(bytes: u64, alpha: f64) -> Self {
        Self { bytes, alpha, used_bytes: 0, departures: BinaryHeap::new() }
    }

    fn advance(&mut self, now: Ps) {
        while let Some(&Reverse((left, _, bytes))) = self.departures.peek().filter(|departure| departure.0.0 <= now) {
            debug_assert!(left <= now);
            self.used_bytes -= u64::from(bytes);
            self.departures.pop();
        }
    }

    /// Whether a frame may join a queue of `queue_bytes` at `now`, which never falls.
    pub fn admits(&mut self, now: Ps, queue_bytes: u64, bytes: u32) -> bool {
        self.advance(now);
        let free = self.bytes - self.used_bytes;
        let bytes = u64::from(bytes);
        bytes <= free && (queue_bytes + bytes) as f64 <= self.alpha * free as f64
    }

    /// A frame that has been admitted leaves by `port` at `left`.
    pub fn enter(&mut self, left: Ps, port: u32, bytes: u32) {
        self.used_bytes += u64::from(bytes);
        self.departures.push(Reverse((left, port, bytes)));
    }

    /// The link of a port goes down at `now`: what has not left by it is gone.
    pub fn lose(&mut self, now: Ps, port: u32) {
        self.advance(now);
        self.departures.retain(|&Reverse((_, own, bytes))| {
            if own == port {
                self.used_bytes -= u64::from(bytes);
            }
            own != port
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10,000 bytes and frames of 1,000, one port filled at once. alpha 1/2: the n-th frame, with n - 1 in the queue, needs n <= (10 - (n - 1)) / 2, so that three are
    /// admitted (the fourth needs 4 <= 3.5); in general a lone queue gets alpha / (1 + alpha) of the buffer, here a third. Another port then gets n <= (7 - (n - 1)) / 2,
    /// which is two, and a third one n <= (5 - (n - 1)) / 2, two as well.
    #[test]
    fn a_queue_may_be_alpha_times_what_is_free() {
        let mut pool = Pool::new(10_000, 0.5);
        let mut fill = |port, left| {
            let mut queue = 0;
            while pool.admits(0, queue, 1000) {
                pool.enter(left, port, 1000);
                queue += 1000;
            }
            queue
        };
        assert_eq!((fill(1, 100), fill(2, 200), fill(3, 300)), (3000, 2000, 2000), "10, 7 and 5 are free");
        assert_eq!(pool.used_bytes, 7000);
        assert!(pool.admits(99, 500, 1000) && !pool.admits(99, 501, 1000), "3 are free");
        assert!(pool.admits(100, 2000, 1000) && !pool.admits(100, 2001, 1000), "at 100 three have left, and 6 are free");
    }

    /// With a large alpha the whole buffer is the limit.
    #[test]
    fn no_more_fits_than_the_buffer_holds() {
        let mut pool = Pool::new(2500, 8.0);
        for _ in 0..2 {
            assert!(pool.admits(0, 0, 1000));
            pool.enter(50, 1, 1000);
        }
        assert!(!pool.admits(49, 0, 501) && pool.admits(49, 0, 500));
        pool.lose(20, 2);
        assert!(!pool.admits(49, 0, 1000));
        pool.lose(20, 1);
        assert_eq!((pool.used_bytes, pool.admits(49, 0, 2500)), (0, true));
    }
}
