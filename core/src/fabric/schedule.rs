//! Links that go down or come up in mid-run, and the routing that follows them.
//!
//! *Source*: Ofan paper section 4.1 (routing learns of failures and converges) and footnote 5; the delay between an event and the moment from which all
//! switches route around it is the user's.

use super::{Fabric, Routes};
use crate::config::{LinkEvent, LinkState};
use crate::error::Error;
use crate::units::Ps;
use std::collections::BTreeMap;

/// What happens at one moment.
#[derive(Debug, Default)]
pub struct Change {
    /// When.
    pub at: Ps,
    /// Directed links that go down (false) or come up (true).
    pub links: Vec<(u32, bool)>,
    /// Number of the routes that all switches follow from then on.
    pub routes: Option<usize>,
}

impl Fabric {
    /// Turns link events into changes, and computes the routes after each.
    ///
    /// # Errors
    /// [`Error::Value`] for unknown links and links of hosts, an event that changes nothing, and two events of one link at once.
    pub(super) fn plan_changes(&mut self, events: &[LinkEvent], delay: Ps) -> Result<(), Error> {
        let mut order: Vec<usize> = (0..events.len()).collect();
        order.sort_by_key(|&row| events[row].at_ps);
        let mut alive = self.alive.clone();
        let mut changes: BTreeMap<Ps, Change> = BTreeMap::new();
        let mut last_at = vec![None; self.ports()];
        let mut converged: BTreeMap<Ps, Vec<bool>> = BTreeMap::new();
        for row in order {
            let event = &events[row];
            let field = format!("fabric.link_events[{row}]");
            let port = self.find_fabric_link(&event.link, &field)?;
            let is_up = event.state == LinkState::Up;
            let converges_at = event.at_ps.checked_add(delay).filter(|&at| at < Ps::MAX / 2);
            let Some(converges_at) = converges_at else {
                return Err(Error::value(format!("{field}.at_ps"), event.at_ps, "a moment that the run can reach"));
            };
            if alive[port] == is_up || last_at[port] == Some(event.at_ps) {
                let name = format!("{}/{} {:?}", event.link.0, event.link.1, event.state).to_lowercase();
                return Err(Error::value(field, name, "events that change the link's state, at different moments"));
            }
            last_at[port] = Some(event.at_ps);
            for side in [port, self.peer[port] as usize] {
                alive[side] = is_up;
                changes.entry(event.at_ps).or_default().links.push((side as u32, is_up));
            }
            converged.insert(converges_at, alive.clone());
        }
        for (at, alive) in converged {
            changes.entry(at).or_default().routes = Some(self.routes.len());
            self.routes.push(Routes::compute(self, &alive));
        }
        self.changes = changes.into_iter().map(|(at, change)| Change { at, ..change }).collect();
        Ok(())
    }
}
