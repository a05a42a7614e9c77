//! pFabric's port: what belongs to the flow with the least left leaves first, that flow's earliest packet before its others.
//!
//! *Source*: Alizadeh et al., "pFabric: minimal near-optimal datacenter transport", SIGCOMM 2013, section 4.1: priority dequeueing with starvation avoidance, priority dropping.
//! Hosts write what is left of the flow, in packets, into the path field. Control goes first. Among equals the last to come is dropped first.
//! *Differs*: more than 65,535 packets left count as 65,535. *State*: what waits. *Cost*: a look at all that waits, a packet.

use super::Queueing;
use crate::packet::{Packet, Slot};
use crate::units::{NEVER, Ps};
use std::collections::VecDeque;

/// What waits at one port, in order of arrival.
#[derive(Debug)]
pub struct Pfabric {
    control: VecDeque<Slot>,
    data: Vec<Slot>,
    waiting_bytes: u64,
    buffer_bytes: u64,
}

impl Pfabric {
    pub(super) fn new(buffer_bytes: u64) -> Self {
        Self { control: VecDeque::new(), data: Vec::new(), waiting_bytes: 0, buffer_bytes }
    }

    fn evict(&mut self) -> Option<Slot> {
        // The last of equals is the one that `max_by_key` finds.
        let worst = self.data.iter().enumerate().max_by_key(|(_, slot)| slot.packet.path()).map(|(place, _)| place);
        worst.map_or_else(|| self.control.pop_back(), |place| Some(self.data.remove(place)))
    }
}

impl Queueing for Pfabric {
    fn add(&mut self, slot: Slot, dropped: &mut impl FnMut(Packet)) {
        if slot.packet.is_control() {
            self.control.push_back(slot);
        } else {
            self.data.push(slot);
        }
        self.waiting_bytes += u64::from(slot.packet.bytes());
        while self.waiting_bytes > self.buffer_bytes {
            let Some(worst) = self.evict() else { return };
            self.waiting_bytes -= u64::from(worst.packet.bytes());
            dropped(worst.packet);
        }
    }

    fn next_start(&self, free_at: Ps) -> Ps {
        if self.waiting_bytes == 0 { NEVER } else { free_at }
    }

    fn take(&mut self, _at: Ps) -> Option<Slot> {
        let slot = match self.control.pop_front() {
            Some(slot) => slot,
            None => {
                let best = self.data.iter().min_by_key(|slot| slot.packet.path())?.packet.flow();
                let earliest = self.data.iter().position(|slot| slot.packet.flow() == best)?;
                self.data.remove(earliest)
            }
        };
        self.waiting_bytes -= u64::from(slot.packet.bytes());
        Some(slot)
    }

    fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    fn clear(&mut self, lost: &mut impl FnMut(Packet)) {
        self.control.drain(..).chain(self.data.drain(..)).for_each(|slot| lost(slot.packet));
        self.waiting_bytes = 0;
    }
}
