//! DCTCP's window: it gives way in proportion to the share of marked packets, and after losses as TCP's does.
//!
//! *Source*: Alizadeh et al., SIGCOMM 2010; RFC 8257; NewReno (RFC 6582) as in htsim's `tcp.cpp` and `dctcp.cpp`, whose integer arithmetic in bytes is kept. *Differs*: from RFC 8257, the average of marks begins
//! at 0 (htsim; a parameter), and a window without marks is reduced too while the average is above zero (htsim; a parameter). *State*: a window, a threshold, an average (host). *Cost*: none in the network
//! but the marks.

/// What all flows of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Weight of a window's marks in their average.
    pub gain: f64,
    /// That average at first.
    pub initial_alpha: f64,
    /// Whether a window without marks is reduced too, while the average is above zero.
    pub reduces_unmarked: bool,
}

/// A flow's window.
#[derive(Debug)]
pub struct Dctcp {
    /// Bytes of a segment, which is a frame.
    mss: u64,
    max: u64,
    window: u64,
    /// Below it the window grows by a segment an ACK, above by a segment a window.
    slow_start_until: u64,
    alpha: f64,
    seen: u64,
    marked: u64,
    /// The window at the last look at the marks: the next comes after so many bytes.
    look_after: u64,
}

impl Dctcp {
    pub(crate) fn new(rules: &Rules, mss: u32, initial: u64, max: u64) -> Self {
        Self {
            mss: mss.into(),
            max,
            window: initial,
            slow_start_until: initial,
            alpha: rules.initial_alpha,
            seen: 0,
            marked: 0,
            look_after: initial,
        }
    }

    /// Bytes that may be beyond what has been acknowledged without a hole.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Any ACK: counts its mark, and once a window gives way to those counted.
    pub(crate) fn count(&mut self, rules: &Rules, is_marked: bool) {
        self.seen += 1;
        if is_marked {
            self.marked += 1;
            self.slow_start_until = self.slow_start_until.min(self.window);
        }
        if self.seen * self.mss < self.look_after {
            return;
        }
        let share = self.marked as f64 / self.seen as f64;
        self.alpha += rules.gain * (share - self.alpha);
        let reduces = self.alpha > 0.0 && (rules.reduces_unmarked || self.marked > 0);
        self.forget();
        if reduces {
            self.window = ((self.window as f64 * (1.0 - self.alpha / 2.0)) as u64).max(self.mss);
            self.slow_start_until = self.window;
        }
        self.look_after = self.window;
    }

    /// Forgets the marks counted since the last look at them.
    fn forget(&mut self) {
        (self.seen, self.marked) = (0, 0);
    }

    /// So many more bytes are acknowledged without a hole, and nothing is missing.
    pub(crate) fn grow(&mut self, acked: u64) {
        let step = acked.min(self.mss);
        self.window += if self.window < self.slow_start_until { step } else { self.mss * step / self.window };
        self.window = self.window.min(self.max);
    }

    /// A packet is missing, say duplicate ACKs: half the window, and what these stand for.
    pub(crate) fn begin_recovery(&mut self) {
        self.slow_start_until = (self.window / 2).max(2 * self.mss);
        self.window = self.slow_start_until + 3 * self.mss;
        self.forget();
    }

    /// Another packet has left the network.
    pub(crate) fn inflate(&mut self) {
        self.window += self.mss;
    }

    /// So many bytes are acknowledged, and then something else is missing.
    pub(crate) fn deflate(&mut self, acked: u64) {
        self.window = self.window.saturating_sub(acked) + self.mss;
    }

    /// Nothing is missing any more; so many bytes are under way.
    pub(crate) fn end_recovery(&mut self, flight: u64) {
        self.window = self.slow_start_until.min(flight + self.mss);
    }

    /// A timeout.
    pub(crate) fn collapse(&mut self) {
        self.slow_start_until = (self.window / 2).max(2 * self.mss);
        self.window = self.mss;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { gain: 1.0 / 16.0, initial_alpha: 0.0, reduces_unmarked: true };
    const RFC: Rules = Rules { reduces_unmarked: false, ..RULES };

    /// A window of 10 segments, 4 of them marked: alpha = .4 / 16 = .025, and the window falls by half of that.
    #[test]
    fn gives_way_in_proportion_to_marks() {
        let mut flow = Dctcp::new(&RULES, 1000, 10_000, 20_000);
        (0..9).for_each(|i| flow.count(&RULES, i < 4));
        assert_eq!(flow.window(), 10_000, "not before the window is over");
        flow.count(&RULES, false);
        assert_eq!(flow.window(), 9875, "10,000 (1 - .025 / 2)");
    }

    /// htsim reduces again by what is left of the average; RFC 8257 (section 3.3) does not without a mark.
    #[test]
    fn a_window_without_marks() {
        for (rules, wanted) in [(RULES, 9759), (RFC, 9875)] {
            let mut flow = Dctcp::new(&rules, 1000, 10_000, 20_000);
            (0..10).for_each(|i| flow.count(&rules, i < 4));
            // 9,875 bytes are ten ACKs of 1,000. alpha = .025 * 15/16 = .0234375; 9,875 (1 - .01171875) = 9,759.3.
            (0..10).for_each(|_| flow.count(&rules, false));
            assert_eq!(flow.window(), wanted);
        }
    }

    #[test]
    fn grows_a_segment_a_window_and_is_capped() {
        let mut flow = Dctcp::new(&RULES, 1000, 10_000, 11_000);
        flow.grow(5000);
        assert_eq!(flow.window(), 10_100, "a jump of the cumulative ACK earns one segment's growth");
        (0..20).for_each(|_| flow.grow(1000));
        assert_eq!(flow.window(), 11_000);
    }

    /// RFC 6582: half, inflated by three; each further duplicate adds one; a partial ACK takes what it acknowledges; the full one deflates.
    #[test]
    fn recovers_as_newreno() {
        let mut flow = Dctcp::new(&RULES, 1000, 10_000, 20_000);
        flow.begin_recovery();
        assert_eq!(flow.window(), 8000);
        flow.inflate();
        flow.deflate(4000);
        assert_eq!(flow.window(), 6000);
        flow.end_recovery(2000);
        assert_eq!(flow.window(), 3000, "flight + 1 segment is less than half the window");
        flow.collapse();
        assert_eq!(flow.window(), 1000);
        flow.grow(1000);
        assert_eq!(flow.window(), 2000, "slow start up to two segments, half of three at least");
    }
}
