//! How much of a flow may be under way: slow start and additive increase as in TCP.
//!
//! *Source*: pFabric paper, section 4.2; RFC 5681, section 3.1. Windows are whole numbers of 1/65,536 of a packet.

const PACKET: u64 = 1 << 16;
/// No window is halved to less.
const LEAST_THRESHOLD: u64 = 2 * PACKET;

/// The window of one flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    size: u64,
    most: u64,
    /// Up to here it grows by a packet an ACK.
    threshold: u64,
}

impl Window {
    pub(super) fn new(initial: u32, most: u32, threshold: u32) -> Self {
        let [size, most, threshold] = [initial, most, threshold].map(|packets| u64::from(packets) * PACKET);
        Self { size, most, threshold }
    }

    /// Whole packets.
    #[inline(always)]
    pub(super) fn packets(self) -> u32 {
        (self.size / PACKET) as u32
    }

    /// An ACK has come.
    pub(super) fn grow(&mut self) {
        self.size += if self.size < self.threshold { PACKET } else { PACKET * PACKET / self.size };
        self.size = self.size.min(self.most);
    }

    /// A timeout.
    pub(super) fn collapse(&mut self) {
        self.threshold = (self.size / 2).max(LEAST_THRESHOLD);
        self.size = PACKET;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(window: &mut Window, acks: u32) -> u32 {
        (0..acks).for_each(|_| window.grow());
        window.packets()
    }

    /// From 1, doubled in each round up to half of what was; then a packet a round.
    #[test]
    fn slow_start_and_then_a_packet_a_round() {
        let mut window = Window::new(16, 19, 100_000);
        assert_eq!([after(&mut window, 2), after(&mut window, 1), after(&mut window, 5)], [18, 19, 19], "no more than the most");
        window.collapse();
        assert_eq!([window.packets(), after(&mut window, 1), after(&mut window, 2), after(&mut window, 4)], [1, 2, 4, 8]);
        // Half of 19 is 9.5: two more ACKs end slow start at 10.
        assert_eq!(after(&mut window, 2), 10);
        // 1/10 and a little less each: eleven ACKs for a packet.
        assert_eq!([after(&mut window, 10), after(&mut window, 1)], [10, 11]);
    }

    /// Half of 1 is no window: the second timeout in a row leaves a threshold of 2.
    #[test]
    fn a_threshold_is_at_least_two() {
        let mut window = Window::new(16, 19, 100_000);
        window.collapse();
        window.collapse();
        assert_eq!([after(&mut window, 1), after(&mut window, 1), after(&mut window, 2)], [2, 2, 3]);
    }
}
