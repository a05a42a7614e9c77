//! What hosts do: the closed set of transports and their parameters.

use crate::units::Ps;
use serde::Deserialize;

/// What hosts do.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TransportConfig {
    /// Fixed rate, no window, no recovery.
    Paced {
        /// Share of the line rate, in (0, 1].
        load: f64,
        /// Whether data is acknowledged.
        acks: Acks,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// A Sim first, data where it got through.
    Dcsim {
        /// Bound on the round trip of a Sim, after which it counts as lost.
        rtt_max_ps: Ps,
        /// A Data is due so long after its Sim was sent, though not before the Sim-Ack is there.
        wait_ps: Ps,
        /// A Data that is not acknowledged for so long counts as lost.
        data_timeout_ps: Ps,
        /// A Data-Ack at the latest after so many Datas.
        ack_every: u32,
        /// And at the latest so long after a Data.
        ack_interval_ps: Ps,
        /// Flows of fewer packets are sent without Sims.
        direct_below_packets: u32,
        /// Largest drift of a host's clock.
        clock_drift_ppm: f64,
        /// How drifts are drawn.
        clock_drift: ClockDrift,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// Windows, and ports that send what has the least left.
    Pfabric {
        /// Window at first.
        initial_window_packets: u32,
        /// Largest window.
        max_window_packets: u32,
        /// Where slow start ends at first.
        slow_start_threshold_packets: u32,
        /// A packet that is not acknowledged for so long counts as lost.
        rto_ps: Ps,
        /// Consecutive timeouts after which a flow sends probes only; 0 = never.
        probe_after_timeouts: u32,
        /// Whether hosts hand a packet to the NIC only when there is room.
        nic_backpressure: bool,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// Receivers hand out tokens.
    Phost {
        /// Flows of no more packets are sent at once; the others begin with a request.
        free_tokens: u32,
        /// Tokens in flight.
        window_packets: u32,
        /// How long a receiver waits when they are.
        window_timeout_ps: Ps,
        /// How long it waits when all have been granted, before it grants again.
        resend_timeout_ps: Ps,
        /// How long a token is good for.
        token_lifetime_ps: Ps,
        /// A sender that has heard nothing for so long asks again.
        retry_ps: Ps,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// Senders and receivers are matched in rounds.
    Dcpim {
        /// Rounds of a matching.
        rounds: u32,
        /// Channels of a host.
        channels: u32,
        /// Length of a round.
        round_ps: Ps,
        /// Flows of no more packets are sent at once.
        short_packets: u32,
        /// Tokens in flight, for all channels of a host.
        window_packets: u32,
        /// How long a receiver waits for a packet that it has granted, before it grants it again.
        resend_timeout_ps: Ps,
        /// A sender that has heard nothing for so long asks again.
        retry_ps: Ps,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
}

impl TransportConfig {
    /// Whether hosts start at random within one packet time.
    pub fn start_jitter(self) -> StartJitter {
        let (Self::Paced { start_jitter, .. }
        | Self::Dcsim { start_jitter, .. }
        | Self::Pfabric { start_jitter, .. }
        | Self::Phost { start_jitter, .. }
        | Self::Dcpim { start_jitter, .. }) = self;
        start_jitter
    }

    /// Whether senders learn of what has arrived.
    pub fn acks(self) -> Acks {
        if let Self::Paced { acks, .. } = self { acks } else { Acks::PerPacket }
    }

    /// Whether the path field of a packet carries its priority.
    pub fn writes_priority(self) -> bool {
        matches!(self, Self::Pfabric { .. } | Self::Phost { .. } | Self::Dcpim { .. })
    }

    /// Its name.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Paced { .. } => "paced",
            Self::Dcsim { .. } => "dcsim",
            Self::Pfabric { .. } => "pfabric",
            Self::Phost { .. } => "phost",
            Self::Dcpim { .. } => "dcpim",
        }
    }
}

/// Whether data is acknowledged.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// One ACK a data packet.
    PerPacket,
    /// No ACKs: a message is complete when its receiver has it.
    Off,
}

/// Whether hosts start at random within one packet time.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum StartJitter {
    /// Uniform over one pacing interval, per host.
    Uniform,
    /// All hosts start on the dot.
    None,
}

/// How the drifts of hosts' clocks are drawn.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ClockDrift {
    /// Uniform between the extremes.
    Uniform,
    /// One extreme or the other.
    Extreme,
}
