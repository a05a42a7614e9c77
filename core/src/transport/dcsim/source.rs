//! Where flows begin: how many Sims of a flow may be under way, and which Data comes next.
//!
//! *Source*: dcSim paper, section 2.4, Equation 3: no more Sims under way than Datas that wait.

use crate::transport::received::Received;

/// One flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// Datas in all.
    packets: u32,
    /// The first Data that no Sim-Ack has been matched with yet.
    next_new: u32,
    /// Datas that were sent and not acknowledged in time: they go first. The smallest is last in the list.
    returned: Vec<u32>,
    /// Sims under way.
    sims: u32,
    /// Whether what has not been sent goes without Sims.
    is_direct: bool,
    /// Datas known to have got there.
    pub(super) acked: Received,
}

impl Source {
    pub(super) fn new(packets: u32) -> Self {
        Self { packets, ..Self::default() }
    }

    /// What has not been sent goes without Sims.
    pub(super) fn go_directly(&mut self) {
        self.is_direct = true;
    }

    /// Datas that wait for a Sim-Ack.
    fn waiting(&self) -> u32 {
        let new = if self.is_direct { 0 } else { self.packets - self.next_new };
        new + self.returned.len() as u32
    }

    /// Whether another Sim may be sent.
    #[inline(always)]
    pub(super) fn wants_sim(&self) -> bool {
        self.sims < self.waiting()
    }

    /// Another Sim is under way.
    pub(super) fn add_sim(&mut self) {
        self.sims += 1;
    }

    /// One Sim less is under way.
    pub(super) fn drop_sim(&mut self) {
        self.sims -= 1;
    }

    /// The first Data that waits for a Sim-Ack, and whether it has not been sent before.
    pub(super) fn next(&mut self) -> Option<(u32, bool)> {
        if let Some(psn) = self.returned.pop() {
            return Some((psn, false));
        }
        let new = if self.is_direct { None } else { self.next_new() };
        new.map(|psn| (psn, true))
    }

    /// The first Data that has not been sent.
    pub(super) fn next_new(&mut self) -> Option<u32> {
        let psn = self.next_new;
        self.next_new += u32::from(psn < self.packets);
        (psn < self.packets).then_some(psn)
    }

    /// Whether a Data has not been sent.
    pub(super) fn has_new(&self) -> bool {
        self.next_new < self.packets
    }

    /// A Data was sent and not acknowledged in time; whether it is really missing.
    pub(super) fn give_up(&mut self, psn: u32) -> bool {
        let is_missing = !self.acked.contains(psn);
        if is_missing {
            let place = self.returned.partition_point(|&other| other > psn);
            self.returned.insert(place, psn);
        }
        is_missing
    }

    /// More is known to have got there: what was given up too early no longer waits.
    pub(super) fn note_acked(&mut self) {
        let acked = &self.acked;
        self.returned.retain(|&psn| !acked.contains(psn));
    }
}
