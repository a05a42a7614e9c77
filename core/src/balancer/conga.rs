//! CONGA, packet by packet and on three levels: the uplink whose path is least congested, by its own rate estimate and by what the far end fed back.
//!
//! *Source*: Alizadeh et al., SIGCOMM 2014; Ofan paper, Table 1 ("Pkt-based") and section 3.5. Every egress port but those to hosts keeps a discounting rate
//! estimator, quantised to three bits; a packet collects the largest on its way, the far end notes it by the uplink that the packet had taken, and
//! packets of the opposite direction carry the notes back, one each. *Differs*: a decision for each packet; a second table at aggregation switches for
//! the part of the path above them; a packet feeds back to either the edge or the aggregation switch, in turn; the estimator counts bytes when they are
//! handed to a port, dropped ones too: an overload shows as what it is. Of equal paths the one that the flow used last stays (as in CONGA), else a random one. *State*: w metrics for each edge switch or pod,
//! a port for each flow. *Cost*: reads w metrics, writes one at each hop.

mod header;
mod last_ports;
mod levels;
mod rates;
mod rows;

use super::{Decision, Watchful, one_of};
use crate::error::Error;
use crate::fabric::{Addressing, Fabric, Reach, SwitchShape, Tier};
use crate::packet::Packet;
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::units::Ps;
use crate::workload::Workload;
use header::Header;
use last_ports::LastPorts;
use rates::Rates;
use rows::{NOWHERE, Rows};
use std::sync::Arc;

/// What all switches share.
pub(super) struct Shared {
    interval: Ps,
    gain: f64,
    aging: Ps,
    senders: Arc<[u32]>,
}

impl Shared {
    pub(super) fn new(workload: &Workload, (interval, gain, aging): (Ps, f64, Ps), field: &str) -> Result<Self, Error> {
        if interval == 0 || aging == 0 {
            let name = if interval == 0 { "dre_interval_ps" } else { "aging_ps" };
            return Err(Error::value(format!("{field}.{name}"), 0, "at least 1"));
        }
        if !(gain > 0.0 && gain <= 1.0) {
            return Err(Error::value(format!("{field}.dre_gain"), gain, "above 0, at most 1"));
        }
        let senders = workload.receive.iter().zip(&workload.send).flat_map(|(data, ack)| [data.address, ack.address]).collect();
        Ok(Self { interval, gain, aging, senders })
    }
}

/// CONGA at one switch.
#[derive(Debug)]
pub struct Conga {
    shape: SwitchShape,
    is_three_level: bool,
    addressing: Addressing,
    pod: u32,
    /// The source address that every real packet carries, by flow and class.
    senders: Arc<[u32]>,
    rates: Rates,
    rows: Rows,
    last_ports: LastPorts,
    note_for_agg: bool,
    stream: Stream,
}

impl Conga {
    pub(super) fn new(shared: &Shared, fabric: &Fabric, node: u32, seed: u64) -> Self {
        let shape = fabric.switch(node).clone();
        Self {
            is_three_level: fabric.is_three_level(),
            addressing: fabric.addressing,
            pod: fabric.addressing.pod_of_address(shape.prefix << shape.prefix_shift.min(31)),
            senders: shared.senders.clone(),
            rates: Rates::new(shared, fabric, node),
            rows: Rows::new(shape.keys, shape.up, shared.aging),
            last_ports: LastPorts::new(),
            note_for_agg: false,
            stream: Stream::new(seed, Purpose::Balancer, u64::from(node)),
            shape,
        }
    }

    #[inline(always)]
    fn choose(&mut self, decision: &Decision<'_>, row: usize) -> u16 {
        let costs = self.rates.metrics.max(self.rows.there(row, decision.now));
        let best = costs.least(decision.valid.mask);
        let place = self.last_ports.place(decision.packet.flow_class());
        if let Some(port) = self.last_ports.among(place, best) {
            // As if a random one of the best had been drawn, so that the numbers to come do not depend on who stays.
            if best.count_ones() > 1 {
                self.stream.next();
            }
            return port;
        }
        let port = one_of(best, &mut self.stream);
        self.last_ports.set(place, port);
        port
    }
}

impl Watchful for Conga {
    #[inline(always)]
    fn advance(&mut self, now: Ps, _reach: Reach<'_>, _ports: &mut [Port]) {
        self.rates.advance(now);
    }

