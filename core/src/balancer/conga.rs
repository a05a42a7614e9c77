//! CONGA, packet by packet and on three levels: the uplink whose path is least congested, by its own rate estimate and by what the far end fed back.
//!
//! *Source*: Alizadeh et al., SIGCOMM 2014; Ofan paper, Table 1 ("Pkt-based") and section 3.5. Every egress port but those to hosts keeps a discounting rate
//! estimator, quantised to three bits; a packet collects the largest on its way, the far end notes it by the uplink that the packet had taken, and
//! packets of the opposite direction carry the notes back, one each. *Differs*: a decision for each packet; a second table at aggregation switches for
//! the part of the path above them; a packet feeds back to either the edge or the aggregation switch, in turn; the estimator counts bytes when they are
//! queued. Of equal paths the one that the flow used last stays (as in CONGA), else a random one. *State*: w metrics for each edge switch or pod,
//! a port for each flow. *Cost*: reads w metrics, writes one at each hop.

mod header;
mod rates;
mod rows;

use super::{Decision, Watchful, cheapest};
use crate::error::Error;
use crate::fabric::{Addressing, Fabric, Reach, SwitchShape, Tier};
use crate::hash::FastMap;
use crate::packet::{Kind, Packet};
use crate::port::Port;
use crate::rng::{Purpose, Stream};
use crate::units::Ps;
use crate::workload::Workload;
use header::Header;
use rates::Rates;
use rows::{NOWHERE, Rows};
use std::sync::Arc;

/// What all switches share.
pub(super) struct Shared {
    interval: Ps,
    gain: f64,
    aging: Ps,
    senders: Arc<Senders>,
}

impl Shared {
    pub(super) fn new(workload: &Workload, (interval, gain, aging): (Ps, f64, Ps), field: &str) -> Result<Self, Error> {
        if interval == 0 || aging == 0 {
            let name = if interval == 0 { "dre_interval_ps" } else { "aging_ps" };
            return Err(Error::value(format!("{field}.{name}"), 0, "at least 1"));
        }
        if !(gain > 0.0 && gain < 1.0) {
            return Err(Error::value(format!("{field}.dre_gain"), gain, "above 0, below 1"));
        }
        let senders = Arc::new(Senders {
            of_data: workload.receive.iter().map(|flow| flow.address).collect(),
            of_acks: workload.send.iter().map(|flow| flow.address).collect(),
        });
        Ok(Self { interval, gain, aging, senders })
    }
}

/// The source address that every real packet carries, by flow.
#[derive(Debug)]
struct Senders {
    of_data: Box<[u32]>,
    of_acks: Box<[u32]>,
}

impl Senders {
    fn of(&self, packet: Packet) -> u32 {
        let senders = if packet.kind() == Kind::Data { &self.of_data } else { &self.of_acks };
        senders[packet.flow() as usize]
    }
}

/// CONGA at one switch.
#[derive(Debug)]
pub struct Conga {
    shape: SwitchShape,
    is_three_level: bool,
    addressing: Addressing,
    pod: u32,
    aging: Ps,
    senders: Arc<Senders>,
    rates: Rates,
    rows: Rows,
    last_port: FastMap<u64, u16>,
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
            aging: shared.aging,
            senders: shared.senders.clone(),
            rates: Rates::new(shared, fabric, node),
            rows: Rows::new(shape.keys, shape.up),
            last_port: FastMap::default(),
            note_for_agg: false,
            stream: Stream::new(seed, Purpose::Balancer, u64::from(node)),
            shape,
        }
    }

    #[inline(always)]
    fn choose(&mut self, decision: &Decision<'_>, row: usize) -> u16 {
        let (aging, now) = (self.aging, decision.now);
        let metrics = &self.rates.metrics[self.shape.down as usize..];
        let entries = self.rows.entries(row);
        let cost = |port: u16| {
            let remote = entries[usize::from(port)];
            let heard = if now - remote.heard_at < aging { remote.there } else { 0 };
            u64::from(metrics[usize::from(port)].max(heard))
        };
        let best = cheapest(decision.valid.mask, &mut self.stream, cost);
        let last = self.last_port.entry(decision.flow_class()).or_insert(best);
        if *last != best && !(decision.allows(*last) && cost(*last) == cost(best)) {
            *last = best;
        }
        *last
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
        let metric = self.rates.add((self.shape.down + u32::from(port)) as usize, packet.bytes());
        let mut header = Header(0);
        if self.shape.tier == Tier::Edge {
            let leaves_pod = self.addressing.pod_of_address(packet.address()) != self.pod;
            let for_agg = self.is_three_level && leaves_pod && self.note_for_agg;
            self.note_for_agg = !self.note_for_agg;
            if for_agg {
                header = Header(1 << 6);
            } else {
                header.write_note(self.rows.note(row));
            }
        } else {
            header = Header::read(packet);
            header.raise_above_aggs(metric);
            let own = self.rows.note(if header.is_for_agg() { row } else { NOWHERE });
            header.write_note(if header.is_for_agg() { own } else { header.note() });
        }
        header.raise(metric);
        packet.set_path(header.0);
        port
    }

    #[inline(always)]
    fn descend(&mut self, now: Ps, packet: &mut Packet, ingress: u32, egress: u32) {
        let mut header = Header::read(packet);
        let from_above = self.shape.up > 0 && ingress >= self.shape.down;
        if from_above {
            let uplink = (ingress - self.shape.down) as usize;
            let is_edge = self.shape.tier == Tier::Edge;
            let key = self.senders.of(*packet) >> self.shape.prefix_shift;
            let metric = if is_edge { header.metric() } else { header.metric_above_aggs() };
            let row = self.rows.of(key);
            self.rows.observe(row, uplink, metric);
            // A note for the other level may name an uplink that this one does not have.
            let (uplink, metric) = header.note();
            let (row, uplink) = if header.is_for_agg() != is_edge { (row, uplink) } else { (NOWHERE, 0) };
            self.rows.hear(row, (uplink, metric), now);
        }
        if self.shape.tier != Tier::Edge {
            let metric = self.rates.add(egress as usize, packet.bytes());
            header.raise(metric);
            if self.shape.tier == Tier::Core {
                header.raise_above_aggs(metric);
            }
            packet.set_path(header.0);
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
                    "links_down": [], "links_degraded": [], "link_events": [], "reconvergence_delay_ps": 0}},
                "frame": {{"payload_bytes": 4096, "header_bytes": 62, "ack_bytes": 64, "gap_bytes": 20, "last_frame": "full"}},
                "port": {{"buffer_bytes": null, "ecn_threshold_bytes": null}},
                "balancer": {{"kind": "conga", "dre_interval_ps": 1000000, "dre_gain": 0.2, "aging_ps": 50000000}},
                "deployments": [], "transport": {{"kind": "paced", "load": 1.0, "acks": "per-packet", "start_jitter": "uniform"}},
                "measure": {{"queues": true, "trace": false}}}}"#
        );
        let config = Config::from_json(&text).unwrap();
        let (src, dst) = ((0..16).collect(), (0..16).map(|host| (host + 8) % 16).collect());
        let messages =
            Messages { src, dst, bytes: vec![1 << 18; 16], start: vec![0; 16], rank: vec![0; 16], ..Messages::default() };
        assert_eq!(run(&config, &messages, &mut |_| true).unwrap().status, Status::Done);
    }
}
