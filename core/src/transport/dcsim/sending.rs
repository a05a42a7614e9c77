//! What a host sends by itself: Sims while there is room, Datas when they are due, small flows without Sims; and what it does about those that are lost.

use super::sims::Sim;
use super::{Dcsim, Queued, SENT, TIMED_OUT};
use crate::discipline::Lane;
use crate::packet::{Kind, Packet};
use crate::spreader::Outgoing;
use crate::transport::Surroundings;
use crate::units::Ps;

impl Dcsim {
    pub(super) fn begin(&mut self, flow: u32, around: &Surroundings<'_, '_>) {
        let own = flow - around.send_base;
        if around.send[own as usize].packets < self.direct_below {
            self.sources[own as usize].go_directly();
            self.direct.push_back(own);
        } else {
            self.rotation.set(own as usize, true);
        }
    }

    /// Adds Sims to the NIC's queue while it has room and a flow may send one.
    pub(super) fn simulate(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while around.port.lanes().is_some_and(|lanes| lanes.has_room(Lane::Sim)) {
            let Some(own) = self.rotation.turn() else { break };
            let source = &mut self.sources[own];
            source.add_sim();
            let wants_more = source.wants_sim();
            self.rotation.set(own, wants_more);
            let (address, receive_slot) = (around.send[own].address, around.send[own].receive_slot);
            let path = self.unused_path(own, address, now, around);
            let number = self.sims.push(own as u32, path);
            let sim = Packet::new(Kind::Sim, receive_slot, number, address, path, around.rules.ack_frame);
            around.port.add(now, sim, &mut |_| {});
        }
    }

    /// A path of which no Sim is using the like, if there are plenty.
    fn unused_path(&mut self, own: usize, address: u32, now: Ps, around: &Surroundings<'_, '_>) -> u16 {
        const TRIES: usize = 64;
        let mut path = 0;
        for _ in 0..TRIES {
            let (fabric, routes, bytes) = (around.fabric, around.routes, around.rules.ack_frame);
            path = self.spreader.data(Outgoing { now, fabric, routes, flow: own, psn: 0, address, bytes }).0;
            if self.paths.insert(path) || !self.spreader.draws_paths() {
                break;
            }
        }
        path
    }

    /// Adds packets of small flows to the NIC's last queue while it has room.
    pub(super) fn send_directly(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while around.port.lanes().is_some_and(|lanes| lanes.has_direct_room(around.rules.full_frame)) {
            let Some(own) = self.direct.pop_front() else { break };
            let source = &mut self.sources[own as usize];
            let Some(psn) = source.next_new() else { continue };
            if source.has_new() {
                self.direct.push_back(own);
            }
            let (fabric, routes, address) = (around.fabric, around.routes, around.send[own as usize].address);
            let outgoing = Outgoing { now, fabric, routes, flow: own as usize, psn, address, bytes: 0 };
            let (path, _) = self.spreader.data(outgoing);
            self.hand_over(Kind::DirectData, Queued { flow: own, psn, is_first: true }, path, now, around);
        }
    }

    /// Hands a data packet to the NIC. What is dropped there counts as sent: it will be missed in time.
    pub(super) fn hand_over(&mut self, kind: Kind, data: Queued, path: u16, now: Ps, around: &mut Surroundings<'_, '_>) {
        let flow = &around.send[data.flow as usize];
        let bytes = flow.frame_bytes(data.psn, around.rules.full_frame);
        let packet = Packet::new(kind, flow.receive_slot, data.psn, flow.address, path, bytes);
        self.queued[usize::from(kind == Kind::DirectData)].push_back(data);
        let (paths, mut dropped) = (&mut self.paths, [0; 2]);
        around.port.add(now, packet, &mut |victim| {
            dropped[usize::from(victim.kind() == Kind::DirectData)] += 1;
            if victim.kind() == Kind::Data {
                paths.remove(&victim.path());
            }
        });
        for (lane, count) in dropped.into_iter().enumerate() {
            for _ in 0..count {
                if let Some(victim) = self.queued[lane].pop_back() {
                    self.note_sent(victim, now, around);
                }
            }
        }
    }

    fn note_sent(&mut self, data: Queued, now: Ps, around: &mut Surroundings<'_, '_>) {
        self.flows.note_sent(data.flow as usize, data.is_first, now);
        around.send[data.flow as usize].note_start(now);
        self.unacked.push_back((now, data));
    }

    /// The NIC takes up what is next in it.
    pub(super) fn start(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        let Some(packet) = around.port.start(now) else { return };
        match packet.kind() {
            Kind::Sim => {
                let own = self.sims.start(now);
                around.send[own as usize].note_start(now);
                self.flows.counts.own[SENT] += 1;
            }
            kind @ (Kind::Data | Kind::DirectData) => {
                if kind == Kind::Data {
                    self.paths.remove(&packet.path());
                }
                if let Some(data) = self.queued[usize::from(kind == Kind::DirectData)].pop_front() {
                    self.note_sent(data, now, around);
                }
            }
            _ => {}
        }
    }

    /// What time has done to Sims: Datas are due, Sims are lost.
    pub(super) fn mind_sims(&mut self, now: Ps, around: &mut Surroundings<'_, '_>) {
        while let Some((Sim { flow, path, .. }, psn, is_first)) = self.sims.due(now) {
            self.hand_over(Kind::Data, Queued { flow, psn, is_first }, path, now, around);
        }
        while let Some(Sim { flow, path, .. }) = self.sims.expired(now) {
            self.flows.counts.own[TIMED_OUT] += 1;
            self.paths.remove(&path);
            self.sources[flow as usize].drop_sim();
            self.ask(flow as usize);
        }
    }

    /// Lets a flow have turns if it may send a Sim.
    pub(super) fn ask(&mut self, own: usize) {
        self.rotation.set(own, self.sources[own].wants_sim());
    }

    pub(super) fn mind_data(&mut self, now: Ps) {
        while let Some(&(_, data)) = self.unacked.front().filter(|&&(at, _)| at + self.data_timeout <= now) {
            self.unacked.pop_front();
            if self.sources[data.flow as usize].give_up(data.psn) {
                self.flows.counts.data_timeouts += 1;
                self.ask(data.flow as usize);
            }
        }
    }
}
