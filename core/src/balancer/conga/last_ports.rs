//! The port that each flow used last: a table with one place to look at for nearly every packet.

/// A flow that has used none yet; above any port.
const NONE: u8 = u8::MAX;
const FIRST_BITS: u32 = 4;

/// Open addressing, at most half full. A slot is the flow plus one, and its port in the lowest eight bits; zero is a free slot.
#[derive(Debug)]
pub(super) struct LastPorts {
    slots: Box<[u64]>,
    /// What is left of a hash after this shift is a place.
    shift: u32,
    flows: usize,
}

impl LastPorts {
    pub(super) fn new() -> Self {
        Self { slots: vec![0; 1 << FIRST_BITS].into(), shift: u64::BITS - FIRST_BITS, flows: 0 }
    }

    /// Where a flow's port stands, until this is asked for another flow.
    #[inline(always)]
    pub(super) fn place(&mut self, flow: u64) -> usize {
        let mut place = self.first_place(flow);
        loop {
            let slot = self.slots[place];
            if slot >> 8 == flow + 1 {
                return place;
            }
            if slot == 0 {
                return self.add(flow);
            }
            place = self.after(place);
        }
    }

    /// Numbers in a row are spread out: few of them meet.
    #[inline(always)]
    fn first_place(&self, flow: u64) -> usize {
        (flow.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline(always)]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.slots.len() - 1)
    }

    #[cold]
    fn add(&mut self, flow: u64) -> usize {
        self.flows += 1;
        if self.flows * 2 > self.slots.len() {
            self.shift -= 1;
            let larger = vec![0; self.slots.len() * 2].into();
            for slot in std::mem::replace(&mut self.slots, larger).into_iter().filter(|&slot| slot != 0) {
                self.put(slot);
            }
        }
        self.put((flow + 1) << 8 | u64::from(NONE))
    }

    /// Puts what has no slot yet into the first free one.
    fn put(&mut self, slot: u64) -> usize {
        let mut place = self.first_place((slot >> 8) - 1);
        while self.slots[place] != 0 {
            place = self.after(place);
        }
        self.slots[place] = slot;
        place
    }

    /// The port there, when it is one of these.
    #[inline(always)]
    pub(super) fn among(&self, place: usize, ports: u64) -> Option<u16> {
        let port = self.slots[place] as u8;
        (port != NONE && ports >> (port & 63) & 1 == 1).then_some(u16::from(port))
    }

    #[inline(always)]
    pub(super) fn set(&mut self, place: usize, port: u16) {
        self.slots[place] = self.slots[place] & !0xFF | u64::from(port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_keeps_its_port() {
        let mut ports = LastPorts::new();
        let flows: Vec<u64> = (0..500).chain((1..500).map(|i| i << 24)).chain([(1 << 33) - 1]).collect();
        for round in 0..3 {
            for &flow in &flows {
                let place = ports.place(flow);
                let wanted = (round > 0).then_some(((flow ^ flow >> 24) + round) as u16 & 63);
                assert_eq!(ports.among(place, u64::MAX), wanted);
                if let Some(port) = wanted {
                    assert_eq!(ports.among(place, !(1 << port)), None);
                }
                ports.set(place, ((flow ^ flow >> 24) + round + 1) as u16 & 63);
            }
        }
    }
}
