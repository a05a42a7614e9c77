//! A packet, 16 bytes: what a switch and a host need to know of it and nothing else.
//!
//! Two words: `flow | psn`, and `address | path | kind | CE | bytes`. Fields are packed because memory traffic is what a packet-hop costs.

use crate::units::Ps;

const PATH_SHIFT: u32 = 24;
const KIND_SHIFT: u32 = 40;
const CE_SHIFT: u32 = 45;
// At the top, where one shift reads it: it is read several times a packet-hop.
const BYTES_SHIFT: u32 = 46;

/// Largest host address plus one.
pub const ADDRESS_LIMIT: u32 = 1 << PATH_SHIFT;
/// Largest frame plus one, in bytes.
pub const FRAME_LIMIT: u32 = 1 << (u64::BITS - BYTES_SHIFT);

/// What a packet is. The discriminant is the size class (Ofan paper, section 4.1: two quanta, data and ACKs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Carries payload.
    Data = 0,
    /// Acknowledges one data packet.
    Ack = 1,
}

/// A packet by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Packet {
    id: u64,
    head: u64,
}

impl Packet {
    /// A data packet or ACK for the host at `address`. `flow` is the *receiving* host's name for the flow: its receive slot for data, its send
    /// slot for an ACK. `path` is what the host's spreader chose (entropy value or waypoint). `bytes` is the frame without the gap.
    #[inline(always)]
    pub fn new(kind: Kind, flow: u32, psn: u32, address: u32, path: u16, bytes: u32) -> Self {
        debug_assert!(address < ADDRESS_LIMIT && bytes < FRAME_LIMIT);
        Self {
            id: u64::from(flow) << 32 | u64::from(psn),
            head: u64::from(address)
                | u64::from(path) << PATH_SHIFT
                | u64::from(bytes) << BYTES_SHIFT
                | (kind as u64) << KIND_SHIFT,
        }
    }

    /// Flow, as the receiving host numbers it.
    #[inline(always)]
    pub fn flow(self) -> u32 {
        (self.id >> 32) as u32
    }

    /// Flow, told apart from the flow of ACKs that has the same number: twice the number, and one more for ACKs.
    #[inline(always)]
    pub fn flow_class(self) -> u64 {
        u64::from(self.flow()) << 1 | self.class() as u64
    }

    /// Packet sequence number within its flow.
    #[inline(always)]
    pub fn psn(self) -> u32 {
        self.id as u32
    }

    /// Address of the host it travels to.
    #[inline(always)]
    pub fn address(self) -> u32 {
        self.head as u32 & (ADDRESS_LIMIT - 1)
    }

    /// Entropy value (hashing schemes) or waypoint (pinned paths).
    #[inline(always)]
    pub fn path(self) -> u16 {
        (self.head >> PATH_SHIFT) as u16
    }

    /// Writes the path field, which a switch may use to tell other switches something.
    #[inline(always)]
    pub fn set_path(&mut self, path: u16) {
        self.head = self.head & !(0xFFFF << PATH_SHIFT) | u64::from(path) << PATH_SHIFT;
    }

    /// Frame size without the gap.
    #[inline(always)]
    pub fn bytes(self) -> u32 {
        (self.head >> BYTES_SHIFT) as u32
    }

    /// Size class: 0 data, 1 ACK.
    #[inline(always)]
    pub fn class(self) -> usize {
        (self.head >> KIND_SHIFT) as usize & 1
    }

    /// Data or ACK.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        if self.class() == 0 { Kind::Data } else { Kind::Ack }
    }

    /// Set Congestion Experienced (RFC 3168).
    #[inline(always)]
    pub fn mark(&mut self) {
        self.head |= 1 << CE_SHIFT;
    }

    /// Whether Congestion Experienced is set; in an ACK, whether it was in the data packet.
    #[inline(always)]
    pub fn is_marked(self) -> bool {
        self.head >> CE_SHIFT & 1 == 1
    }

    /// What an ECMP hash sees of the packet: flow, kind and entropy value, not the sequence number.
    #[inline(always)]
    pub fn hash_input(self) -> u64 {
        self.id >> 32 << 32 | u64::from(self.path()) << 1 | self.class() as u64
    }
}

/// A packet on a link: `at` is when its last bit reaches the next node.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Slot {
    /// When the next node has the whole packet.
    pub at: Ps,
    /// The packet.
    pub packet: Packet,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_touch_each_other() {
        let mut packet = Packet::new(Kind::Ack, u32::MAX, 7, ADDRESS_LIMIT - 1, u16::MAX, FRAME_LIMIT - 1);
        packet.mark();
        assert_eq!((packet.flow(), packet.psn()), (u32::MAX, 7));
        assert_eq!((packet.address(), packet.path(), packet.bytes()), (ADDRESS_LIMIT - 1, u16::MAX, FRAME_LIMIT - 1));
        assert_eq!((packet.kind(), packet.is_marked()), (Kind::Ack, true));
        let zero = Packet::new(Kind::Data, 0, u32::MAX, 0, 0, 0);
        assert_eq!((zero.flow(), zero.psn(), zero.address(), zero.path(), zero.bytes()), (0, u32::MAX, 0, 0, 0));
        assert_eq!((zero.kind(), zero.head), (Kind::Data, 0));
    }

    #[test]
    fn a_slot_is_24_bytes() {
        assert_eq!(size_of::<Slot>(), 24);
    }
}
