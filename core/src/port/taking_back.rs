//! A departure is known when a frame arrives; when the link dies or the run ends before it, the frame is taken back.

use super::Port;
use crate::link::Link;
use crate::packet::Slot;
use crate::units::Ps;

impl Port {
    /// Whether a frame counts as soon as it arrives, when its departure is known: at the end of a run some may still wait, copies of what has arrived.
    pub fn decides_on_arrival(&self) -> bool {
        self.held.is_none()
    }

    /// The run ends at `end`: takes out of the tally what has not left by then.
    pub fn cut(&mut self, end: Ps) {
        self.take_back(end);
    }

    /// The link goes down at `now`: what has not left is lost, and so is what comes.
    pub fn fail(&mut self, now: Ps, link: &Link) {
        self.queued_bytes(now);
        let lost = self.take_back(now);
        let waiting = (lost[0] + lost[1]) as u32;
        debug_assert!(self.held.is_some() || waiting == self.ring.end().wrapping_sub(self.cursor));
        self.ring.take_back(waiting, link);
        self.queue_bytes = 0;
        self.busy_until = self.busy_until.min(now);
        for (class, frames) in lost.into_iter().enumerate() {
            self.tally.lost[class] += frames;
        }
        self.lose_what_waits(now);
        (self.is_dead, self.has_limits) = (true, true);
    }

    /// The link comes up.
    pub fn repair(&mut self) {
        self.is_dead = false;
        self.has_limits = self.has_limits_now();
    }

    /// Takes out of the tally what has not left by `end`; the number of frames by size class.
    fn take_back(&mut self, end: Ps) -> [u64; 2] {
        let horizon = end.saturating_add(self.latency);
        // What has not left has not been consumed either, so it is all in the ring.
        let sent = (self.tally.frames[0] + self.tally.frames[1]).min(u64::from(self.ring.size()));
        let mut taken = [0; 2];
        // A frame that the link loses is in no ring.
        if let Some((until, bytes)) = self.held.as_ref().and_then(|held| held.lost_in_service(end)).filter(|_| self.observes) {
            self.tally.queue_byte_ps -= u128::from(until - end) * u128::from(bytes);
        }
        for back in 1..=sent as u32 {
            let number = self.ring.end().wrapping_sub(back);
            let &Slot { at, packet } = self.ring.slot(number);
            if at <= horizon {
                break;
            }
            let (bytes, class) = (packet.bytes(), packet.class());
            taken[class] += 1;
            self.tally.bytes[class] -= u64::from(bytes);
            self.tally.frames[class] -= 1;
            if self.observes {
                self.tally.queue_byte_ps -= u128::from(at - horizon) * u128::from(bytes);
            }
        }
        taken
    }
}
