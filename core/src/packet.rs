//! A packet, 16 bytes: what a switch and a host need to know of it and nothing else.
//!
//! Two words: `flow | psn`, and `address | path | kind | CE | bytes`. Fields are packed because memory traffic is what a packet-hop costs.

use crate::units::Ps;

const PATH_SHIFT: u32 = 24;
const KIND_SHIFT: u32 = 40;
const KIND_MASK: u8 = 0b11111;
const CE_SHIFT: u32 = 45;
// At the top, where one shift reads it: it is read several times a packet-hop.
const BYTES_SHIFT: u32 = 46;

/// Largest host address plus one.
pub const ADDRESS_LIMIT: u32 = 1 << PATH_SHIFT;
/// Largest frame plus one, in bytes.
pub const FRAME_LIMIT: u32 = 1 << (u64::BITS - BYTES_SHIFT);

/// What a packet is. Two bits of the discriminant say what a switch has to know of it: bit 0 its size class (data or control; Ofan paper, section 4.1), bit 1
/// whether it travels back, from the receiver of its flow to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Carries payload.
    Data = 0b0_0000,
    /// Data of a small flow that was sent without asking (dcSim).
    DirectData = 0b0_0100,
    /// Acknowledges data packets.
    Ack = 0b0_0011,
    /// Simulates a data packet (dcSim).
    Sim = 0b0_0001,
    /// A Sim got through.
    SimAck = 0b0_0111,
    /// Data up to a number got through (dcSim), or a copy has come of what had (window family).
    DataAck = 0b0_1011,
    /// Data of a block of sixteen got through (dcSim).
    BlockAck = 0b0_1111,
    /// Request to send: a flow has begun (pHost, dcPIM).
    Rts = 0b0_0101,
    /// One data packet may be sent (pHost, dcPIM).
    Token = 0b1_0011,
    /// Asks a sender for channels (dcPIM).
    Request = 0b1_0111,
    /// Offers channels (dcPIM).
    Grant = 0b0_1001,
    /// Takes channels (dcPIM).
    Accept = 0b1_1011,
    /// Asks whether anything gets through (pFabric).
    Probe = 0b0_1101,
    /// Carries payload, and asks for an ACK at once.
    DataAsking = 0b0_1000,
    /// The same, and has been sent before.
    DataAgain = 0b0_1100,
    /// Header of a data packet whose payload a full port has cut off.
    Trimmed = 0b1_0001,
    /// A data packet has arrived without its payload.
    Nack = 0b1_1111,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 17] = [
        Self::Data,
        Self::DirectData,
        Self::Ack,
        Self::Sim,
        Self::SimAck,
        Self::DataAck,
        Self::BlockAck,
        Self::Rts,
        Self::Token,
        Self::Request,
        Self::Grant,
        Self::Accept,
        Self::Probe,
        Self::DataAsking,
        Self::DataAgain,
        Self::Trimmed,
        Self::Nack,
    ];

    /// The door's number for it.
    pub fn number(self) -> u8 {
        match self {
            Self::Data | Self::DirectData | Self::DataAsking | Self::DataAgain => 0,
            Self::Ack => 1,
            Self::Sim => 2,
            Self::SimAck => 3,
            Self::DataAck | Self::BlockAck => 4,
            Self::Rts => 5,
            Self::Token => 6,
            Self::Request => 7,
            Self::Grant => 8,
            Self::Accept => 9,
            Self::Probe => 10,
            Self::Trimmed => 11,
            Self::Nack => 12,
        }
    }
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

    /// Flow, told apart from the flow back that has the same number: twice the number, and one more for what travels back.
    #[inline(always)]
    pub fn flow_class(self) -> u64 {
        u64::from(self.flow()) << 1 | u64::from(self.travels_back())
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

    /// Size class: 0 data, 1 control (ACKs and the like).
    #[inline(always)]
    pub fn class(self) -> usize {
        (self.head >> KIND_SHIFT) as usize & 1
    }

    /// Whether it carries no payload.
    #[inline(always)]
    pub fn is_control(self) -> bool {
        self.class() == 1
    }

    /// Whether it goes from the receiver of its flow to the sender.
    #[inline(always)]
    pub fn travels_back(self) -> bool {
        self.head >> (KIND_SHIFT + 1) & 1 == 1
    }

    /// What it is.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        let bits = (self.head >> KIND_SHIFT) as u8 & KIND_MASK;
        // Seventeen comparisons at the most, which the compiler makes a table of.
        Kind::ALL.into_iter().find(|&kind| kind as u8 == bits).unwrap_or(Kind::Data)
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

    /// What an ECMP hash sees of the packet: flow, direction and entropy value, not the sequence number.
    #[inline(always)]
    pub fn hash_input(self) -> u64 {
        self.id >> 32 << 32 | u64::from(self.path()) << 1 | u64::from(self.travels_back())
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
    fn kinds_are_told_apart() {
        for kind in Kind::ALL {
            let packet = Packet::new(kind, 1, 2, 3, u16::MAX, 5);
            assert_eq!(packet.kind(), kind);
            assert_eq!(packet.is_control(), !matches!(kind, Kind::Data | Kind::DirectData | Kind::DataAsking | Kind::DataAgain));
        }
        let travels_back = |kind| Packet::new(kind, 1, 2, 3, 4, 5).travels_back();
        assert!(
            travels_back(Kind::Token) && travels_back(Kind::BlockAck) && !travels_back(Kind::Sim) && !travels_back(Kind::Grant)
        );
    }

    #[test]
    fn a_slot_is_24_bytes() {
        assert_eq!(size_of::<Slot>(), 24);
    }
}