    #[inline(always)]
    fn climb(&mut self, decision: Decision<'_>, packet: &mut Packet) -> u16 {
        let row = self.rows.of(decision.key);
        let port = self.choose(&decision, row);
        let metric = self.rates.add_up(usize::from(port), packet.bytes());
        let is_edge = self.shape.tier == Tier::Edge;
        let mut header = if is_edge {
            let leaves_pod = self.addressing.pod_of_address(packet.address()) != self.pod;
            let is_for_agg = self.is_three_level & leaves_pod & self.note_for_agg;
            self.note_for_agg = !self.note_for_agg;
            Header::new(is_for_agg)
        } else {
            let mut header = Header::read(packet);
            header.raise_above_aggs(metric);
            header
        };
        // Each level writes the notes for its like.
        let writes = header.is_for_agg() != is_edge;
        let own = self.rows.note(if writes { row } else { NOWHERE });
        header.write_note(if writes { own } else { header.note() });
        header.raise(metric);
        header.write(packet);
        port
    }

    #[inline(always)]
    fn descend(&mut self, now: Ps, packet: &mut Packet, ingress: u32, egress: u32) {
        let mut header = Header::read(packet);
        let from_above = ingress >= self.shape.down;
        if from_above {
            let uplink = (ingress - self.shape.down) as usize;
            let is_edge = self.shape.tier == Tier::Edge;
            let key = self.senders[packet.flow_class() as usize] >> self.shape.prefix_shift;
            let metric = if is_edge { header.metric() } else { header.metric_above_aggs() };
            let row = self.rows.of(key);
            self.rows.observe(row, uplink, metric);
            // A note for the other level may name an uplink that this one does not have.
            let (uplink, metric) = header.note();
            let (row, uplink) = if header.is_for_agg() != is_edge { (row, uplink) } else { (NOWHERE, 0) };
            self.rows.hear(row, (uplink, metric), now);
        }
        if self.shape.tier != Tier::Edge {
            let metric = self.rates.add_down(egress as usize, packet.bytes());
            header.raise(metric);
            if self.shape.tier == Tier::Core {
                header.raise_above_aggs(metric);
            }
            header.write(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Messages, Status, run};

    /// Aggregation switches with more uplinks than edge switches have: edge switches pass over notes that name uplinks which they do not have.
    #[test]
    fn levels_may_differ_in_uplinks() {
        let link = r#"{"rate_bps": 800000000000, "latency_ps": 500000}"#;
        let text = format!(
            r#"{{"seed": 1, "threads": 1, "time_limit_ps": 1000000000,
                "fabric": {{"kind": "fat-tree", "pods": 2, "edges_per_pod": 1, "hosts_per_edge": 8, "aggs_per_pod": 1,
                    "cores_per_agg": 8, "host_link": {link}, "edge_agg_link": {link}, "agg_core_link": {link},
                    "links_down": [], "links_degraded": [], "link_events": [], "reconvergence_delay_ps": 0, "losses": []}},
                "frame": {{"payload_bytes": 4096, "header_bytes": 62, "ack_bytes": 64, "gap_bytes": 20, "last_frame": "full"}},
                "port": {{"buffer_bytes": null, "ecn_threshold_bytes": null, "ecn_full_bytes": null, "ecn_at": "dequeue", "shared_buffer": null, "pfc": null,
                    "discipline": {{"kind": "fifo"}}}},
                "balancer": {{"kind": "conga", "dre_interval_ps": 1000000, "dre_gain": 0.2, "aging_ps": 50000000}},
                "deployments": [], "transport": {{"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "uniform"}},
                "measure": {{"queues": true, "trace": false, "interval_ps": null, "watched_port": null}}}}"#
        );
        let config = Config::from_json(&text).unwrap();
        let (src, dst) = ((0..16).collect(), (0..16).map(|host| (host + 8) % 16).collect());
        let messages = Messages {
            src,
            dst,
            bytes: vec![1 << 18; 16],
            start: vec![0; 16],
            rank: vec![0; 16],
            collective: vec![0; 16],
            ..Messages::default()
        };
        assert_eq!(run(&config, &messages, &mut |_| true).unwrap().status, Status::Done);
    }
}
