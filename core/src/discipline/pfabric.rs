//! pFabric's port: what belongs to the flow with the least left leaves first, that flow's earliest packet before its others.
//!
//! *Source*: Alizadeh et al., "pFabric: minimal near-optimal datacenter transport", SIGCOMM 2013, section 4.1: priority dequeueing with starvation avoidance, priority dropping.
//! Hosts write what is left of the flow, in packets, into the path field. Control goes first. Among equals the last to come is dropped first.
//! *Differs*: more than 65,535 packets left count as 65,535. *State*: what waits. *Cost*: a look at all that waits, a packet.

use super::Queueing;
use crate::packet::Slot;
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
    fn add(&mut self, slot: Slot, dropped: &mut impl FnMut(Slot)) {
        if slot.packet.is_control() {
            self.control.push_back(slot);
        } else {
            self.data.push(slot);
        }
        self.waiting_bytes += u64::from(slot.packet.bytes());
        while self.waiting_bytes > self.buffer_bytes {
            let Some(worst) = self.evict() else { return };
            self.waiting_bytes -= u64::from(worst.packet.bytes());
            dropped(worst);
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

    fn clear(&mut self, lost: &mut impl FnMut(Slot)) {
        self.control.drain(..).chain(self.data.drain(..)).for_each(lost);
        self.waiting_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};

    /// Adds packets of 1,000 bytes (control: 100), each `(flow, left)`, numbered as they come; the numbers of those dropped.
    fn add(queue: &mut Pfabric, kind: Kind, packets: &[(u32, u16)], next: &mut u32) -> Vec<u32> {
        let mut dropped = Vec::new();
        for &(flow, left) in packets {
            let bytes = if kind == Kind::Data { 1000 } else { 100 };
            let packet = Packet::new(kind, flow, *next, 0, left, bytes);
            queue.add(Slot { at: 0, packet }, &mut |victim| dropped.push(victim.packet.psn()));
            *next += 1;
        }
        dropped
    }

    fn left_over(queue: &mut Pfabric) -> Vec<u32> {
        std::iter::from_fn(|| queue.take(0)).map(|slot| slot.packet.psn()).collect()
    }

    /// Flow 7 has got from 9 left to 2 left: it is the best by its last packet, and sends its first; then flow 8, which is best by then.
    #[test]
    fn the_best_flows_earliest_packet_leaves() {
        let (mut queue, mut next) = (Pfabric::new(u64::MAX), 0);
        assert_eq!(queue.next_start(5), NEVER);
        add(&mut queue, Kind::Data, &[(7, 9), (8, 3), (7, 2), (8, 3), (9, 3)], &mut next);
        assert_eq!((queue.next_start(5), queue.waiting_bytes()), (5, 5000));
        assert_eq!(left_over(&mut queue), [0, 2, 1, 3, 4], "among equals, the flow that came first");
        assert_eq!((queue.next_start(5), queue.waiting_bytes()), (NEVER, 0));
    }

    /// Room for three: of more, the one with the most left goes, the last of several, which may be the one that comes.
    #[test]
    fn the_worst_and_last_is_dropped() {
        let (mut queue, mut next) = (Pfabric::new(3000), 0);
        assert_eq!(add(&mut queue, Kind::Data, &[(1, 5), (2, 8), (3, 8)], &mut next), Vec::<u32>::new());
        assert_eq!(add(&mut queue, Kind::Data, &[(4, 9)], &mut next), [3], "worse than all that waits");
        assert_eq!(add(&mut queue, Kind::Data, &[(4, 8)], &mut next), [4], "no better, and last");
        assert_eq!(add(&mut queue, Kind::Data, &[(4, 7)], &mut next), [2], "better than the last of the worst");
        assert_eq!(add(&mut queue, Kind::Data, &[(4, 1), (4, 1)], &mut next), [1, 5]);
        assert_eq!(left_over(&mut queue), [6, 7, 0]);
    }

    /// Control goes first whatever its path field says, and takes the place of data; only when no data waits, the last of it is dropped.
    #[test]
    fn control_goes_first_and_stays() {
        let (mut queue, mut next) = (Pfabric::new(1000), 0);
        add(&mut queue, Kind::Data, &[(1, 1)], &mut next);
        assert_eq!(add(&mut queue, Kind::Ack, &[(1, u16::MAX)], &mut next), [0]);
        assert_eq!(add(&mut queue, Kind::Data, &[(1, 1)], &mut next), [2], "900 bytes are left");
        assert_eq!(add(&mut queue, Kind::Ack, &[(1, 0); 10], &mut next), [12]);
        assert_eq!(left_over(&mut queue), (1..12).filter(|&psn| psn != 2).collect::<Vec<_>>());
        let (mut queue, mut next) = (Pfabric::new(u64::MAX), 0);
        add(&mut queue, Kind::Data, &[(1, 1)], &mut next);
        add(&mut queue, Kind::Probe, &[(2, 9)], &mut next);
        let mut lost = 0;
        assert_eq!(queue.take(0).map(|slot| slot.packet.psn()), Some(1));
        queue.clear(&mut |_| lost += 1);
        assert_eq!((lost, queue.waiting_bytes(), queue.take(0).is_none()), (1, 0, true));
    }
}
