//! Strict priority by a number in the packet: control first, then data, smaller numbers first, first come first served among equals.
//!
//! *Source*: pHost (Gao et al., CoNEXT 2015) and dcPIM (Cai et al., SIGCOMM 2022), whose switches have a few priorities each. Hosts write the number into the three top
//! bits of the path field. When the buffer is full, the last packet of the largest number gives way, which may be the one that comes.
//! *State*: a queue a number. *Cost*: one look at each queue a packet.

use super::Queueing;
use crate::packet::{Packet, Slot};
use crate::units::{NEVER, Ps};
use std::collections::VecDeque;

/// Bits of the path field below the priority.
pub const PRIORITY_SHIFT: u32 = 13;
/// Numbers that data can have.
const DATA_LEVELS: usize = 1 << (u16::BITS - PRIORITY_SHIFT);

/// What waits at one port: control, then data by its number.
#[derive(Debug)]
pub struct StrictPriority {
    levels: [VecDeque<Slot>; DATA_LEVELS + 1],
    waiting_bytes: u64,
    buffer_bytes: u64,
}

fn level_of(packet: Packet) -> usize {
    if packet.is_control() { 0 } else { 1 + usize::from(packet.path() >> PRIORITY_SHIFT) }
}

impl StrictPriority {
    pub(super) fn new(buffer_bytes: u64) -> Self {
        Self { levels: Default::default(), waiting_bytes: 0, buffer_bytes }
    }
}

impl Queueing for StrictPriority {
    fn add(&mut self, slot: Slot, dropped: &mut impl FnMut(Packet)) {
        self.levels[level_of(slot.packet)].push_back(slot);
        self.waiting_bytes += u64::from(slot.packet.bytes());
        while self.waiting_bytes > self.buffer_bytes {
            let Some(worst) = self.levels.iter_mut().rev().find_map(VecDeque::pop_back) else { return };
            self.waiting_bytes -= u64::from(worst.packet.bytes());
            dropped(worst.packet);
        }
    }

    fn next_start(&self, free_at: Ps) -> Ps {
        if self.waiting_bytes == 0 { NEVER } else { free_at }
    }

    fn take(&mut self, _at: Ps) -> Option<Slot> {
        let slot = self.levels.iter_mut().find_map(VecDeque::pop_front)?;
        self.waiting_bytes -= u64::from(slot.packet.bytes());
        Some(slot)
    }

    fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    fn clear(&mut self, lost: &mut impl FnMut(Packet)) {
        self.levels.iter_mut().flat_map(|level| level.drain(..)).for_each(|slot| lost(slot.packet));
        self.waiting_bytes = 0;
    }
}
