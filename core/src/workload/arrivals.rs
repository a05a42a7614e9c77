//! In which order the packets of each flow have arrived: what ACKs refer to.
//!
//! A real ACK says which packets have arrived in a bitmap of its own. Here it says how many have, and the sender looks up which in the receiver's log: the same information, and packets
//! stay at 16 bytes. The receiver has written an entry at least one link latency, which is a window, before the sender reads it.

use super::Workload;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bit of an entry: the packet had been sent before.
const AGAIN: u32 = 1 << 31;

/// Most packets of a flow that is logged.
pub const MOST_LOGGED: u32 = AGAIN - 1;

/// The logs of all flows, by receive slot; empty where no ACK refers to them.
#[derive(Debug, Default)]
pub struct Arrivals {
    base: Vec<usize>,
    entries: Vec<AtomicU32>,
}

impl Arrivals {
    /// Empty logs for all packets.
    pub fn new(workload: &Workload) -> Self {
        let mut base = Vec::with_capacity(workload.receive.len() + 1);
        let mut end = 0;
        base.push(end);
        for flow in &workload.receive {
            end += flow.packets as usize;
            base.push(end);
        }
        Self { base, entries: (0..end).map(|_| AtomicU32::new(0)).collect() }
    }

    /// A packet is the `place`th new one of its flow, from 0; `is_again`: it had been sent before.
    #[inline(always)]
    pub fn note(&self, receive_slot: u32, place: u32, psn: u32, is_again: bool) {
        let entry = psn | if is_again { AGAIN } else { 0 };
        // Relaxed: the barrier between windows orders it before any look at it.
        self.entries[self.base[receive_slot as usize] + place as usize].store(entry, Ordering::Relaxed);
    }

    /// Which packet was the `place`th, and whether it had been sent before.
    #[inline(always)]
    pub fn entry(&self, receive_slot: u32, place: u32) -> (u32, bool) {
        let entry = self.entries[self.base[receive_slot as usize] + place as usize].load(Ordering::Relaxed);
        (entry & !AGAIN, entry & AGAIN != 0)
    }
}
