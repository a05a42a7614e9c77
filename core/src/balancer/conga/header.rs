//! What CONGA writes into the path field of a packet.

use crate::packet::Packet;

/// The path field: largest metric so far, largest above the aggregation switches, and one note for the far end.
#[derive(Clone, Copy)]
pub(super) struct Header(u16);

impl Header {
    /// Nothing on the way yet, and an empty note.
    pub(super) fn new(is_for_agg: bool) -> Self {
        Self(u16::from(is_for_agg) << 6)
    }

    pub(super) fn read(packet: &Packet) -> Self {
        Self(packet.path())
    }

    pub(super) fn write(self, packet: &mut Packet) {
        packet.set_path(self.0);
    }

    pub(super) fn metric(self) -> u8 {
        self.0 as u8 & 7
    }

    pub(super) fn metric_above_aggs(self) -> u8 {
        (self.0 >> 3) as u8 & 7
    }

    /// Whether the note is for the aggregation switch.
    pub(super) fn is_for_agg(self) -> bool {
        self.0 >> 6 & 1 == 1
    }

    /// Uplink and its metric.
    pub(super) fn note(self) -> (usize, u8) {
        (usize::from(self.0 >> 10), (self.0 >> 7) as u8 & 7)
    }

    pub(super) fn raise(&mut self, metric: u8) {
        self.0 = self.0 & !7 | u16::from(self.metric().max(metric));
    }

    pub(super) fn raise_above_aggs(&mut self, metric: u8) {
        self.0 = self.0 & !(7 << 3) | u16::from(self.metric_above_aggs().max(metric)) << 3;
    }

    pub(super) fn write_note(&mut self, (uplink, metric): (usize, u8)) {
        self.0 = self.0 & 0x7F | (uplink as u16) << 10 | u16::from(metric) << 7;
    }
}
