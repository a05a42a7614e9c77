//! The messages as the door hands them over, and every check on them.

use super::Event;
use crate::config::{Acks, FrameConfig, LastFrame};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::units::{NEVER, Ps};

/// The door's message columns. All of the first group have one entry a message.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// Sending host.
    pub src: Vec<u32>,
    /// Receiving host.
    pub dst: Vec<u32>,
    /// Payload.
    pub bytes: Vec<u64>,
    /// Earliest start.
    pub start: Vec<Ps>,
    /// Place in the host's round robin.
    pub rank: Vec<u32>,
    /// The collective that each belongs to.
    pub collective: Vec<u32>,
    /// Dependencies: `dependents[i]` waits for `event` of `dependencies[i]`.
    pub dependents: Vec<u32>,
    /// See `dependents`.
    pub dependencies: Vec<u32>,
    /// See `dependents`: 0 received, 1 acknowledged.
    pub dependency_events: Vec<u8>,
    /// Activations that each trigger needs; 0: every activation starts the next target.
    pub trigger_counts: Vec<u32>,
    /// `activated[i]` is activated by `activation_events[i]` of message `activators[i]`.
    pub activated: Vec<u32>,
    /// See `activated`.
    pub activators: Vec<u32>,
    /// See `activated`.
    pub activation_events: Vec<u8>,
    /// `triggers_of_targets[i]` starts message `targets[i]`.
    pub triggers_of_targets: Vec<u32>,
    /// See `triggers_of_targets`.
    pub targets: Vec<u32>,
}

/// Frames of a message and the size of the last one. A message of 0 bytes travels as one header, or as a frame of
/// the smallest size where there is none.
pub(super) fn frames(bytes: u64, frame: &FrameConfig) -> (u64, u32) {
    let payload = u64::from(frame.payload_bytes);
    let packets = bytes.div_ceil(payload).max(1);
    let last_payload = match frame.last_frame {
        _ if bytes == 0 => 0,
        LastFrame::Full => payload,
        LastFrame::Short => bytes - (packets - 1) * payload,
    };
    let last_frame = frame.header_bytes + last_payload as u32;
    (packets, if last_frame == 0 { frame.ack_bytes } else { last_frame })
}

impl Messages {
    pub(super) fn check(&self, fabric: &Fabric, frame: &FrameConfig, acks: Acks) -> Result<(), Error> {
        let (rows, hosts) = (self.src.len(), fabric.hosts());
        let lengths = [
            ("dst", self.dst.len(), rows),
            ("bytes", self.bytes.len(), rows),
            ("start_ps", self.start.len(), rows),
            ("rank", self.rank.len(), rows),
            ("collective", self.collective.len(), rows),
            ("dep_on", self.dependencies.len(), self.dependents.len()),
            ("dep_event", self.dependency_events.len(), self.dependents.len()),
            ("fire_message", self.activators.len(), self.activated.len()),
            ("fire_event", self.activation_events.len(), self.activated.len()),
            ("target_message", self.targets.len(), self.triggers_of_targets.len()),
        ];
        for (field, got, wanted) in lengths {
            if got != wanted {
                return Err(Error::value(format!("messages.{field}"), format!("{got} entries"), format!("{wanted} entries")));
            }
        }
        if rows == 0 || rows > u32::MAX as usize / 2 {
            return Err(Error::value("messages", format!("{rows} messages"), "1 to 2^31 - 1 messages"));
        }
        let wrong = |field, row, got: String, allowed: String| Error::Message { field, row, got, allowed };
        for row in 0..rows {
            let (src, dst) = (self.src[row], self.dst[row]);
            for (field, host) in [("src", src), ("dst", dst)] {
                if host >= hosts {
                    return Err(wrong(field, row, host.to_string(), format!("a host, 0 to {}", hosts - 1)));
                }
            }
            if src == dst {
                return Err(wrong("dst", row, dst.to_string(), "another host than src".into()));
            }
            let (packets, _) = frames(self.bytes[row], frame);
            if packets > u64::from(u32::MAX) {
                let most = u64::from(u32::MAX) * u64::from(frame.payload_bytes);
                return Err(wrong("bytes", row, self.bytes[row].to_string(), format!("0 to {most}")));
            }
            if self.start[row] > NEVER / 4 {
                return Err(wrong("start_ps", row, self.start[row].to_string(), format!("0 to {}", NEVER / 4)));
            }
            self.check_path(fabric, row)?;
        }
        self.check_references(rows as u32, acks)
    }

    fn check_path(&self, fabric: &Fabric, row: usize) -> Result<(), Error> {
        let (src, dst) = (self.src[row], self.dst[row]);
        let (there, back) = (fabric.edge_of(src), fabric.edge_of(dst));
        let unreachable = |from: u32, to: u32| fabric.routes[0].valid_ports(from, fabric.switch(to).prefix).is_empty();
        if there != back && (unreachable(there, back) || unreachable(back, there)) {
            return Err(Error::Disconnected { row, src, dst, cut: fabric.cut_between(src, dst) });
        }
        Ok(())
    }

    fn check_references(&self, rows: u32, acks: Acks) -> Result<(), Error> {
        let triggers = self.trigger_counts.len() as u32;
        let references = [
            ("dep_message", &self.dependents, rows),
            ("dep_on", &self.dependencies, rows),
            ("fire_trigger", &self.activated, triggers),
            ("fire_message", &self.activators, rows),
            ("target_trigger", &self.triggers_of_targets, triggers),
            ("target_message", &self.targets, rows),
        ];
        for (field, column, limit) in references {
            if let Some(row) = column.iter().position(|&reference| reference >= limit) {
                let allowed = format!("a number below {limit}");
                return Err(Error::Message { field, row, got: column[row].to_string(), allowed });
            }
        }
        for (field, events) in [("dep_event", &self.dependency_events), ("fire_event", &self.activation_events)] {
            let last = if acks == Acks::Off { Event::Received } else { Event::Acked } as u8;
            if let Some(row) = events.iter().position(|&event| event > last) {
                let allowed = match acks {
                    Acks::Off => "0 (received); 1 (acked) needs transport.acks = per-packet",
                    Acks::PerPacket => "0 (received) or 1 (acked)",
                };
                return Err(Error::Message { field, row, got: events[row].to_string(), allowed: allowed.into() });
            }
        }
        Ok(())
    }
}
